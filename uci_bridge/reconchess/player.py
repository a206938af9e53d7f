"""Any of our players of Reconnaissance Blind Chess as a ``reconchess.Player``.

The program that runs the game (``play_local_game``, ``rc-bot-match``, a server) is not trusted: its data may contradict
itself. An exception of our player is logged, and the game continues with a random allowed square or request. The game's
history, which shows what was hidden, is not read.
"""

from __future__ import annotations

import logging
import math
import random
from collections.abc import Callable, Collection, Sequence
from typing import TypeVar

import chess

from darkchess.board.position import Position
from darkchess.evaluation.evaluator import Evaluator
from darkchess.evaluation.registry import EvaluatorChoice
from darkchess.rbc.game.contest import DEFAULT_PLAYER, Answer, Player, Question
from darkchess.rbc.game.observation import INNER, Moved, Notice, Sensed, window
from darkchess.rbc.game.rules import WIN_REASONS
from darkchess.rbc.players.named_rbc_players import configuration as configuration_of
from darkchess.rbc.players.named_rbc_players import make_player
from klss.play.limits import Limit
from klss.play.outcome import Outcome
from uci_bridge.evaluators import make_evaluator
from uci_bridge.reconchess.bots import check_reconchess

try:
    from reconchess import Player as _TheirPlayer
except ImportError:  # an extra; making a player raises
    _TheirPlayer = object

log = logging.getLogger(__name__)

_INCREMENT_S = 5.0
_MOST_S = 900.0
"""The usual clock of ``reconchess``: seconds added per turn, and at the start. A longer clock counts as this one."""

_REASONS = {theirs: ours for ours, theirs in reversed(WIN_REASONS.items())}

_T = TypeVar("_T")


class ReconchessPlayer(_TheirPlayer):  # type: ignore[misc]
    """A configuration that plays in the games of ``reconchess``, one after the other.

    Parameters
    ----------
    configuration
        Its text, see :func:`darkchess.rbc.players.named_rbc_players.configuration`.
    seed
        Seed of the first game's random choices; later games derive theirs from it.
    time_s, nodes
        Limits of each answer, a square or a request; nodes take precedence. None and None: a share of the clock, or 5 s
        without a clock.

    Raises
    ------
    ReconchessMissing
        The package ``reconchess`` is not installed.
    ConfigurationError
        See :func:`darkchess.rbc.players.named_rbc_players.configuration`; or a limit that is none.
    StockfishMissing
        The configuration needs it, and there is none.
    """

    def __init__(
        self,
        configuration: str = DEFAULT_PLAYER,
        seed: int = 0,
        time_s: float | None = None,
        nodes: int | None = None,
    ) -> None:
        check_reconchess()
        self._chosen = configuration_of(configuration)
        self._seed = seed
        self._given = Limit(time_s=time_s, nodes=nodes)
        self._games = 0
        self._player: Player | None = None
        self._looked: int | None = None
        self._rng = random.Random(seed)
        choice = EvaluatorChoice(reproducible=nodes is not None)
        self._evaluator: Evaluator = make_evaluator(self._chosen, choice)

    def close(self) -> None:
        """Free its resources. The player can't be used afterwards."""
        self._leave()
        self._evaluator.close()

    # ------------------------------------------------------------------------------------------------ their methods
    def handle_game_start(self, color: bool, board: chess.Board, opponent_name: str) -> None:
        """Begin a game; an earlier one that has no end yet is given up."""
        self._leave()
        seed = self._seed + self._games
        self._games, self._looked, self._rng = self._games + 1, None, random.Random(seed)
        self._player = make_player(self._chosen, self._evaluator, seed=seed)
        start = self._guarded(lambda _: Position.from_fen(board.fen(en_passant="fen")), Position.start)
        self._tell(lambda player: player.begin(bool(color), start))

    def handle_opponent_move_result(self, captured_my_piece: bool, capture_square: int | None) -> None:
        """Begin its turn."""
        self._tell(lambda player: player.observe(Notice(capture_square if captured_my_piece else None)))

    def choose_sense(
        self, sense_actions: list[int], move_actions: list[chess.Move], seconds_left: float | None
    ) -> int | None:
        """The square of its look; always one of ``sense_actions``, or None."""
        allowed = sense_actions or [*chess.SQUARES]
        inner = [square for square in INNER if square in allowed]
        looked = self._asked("sense", seconds_left, {None, *allowed}, inner or [None])
        self._looked = looked if isinstance(looked, int) else None
        return self._looked

    def handle_sense_result(self, sense_result: list[tuple[int, chess.Piece | None]]) -> None:
        """Pass on the result of the look."""
        seen = dict(sense_result or ())
        shown = () if self._looked is None else window(self._looked)
        if set(shown) <= seen.keys():
            sensed = Sensed(self._looked, tuple((square, seen[square]) for square in shown))
        else:
            sensed = Sensed(None, ())  # a game that was over when it looked shows nothing
        self._tell(lambda player: player.observe(sensed))

    def choose_move(self, move_actions: list[chess.Move], seconds_left: float | None) -> chess.Move | None:
        """Its request; always one of ``move_actions``, or None."""
        allowed = [None, *(move_actions or ())]
        asked = self._asked("move", seconds_left, {*allowed}, allowed)
        return asked if isinstance(asked, chess.Move) else None

    def handle_move_result(
        self,
        requested_move: chess.Move | None,
        taken_move: chess.Move | None,
        captured_opponent_piece: bool,
        capture_square: int | None,
    ) -> None:
        """Pass on the result of its request."""
        moved = Moved(requested_move, taken_move, capture_square if captured_opponent_piece else None)
        self._tell(lambda player: player.observe(moved))

    def handle_game_end(self, winner_color: bool | None, win_reason: object, game_history: object) -> None:
        """Pass on the end of the game; its history is not read."""
        outcome = Outcome(winner_color, _REASONS.get(getattr(win_reason, "name", ""), "aborted"))
        self._tell(lambda player: player.end(outcome))
        self._leave()

    # ------------------------------------------------------------------------------------------------ helpers
    def _leave(self) -> None:
        """End the player of the current game, if any."""
        self._tell(lambda player: player.close())
        self._player = None

    def _limit(self, seconds_left: float | None) -> Limit:
        if self._given != Limit():
            return self._given
        if seconds_left is None or not math.isfinite(seconds_left):
            return Limit()
        return Limit(clock=(min(max(0.0, seconds_left), _MOST_S), _INCREMENT_S))

    def _asked(
        self, question: Question, seconds_left: float | None, allowed: Collection[Answer], otherwise: Sequence[Answer]
    ) -> Answer:
        """The player's answer if it is allowed, else a random one of ``otherwise``."""

        def answer(player: Player) -> Answer:
            found = player.answer(question, self._limit(seconds_left)).answer
            if found not in allowed:
                raise ValueError(f"got {found!r}, expected what is allowed")
            return found

        return self._guarded(answer, lambda: self._rng.choice(otherwise))

    def _tell(self, tell: Callable[[Player], None]) -> None:
        self._guarded(tell, lambda: None)

    def _guarded(self, do: Callable[[Player], _T], otherwise: Callable[[], _T]) -> _T:
        """The result of ``do`` with the game's player; if there is none, or it raises, which is logged, that of
        ``otherwise``.
        """
        if self._player is not None:
            try:
                return do(self._player)
            except Exception as error:
                log.error("%s: %s", self._chosen.name, error, exc_info=True)
        return otherwise()
