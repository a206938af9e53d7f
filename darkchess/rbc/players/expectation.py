"""A player that maximises expectation over the positions that it can't rule out, weighted by their probability.

Move: the request with the largest weighted mean of values over positions of the set (Bertram, Fürnkranz & Müller 2023:
g(move) ≈ Σ w·f(move, position)). Sense: the window after which that maximum is largest on average. So a sense is worth
as much as the better requests that it leads to, above all those that save the king; and a little for telling positions
apart, so that senses differ even if no request would change. The probabilities depend on the kind of the opponent, as
far as it has shown (:mod:`darkchess.rbc.belief.kinds`).

Deviations from the paper's agent: positions are valued by our evaluator a move ahead and not by Stockfish on the 50
likeliest; captures of a king are looked for in thousands of positions; senses are chosen by value, not by reduction
alone; an opponent may be of a kind that plays bad moves.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Literal

import chess
import numpy as np

from darkchess.board.position import Position
from darkchess.evaluation.evaluator import Evaluator
from darkchess.rbc.belief.kinds import Kinds
from darkchess.rbc.belief.senses import partitions
from darkchess.rbc.belief.tower import Observer, Tower, log_prior
from darkchess.rbc.game.observation import INNER, Notice
from darkchess.rbc.players.holding import HoldingPlayer
from darkchess.rbc.players.outlook import Outlook, outlook
from klss.play.contest import Decision
from klss.play.limits import Limit
from klss.play.time_plan import TimePlan
from klss.support.arrays import Floats, Ints

_PARTITIONED = 2000
"""Most positions whose partitions by windows are computed, for the information of senses; a sample of larger sets."""

_WEIGHED = 100_000
"""Most positions that get learned weights: the network weighs them in some tenths of a second."""

_MOST_CHILDREN = 200_000
"""Most children valued for one answer, which bounds its arrays."""

_FIRST_A_SECOND = 40_000.0
"""Children valued in a second, until it is measured: the rate of a slow, busy machine."""

_COVERED = 0.75
"""Share of all weight whose positions are valued, the likeliest first: fewer positions can be searched deeper."""

_LEFT_COST = 0.03
"""Value of knowing the position over knowing nothing, so that a sense that changes no request still has a value."""

_CROWDED = 200_000
"""Number of positions by which that value is 1 more: a large set takes time, and only its likeliest are valued."""

_MARGIN = 0.6
"""Share of an answer's time for valuing children; the rest is for weights and partitions."""


@dataclass(frozen=True)
class Expectation:
    """Settings of an :class:`ExpectationPlayer`."""

    # how positions are weighted: ``tower``, by learned weights (``darkchess.rbc.belief.tower``) on top of what the
    # filter over kinds of opponents says; ``even``, by the filter alone
    belief: Literal["even", "tower"] = "even"
    uniform_mix: float = 0.1  # share of all weight that is spread evenly
    # prior probability that the opponent is of another kind than the sensible one (``darkchess.rbc.belief.kinds``)
    strangers: float = 0.85
    # see ``darkchess.rbc.players.outlook.outlook``
    unaware: float = 0.02
    exposed: float = 5.0
    # requests whose value is at most this below the best are played as often as the best, since an opponent can prepare
    # for a player that always makes the same move
    spread: float = 0.02
    boards: int = 512  # most positions that are valued


