"""Strength against time: a player with 2t a move against itself with t, four times over.

``python -m experiments.doublings`` plays 100 games of ``klss2021`` at each of 1/16 v 1/32, 1/8 v 1/16, 1/4 v 1/8 and
1/2 v 1/4 s a move, and writes ``results/doublings.json``, where all four are also reported as one; ``--players kluss``:
of another player. ``--time`` is the longest of these times.
"""

from __future__ import annotations

import sys

from experiments.series.runner import Pairing, Series, main, named

__all__ = ["SERIES"]


def _pairings(player: str) -> list[Pairing]:
    return [
        Pairing(named(player, "doubling", str(number)), player, player, share, share / 2)
        for number, share in enumerate((1 / 8, 1 / 4, 1 / 2, 1.0), 1)
    ]


SERIES = Series(
    "doublings",
    "a player with twice the time against herself",
    games=100,
    time_s=0.5,
    matches=_pairings,
    players=("klss2021",),
    pooled=True,
)

if __name__ == "__main__":
    sys.exit(main(SERIES))
