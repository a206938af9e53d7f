"""``python -m experiments.belief games``: what each belief is worth in games, against ``kluss`` without one.

All have the same time and evaluator; the last is given the truth and is no result of a player
(:mod:`experiments.players.oracle`). ``kluss-value`` weighs roots by their value alone. And what each scores against
``kluss-contrary``, which knows the policy and makes moves that it holds unlikely: a belief that can be exploited loses
there what it gains elsewhere.
"""

from __future__ import annotations

from experiments.series.runner import Pairing, Series

__all__ = ["BELIEFS", "SERIES", "TESTED", "WITHOUT"]

WITHOUT = "kluss-value"
"""``kluss`` without a learned belief."""

BELIEFS = {"filter": "kluss"}
"""With one."""

TESTED = (0.0, 30.0)
"""Elo: what a belief's sequential test against :data:`WITHOUT` holds against each other."""

_ARMS = {
    "uniform": "kluss-value,value_beta=0",
    **BELIEFS,
    "filter-not-drawn": "kluss,sample_by_weight=false",
    "filter-alone": "kluss,value_beta=0",
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
        *(Pairing(f"{name}-contrary", text, _CONTRARY) for name, text in ({"value": WITHOUT} | BELIEFS).items()),
    ],
)
