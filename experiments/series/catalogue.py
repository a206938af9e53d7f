"""The series of matches, by name: players, numbers of games, budgets, and the form of their results in README.

:mod:`experiments.series.runner` plays those of :data:`FOG`, :mod:`experiments.series.blind` those of :data:`BLIND`, of
Reconnaissance Blind Chess. A new series is a new entry.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from experiments.series.runner import Pairing, Series, named

__all__ = ["ABLATIONS", "BLIND", "FOG", "PARTS", "RUNGS", "TESTED", "WITHOUT", "BlindSeries"]

ABLATIONS = {
    "noreach": "reach=false",
    "resolve": "gadget=resolve",
    "maxmargin": "gadget=maxmargin",
    "fresh": "nested=false",
    "L50": "particles=50",
    "L800": "particles=800",
    "builtin": "evaluator=builtin",
    "nopenalty": "information=inf",
    "sampled": "purify=false",
    "nocaution": "caution=1",
}
"""Match -> its change to ``klss2021``, as in a configuration's text. ``builtin`` is between Stockfish as the evaluator
(A) and the built-in one (B).
"""

PARTS = {
    "no-caution": "maxmargin_share=0",
    "order-1": "order=1",
    "fresh": "nested=false",
    "even-prior": "value_beta=0",
    "roots-without-budget": "root_node_fraction=inf",
    "purification": "purify=false",
    "resolve-alone": "root=resolve",
    "maxmargin-alone": "root=maxmargin",
    "greedy-walks": "exploration=0",
    "information-penalty": "information=1e7",
}
"""Match -> its change to ``kluss``."""

_ONE_THREAD = Pairing("one-thread", "kluss,threads=2", "kluss,threads=1")
"""Meaningful only if a game has two cores to itself (``--workers 1``)."""

_OPPONENTS = {"best-guess": 1.0, "greedy": 1.0, "random": 1.0, "baseline": 2.0}
"""Players that should lose -> factor on the series' time for both sides."""

WITHOUT = "kluss-value"
"""``kluss`` without a learned belief."""

TESTED = (0.0, 30.0)
"""Elo of both hypotheses in a belief's sequential test against :data:`WITHOUT`."""

_BELIEFS = {
    "uniform": "kluss-value,value_beta=0",
    "filter": "kluss",
    "filter-not-drawn": "kluss,sample_by_weight=false",
    "filter-alone": "kluss,value_beta=0",
    "oracle": "kluss-oracle,prior=0.1",
}
"""The last one is given the truth, so it is not a player's result (:mod:`experiments.players.oracle`)."""

_CONTRARY = {"value-contrary": WITHOUT, "filter-contrary": "kluss"}
"""Matches against ``kluss-contrary``, which plays moves that the policy finds improbable: a belief that can be
exploited loses there what it gains elsewhere.
"""

RUNGS = {f"slips-{slips}": f"max_nodes=1,slips={slips}" for slips in (0.4, 0.3, 0.2, 0.1, 0.05)} | {
    f"nodes-{nodes}": f"max_nodes={nodes}" for nodes in (1, 8, 64)
}
"""The settings of Stockfish with the true position on each rung of the ruler, from the lowest on: one node per move and
random legal moves with some probability; then more nodes. With one node and no random moves it is far too strong for
the lowest rungs.
"""


def _ablation(name: str, change: str) -> Pairing:
    a = "klss2021,evaluator=stockfish" if name == "builtin" else "klss2021"
    return Pairing(name, a, f"klss2021,{change}")


def _beliefs() -> list[Pairing]:
    found = [Pairing(name, text, WITHOUT) for name, text in _BELIEFS.items()]
    return found + [Pairing(name, text, "kluss-contrary") for name, text in _CONTRARY.items()]


