"""A UCI engine that knows no chess and misbehaves on demand: ``fake_engine.py LOG MODE``.

Every line it gets goes to the file LOG, with its process id. Every ``go`` is answered with 60 centipawns (tanh(0.1))
for the move e2e4, unless MODE says otherwise; ``MODE:N`` misbehaves from the N-th ``go`` of this process on,
``once-MODE:N`` only if LOG has no process before.
"""

import os
import sys
import time

log, mode = open(sys.argv[1], "a"), sys.argv[2]  # noqa: SIM115
mode, _, after = mode.partition(":")
if mode.startswith("once-"):
    mode = mode[5:] if os.path.getsize(sys.argv[1]) == 0 else "good"
go = 0


GOOD = b"info depth 1 seldepth 1 multipv 1 score cp 60 nodes 20 nps 1 time 1 pv e2e4 e7e5\nbestmove e2e4 ponder e7e5"
ANSWERS = {
    "garbage": b"\xff\xfe score cp twelve\ninfo depth one score\nbestmove \xff",
    "mates": b"info depth 1 seldepth 1 multipv 1 score mate 3 nodes 1 pv e2e4\nbestmove e2e4",
    "no-move": b"info depth 0 score mate 0\nbestmove (none)",
    "bounds": b"info depth 1 multipv 1 score cp 60 nodes 1 pv e2e4\n"
    b"info depth 1 multipv 1 score cp 999 lowerbound nodes 1 pv e2e4\nbestmove e2e4",
}


def say(text: bytes) -> None:
    sys.stdout.buffer.write(text + b"\n")
    sys.stdout.flush()


for line in sys.stdin:
    line = line.strip()
    log.write(f"{os.getpid()} {line}\n")
    log.flush()
    if line == "uci":
        if mode == "exits":
            sys.exit(3)
        say(b"id name Fake\nuciok")
    elif line == "isready" and mode != "never-ready":
        while mode == "blank-lines":
            say(b"\n" * 1000)
        say(b"readyok")
    elif line == "quit":
        break
    elif line.startswith("go"):
        go += 1
        bad = go >= int(after or 1)
        if bad and mode == "dies":
            os._exit(1)
        if bad and mode == "hangs":
            time.sleep(60)
        if bad and mode == "babbles":
            while True:
                sys.stdout.write("x" * 65536)
        if bad and mode == "endless-lines":
            while True:
                say(b"info string " + b"y" * 1000)
        say(ANSWERS[mode] if bad and mode in ANSWERS else GOOD)
