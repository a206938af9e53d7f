"""The paper's head-to-head (§7): ``klss2021`` against its baseline at equal time; the paper's agent scored 59.5 %.

``python -m experiments.head_to_head`` plays 200 games at 0.5 s a move, and writes ``results/head_to_head.json``.
"""

from __future__ import annotations

import sys

from experiments.series.runner import Pairing, Series, main

__all__ = ["SERIES"]

SERIES = Series(
    "head_to_head",
    "klss2021 against the paper's baseline, at equal time",
    games=200,
    time_s=0.5,
    pairings=(Pairing("baseline", "klss2021", "baseline"),),
)

if __name__ == "__main__":
    sys.exit(main(SERIES))
