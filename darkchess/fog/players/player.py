"""The engine as a player: it gets its views and its own clock, nothing else, and answers with moves.

A :class:`klss.search.Search` over its own position set chooses the moves. The configuration of the search makes it
klss2021, kluss, or the paper's baseline.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import Literal

import chess
import numpy as np

from darkchess.board.move import decode, encode
from darkchess.evaluation.evaluator import Evaluator
from darkchess.fog.game.contest import Setup, king_capture
from darkchess.fog.game.view import View
from darkchess.fog.players.model import DarkChess, PositionBelief
from darkchess.fog.players.tracking import TrackingPlayer
from klss.play.contest import Decision
from klss.play.outcome import Outcome
from klss.play.time_plan import TimePlan
from klss.search import Klss2021, Report, Search, SearchConfiguration
from klss.search.pondering import Pondering

_NODES_A_SECOND = 100_000
"""Nodes that count as a second if nodes limit a move, since the filter's allowance is in seconds; the usual rate of a
search."""

_LEAST_SEARCH_S = 0.01
"""Seconds that a search always gets, however long the position set took: enough to expand the roots."""


@dataclass(frozen=True)
class BeliefSettings:
    """Which weights a player's search gets, and what they may cost."""

    belief: Literal["value", "filter"] = "value"  # "value": none, so that positions are weighed by their value alone
    filtering: float = 0.15  # share of a move's time, 0 or more, that the filter may take


@dataclass
class _Thinking:
    """The engine's state during a game."""

    model: DarkChess
    search: Search  # carries its trunk from move to move
    keys: list[int]  # of all views that the search got, in order
    value: float = 0.0  # of the game, by the last search

    def walk(self, views: list[View]) -> None:
        """Let the search walk down its trunk by those of ``views`` (all since the start) that it has not got yet."""
        for view in views[len(self.keys) :]:
            own = encode(view.own_move) if view.own_move is not None else -1
            key = view.key()
            self.search.observe(own, key, view.to_move == view.color)
            self.keys.append(key)


class KlssPlayer(TrackingPlayer):
    """The engine: an exact position set under a search of :mod:`klss.search`."""

    def __init__(
        self,
        evaluator: Evaluator,
        configuration: SearchConfiguration | None = None,
        *,
        beliefs: BeliefSettings | None = None,
        seed: int = 0,
        cap: int = 10_000_000,
        threads: int = 1,
        ponder: bool = False,
    ) -> None:
        """By default klss2021's search, without a learned belief.

        Parameters
        ----------
        evaluator, configuration, beliefs
            The evaluator of positions, and the settings of the search and of the weights.
        seed, cap, threads
            See :class:`darkchess.player_configuration.PlayerConfiguration`.
        ponder
            Whether to search on during the opponent's time (:mod:`klss.search.pondering`). It does not after a move
            that nodes limited, nor with an evaluator that two threads must not call at once.
        """
        super().__init__(seed=seed, cap=cap, threads=threads)
        self._evaluator = evaluator
        self.mixture: dict[chess.Move, float] = {}
        self._ponder = ponder and evaluator.reentrant
        self._searched = False  # whether the last move was searched, by the clock
        self._pondering: Pondering | None = None
        self._configuration = configuration or Klss2021()
        self._beliefs = beliefs or BeliefSettings()
        self.filtered = self._beliefs.belief == "filter"
        self._thinking: _Thinking | None = None

    def begin(self, seat: chess.Color, setup: Setup) -> None:
        self._give_up()
        super().begin(seat, setup)
        self._searched = False
        self._evaluator.new_game()
        model = DarkChess(seat, setup.ruleset, self._evaluator)
        threads = self._threads if self._evaluator.reentrant else 1
        search = Search(model, self._configuration, seed=self._seed, threads=threads, ponders=self._ponder)
        self._thinking = _Thinking(model, search, [self.view.key()])

    def observe(self, view: View) -> None:
        """See :class:`klss.play.contest.Player`. The position set is updated by the player's own move while
        the opponent's clock runs; then the player ponders, if it is to.
        """
        super().observe(view)
        self._stop()
        if view.kind == "own_move" and self._taken_in == len(self._views) - 1:
            self._up_to_date()
        ponders = self._ponder and self._searched and view.kind == "own_move" and view.game_over is None
        if ponders and self._thinking is not None:
            self._pondering = Pondering(self._thinking.search.ponder)
        self._searched = False

    def end(self, outcome: Outcome) -> None:
        self._stop()

    def _stop(self) -> None:
        """Stop pondering, and raise the error that ended it, if any."""
        pondering, self._pondering = self._pondering, None
        if pondering is not None:
            pondering.stop()

    def _give_up(self) -> None:
        """Stop pondering; an error in it is ignored, since the game is over."""
        with contextlib.suppress(Exception):
            self._stop()

    def _answer(self, view: View, plan: TimePlan) -> Decision[chess.Move]:
        thinking = self._thinking
        self._stop()
        assert thinking is not None
        # The filter spends its allowance after a step of the set, so the set's deadline leaves that much time.
        self._allowance = plan.estimated_s(_NODES_A_SECOND) * self._beliefs.filtering
        positions = self._up_to_date(plan.tracking_deadline(self._allowance if self.filtered else 0.0))
        # The search walks down its trunk by the observations since its last move.
        thinking.walk(self._views)
        # A king to capture or a single move needs no search; the trunk is kept for the next move.
        taking = king_capture(view)
        if taking is not None or len(view.legal_moves) == 1:
            move = taking or view.legal_moves[0]
            self.mixture = {move: 1.0}
            value = thinking.value if taking is None else 1.0
            report = Report(positions.size, thinking.search.known, value, plan.elapsed(), positions.capped_by)
            return Decision(move, report.diagnostics() | {"held": positions.held})
        # The search: over the positions, with their weights if there is a filter.
        thinking.model.deadline = plan.deadline
        belief = PositionBelief(positions, thinking.model, self.quiet, self.filtered)
        history = np.array(thinking.keys, dtype=np.uint64)
        result = thinking.search.search(belief, plan.budget(_LEAST_SEARCH_S), history=history)
        # Report the move, and the mixed strategy that it was drawn from.
        thinking.value = result.report.value
        played = zip(result.actions.tolist(), result.probabilities.tolist(), strict=True)
        self.mixture = {decode(code): share for code, share in played if share > 0.0}
        self._searched = plan.seconds is not None
        return Decision(decode(result.action), result.report.diagnostics() | {"held": positions.held})

    def close(self) -> None:
        self._give_up()
        super().close()
        self._thinking = None
