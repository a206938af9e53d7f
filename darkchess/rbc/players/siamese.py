"""The player of Bertram, Fürnkranz and Müller: boards are weighed by a pair of networks alone.

Source: T. Bertram, J. Fürnkranz, M. Müller, *Neural Network-based Information Set Weighting for Playing Reconnaissance
Blind Chess* (the journal's version of 2023). Sense: of the 36 windows the one with the largest Σ_r W_r (1 − W_r) over
the 100 likeliest boards, W_r the weight of those that show r. Move: the candidates are the best requests on each board;
each is valued on all of them, and the one with the largest weighted mean is made.

Deviations: the engine is our evaluator a move ahead, deeper if there is time (or Stockfish: ``--evaluator``), with
values from −1 to 1, −1 where the own king can be captured; at most 1,000 boards of a set are weighed, drawn evenly, and
fewer if the time is short, where the source cuts sets at 5,000; the 50 likeliest are valued, as in the published code;
T is .63, which fits our pair best, not 10; opponents have no names, unless ``opponent`` gives one; ties are decided by
the order of windows and requests.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import chess
import numpy as np

from darkchess.board.position import Position
from darkchess.evaluation.evaluator import Evaluator
from darkchess.rbc.belief.anchors import Anchor, boards_of
from darkchess.rbc.belief.senses import partitions
from darkchess.rbc.belief.siamese import Siamese, softmin
from darkchess.rbc.game.observation import INNER
from darkchess.rbc.players.holding import HoldingPlayer
from darkchess.rbc.players.outlook import outlook
from klss.play.contest import Decision
from klss.play.limits import Limit
from klss.play.time_plan import TimePlan
from klss.support.arrays import Floats, Ints

WEIGHED = 1000
"""Most boards of a set that are weighed: some tenths of a second."""
_SENSED = 100
"""Likeliest boards by which a sense is chosen."""
_A_SECOND = 1000.0
"""Boards weighed in a second, at least: the rate of a slow, busy machine."""
_WEIGHING = 0.4
"""Share of an answer's time for weighing boards; as much is for their values."""


@dataclass(frozen=True)
class Nearness:
    """Settings of a :class:`SiamesePlayer`."""

    temperature: float = 0.63  # T, by which distances are divided: the one with the fewest nats on validating games
    boards: int = 50  # likeliest boards that are valued
    opponent: str = ""  # its name, one of ``darkchess.rbc.belief.anchors.NAMES``; another one is unknown


class SiamesePlayer(HoldingPlayer):
    """See the module."""

    def __init__(self, evaluator: Evaluator, thinking: Nearness, *, seed: int = 0, cap: int, threads: int) -> None:
        """See the module; ``cap`` and ``threads`` are those of the position set."""
        super().__init__(seed=seed, cap=cap, threads=threads)
        self._evaluator = evaluator
        self._thinking = thinking
        self._network = Siamese.packaged()

    def begin(self, seat: chess.Color, setup: Position) -> None:
        super().begin(seat, setup)
        self._anchor = Anchor(self.known, self._thinking.opponent)
        self._beside = [self._anchor]

    # ------------------------------------------------------------------------------------------------ the questions
    def choose_sense(self, limit: Limit) -> Decision[int | None]:
        plan = self.time_plan(limit, sense=True)
        known = self._up_to_date(plan.tracking_deadline())
        indices, weights = self._likeliest(_SENSED, plan.renewed())
        best = int(partitions(known, indices).left_over(weights).argmin())
        return Decision(INNER[best], self._about_set | {"nodes": len(indices)})

    def choose_move(self, limit: Limit) -> Decision[chess.Move | None]:
        plan = self.time_plan(limit, sense=False)
        known = self.known
        indices, weights = self._likeliest(self._thinking.boards, plan)
        seconds = plan.seconds
        deadline = None if seconds is None else time.monotonic() + _WEIGHING * seconds
        children = plan.nodes if plan.nodes is not None else len(indices) * len(known.requests())
        found = outlook(
            known, indices, weights, self._evaluator, children=children, boards=len(indices), unaware=0.0, exposed=1.0,
            deadline=deadline,
        )  # fmt: skip
        candidates = np.unique(found.values[: found.boards].argmax(axis=1))
        expected = weights @ found.values[:, candidates]
        best = int(candidates[expected.argmax()])
        about = {"value": float(expected.max()), "nodes": found.children, "boards": found.boards}
        return Decision(known.request(int(found.codes[best])), self._about_set | about)

    def _likeliest(self, count: int, plan: TimePlan) -> tuple[Ints, Floats]:
        """Return at most ``count`` positions (int64[n]), the likeliest first, and their weights, summing to 1."""
        known, most = self.known, WEIGHED
        if plan.seconds is not None:
            most = int(min(WEIGHED, max(count, _WEIGHING * plan.seconds * _A_SECOND)))
        indices = known.sample(most, self._seed * 1_000_003 + known.fullmove)
        if len(indices) == 1:
            return indices, np.ones(1)
        distances = self._network.distances(self._anchor.words, boards_of(known.rows(indices), known.own.color))
        nearest = np.argsort(distances, kind="stable")[:count]
        return indices[nearest], softmin(distances[nearest], self._thinking.temperature)
