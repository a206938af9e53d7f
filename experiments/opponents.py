"""Players that should lose: ``klss2021`` against ``best-guess``, ``greedy`` and ``random``.

``python -m experiments.opponents`` plays 100 games against each at 0.1 s a move, and writes ``results/opponents.json``.
"""

from __future__ import annotations

import sys

from experiments.series.runner import Pairing, Series, main

__all__ = ["SERIES"]

SERIES = Series(
    "opponents",
    "klss2021 against players that don't think of what they can't see",
    games=100,
    time_s=0.1,
    pairings=tuple(Pairing(name, "klss2021", name) for name in ("best-guess", "greedy", "random")),
)

if __name__ == "__main__":
    sys.exit(main(SERIES))
