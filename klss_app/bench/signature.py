"""One number for the engine's behaviour: a hash of fixed-node searches, as in Stockfish's ``bench``.

A commit that changes behaviour renews the expected number, ``python -m klss_app.bench.signature --write``, and says
what changed and why; any other commit must leave it as it is. The same versions on the same kind of processor give the
same number, on any number of threads.
"""

from __future__ import annotations

import json
import sys
import zlib
from pathlib import Path

from darkchess.fog.players.named_fog_players import Configuration, configuration, make_player
from klss.play.limits import Limit
from klss_app.bench.positions import bench_positions, seated
from klss_app.bench.report import Say

NODES = 3000
"""Node budget of each search."""

EXPECTED = Path(__file__).resolve().parent / "data" / "signature.json"
"""The packaged signature, of ``klss2021`` with seed 0."""


def signature(chosen: Configuration, *, seed: int = 0, say: Say = lambda line: None) -> int:
    """Hash of move, nodes, depth, iterations, gadget and value (six decimals) at each packaged position, with the
    built-in evaluator.
    """
    crc = 0
    for name, game in bench_positions():
        decision = seated(make_player(chosen, seed=seed), game).answer("move", Limit(nodes=NODES))
        found = decision.diagnostics
        said = [decision.answer.uci(), *(found[key] for key in ("nodes", "depth", "iterations", "gadget"))]
        crc = zlib.crc32(repr([*said, f"{found['value']:.6f}"]).encode(), crc)
        say(f"{name}: {NODES} nodes, {decision.answer.uci()}")
    return crc


def main() -> int:
    """Print the signature; with ``--write``, make it the expected one."""
    found = signature(configuration("klss2021"))
    if "--write" in sys.argv[1:]:
        EXPECTED.write_text(
            json.dumps({"configuration": "klss2021", "seed": 0, "signature": found}) + "\n", encoding="utf-8"
        )
    print(found)
    return 0


if __name__ == "__main__":
    sys.exit(main())
