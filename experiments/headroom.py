"""What a better belief could be worth: ``kluss-value`` with the true position among its roots against itself.

``python -m experiments.headroom`` plays 100 games for each prior of the true position at 0.1 s a move, and writes
``results/headroom.json``. A is ``kluss-oracle``, which is given the truth (:mod:`experiments.players.oracle`), so its
score is no result of a player, but shows what there is to gain by drawing and weighing roots better.
"""

from __future__ import annotations

import sys

from experiments.series.runner import Pairing, Series, main

__all__ = ["SERIES"]

_PRIORS = ("0.1", "0.4")

SERIES = Series(
    "headroom",
    "kluss-value with the true position among its roots against itself",
    games=100,
    time_s=0.1,
    matches=lambda: [Pairing(f"prior-{prior}", f"kluss-oracle,prior={prior}", "kluss-value") for prior in _PRIORS],
)

if __name__ == "__main__":
    sys.exit(main(SERIES))
