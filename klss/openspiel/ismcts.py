"""OpenSpiel's own search for imperfect information as a player: information set Monte Carlo tree search (Cowling et al.
2012).

States are drawn from our exact belief, which only OpenSpiel's bot in Python allows. It gets a state of the belief to
start from, never the true one. Values are random playouts, OpenSpiel's default.
"""

from __future__ import annotations

import itertools
import math
import random
import time
from typing import Any

import numpy as np
from open_spiel.python.algorithms import ismcts

from klss.openspiel.belief import HistoryBelief
from klss.openspiel.games import largest_payoff
from klss.openspiel.model import Playouts
from klss.openspiel.players import BelievingPlayer
from klss.play.contest import Decision
from klss.play.limits import Limit
from klss.play.time_plan import TimePlan

_UCT = 2.0
"""UCT's constant in OpenSpiel's examples, for payoffs in [−1, 1]; it is multiplied by a game's largest payoff."""


class IsmctsPlayer(BelievingPlayer):
    """See the module; a node is a simulation. Arguments are those of
    :class:`klss.openspiel.players.BelievingPlayer`.
    """

    def answer(self, question: str, limit: Limit) -> Decision[int]:
        """See :class:`klss.play.contest.Player`. If the belief is empty, the action is uniformly random."""
        plan = self._timekeeper.plan(limit)
        belief = self._belief(plan)
        actions = self._seen[-1].actions
        weights = dict[int, float]()
        if len(actions) > 1 and belief.size:
            weights = self._search(belief, plan, self._random.randrange(2**31)).policy()
            self._model.keep(belief.numbers)  # drop the places that no history of the belief needs any more
        said = {"positions": belief.size, "capped_by": belief.capped_by}
        return self._drawn(weights or dict.fromkeys(actions, 1.0), said)

    def _search(self, belief: HistoryBelief, plan: TimePlan, seed: int) -> FromBelief:
        return FromBelief(self._game, belief, plan, seed)


class FromBelief(ismcts.ISMCTSBot):  # type: ignore[misc]
    """OpenSpiel's bot in Python with states drawn from a belief; it is its own ``Evaluator``."""

    def __init__(self, game: Any, belief: HistoryBelief, plan: TimePlan, seed: int, uct: float = _UCT) -> None:
        super().__init__(
            game, self, uct * largest_payoff(game), plan.nodes,
            random_state=np.random.RandomState(seed), allow_inconsistent_action_sets=True,
            use_observation_string=not game.get_type().provides_information_state_string,
        )  # fmt: skip
        self._chance, self._playouts = random.Random(seed), Playouts(game, seed)
        self._begin, self._draw, self._until = belief.first, belief.sampler(self._chance), plan.deadline

    def policy(self) -> dict[int, float]:
        """Return probabilities by action; {} if the budget was too small to try one."""
        # As OpenSpiel's run_search, with a clock, and also in games of perfect information.
        root = self.create_new_node(self._begin)
        for _ in itertools.count() if self._until is not None else range(self._max_simulations):
            if self._until is not None and time.monotonic() > self._until:
                break
            self.run_simulation(self._draw())
        found = self.get_final_policy(self._begin, root) if root.total_visits > 0 else []
        return {action: share for action, share in found if share > 0.0 and math.isfinite(share)}

    def evaluate(self, state: Any) -> list[float]:
        """Return both players' payoffs of a random playout."""
        return self._playouts.returns(state)

    def prior(self, state: Any) -> list[tuple[int, float]]:
        """Return uniform probabilities."""
        actions = state.legal_actions()
        return [(action, 1.0 / len(actions)) for action in actions]
