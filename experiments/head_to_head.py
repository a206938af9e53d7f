"""Two players at equal time; the paper's own pair (§7) unless others are named: ``klss2021`` against its baseline; the
paper's agent scored 59.5 %.

``python -m experiments.head_to_head`` plays 200 games at 0.5 s a move, and writes ``results/head_to_head.json``;
``--players A B`` names other configurations, ``--time`` another time. Every pair at every time is a match of its own.
"""

from __future__ import annotations

import sys

from experiments.series.runner import Pairing, Series, main, named

__all__ = ["SERIES"]

SERIES = Series(
    "head_to_head",
    "two players at equal time",
    games=200,
    time_s=0.5,
    matches=lambda a, b: [Pairing(named(a, b), a, b)],
    players=("klss2021", "baseline"),
)

if __name__ == "__main__":
    sys.exit(main(SERIES))