FOG = {
    series.name: series
    for series in (
        Series(
            "head_to_head", "two players at equal time; the paper's: `klss2021` v `baseline`", 200, 0.5,
            lambda a, b: [Pairing(named(a, b), a, b)],
            players=("klss2021", "baseline"), reading="each", minutes=100, title="Head-to-head",
        ),
        Series(
            "opponents", "a player v some that think less", 100, 0.1,
            lambda player: [Pairing(named(player, other), player, other, x) for other, x in _OPPONENTS.items()],
            players=("klss2021",), minutes=30, title="Opponents",
        ),
        Series(
            "ablations", "`klss2021` v itself with one thing off, or other", 100, 0.1,
            lambda: [_ablation(name, change) for name, change in ABLATIONS.items()],
            reading="changes", minutes=55, title="Ablations",
        ),
        Series(
            "parts", "`kluss` v itself with one part off, or other", 100, 0.1,
            lambda: [*(Pairing(name, "kluss", f"kluss,{change}") for name, change in PARTS.items()), _ONE_THREAD],
            reading="changes", minutes=35, title="The parts of `kluss`",
        ),
        Series(
            "belief_games", "`kluss` with a learned belief v without", 200, 0.1, _beliefs,
            reading="tested", minutes=100, title="Learned beliefs in games",
        ),
        Series(
            "ruler", "a player v Stockfish that sees everything, made weaker and stronger", 200, 0.5,
            lambda player: [
                Pairing(named(player, rung), player, f"stockfish-cheat,{change}") for rung, change in RUNGS.items()
            ],
            players=("kluss",), minutes=600, title="The fog ruler",
        ),
        Series(
            "headroom", "`kluss-value` given the true position v itself", 100, 0.1,
            lambda: [
                Pairing(f"prior-{prior}", f"kluss-oracle,prior={prior}", WITHOUT) for prior in ("0.1", "0.4")
            ],
            minutes=15, title="What knowing the position is worth",
        ),
    )
}  # fmt: skip
"""The series of Fog of War. ``headroom`` shows the possible gain from drawing and weighing roots better."""


@dataclass(frozen=True)
class BlindSeries:
    """A series with a budget for each of a turn's two questions."""

    about: str  # one line for its help
    nodes: int  # of a question
    # match -> the players, and their share of ``--games``
    pairings: Mapping[str, tuple[str, str, float]]


_TREE = "dsmcp,cap=20000"
"""With a capped position set, since following sets of up to two million takes seconds per turn (docs/dsmcp.md, "Play
and analyse").
"""
_MIXTURE, _CACHE = "dsmcp,mixing=1", "dsmcp,mixing=0"

BLIND = {
    "rbc_games": BlindSeries(
        "the default player v the bots of reconchess, our own simple players and dsmcp", 10_000,
        {
            "trout": ("rbc-siamese", "trout", 1.0),
            "attacker": ("rbc-siamese", "attacker", 1.0),
            "random": ("rbc-siamese", "random", 0.3),
            "rbc-attacker": ("rbc-siamese", "rbc-attacker", 1.0),
            "expect": ("rbc-siamese", "rbc-expect", 1.0),
            "dsmcp": ("rbc-siamese", _TREE, 1.0),
        },
    ),
    # The tables of Clark (2021) in small. The names are those of the results, whose ``dsmcp`` is the mixture.
    "rbc_planning": BlindSeries(
        "planning on synopses by the mixture of policy and bound, by the bound, and by the policy alone", 300,
        {
            "tree-trout": (_TREE, "trout", 0.3),
            "tree-attacker": (_TREE, "attacker", 0.3),
            "tree-expect": (_TREE, "rbc-expect", 0.3),
            "tree-siamese": (_TREE, "rbc-siamese", 0.3),
            "dsmcp-tree": (_MIXTURE, _TREE, 1.0),
            "dsmcp-trout": (_MIXTURE, "trout", 1.0),
            "dsmcp-attacker": (_MIXTURE, "attacker", 0.3),
            "dsmcp-expect": (_MIXTURE, "rbc-expect", 0.3),
            "dsmcp-siamese": (_MIXTURE, "rbc-siamese", 0.3),
            "dsmcp-cache": (_MIXTURE, _CACHE, 0.3),
            "dsmcp-rl": (_MIXTURE, "rbc-rl", 0.3),
            "known-trout": (f"{_MIXTURE},opponent=trout", "trout", 0.3),
            "cache-trout": (_CACHE, "trout", 0.3),
            "cache-attacker": (_CACHE, "attacker", 0.3),
            "rl-trout": ("rbc-rl", "trout", 1.0),
            "rl-random": ("rbc-rl", "rbc-random", 0.3),
        },
    ),
}  # fmt: skip
"""The series of Reconnaissance Blind Chess. Trout's engine has the same nodes or seconds as the players."""
