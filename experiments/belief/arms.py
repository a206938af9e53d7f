"""``python -m experiments.belief games``: what each belief is worth in games, against ``kluss`` without one.

All have the same time and evaluator; the last is told the truth and no result of a player
(:mod:`experiments.players.oracle`). ``kluss-value`` weighs roots by their value alone. And what each scores against
``kluss-contrary``, who knows the policy and moves as it holds unlikely: a belief that can be exploited loses there what
it gains elsewhere.
"""

from __future__ import annotations

from experiments.series.runner import Pairing, Series

__all__ = ["BELIEFS", "SERIES", "TESTED", "WITHOUT"]

WITHOUT = "kluss-value"
"""``kluss`` without a learned belief."""

BELIEFS = ("kluss-filter", "kluss-siamese", "kluss-both")
"""With one, each as its name says."""

TESTED = (0.0, 30.0)
"""Elo: what a belief's sequential test against :data:`WITHOUT` holds against each other."""

_ARMS = {
    "uniform": "kluss-value,slope=0",
    "filter": "kluss-filter",
    "filter-not-drawn": "kluss-filter,drawn=false",
    "filter-alone": "kluss-filter,slope=0",
    "siamese": "kluss-siamese",
    "both": "kluss-both",
    "oracle": "kluss-oracle,prior=0.1",
}

_CONTRARY = "kluss-contrary"

SERIES = Series(
    "belief_games",
    "what each belief is worth in games",
    games=200,
    time_s=0.1,
    command="belief games",
    matches=lambda: [
        *(Pairing(name, text, WITHOUT) for name, text in _ARMS.items()),
        *(Pairing(f"{text.removeprefix('kluss-')}-contrary", text, _CONTRARY) for text in (WITHOUT, *BELIEFS)),
    ],
)
