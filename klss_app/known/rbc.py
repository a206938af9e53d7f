"""What one player knows of a game of Reconnaissance Blind Chess, and says: a function of its observations alone.

Below it the game's words: the results of looks and requests, and requests as a human types them: squares (``e2e4``,
``e7e8n``), the letters of chess (``Nf3``, ``exd5``, ``e8=N``, ``O-O``), or ``pass``.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping, Sequence

import chess

from darkchess.board.position import Position, row_of
from darkchess.errors import IllegalMove
from darkchess.fog.game.san import parse_move, san
from darkchess.rbc.game.observation import Moved, Notice, Observation, Sensed
from darkchess.rbc.game.own_half import OwnHalf
from klss.play.outcome import Seat
from klss.support.text import Document, counted, printable
from klss_app.known.known import ChessKnown, Picture, Unread

_PASS = ("pass", "-", "--", "0000")


class RbcKnown(ChessKnown[Position, Observation, int | chess.Move | None]):
    """See :class:`klss_app.known.known.ChessKnown`: own pieces, and what was last known of the other squares."""

    help = """\
A turn has two parts. First say where to look: a square (e5), and you see the
nine squares around it; Enter alone looks nowhere. Then ask for a move: as
squares (g1f3, e7e8q) or in letters (Nf3, exd5, e8=Q, O-O), or pass. Or type:
  help      this text
  moves     the moves you may ask for: only your own pieces block them
  history   the game so far as you know it, and the pieces captured
  flip      turn the board around
  resign    give up
  quit      leave; the game is kept, --resume continues (Ctrl-C does the same)
You see your own pieces and what you last knew of the rest; the board beside it
says how many turns ago that was. There is no check: capture the king to win."""

    def __init__(self, seat: Seat, setup: Position) -> None:
        self._own = OwnHalf(seat, setup)
        self._turn = 0  # number of the player's own turn, from 1 on
        # what stood on a square when it was last known, and the player's turn in which that was
        self._seen: dict[int, tuple[chess.Piece | None, int]] = {
            square: (setup.piece_at(square), 0) for square in chess.SQUARES
        }
        self._look = ""
        self._captures = 0
        super().__init__(seat, setup, setup)

    def observe(self, observation: Observation) -> None:
        self.number += 1
        if isinstance(observation, Notice):
            self._notice(observation)
        elif isinstance(observation, Sensed):
            self._sensed(observation)
        else:
            self._moved(observation)

    def _notice(self, notice: Notice) -> None:
        """Begin a turn; on the square of a capture there is now an enemy piece of unknown kind."""
        before, square = self._pieces, notice.square
        self._turn += 1
        self.question = "sense"
        if square is not None:
            self._own.lose(square)
            self._seen.pop(square, None)
            self.lost[before[square].symbol()] += 1
            self.last = (square,)
        if self.history or self.first != self.seat:  # the opponent had a turn
            self.said.append(lost_text(notice, before))
            self.ply_ends("?" if square is None else f"?x{chess.SQUARE_NAMES[square]}")

    def _sensed(self, sensed: Sensed) -> None:
        """Add a look. If it shows the enemy king, an older sighting of it elsewhere is no longer true."""
        king = chess.Piece(chess.KING, not self.seat)
        if any(piece == king for _, piece in sensed.contents):
            self._seen = {square: seen for square, seen in self._seen.items() if seen[0] != king}
        for square, piece in sensed.contents:
            self._seen[square] = piece, self._turn
        self.question = "move"
        self.said.append(sensed_text(sensed, self.seat))
        self._look = "" if sensed.square is None else f"{chess.SQUARE_NAMES[sensed.square]}: "

    def _moved(self, moved: Moved) -> None:
        """Add an own move: the squares that it left and crossed are empty."""
        before, taken = self._pieces, moved.taken
        self.question = None
        self.said = [moved_text(moved, before)]
        self.last = () if taken is None else (taken.from_square, taken.to_square)
        if taken is not None:
            self._own.play(taken)
            left = before.keys() - self._pieces.keys()  # by the rook too, if it castled
            for square in (*left, *chess.SquareSet(chess.between(taken.from_square, taken.to_square))):
                self._seen[square] = None, self._turn
            if moved.capture_square is not None:  # en passant: not the square where the pawn arrived
                self._seen[moved.capture_square] = None, self._turn
        self._captures += moved.capture_square is not None
        self.ply_ends(self._look + request_letters(moved, before))

    @property
    def _pieces(self) -> Mapping[int, chess.Piece]:
        return Position(self._own.row).pieces

    @property
    def fullmove(self) -> int:
        return self.first_number + max(0, self._turn - 1) + (self.seat > self.first)

    @property
    def prompt(self) -> str:
        return f" {self.fullmove}. look at: " if self.question == "sense" else super().prompt

    def picture(self) -> Picture:
        """Own pieces, and elsewhere what was last known, however long ago."""
        own, seen = self._pieces, self._seen
        pieces = {square: piece for square, (piece, _) in seen.items() if piece is not None} | dict(own)
        ages = {square: self._turn - turn for square, (_, turn) in sorted(seen.items()) if square not in own}
        return Picture(pieces, sum(1 << square for square in {*seen, *own}), self.last, ages)

    def ages(self) -> dict[str, int]:
        """How many of the player's turns ago each square was known; without those of own pieces."""
        return {chess.SQUARE_NAMES[square]: age for square, age in (self.picture().ages or {}).items()}

    def moves(self) -> Sequence[chess.Move]:
        return self._own.requests()

    def answers(self) -> Mapping[str, chess.Move | None]:
        """A pass, and the possible requests, by their letters."""
        pieces = self._pieces
        return {"pass": None} | {move_letters(move, pieces): move for move in self._own.requests()}

    def read(self, text: str) -> int | chess.Move | None:
        """A square to look at, or nothing; else a request."""
        if self.question == "move":
            return request_of(text, self._own.requests(), self._pieces)
        square = text.strip().lower()
        if square in ("", *_PASS):
            return None
        if square not in chess.SQUARE_NAMES:
            raise Unread(
                f"{square[:40]!r} is not a square; type one such as e5, or nothing to look nowhere; then move."
            )
        return chess.SQUARE_NAMES.index(square)

    def captured(self) -> str:
        """See the base: which pieces they were is not told."""
        return counted(self._captures, "piece")

    def message(self) -> Document:
        """See the base; also ``step``, the question's number; ``question``, ``sense``, ``move`` or None; ``ages``."""
        return super().message() | {"step": self.number, "question": self.question, "ages": self.ages()}


