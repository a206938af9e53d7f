"""Players of OpenSpiel's games. Each gets only its own observations and its limits."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from klss.openspiel.belief import HistoryBelief, Opponent
from klss.openspiel.model import OpenSpielModel, Values
from klss.openspiel.observations import NOTHING, Seen, history_name
from klss.play.contest import Decision, Player
from klss.play.limits import Limit
from klss.play.outcome import Seat
from klss.play.time_plan import Timekeeper, TimePlan
from klss.search import Report, Search, SearchConfiguration
from klss.search.root_values import root_values
from klss.theory.game import Named

_DEALS = 3_000
"""Most outcomes of nature before the first action with which a search from the game's start is made."""

_LEAST_SEARCH_S = 0.01
"""Least seconds of a search, however long the belief took: enough to expand the roots."""


class RandomPlayer(Player[None, Seen, int]):
    """Plays a uniformly random legal action."""

    def __init__(self, seed: int = 0) -> None:
        self.seed = seed  # of all random draws after the next :meth:`begin`
        self.mixture: dict[int, float] = {}  # the probabilities from which the last action was drawn

    def begin(self, seat: Seat, setup: None = None) -> None:
        self._random = random.Random(self.seed)
        self._seen: list[Seen] = []

    def observe(self, observation: Seen) -> None:
        self._seen.append(observation)

    def answer(self, question: str, limit: Limit) -> Decision[int]:
        return self._drawn(dict.fromkeys(self._seen[-1].actions, 1.0), {})

    def _drawn(self, weights: Mapping[int, float], diagnostics: dict[str, Any]) -> Decision[int]:
        total = sum(weights.values())
        self.mixture = {action: weight / total for action, weight in weights.items()}
        action = self._random.choices(list(weights), list(weights.values()))[0]
        return Decision(action, diagnostics)


class PolicyPlayer(RandomPlayer):
    """Plays a given strategy, and a uniformly random action at infosets that it does not name.

    ``infosets`` are those of both seats: infoset's name (that of OpenSpiel, or of
    :func:`klss.openspiel.observations.history_name`) -> action's name -> probability.
    """

    def __init__(self, infosets: Mapping[Seat, Named], seed: int = 0) -> None:
        super().__init__(seed)
        self._infosets = infosets

    def begin(self, seat: Seat, setup: None = None) -> None:
        super().begin(seat, setup)
        self._seat = seat

    def answer(self, question: str, limit: Limit) -> Decision[int]:
        weights = weights_by_name(self._infosets[self._seat], self._seen)
        return self._drawn(weights or dict.fromkeys(self._seen[-1].actions, 1.0), {"known": weights is not None})


def weights_by_name(infosets: Named, seen: Sequence[Seen]) -> dict[int, float] | None:
    """Return the weights of the actions at the last observation, from those of one seat (:class:`PolicyPlayer`); None
    if they do not name it.
    """
    last = seen[-1]
    for key in (last.text, history_name(seen)):
        named = infosets.get(key)
        if named is not None and set(named) <= set(last.names) and sum(named.values()) > 0.0:
            return {action: float(named.get(name, 0.0)) for action, name in zip(last.actions, last.names, strict=True)}
    return None


class BelievingPlayer(RandomPlayer):
    """The base class of players that follow every history that agrees with their observations."""

    def __init__(
        self,
        game: Any,  # a ``pyspiel.Game`` of :func:`klss.openspiel.games.spiel_game`
        seed: int = 0,  # of all random draws
        *,
        cap: int = 20_000,  # most histories in the belief
        values: Values | None = None,  # see :class:`klss.openspiel.model.OpenSpielModel`
        opponent: Opponent | None = None,  # the opponent's strategy, if known
    ) -> None:
        super().__init__(seed)
        self._game, self._cap, self._values, self._opponent = game, cap, values, opponent
        self._believed: HistoryBelief | None = None

    def begin(self, seat: Seat, setup: None = None) -> None:
        super().begin(seat, setup)
        draw = np.random.default_rng(self.seed).integers(0, 2**31, size=2)
        self._model = OpenSpielModel(self._game, 0 if seat else 1, seed=int(draw[0]), values=self._values)
        self._believed = HistoryBelief(self._model, cap=self._cap, seed=int(draw[1]), opponent=self._opponent)
        self._taken, self.last_fault, self._timekeeper = 0, None, Timekeeper()

    @property
    def position_set(self) -> HistoryBelief | None:
        """See :class:`klss.play.contest.Player`; None after observations that are taken in only at the next turn."""
        return None if self._taken < len(self._seen) else self._believed

    def _belief(self, plan: TimePlan) -> HistoryBelief:
        """Return the belief after the observations so far."""
        assert self._believed is not None, "a game has begun"
        new, self._taken = self._seen[self._taken :], len(self._seen)
        if new:
            self._believed.observe(new, plan.tracking_deadline(), plan.nodes)
            if not self._believed.size:
                self.last_fault = "no history that agrees with the observations was found; any legal action is played"
        return self._believed

    def close(self) -> None:
        self._believed = None