class ExpectationPlayer(HoldingPlayer):
    """See the module."""

    def __init__(self, evaluator: Evaluator, thinking: Expectation, *, seed: int = 0, cap: int, threads: int) -> None:
        """See the module; ``cap`` and ``threads`` are those of the position set."""
        self._evaluator = evaluator
        self._thinking = thinking
        super().__init__(seed=seed, cap=cap, threads=threads)
        self._a_second = _FIRST_A_SECOND

    def begin(self, seat: chess.Color, setup: Position) -> None:
        super().begin(seat, setup)
        self._turn = 0
        self._kinds = Kinds(self.known, self._thinking.strangers)
        self._observer = Observer(self.known, self._kinds) if self._thinking.belief == "tower" else None
        self._beside = [each for each in (self._kinds, self._observer) if each is not None]

    def notice(self, notice: Notice) -> None:
        super().notice(notice)
        self._turn += 1

    # ------------------------------------------------------------------------------------------------ the questions
    def choose_sense(self, limit: Limit) -> Decision[int | None]:
        plan = self.time_plan(limit, sense=True)
        known = self._up_to_date(plan.tracking_deadline())
        if known.size == 1:  # there is nothing to learn
            return Decision(INNER[0], self._about_set)
        indices, weights = self._looked_at(sense=True)
        divided = partitions(known, indices)
        found = self._outlook(indices, weights, plan.renewed())
        # The value of the best request after each sense, and a little for telling positions apart.
        values = divided.best_values(found.values, weights)
        values -= (_LEFT_COST + known.size / _CROWDED) * divided.left_over(weights)
        best = int(values.argmax())
        now = float((weights @ found.values).max())
        gain = float(values[best]) - now
        return Decision(INNER[best], self._about_set | {"value": now, "gain": gain, "nodes": found.children})

    def choose_move(self, limit: Limit) -> Decision[chess.Move | None]:
        known = self.known
        found, weights = self.weighed(limit, sense=False)
        expected = weights @ found.values
        best = int(expected.argmax())
        if expected[best] < 1.0:  # else the king is captured for certain, and nothing is drawn
            near = np.flatnonzero(expected >= expected[best] - self._thinking.spread)
            best = int(near[np.random.default_rng([self._seed, self._turn]).integers(near.shape[0])])
        about = {"value": float(expected[best]), "nodes": found.children, "boards": found.boards}
        return Decision(known.request(int(found.codes[best])), self._about_set | about)

    def weighed(self, limit: Limit, *, sense: bool) -> tuple[Outlook, Floats]:
        """Return values of requests in positions, and these positions' probabilities (float64[n], summing to 1)."""
        indices, weights = self._looked_at(sense=sense)
        return self._outlook(indices, weights, self.time_plan(limit, sense=sense)), weights

    def _looked_at(self, *, sense: bool) -> tuple[Ints, Floats]:
        """Return the positions to value (int64[n]), in that order, and their weights, which sum to 1."""
        # Each turn and question draws with its own seed.
        known, seed = self.known, self._seed * 1_000_003 + 2 * self._turn + (not sense)
        indices = known.sample(_WEIGHED, seed)
        if self._observer is not None:
            logs = Tower.packaged().log_weights(known, self._observer, indices)
        else:
            logs = log_prior(self._kinds, known, indices)
        likeliest = np.argsort(-logs, kind="stable")[:_PARTITIONED]
        indices, logs = indices[likeliest], logs[likeliest]
        # Weights from their logarithms, less the largest one, which keeps the exponentials in range; a part is even.
        weights = np.exp(logs - logs.max())
        weights *= (1.0 - self._thinking.uniform_mix) / weights.sum()
        return indices, np.asarray(weights + self._thinking.uniform_mix / logs.shape[0])

    def _outlook(self, indices: Ints, weights: Floats, plan: TimePlan) -> Outlook:
        seconds = plan.seconds
        if seconds is None:
            assert plan.nodes is not None
            children = plan.nodes
        else:
            children = int(min(_MOST_CHILDREN, max(64.0, _MARGIN * seconds * self._a_second)))
        began = time.monotonic()
        # Only the positions that have most of the weight, so that they can be searched deeper.
        boards = min(self._thinking.boards, 1 + int(np.searchsorted(np.cumsum(weights), _COVERED)))
        unaware = self._thinking.unaware
        unaware += (1.0 - unaware) * self._kinds.careless
        found = outlook(
            self.known, indices, weights, self._evaluator, children=children, boards=boards, unaware=unaware,
            exposed=self._thinking.exposed, deadline=None if seconds is None else began + _MARGIN * seconds,
        )  # fmt: skip
        valued = found.boards * found.codes.shape[0]
        # Measure the rate, unless the number is too small or the nodes of a deeper search are among it.
        if seconds is not None and 500 <= found.children <= valued:
            speed = found.children / max(1e-4, time.monotonic() - began)
            self._a_second += 0.3 * (speed - self._a_second)
        return found
