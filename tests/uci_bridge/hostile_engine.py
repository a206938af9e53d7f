"""An engine that plays by rule twice, then resigns by an error; meanwhile it says and leaves behind what nobody wants.

Its argument is a file for the id of a daemon (two forks and a session of its own, an empty environment) and of a child
in another session. The standard library only.
"""

import json
import os
import sys

NASTY = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202eevil\u2028next\u200b\ud800"
DIAGNOSTICS = (
    f'{{"positions": 1{"0" * 400}, "nodes": [1e999], "depth": -1e999, "fallbacks": 9e400, "capped_by": true, '
    f'"game": 7, "seconds": {json.dumps({"a": {"b": {"c": {"d": {"e": 1}}}}})}, '
    f'"gadget": {json.dumps(NASTY)}, {json.dumps(NASTY)}: "long {"x" * 10_000}"}}'
)


def leave_behind(file: str) -> None:
    read, write = os.pipe()
    for daemon in (True, False):
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
    while shown.count(b"\n") < 2:
        shown += os.read(read, 100)
    with open(file, "ab") as pids:
        pids.write(shown)


turns = 0
leave_behind(sys.argv[1])
for line in sys.stdin.buffer:
    request = json.loads(line)
    ids = {key: request[key] for key in ("protocolVersion", "gameId", "sessionId")}
    if "legalMoves" not in request:
        print(json.dumps({**ids, "received": True}), flush=True)
        continue
    turns += 1
    sys.stderr.buffer.write(NASTY.encode("utf-8", "surrogatepass") + b"\xff\n")
    sys.stderr.flush()
    if turns > 2:
        print(json.dumps({**ids, "error": f"I resign {NASTY}"}), flush=True)
        turns = 0
        continue
    answer = json.dumps({**ids, "move": request["legalMoves"][0]})
    print(f'{answer[:-1]}, "diagnostics": {DIAGNOSTICS}}}', flush=True)