class SearchingPlayer(BelievingPlayer):
    """A search of :mod:`klss.search`, with a ``configuration``, over an exact belief; the other arguments are those of
    :class:`BelievingPlayer`.
    """

    def __init__(self, game: Any, configuration: SearchConfiguration, seed: int = 0, **belief: Any) -> None:
        super().__init__(game, seed, **belief)
        self._configuration = configuration

    def begin(self, seat: Seat, setup: None = None) -> None:
        super().begin(seat, setup)
        self._search = Search(self._model, self._configuration, seed=self.seed)
        self._walked = 0  # number of observations that the search has taken in
        self._value = 0.0

    def answer(self, question: str, limit: Limit) -> Decision[int]:
        """See :class:`klss.play.contest.Player`. At the first question the search begins at the game's start, with
        half of the budget, so that earlier actions of nature and the opponent have the weights of the whole game.
        """
        plan = self._timekeeper.plan(limit)
        belief = self._belief(plan)
        self._model.deadline = plan.deadline
        actions = self._seen[-1].actions
        if self._search.standing is None and not self._at_start and _few_deals(self._game):
            self._search.begin(self._model.root, plan.half())
        self._walk()
        if len(actions) == 1 or not belief.size:
            report = Report(belief.size, self._search.known, self._value, plan.elapsed(), belief.capped_by)
            return self._drawn(dict.fromkeys(actions, 1.0), report.diagnostics())
        budget = plan.budget(_LEAST_SEARCH_S)
        found = self._search.search(belief, budget)
        self._value = found.report.value  # reported again at moves without a search
        self._forget(belief)
        self.mixture = dict(zip(found.actions.tolist(), found.probabilities.tolist(), strict=True))
        return Decision(found.action, found.report.diagnostics())

    def values(self) -> dict[int, float]:
        """Return the value of each action by the last search, in [−1, 1], without actions whose value is unknown; see
        :mod:`klss.search.root_values`.
        """
        standing = self._search.standing
        if standing is None:
            return {}
        found = root_values(standing.trunk, standing.profile, standing.infoset)
        return {int(a): float(v) for a, v in zip(found.actions, found.values, strict=True) if not np.isnan(v)}

    @property
    def _at_start(self) -> bool:
        """Whether this is the game's first move: then the search begins at the game's start anyway."""
        return len(self._seen) == 1 and self._model.start.mover == 0

    def _walk(self) -> None:
        """Pass the observations since the last move on to the search."""
        for seen in self._seen[self._walked :]:
            if seen.ply or self._model.start.shown[0] is None:  # otherwise the game's start shows it already
                self._step(-1 if seen.own is None else seen.own, seen.key, seen.acts)
        self._walked = len(self._seen)

    def _step(self, own: int, key: int, acts: bool) -> None:
        """Pass one observation on to the search."""
        # It may follow the own action directly, or after moves that the player did not see: then in two steps.
        standing = self._search.standing
        if own >= 0 and standing is not None and standing.trunk.step(standing.infoset, own, key, acts) < 0:
            self._search.observe(own, NOTHING, False)
            own = -1
        self._search.observe(own, key, acts)

    def _forget(self, belief: HistoryBelief) -> None:
        """Drop the states that neither the belief nor the search needs."""
        standing = self._search.standing
        held = [] if standing is None else standing.trunk.states[: standing.trunk.node_count, 0].tolist()
        self._model.keep({*held, *belief.numbers})


def _few_deals(game: Any) -> bool:
    """Whether nature has few enough outcomes before the first action for a search from the game's start."""
    state, deals = game.new_initial_state(), 1
    while state.is_chance_node() and deals <= _DEALS:
        outcomes = state.legal_actions()
        deals *= len(outcomes)
        state.apply_action(outcomes[0])
    return deals <= _DEALS
