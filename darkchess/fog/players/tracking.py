"""Base of most players: it keeps the views of a game, updates a position set when it is needed, and can make the player
weaker. :class:`RandomPlayer` is here too, which needs no position set.
"""

from __future__ import annotations

import math
from dataclasses import replace

import chess
import numpy as np

from darkchess.fog.belief.filter import Filter
from darkchess.fog.belief.position_set import PositionSet
from darkchess.fog.game.contest import Player, Setup, is_loud, king_capture
from darkchess.fog.game.rules import PAPER
from darkchess.fog.game.view import View, view_of
from klss.play.contest import Decision
from klss.play.limits import Limit
from klss.play.time_plan import Timekeeper, TimePlan


class TrackingPlayer(Player):
    """Base of players that follow a game; a subclass chooses the moves."""

    filtered = False
    """Whether positions get the packaged filter's weights. Its policy was learned with the built-in evaluator's values,
    so it uses that one whatever evaluator the player has.
    """
    max_nodes = math.inf
    """Most nodes of a move; with such a limit nothing reads a clock."""
    slips = 0.0
    """Probability that the player makes a random move, unless it can take the king."""
    quiet = 0
    """Plies since the player last observed a pawn move or a capture."""

    def __init__(self, *, seed: int = 0, cap: int = 10_000_000, threads: int = 1) -> None:
        """``cap`` and ``threads`` are those of the position set."""
        self._seed = seed
        self._cap = cap
        self._threads = threads
        self._views: list[View] = []
        self._ruleset = PAPER
        self._known: PositionSet | None = None  # after the first ``_taken_in`` views
        self._taken_in = 0
        # Seconds of one thread that the filter may take for each view. The player sets them at each move, and they then
        # stay, so that weights do not depend on whether a host asks for the set before the move.
        self._allowance = math.inf

    def begin(self, seat: chess.Color, setup: Setup) -> None:
        view = view_of(setup.start, seat)
        self._views, self._ruleset, self._taken_in, self._allowance = [view], setup.ruleset, 1, math.inf
        self.quiet, self._timekeeper = 0, Timekeeper()
        weigher = Filter.packaged(self._threads) if self.filtered else None
        self._known = PositionSet(
            view, setup.start, cap=self._cap, seed=self._seed, threads=self._threads, weigher=weigher
        )

    def observe(self, view: View) -> None:
        self.quiet = 0 if is_loud(self.view, view) else self.quiet + 1
        self._views.append(view)

    @property
    def view(self) -> View:
        """The player's last view."""
        return self._views[-1]

    @property
    def position_set(self) -> PositionSet:
        return self._up_to_date()

    def _up_to_date(self, deadline: float | None = None) -> PositionSet:
        """Return the position set after all views, in steps that end by ``deadline`` (of :func:`time.monotonic`)."""
        known = self._known
        assert known is not None, "the game was not started"
        while self._taken_in < len(self._views) and self._views[self._taken_in].game_over is None:
            known.observe(self._views[self._taken_in], deadline=deadline, allowance=self._allowance)
            self._taken_in += 1
        return known

    def answer(self, question: str, limit: Limit) -> Decision[chess.Move]:
        view = self.view
        assert view.legal_moves, "it is not the player's turn"
        rng = np.random.default_rng([self._seed, view.ply])
        if rng.random() < self.slips and king_capture(view) is None:
            return Decision(view.legal_moves[int(rng.integers(len(view.legal_moves)))], {})
        if math.isfinite(self.max_nodes):
            limit = replace(limit, nodes=int(min(self.max_nodes, limit.nodes or math.inf)))
        return self._answer(view, self._timekeeper.plan(limit))

    def _answer(self, view: View, plan: TimePlan) -> Decision[chess.Move]:
        """Choose a move at the player's turn, which ``view`` shows."""
        raise NotImplementedError

    def close(self) -> None:
        self._views, self._known = [], None


class RandomPlayer(TrackingPlayer):
    """Plays uniformly over the legal moves; its position set is only for a host that asks for it."""

    def _answer(self, view: View, plan: TimePlan) -> Decision[chess.Move]:
        rng = np.random.default_rng([self._seed, view.ply])
        return Decision(view.legal_moves[int(rng.integers(len(view.legal_moves)))], {})
