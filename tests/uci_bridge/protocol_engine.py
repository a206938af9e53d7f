"""An engine of the protocol in a few lines, that starts at once: plays a legal move, and misbehaves on demand.

Arguments: ``--fault NAME`` (dead, silent, garbage, illegal) ``--at PLY``: once, at the first request from that ply on.
``--once FILE``: and never again once FILE is there. ``--log FILE`` appends every line that it gets;
``--environment FILE`` writes down what it was started with.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import time
from pathlib import Path


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--fault")
    parser.add_argument("--at", type=int, default=0)
    parser.add_argument("--log")
    parser.add_argument("--once", type=Path)
    parser.add_argument("--think", type=float, default=0.0)
    parser.add_argument("--environment", type=Path)
    parser.add_argument("--load", type=float, default=0.0)
    options = parser.parse_args()
    if options.environment is not None:
        options.environment.write_text(json.dumps([sys.argv, dict(os.environ)]))
    time.sleep(options.load)
    chooser = random.Random(1)
    for line in sys.stdin:
        if options.log:
            with open(options.log, "a") as log:
                log.write(line)
        request = json.loads(line)
        ids = {key: request[key] for key in ("protocolVersion", "gameId", "sessionId") if key in request}
        if "legalMoves" not in request:
            print(json.dumps({**ids, "received": True}), flush=True)
            continue
        move = chooser.choice(request["legalMoves"])
        if options.fault and request["ply"] >= options.at and request["ply"] > 1:
            fault, options.fault = options.fault, None
            if options.once is not None:
                if options.once.exists():
                    fault = None
                options.once.touch()
            if fault == "dead":
                sys.exit(3)
            if fault == "silent":
                time.sleep(3600)
            if fault == "garbage":
                print("}{", flush=True)
                continue
            if fault == "illegal":
                move = {"from": "a1", "to": "a1"}
        time.sleep(options.think)
        print(json.dumps({**ids, "move": move, "diagnostics": {}}), flush=True)


if __name__ == "__main__":
    main()
