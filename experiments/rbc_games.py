"""Matches of Reconnaissance Blind Chess: ``python -m experiments.rbc_games``.

``rbc-expect`` and ``rbc-siamese`` against Trout-R (reconchess's TroutBot with an engine that lives), its attacker, our
own rush, a random player and each other. The budget is for each of a turn's two questions, Trout-R's engine has the
same nodes or seconds. What was played is kept and gone on with; ``results/rbc_games.json`` has the scores with their
intervals.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence

from experiments.series import blind

__all__ = ["PAIRINGS", "main"]

PAIRINGS: Mapping[str, tuple[str, str, float]] = {
    "trout": ("rbc-expect", "trout", 1.0),
    "attacker": ("rbc-expect", "attacker", 0.3),
    "rbc-attacker": ("rbc-expect", "rbc-attacker", 0.3),
    "random": ("rbc-expect", "random", 0.3),
    "value": ("rbc-expect", "rbc-expect,sense=value", 0.5),
    "siamese-trout": ("rbc-siamese", "trout", 1.0),
    "siamese-attacker": ("rbc-siamese", "attacker", 0.3),
    "siamese-expect": ("rbc-siamese", "rbc-expect", 1.0),
}
"""Who plays whom, and what part of ``--games``."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns the exit code."""
    return blind.main("rbc_games", (__doc__ or "").splitlines()[0], PAIRINGS, arguments, nodes=1000)


if __name__ == "__main__":
    sys.exit(main())
