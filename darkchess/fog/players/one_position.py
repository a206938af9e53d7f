"""Players that choose one possible position, and play as if it were the true one.

:class:`GreedyPlayer` samples the position and looks one ply ahead. :class:`BestGuessPlayer` takes, of up to 200 sampled
positions, the best one for the opponent, and searches it as in chess. Both see views only.
"""

from __future__ import annotations

import chess
import numpy as np

from darkchess.board.kernels.moves import make
from darkchess.board.kernels.tables import TABLES
from darkchess.board.move import decode, encode
from darkchess.board.position import Position
from darkchess.evaluation.evaluator import Evaluator
from darkchess.fog.game.contest import king_capture
from darkchess.fog.game.rules import PAPER, Ruleset
from darkchess.fog.game.view import View
from darkchess.fog.players.model import DarkChess
from darkchess.fog.players.tracking import TrackingPlayer
from klss.play.contest import Decision
from klss.play.limits import Limit, Progress
from klss.play.time_plan import TimePlan
from klss.search.expansion.deepening import deepening

SAMPLE = 200
"""Positions from which the guess is taken."""

_MARGIN_S = 0.01
"""Seconds that are left at the end of a move, for the last slice of the search and for the answer."""


class _OnePositionPlayer(TrackingPlayer):
    """Base of both; ``tracking``: as of the base class."""

    def __init__(self, evaluator: Evaluator, **tracking: int) -> None:
        super().__init__(**tracking)
        self._evaluator = evaluator


class GreedyPlayer(_OnePositionPlayer):
    """A search of one ply: it captures the king if it can, else makes the move with the highest value in one position
    sampled from its own set.
    """

    def choose(self, limit: Limit, progress: Progress | None = None) -> Decision[chess.Move]:
        view, plan = self._turn(), TimePlan(limit)
        taking = king_capture(view)
        if taking is not None:
            return Decision(taking, {})
        positions = self._up_to_date(plan.tracking_deadline())
        row = positions.sample(1, self._seed * 1_000_003 + view.ply)[0]
        moves = sorted(view.legal_moves, key=encode)
        after = np.empty((len(moves), 9), dtype=np.uint64)
        for i, move in enumerate(moves):
            make(row, encode(move), TABLES, after[i])
        values = -self._evaluator.values(after)
        return Decision(
            moves[int(np.argmax(values))],
            {"positions": positions.size, "capped_by": positions.capped_by, "value": float(values.max())},
        )


class BestGuessPlayer(_OnePositionPlayer):
    """Plays the best move in one position: of up to :data:`SAMPLE` sampled from the player's own set, the one with the
    lowest value for the player. It captures the king if it can.

    The evaluator's perfect-information search values the moves, one ply deeper at a time while the limit lasts; of
    equal moves, the first in the order of codes is played. The search stops at the first depth that wins, which is the
    quickest win, and before the first depth at which all moves lose.
    """

    def start(self, view: View, start: Position, ruleset: Ruleset = PAPER) -> None:
        super().start(view, start, ruleset)
        self._evaluator.new_game()

    def choose(self, limit: Limit, progress: Progress | None = None) -> Decision[chess.Move]:
        """See :class:`darkchess.fog.game.contest.Player`; ``nodes`` is about the number of positions to value."""
        view, plan = self._turn(), TimePlan(limit)
        model = DarkChess(view.color, self._ruleset, self._evaluator)
        positions = self._up_to_date(plan.tracking_deadline())
        taking = king_capture(view)
        about_set = {"positions": positions.size, "capped_by": positions.capped_by}
        if taking is not None:
            return Decision(taking, about_set | {"value": 1.0, "nodes": 0, "depth": 0, "seconds": plan.elapsed()})
        # The guess: of the sampled positions, the one with the lowest value for the player.
        model.deadline = plan.deadline
        count = SAMPLE if limit.nodes is None else min(SAMPLE, limit.nodes)
        rows = positions.sample(count, self._seed * 1_000_003 + view.ply)
        guess = model.states(rows[[int(np.argmin(self._evaluator.values(rows, deadline=model.deadline)))]], 0)
        # Its children's values at depth 1.
        found = model.expand(guess)
        nodes = len(rows) + len(found.values)
        values, depth = found.values.copy(), 1
        # Deeper, a ply at a time; children at which the game is over keep their values.
        undecided = np.flatnonzero(found.movers == 1)
        offsets = np.array([0, len(undecided)], dtype=np.int64)
        deeper_values = deepening(model, guess, offsets, found.states[undecided], plan.budget(), nodes, _MARGIN_S)
        while values.max() < 1.0:
            deeper, visited = next(deeper_values, (None, 0))
            nodes += visited
            if deeper is None:
                break
            after = values.copy()
            after[undecided] = deeper
            if after.max() <= -1.0:  # all moves lose: keep the values of the last depth, which still differ
                break
            values, depth = after, depth + 1
        return Decision(
            decode(int(found.actions[int(np.argmax(values))])),
            about_set | {"value": float(values.max()), "nodes": nodes, "depth": depth, "seconds": plan.elapsed()},
        )
