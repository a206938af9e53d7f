"""A human at the page who plays Reconnaissance Blind Chess: the messages to the page, and the looks and requests that
it sends.

It is on the player's side of the wall: a message is a function of one player's observations only.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import chess

from darkchess.board import fen
from darkchess.board.position import Position
from darkchess.rbc.game.contest import Player, Question, observed_before
from darkchess.rbc.game.observation import Moved, Notice, Sensed
from darkchess.rbc.game.own_half import OwnHalf
from klss.play.contest import Decision
from klss.play.outcome import Outcome
from klss_app.rbc_spoken import UnknownRequest, lost_text, moved_text, request_letters, request_of, sensed_text
from klss_app.web.seats import MOST_TEXT, Answer, HumanAtBoard, letters, over_document


class Knowledge:
    """A player's knowledge of each square, by own pieces and looks, and how old it is. Both players know ``start``."""

    def __init__(self, color: chess.Color, start: Position) -> None:
        self.color = color
        self.own = OwnHalf(color, start)
        self.turn = 0  # number of the player's own turn, from 1 on
        # what stood on a square when it was last known, and the player's turn in which that was
        self.seen: dict[int, tuple[chess.Piece | None, int]] = {
            square: (start.piece_at(square), 0) for square in chess.SQUARES
        }

    @property
    def pieces(self) -> dict[int, chess.Piece]:
        """The player's own pieces."""
        return dict(Position(self.own.row).pieces)

    def notice(self, notice: Notice) -> None:
        """Begin a turn; on the square of a capture there is now an enemy piece of unknown kind."""
        self.turn += 1
        if notice.square is not None:
            self.own.lose(notice.square)
            self.seen.pop(notice.square, None)

    def sensed(self, sensed: Sensed) -> None:
        """Add a look. If it shows the enemy king, an older sighting of it elsewhere is no longer true."""
        king = chess.Piece(chess.KING, not self.color)
        if any(piece == king for _, piece in sensed.contents):
            self.seen = {square: seen for square, seen in self.seen.items() if seen[0] != king}
        for square, piece in sensed.contents:
            self.seen[square] = piece, self.turn

    def moved(self, moved: Moved) -> None:
        """Add an own move: the squares that it left and crossed are empty."""
        if moved.taken is not None:
            start, end = moved.taken.from_square, moved.taken.to_square
            for square in (start, *chess.SquareSet(chess.between(start, end))):
                self.seen[square] = None, self.turn
            if moved.capture_square is not None:  # en passant: not the square where the pawn arrived
                self.seen[moved.capture_square] = None, self.turn
            self.own.play(moved.taken)

    def ages(self) -> dict[str, int]:
        """Age of the knowledge of each square, in the player's turns; squares with own pieces are left out."""
        pieces = self.pieces
        return {
            chess.SQUARE_NAMES[square]: self.turn - turn
            for square, (_, turn) in sorted(self.seen.items())
            if square not in pieces
        }

    def board(self) -> str:
        """FEN's first field: own pieces, and elsewhere what was last known; ``?`` for squares never known."""
        pieces = self.pieces
        known = {square: piece for square, (piece, _) in self.seen.items() if piece is not None} | pieces
        fog = sum(1 << square for square in chess.SQUARES if square not in self.seen and square not in pieces)
        return fen.board_text(known, fog)


