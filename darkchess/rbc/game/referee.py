"""The true game: it takes senses and requests, gives each player its observations, and declares the result.

The rules are those of ``reconchess`` 1.6.9 (docs/rbc.md). Only the referee's side imports this file; a player gets
objects of :mod:`darkchess.rbc.game.observation`.
"""

from __future__ import annotations

from dataclasses import dataclass

import chess

from darkchess.board.position import Position
from darkchess.board.true_game import TrueGame
from darkchess.errors import IllegalMove
from darkchess.rbc.game.contest import Question
from darkchess.rbc.game.observation import Moved, Notice, Observation, Sensed, looked
from darkchess.rbc.game.requests import after_move, is_request, played, requests
from darkchess.rbc.game.rules import LIMITS, Limits
from klss.play.outcome import Outcome


@dataclass(frozen=True)
class Turn:
    """A turn that was played."""

    color: chess.Color  # the player's
    # the player's observations in it
    notice: Notice
    sensed: Sensed
    moved: Moved
    before: Position  # the true position at its beginning


class Referee(TrueGame):
    """One game of Reconnaissance Blind Chess, from ``fen`` as in :class:`TrueGame`; ``limits`` say when it is drawn.

    Examples
    --------
    >>> game = Referee()
    >>> game.sense(chess.E7).contents[0]
    (59, Piece.from_symbol('q'))
    >>> game.move(chess.Move.from_uci("e2d3")).taken is None
    True
    >>> game.turn, game.notice
    (False, Notice(square=None))
    """

    def __init__(self, fen: str | None = None, limits: Limits = LIMITS) -> None:
        self.limits = limits
        super().__init__(fen)
        self._turns: list[Turn] = []
        # of the side to move: the notice at the beginning of its turn, and its sense; None: it has not sensed yet
        self.notice = Notice(None)
        self.sensed: Sensed | None = None
        self.outcome = self._judge()

    @property
    def turns(self) -> tuple[Turn, ...]:
        """The turns that were played."""
        return tuple(self._turns)

    @property
    def question(self) -> Question:
        return "sense" if self.sensed is None else "move"

    @property
    def setup(self) -> Position:
        """See :class:`klss.play.contest.Referee`: the start position."""
        return self._positions[0]

    def answer(self, answer: int | chess.Move | None) -> None:
        """See :class:`klss.play.contest.Referee`: a square or None to ``"sense"``, a request or None to ``"move"``."""
        if self.sensed is None:
            assert not isinstance(answer, chess.Move)
            self.sense(answer)
        else:
            assert not isinstance(answer, int)
            self.move(answer)

    def observations(self, color: chess.Color) -> tuple[Observation, ...]:
        """Return all observations of ``color``, in order."""
        found: list[Observation] = []
        for turn in self._turns:
            if turn.color == color:
                found += [turn.notice, turn.sensed, turn.moved]
        if self.turn == color and self.outcome is None:
            found.append(self.notice)
            if self.sensed is not None:
                found.append(self.sensed)
        return tuple(found)

    def requests(self) -> tuple[chess.Move, ...]:
        """Return the requests of the side to move, sorted; () once the game is over."""
        return requests(self.position) if self.outcome is None else ()

    def sense(self, square: int | None) -> Sensed:
        """Sense at ``square`` (0–63), or nowhere.

        Raises
        ------
        IllegalMove
            There is no such square, the player has already sensed in this turn, or the game is over.
        """
        self._check_running("a sense")
        if self.sensed is not None:
            raise IllegalMove("a second sense: got one after the turn's own, expected a move")
        if square is not None and not 0 <= square < 64:
            raise IllegalMove(f"bad sense: got {square!r}, expected a square, 0 to 63, or None")
        self.sensed = looked(self.position, square)
        return self.sensed

    def move(self, request: chess.Move | None) -> Moved:
        """Play a request as far as possible, or pass, and end the turn. A player that has not sensed senses nowhere.

        Raises
        ------
        IllegalMove
            ``request`` is not one of the requests, or the game is over.
        """
        self._check_running("a move")
        before = self.position
        if request is not None and not is_request(before, request):
            raise IllegalMove(
                f"bad request: got {request.uci()}, expected one of the {len(self.requests())} requests of "
                f"{chess.COLOR_NAMES[before.turn]}, or a pass"
            )
        taken = None if request is None else played(before, request)
        capture = None if taken is None else before.captured_square(taken)
        moved = Moved(request, taken, capture)
        self._turns.append(Turn(before.turn, self.notice, self.sensed or Sensed(None, ()), moved, before))
        self._positions.append(after_move(before, taken))
        # The opponent learns only where it lost a piece; its turn begins.
        self.notice, self.sensed = Notice(capture), None
        self.outcome = self._judge()
        return moved

    def _judge(self) -> Outcome | None:
        """Return the outcome in the present position, None if there is none; in the order of ``reconchess``."""
        position, limits = self.position, self.limits
        for color in chess.COLORS:
            if position.king(color) is None:
                return Outcome(not color, "king_captured")
        if limits.full_turns is not None and position.fullmove > limits.full_turns:
            return Outcome(None, "turn_limit")
        if limits.quiet_plies is not None and position.quiet_plies >= limits.quiet_plies:
            return Outcome(None, "fifty_moves")
        return None
