"""A foreign engine that speaks the engine protocol and behaves as its first argument says; the standard library only.

Its second argument: after how many turns answered well the misbehaviour begins (0). What it is sent is kept in the file
that ``KEEP`` or ``--keep FILE`` names. ``--once FILE``: it misbehaves once, and never again once FILE is there;
``--environment FILE``: writes down its environment; ``--leave FILE``: starts a child in another session, a hostile
engine before it a daemon (two forks and a session of its own), with empty environments; their ids come to be in FILE.
"""

import json
import os
import subprocess
import sys
import time

how, patience = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 0
options = dict(zip(sys.argv[3::2], sys.argv[4::2]))
kept = options.get("--keep") or os.environ.get("KEEP")
keep = open(kept, "ab") if kept else None  # noqa: SIM115
if "--environment" in options:
    with open(options["--environment"], "w") as file:
        json.dump(dict(os.environ), file)
turns = 0

NASTY = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202eevil\u2028next\u200b\ud800"
DIAGNOSTICS = {
    "hostile": f'{{"positions": 1{"0" * 400}, "nodes": [1e999], "depth": -1e999, "fallbacks": 9e400, "game": 7, '
    f'"capped_by": true, "seconds": {json.dumps({"a": {"b": {"c": {"d": {"e": 1}}}}})}, '
    f'"gadget": {json.dumps(NASTY)}, {json.dumps(NASTY)}: "long {"x" * 10_000}"}}'
}.get(how, '{"engine": "foreign"}')


REPLIES = {
    "hostile": {"error": f"I resign {NASTY}"}, "error": {"error": "I resign"},
    "always needs": {"error": "what?", "need": "transcript"},
    "move for sense": {"move": None}, "off the board": {"sense": 64},
}  # fmt: skip


def leave_behind(file: str) -> None:
    read, write = os.pipe()
    kinds = (True, False) if how == "hostile" else (False,)
    for daemon in kinds:
        child = os.fork()
        if child == 0:
            os.setsid()
            if daemon and os.fork():
                os._exit(0)
            os.write(write, b"%d\n" % os.getpid())
            os.execve("/bin/sleep", ["sleep", "600"], {})
        if daemon:
            os.waitpid(child, 0)
    shown = b""
    while shown.count(b"\n") < len(kinds):
        shown += os.read(read, 100)
    with open(file, "ab") as pids:
        pids.write(shown)


def say(text: bytes) -> None:
    sys.stdout.buffer.write(text)
    sys.stdout.buffer.flush()


def ids(request: dict) -> dict:
    return {key: request[key] for key in ("protocolVersion", "gameId", "sessionId")}


def answer(request: dict, move: dict) -> None:
    said = {"sense": request["senseActions"][35]} if request.get("phase") == "sense" else {"move": move}
    say(f'{json.dumps({**ids(request), **said})[:-1]}, "diagnostics": {DIAGNOSTICS}}}\n'.encode())


def misbehave(request: dict) -> None:
    good = request["legalMoves"][0]
    if "--once" in options:
        if os.path.exists(options["--once"]):
            answer(request, good)
            return
        open(options["--once"], "w").close()
    if how == "silent":
        time.sleep(600)
    elif how == "late":
        time.sleep(0.6)
        answer(request, good)
    elif how == "garbage":
        say(b"bestmove e2e4\n")
    elif how == "illegal":
        answer(request, {"from": "a1", "to": "h8"})
    elif how == "dead":
        print("out of memory, sorry", file=sys.stderr, flush=True)
        os._exit(3)
    elif how == "signal":
        os.kill(os.getpid(), 11)
    elif how == "closes":
        os.close(1)
        time.sleep(600)
    elif how == "endless":
        while True:
            say(b"x" * 65536)
    elif how == "flood":
        while True:
            say(b'{"received": true}\n' * 1000)
    elif how == "half":
        say(json.dumps({**ids(request), "move": good}).encode()[:-5])
        time.sleep(600)
    elif how in REPLIES:
        say(json.dumps({**ids(request), **REPLIES[how]}).encode() + b"\n")
    elif how == "wrong session":
        answer({**request, "sessionId": "another"}, good)
    elif how == "acknowledges":
        say(json.dumps({**ids(request), "received": True}).encode() + b"\n")
        time.sleep(600)
    else:
        raise SystemExit(f"no such misbehaviour: {how}")


if "--leave" in options:
    leave_behind(options["--leave"])
if how == "deaf":
    time.sleep(600)
if how == "child":
    print(subprocess.Popen(["sleep", "600"]).pid, file=sys.stderr, flush=True)
if how == "talks":
    for _ in range(40):
        sys.stderr.write("x" * 65536 + "\n")
    sys.stderr.flush()

GOOD = ("good", "child", "talks", "ignores eof", "no pushes", "moves on pushes", "forgets", "blank lines", "slow start",
        "acknowledges late", "leaves")  # fmt: skip
known: dict = {}
owed: list = []
if how == "slow start":
    for _ in range(4):
        print("loading", file=sys.stderr, flush=True)
        time.sleep(0.25)
for line in sys.stdin.buffer:
    if keep is not None:
        keep.write(line)
        keep.flush()
    request = json.loads(line)
    if "legalMoves" not in request:
        received = json.dumps({**ids(request), "received": True}).encode() + b"\n"
        if how == "acknowledges late":
            owed.append(received)
        elif how == "moves on pushes":
            say(b'{"move":{"from":"a2","to":"a4"}}\n')
        elif how == "flood":
            while True:
                say(b'{"received": true, "sessionId": "another"}\n' * 1000)
        elif how == "leaves":  # after its own move, before the opponent's
            raise SystemExit("I have had enough")
        elif how != "no pushes":
            say(received)
        known[request["sessionId"]] = request["ply"]
        continue
    while owed:
        say(owed.pop(0))
    if how == "hostile":
        sys.stderr.buffer.write(NASTY.encode("utf-8", "surrogatepass") + b"\xff\n")
        sys.stderr.flush()
    if how == "forgets" and "observationTranscript" not in request:
        say(json.dumps({**ids(request), "error": "who are you?", "need": "transcript"}).encode() + b"\n")
        continue
    if how in GOOD or turns < patience:
        turns += 1
        if how == "blank lines":
            say(b"\n  \n")
        answer(request, request["legalMoves"][request["ply"] * 7 % len(request["legalMoves"])])
    else:
        misbehave(request)
        turns = 0 if how == "hostile" else turns
if how in ("ignores eof", "child", "silent"):
    time.sleep(600)