class RbcHuman(HumanAtBoard, Player):
    """See :class:`klss_app.web.seats.HumanAtBoard`; a question's number is the number of observations before it."""

    _begun = False
    _question: Question | None = None
    _over: Outcome | None = None

    def start(self, color: chess.Color, start: Position) -> None:
        self._known = Knowledge(color, start)
        self._first, self._first_number = start.turn, start.fullmove
        self._observed = 0
        self._history: list[str] = []
        self._said: list[str] = []
        self._past = [self._known.board()]  # by ply
        self._last: list[str] = []
        self._lost: Counter[str] = Counter()
        self._look = ""
        self._begun = True
        self._quiet = observed_before(self._earlier, color, start) if self._earlier else 0
        if not self._quiet:
            self._tell()

    def notice(self, notice: Notice) -> None:
        before = self._known.pieces
        if self._history or self._first != self._known.color:  # the opponent had a turn
            self._history.append("?" if notice.square is None else f"?x{chess.SQUARE_NAMES[notice.square]}")
            self._said.append(lost_text(notice, before))
        if notice.square is not None:
            self._lost[before[notice.square].symbol()] += 1
            self._last = [chess.SQUARE_NAMES[notice.square]]
        self._known.notice(notice)
        if len(self._history) == len(self._past):
            self._past.append(self._known.board())
        self._asks("sense")

    def sensed(self, sensed: Sensed) -> None:
        self._known.sensed(sensed)
        self._look = "" if sensed.square is None else f"{chess.SQUARE_NAMES[sensed.square]}: "
        self._said.append(sensed_text(sensed, self._known.color))
        self._asks("move")

    def moved(self, moved: Moved) -> None:
        before = self._known.pieces
        self._history.append(self._look + request_letters(moved, before))
        self._said = [moved_text(moved, before)]
        taken = moved.taken
        self._last = [] if taken is None else [chess.SQUARE_NAMES[at] for at in (taken.from_square, taken.to_square)]
        self._known.moved(moved)
        self._past.append(self._known.board())
        self._asks(None)

    def _asks(self, question: Question | None) -> None:
        """Count an observation and set the next question; the page is sent nothing of an earlier run's observations."""
        self._observed += 1
        self._question = question
        if self._observed >= self._quiet:
            self._tell()

    def end(self, outcome: Outcome) -> None:
        self._over, self._question = outcome, None
        if self._begun:
            self._tell()

    def _tell(self) -> None:
        self._show(self.message())

    def message(self) -> dict[str, Any]:
        """The message's fields: those of :meth:`klss_app.web.fog_seat.Telling.message`, and

        Returns
        -------
        dict
            ``step``, the number of the question; ``question``, ``sense``, ``move`` or None; ``ages``, see
            :meth:`Knowledge.ages`; ``said``, sentences on the observations since the player's last request.
        """
        known, mine = self._known, chess.COLOR_NAMES[self._known.color]
        asked = self._question == "move"
        return {
            "color": mine,
            "ply": len(self._history),
            "step": self._observed,
            "fullmove": self._first_number + max(0, known.turn - 1),
            "first": chess.COLOR_NAMES[self._first],
            "firstNumber": self._first_number,
            "board": known.board(),
            "past": tuple(self._past),
            "ages": known.ages(),
            "turn": mine if self._question is not None else chess.COLOR_NAMES[not known.color],
            "question": self._question,
            "moves": [move.uci() for move in known.own.requests()] if asked else [],
            "last": self._last,
            "history": tuple(self._history),
            "said": tuple(self._said),
            "lost": letters(self._lost),
            "taken": "",
            "over": over_document(self._over),
        }

    @property
    def asked(self) -> tuple[chess.Color, int]:
        """See the base."""
        return self._known.color, self._observed

    def move(self, text: str, number: int) -> str | None:
        """See the base: a square or nothing if a look is asked for; else a request as it is typed, or ``pass``."""
        if self._question is None:
            return "it is not your turn"
        if number != self._observed:
            return "the board has changed since"
        try:
            answer = _looked(text) if self._question == "sense" else self._requested(text)
        except UnknownRequest as error:
            return str(error)
        self._inbox.put(Answer(self._known.color, number, Decision(answer, {})))
        return None

    def _requested(self, text: str) -> chess.Move | None:
        pieces: Mapping[int, chess.Piece] = self._known.pieces
        return request_of(text[:MOST_TEXT], self._known.own.requests(), pieces)


def _looked(text: str) -> int | None:
    square = text[:MOST_TEXT].strip().lower()
    if square in ("", "pass"):
        return None
    if square not in chess.SQUARE_NAMES:
        raise UnknownRequest(f"{square!r} is not a square; type one such as e5, or nothing to look nowhere")
    return chess.SQUARE_NAMES.index(square)