class _Asking(Position):
    """The player's own pieces, ``requests`` as its moves, and an enemy on the square of a capture that it knows of."""

    def __init__(
        self,
        pieces: Mapping[int, chess.Piece],
        color: chess.Color,
        requests: Iterable[chess.Move],
        captures: int | None = None,
    ) -> None:
        shown = {square: piece for square, piece in pieces.items() if piece.color == color}
        if captures is not None:
            shown[captures] = chess.Piece(chess.PAWN, not color)
        super().__init__(row_of(shown, color))
        self._moves = tuple(requests)


def request_of(text: str, requests: Sequence[chess.Move], pieces: Mapping[int, chess.Piece]) -> chess.Move | None:
    """The one of ``requests`` that ``text`` means for a player with these pieces by square (0–63); None: a pass. A
    promotion is to a queen if no letter says otherwise. Raises :class:`Unread`: it means none, or more than one.

    >>> board = chess.Board()
    >>> asked = [chess.Move.from_uci(text) for text in ("e2e4", "e2d3", "g1f3")]
    >>> [request_of(text, asked, board.piece_map()).uci() for text in ("e4", "exd3", "Nf3", "g1f3")]
    ['e2e4', 'e2d3', 'g1f3', 'g1f3']
    >>> request_of("pass", asked, board.piece_map()) is None
    True
    """
    text = text.strip()
    if text.lower() in _PASS:
        return None
    if not text:
        raise Unread
    color = next((pieces[move.from_square].color for move in requests), chess.WHITE)
    asking = _Asking(pieces, color, requests)
    with contextlib.suppress(IllegalMove):
        return parse_move(asking, f"{text}q")
    try:
        return parse_move(asking, text)
    except IllegalMove as error:
        raise Unread(printable(str(error))) from None


def request_letters(moved: Moved, pieces: Mapping[int, chess.Piece]) -> str:
    """The move played, in the letters of chess, as its player knows it: ``Nf3``, ``dxe5``, ``–`` for none; ``pieces``
    are the player's before it.

    >>> request_letters(Moved(chess.Move.from_uci("g1f3"), chess.Move.from_uci("g1f3"), 21), chess.Board().piece_map())
    'Nxf3'
    """
    if moved.taken is None:
        return "pass" if moved.requested is None else "–"
    return move_letters(moved.taken, pieces, takes=moved.capture_square is not None)


def move_letters(move: chess.Move, pieces: Mapping[int, chess.Piece], *, takes: bool = False) -> str:
    """A move in SAN among the requests: only own pieces block one, so they alone say which piece it is of several. A
    pawn's diagonal is a capture.
    """
    mine = pieces[move.from_square]
    step = chess.square_file(move.to_square) - chess.square_file(move.from_square)
    if mine.piece_type == chess.KING and abs(step) == 2:
        return "O-O" if step > 0 else "O-O-O"
    takes = takes or (mine.piece_type == chess.PAWN and step != 0)
    requests = OwnHalf(mine.color, Position(row_of(pieces, mine.color))).requests()
    return san(_Asking(pieces, mine.color, (move, *requests), move.to_square if takes else None), move)


def lost_text(notice: Notice, pieces: Mapping[int, chess.Piece]) -> str:
    """The loss in the opponent's turn, as a sentence; ``pieces`` are the player's before it."""
    if notice.square is None:
        return "None of your pieces was captured."
    lost = chess.PIECE_NAMES[pieces[notice.square].piece_type]
    return f"Your {lost} on {chess.SQUARE_NAMES[notice.square]} was captured."


def sensed_text(sensed: Sensed, color: chess.Color) -> str:
    """The result of a look for a player of that colour, as a sentence."""
    if sensed.square is None:
        return "You looked nowhere."
    there = [
        f"{chess.PIECE_NAMES[piece.piece_type]} {chess.SQUARE_NAMES[square]}"
        for square, piece in sensed.contents
        if piece is not None and piece.color != color
    ]
    return f"Around {chess.SQUARE_NAMES[sensed.square]}: {', '.join(there) or 'no enemy piece'}."


def moved_text(moved: Moved, pieces: Mapping[int, chess.Piece]) -> str:
    """The result of a request, as a sentence; ``pieces`` are the player's before it."""
    if moved.requested is None:
        return "You passed."
    asked = move_letters(moved.requested, pieces)
    if moved.taken is None:
        return (
            f"You asked for {asked}, and nothing was played: something stood in the way, or nothing was there to take."
        )
    end = chess.SQUARE_NAMES[moved.taken.to_square]
    text = f"You played {asked}"
    if moved.taken.to_square != moved.requested.to_square:
        text = f"You asked for {asked}: it went as far as {end}"
    if moved.capture_square is None:
        return text + "."
    where = "" if moved.capture_square == moved.taken.to_square else " en passant"
    return f"{text} and captured{where} on {chess.SQUARE_NAMES[moved.capture_square]}."
