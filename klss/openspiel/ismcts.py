"""OpenSpiel's own search for imperfect information as a player: information set Monte Carlo tree search (Cowling et al.
2012).

States are drawn from our exact belief, which only OpenSpiel's bot in Python allows. It gets a state of the belief to
start from, never the true one. Values are random playouts, OpenSpiel's default.
"""

from __future__ import annotations

import math
import random
import time
from typing import Any

import numpy as np
from open_spiel.python.algorithms import ismcts

from klss.openspiel.belief import HistoryBelief
from klss.openspiel.games import largest_payoff
from klss.openspiel.model import Playouts
from klss.openspiel.players import SimulatingPlayer
from klss.play.time_plan import TimePlan

_UCT = 2.0
"""UCT's constant in OpenSpiel's examples, for payoffs in [−1, 1]; it is multiplied by a game's largest payoff."""

_WITHOUT_END = 10**9
"""Number of simulations if the search is ended by time."""


class IsmctsPlayer(SimulatingPlayer):
    """See the module. Arguments are those of :class:`klss.openspiel.players.BelievingPlayer`."""

    def _simulated(self, belief: HistoryBelief, plan: TimePlan) -> tuple[dict[int, float], dict[str, Any]]:
        return _FromBelief(self, belief, plan, self._random.randrange(2**31)).policy(), {}


class _Late(Exception):
    """The time of the answer is over."""


class _FromBelief:
    """OpenSpiel's bot in Python with states drawn from a belief."""

    def __init__(self, player: IsmctsPlayer, belief: HistoryBelief, plan: TimePlan, seed: int) -> None:
        self._model, self._until = player._model, plan.deadline
        self._numbers = belief.numbers
        self._draw = belief.sampler(random.Random(seed))
        self._playouts = Playouts(player._game, seed)
        self._bot = ismcts.ISMCTSBot(
            player._game, self, _UCT * largest_payoff(player._game), plan.nodes or _WITHOUT_END,
            random_state=np.random.RandomState(seed), allow_inconsistent_action_sets=True,
            use_observation_string=not player._game.get_type().provides_information_state_string,
        )  # fmt: skip
        self._bot.set_resampler(lambda state, _: self._sample())

    def policy(self) -> dict[int, float]:
        """Return probabilities by action; {} if there was no time for a simulation."""
        state = self._model.place(self._numbers[0]).state
        try:
            found = self._bot.run_search(state)
        except _Late:
            root = self._bot._root_node
            found = self._bot.get_final_policy(state, root) if root is not None and root.total_visits > 0 else []
        return {action: share for action, share in found if share > 0.0 and math.isfinite(share)}

    def _sample(self) -> Any:
        if self._until is not None and time.monotonic() > self._until:
            raise _Late
        return self._draw()

    def evaluate(self, state: Any) -> list[float]:
        """OpenSpiel's ``Evaluator``: return both players' payoffs of a random playout."""
        return self._playouts.returns(state)

    def prior(self, state: Any) -> list[tuple[int, float]]:
        """OpenSpiel's ``Evaluator``: return uniform probabilities."""
        actions = state.legal_actions()
        return [(action, 1.0 / len(actions)) for action in actions]
