"""Players that should lose: ``best-guess``, ``greedy`` and ``random`` at equal time, and the paper's ``baseline`` with
both having twice as much.

``python -m experiments.opponents`` plays 100 games of ``klss2021`` against each at 0.1 s a move (0.2 s against
``baseline``), and writes ``results/opponents.json``; ``--players kluss``: of another player.
"""

from __future__ import annotations

import sys

from experiments.series.runner import Pairing, Series, main, named

__all__ = ["SERIES"]

_OPPONENTS = {"best-guess": 1.0, "greedy": 1.0, "random": 1.0, "baseline": 2.0}
"""How much of the series' time both sides have."""


def _pairings(player: str) -> list[Pairing]:
    return [Pairing(named(player, other), player, other, share, share) for other, share in _OPPONENTS.items()]


SERIES = Series(
    "opponents",
    "a player against some that think less",
    games=100,
    time_s=0.1,
    matches=_pairings,
    players=("klss2021",),
)

if __name__ == "__main__":
    sys.exit(main(SERIES))
