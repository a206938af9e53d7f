"""Strength against time: ``klss2021`` with 2t a move against ``klss2021`` with t, three times over.

``python -m experiments.doublings`` plays 100 games at each of 1/16 v 1/32, 1/8 v 1/16 and 1/4 v 1/8 s a move, and
writes ``results/doublings.json``. ``--time`` is the longest of these times.
"""

from __future__ import annotations

import sys

from experiments.series.runner import Pairing, Series, main

__all__ = ["SERIES"]

SERIES = Series(
    "doublings",
    "klss2021 with twice the time against klss2021",
    games=100,
    time_s=0.25,
    pairings=tuple(
        Pairing(f"doubling-{number}", "klss2021", "klss2021", share, share / 2)
        for number, share in enumerate((1 / 4, 1 / 2, 1.0), 1)
    ),
)

if __name__ == "__main__":
    sys.exit(main(SERIES))
