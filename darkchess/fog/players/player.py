"""The engine as a player: given her views and her own clock, nothing else, she answers with moves.

Her own position set stands under a :class:`klss.search.Search`, whose configuration says whether she is klss2021, the
paper's baseline, or another.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import Any

import chess
import numpy as np

from darkchess.board.move import decode, encode
from darkchess.board.position import Position
from darkchess.evaluation.evaluator import BuiltinEvaluator, Evaluator
from darkchess.fog.belief.filter import Filter
from darkchess.fog.belief.policy import Policy
from darkchess.fog.belief.weights import BeliefSettings, Weights
from darkchess.fog.game.contest import is_loud, king_capture
from darkchess.fog.game.rules import PAPER, Ruleset
from darkchess.fog.game.view import View
from darkchess.fog.players.model import DarkChess, PositionBelief
from darkchess.fog.players.tracking import TrackingPlayer, started
from klss.search import Klss2021, Report, Search, SearchConfiguration
from klss.search.pondering import Pondering
from klss.table.contest import Decision
from klss.table.limits import Limit, Progress
from klss.table.outcome import Outcome
from klss.table.time_plan import TimePlan

__all__ = ["KlssPlayer"]

_NODES_A_SECOND = 100_000
"""What a node is taken for where nodes limit a move and something else is limited by time."""

_LEAST_SEARCH_S = 0.01
"""Time that a search gets however long the position set took."""


@dataclass
class _Thinking:
    """What the engine has during a game: how it sees the game, its search, and what that has been told.

    Attributes
    ----------
    model
        The game from her seat.
    search
        Hers.
    keys
        Keys of all views that the search was told, the first one's first.
    quiet
        Plies since she last observed a pawn move or a capture.
    value
        What the last search thought of the game.
    """

    model: DarkChess
    search: Search
    keys: list[int]
    quiet: int = 0
    value: float = 0.0

    def walk(self, views: list[View]) -> None:
        """Let the search walk down by those of ``views``, all since the start, that it has not seen."""
        walked = len(self.keys)
        for before, view in zip(views[walked - 1 :], views[walked:], strict=False):
            own = encode(view.own_move) if view.own_move is not None else -1
            key = _key(view)
            self.search.observe(own, key, view.to_move == view.color)
            self.keys.append(key)
            self.quiet = 0 if is_loud(before, view) else self.quiet + 1


class KlssPlayer(TrackingPlayer):
    """The engine: an exact position set under a search of :mod:`klss.search`.

    Attributes
    ----------
    mixture : dict of chess.Move to float
        What her last move was drawn from: moves and their probabilities, none of them 0.
    """

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
        """``cap``: of the position set; ``threads``: of all; by default klss2021's search, without a learned belief
        (``beliefs``). ``ponder``: think on while
        the opponent does (:mod:`klss.search.pondering`), but after a move that nodes limited, and not with an evaluator
        that can't be asked by two threads at once.
        """
        super().__init__(seed=seed, cap=cap, threads=threads)
        self._evaluator = evaluator
        self.mixture: dict[chess.Move, float] = {}
        self._ponder = ponder and evaluator.reentrant
        self._searched = False  # for the last move, by the clock
        self._pondering: Pondering | None = None
        self._configuration = configuration or Klss2021()
        self._beliefs = beliefs or BeliefSettings()
        self._thinking: _Thinking | None = None

    def start(self, view: View, start: Position, ruleset: Ruleset = PAPER) -> None:
        """See :class:`darkchess.fog.game.contest.Player`."""
        self._give_up()
        super().start(view, start, ruleset)
        self._searched = False
        self._evaluator.new_game()
        model = DarkChess(view.color, ruleset, self._evaluator)
        threads = self._threads if self._evaluator.reentrant else 1
        search = Search(model, self._configuration, seed=self._seed, threads=threads, ponders=self._ponder)
        self._thinking = _Thinking(model, search, [_key(view)])

    def _beside_the_set(self) -> dict[str, Any]:
        """See :class:`darkchess.fog.players.tracking.TrackingPlayer`. The policy knows the built-in evaluator."""
        asked = self._beliefs.parts
        evaluator = BuiltinEvaluator(threads=self._threads)
        weigher = Filter(Policy.packaged(), evaluator) if "filter" in asked else None
        return {"weigher": weigher, "observes": "siamese" in asked}

    def observe(self, view: View) -> None:
        """See :class:`darkchess.fog.game.contest.Player`. What her own move shows is taken in off her clock;
        then she ponders, if she does.
        """
        super().observe(view)
        self._stop()
        followed = started(self._followed)
        if view.kind == "own_move" and followed.known is not None and followed.behind == 1:
            followed.up_to_date()
        if view.kind == "own_move" and view.game_over is None and self._ponder and self._searched:
            self._pondering = Pondering(started(self._thinking).search.ponder)
        self._searched = False

    def end(self, outcome: Outcome) -> None:
        """See :class:`darkchess.fog.game.contest.Player`."""
        self._stop()

    def _stop(self) -> None:
        """Ponder no more, and raise what went wrong in it."""
        pondering, self._pondering = self._pondering, None
        if pondering is not None:
            pondering.stop()

    def _give_up(self) -> None:
        """Ponder no more; what went wrong in it matters to nobody."""
        with contextlib.suppress(Exception):
            self._stop()

    def choose(self, limit: Limit, progress: Progress | None = None) -> Decision:
        """See :class:`darkchess.fog.game.contest.Player`."""
        plan = TimePlan(limit)
        self._stop()
        followed, thinking = self._turn(), started(self._thinking)
        view = followed.views[-1]
        # The filter spends its allowance after each of the set's steps, so the set's own deadline leaves that over.
        followed.allowance = plan.estimated_s(_NODES_A_SECOND) * self._beliefs.filtering
        positions = followed.up_to_date(plan.tracking_deadline(followed.allowance if followed.weighed else 0.0))
        thinking.walk(followed.views)
        taking = king_capture(view)
        if taking is not None or len(view.legal_moves) == 1:
            value = thinking.value if taking is None else 1.0
            report = Report(  # without a search; the trunk stays, for the next move to be carried on from
                positions=positions.size,
                capped_by=positions.capped_by,
                carried=thinking.search.known,
                value=value,
                seconds=plan.elapsed(),
            )
            self.mixture = {taking or view.legal_moves[0]: 1.0}
            return Decision(taking or view.legal_moves[0], report.diagnostics())
        thinking.model.deadline = plan.deadline
        weights = Weights(positions, followed.observer, threads=self._threads) if self._beliefs.parts else None
        belief = PositionBelief(positions, thinking.model, thinking.quiet, weights)
        history = np.array(thinking.keys, dtype=np.uint64)
        result = thinking.search.search(belief, plan.budget(_LEAST_SEARCH_S), history=history, progress=progress)
        thinking.value = result.report.value
        played = zip(result.actions.tolist(), result.probabilities.tolist(), strict=True)
        self.mixture = {decode(code): share for code, share in played if share > 0.0}
        self._searched = plan.seconds is not None
        return Decision(decode(result.action), result.report.diagnostics())

    def close(self) -> None:
        """See :class:`darkchess.fog.game.contest.Player`."""
        self._give_up()
        super().close()
        self._thinking = None


def _key(view: View) -> int:
    """The view's key, as the search's own children carry it."""
    return int(view.key())
