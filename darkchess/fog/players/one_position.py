"""A player that chooses one possible position, and plays as if it were the true one: ``greedy`` samples it and looks
one ply ahead; ``best-guess`` takes the best of many for the opponent, and searches it as in chess.
"""

from __future__ import annotations

import chess
import numpy as np

from darkchess.board.move import decode
from darkchess.evaluation.evaluator import Evaluator
from darkchess.fog.game.contest import Setup, king_capture
from darkchess.fog.game.view import View
from darkchess.fog.players.model import DarkChess
from darkchess.fog.players.tracking import TrackingPlayer
from klss.play.contest import Decision
from klss.play.time_plan import TimePlan
from klss.search.expansion.deepening import deepening

_MARGIN_S = 0.01
"""Seconds that are left at the end of a move, for the last slice of the search and for the answer."""


class OnePositionPlayer(TrackingPlayer):
    """Plays the best move in one position: of up to ``sample`` sampled from the player's own set, the one with the
    lowest value for the player. It captures the king if it can.

    The evaluator's perfect-information search values the moves, one ply deeper at a time while the limit lasts, up to
    ``deepest`` plies; of equal moves, the first in the order of codes is played. The search stops at the first depth
    that wins, which is the quickest win, and before the first depth at which all moves lose. ``tracking``: as of the
    base class.
    """

    def __init__(self, evaluator: Evaluator, *, sample: int, deepest: float, **tracking: int) -> None:
        super().__init__(**tracking)
        self._evaluator, self._sample, self._deepest = evaluator, sample, deepest

    def begin(self, seat: chess.Color, setup: Setup) -> None:
        super().begin(seat, setup)
        self._evaluator.new_game()

    def _answer(self, view: View, plan: TimePlan) -> Decision[chess.Move]:
        """See the base; ``nodes`` is about the number of positions to value."""
        model = DarkChess(view.color, self._ruleset, self._evaluator)
        positions = self._up_to_date(plan.tracking_deadline())
        taking = king_capture(view)
        about_set = {"positions": positions.size, "capped_by": positions.capped_by}
        if taking is not None:
            return Decision(taking, about_set | {"value": 1.0, "nodes": 0, "depth": 0, "seconds": plan.elapsed()})
        # The guess: of the sampled positions, the one with the lowest value for the player.
        model.deadline = plan.deadline
        count = self._sample if plan.nodes is None else min(self._sample, plan.nodes)
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
        while depth < self._deepest and values.max() < 1.0:
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
