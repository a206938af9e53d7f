"""What one player knows of a game of Fog of War, and says: a function of its views alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import chess

from klss.play.outcome import Outcome, Seat
from klss.support.text import printable
from klss_app.known.known import ChessKnown, Picture, Unread

if TYPE_CHECKING:  # not at run time: the first board is drawn before compiled code is loaded
    from darkchess.fog.game.contest import Setup
    from darkchess.fog.game.view import View

START = Picture(
    {square: piece for square, piece in chess.Board().piece_map().items() if piece.color == chess.WHITE}, 0xFFFF_FFFF
)
"""The board as White sees it in the usual start position: ranks 1 to 4."""


class FogKnown(ChessKnown["Setup", "View", chess.Move]):
    """See :class:`klss_app.known.known.ChessKnown`; :attr:`view` is the player's last view."""

    help = """\
Type a move as SAN (Nf3, exd5, e8=Q, O-O), as squares (g1f3, e7e8q), or one of:
  help      this text
  moves     your legal moves
  history   the game so far as you know it, and the pieces captured
  flip      turn the board around
  resign    give up
  quit      leave; the game is kept, --resume continues (Ctrl-C does the same)
You see your own pieces and every square they could move to. There is no
check: capture the king to win."""

    def __init__(self, seat: Seat, setup: Setup) -> None:
        from darkchess.fog.game.view import view_of

        self.view = view_of(setup.start, seat)
        super().__init__(seat, setup, setup.start)
        self._asked()

    def observe(self, view: View) -> None:
        from darkchess.fog.game.san import san

        before, self.view = self.view, view
        self.number += 1
        news, lost, own = " ".join(events(before, view)), captured(before, view), view.own_move
        self.said = [*([] if own else self.said), *([news] if news else [])]
        if lost is not None:
            (self.taken if own else self.lost)[lost[0].symbol()] += 1
        at, self.last = view.own_capture_square, pictured(view).marked
        self.ply_ends(san(before, own) if own else "?" if at is None else f"?x{chess.SQUARE_NAMES[at]}")
        self._asked()

    def end(self, outcome: Outcome) -> None:
        super().end(outcome)
        self.view = replace(self.view, game_over=outcome, legal_moves=())

    def _asked(self) -> None:
        self.over = self.view.game_over
        self.question = "move" if self.view.to_move == self.seat and self.over is None else None

    @property
    def fullmove(self) -> int:
        return self.view.fullmove

    def picture(self) -> Picture:
        return pictured(self.view)

    def moves(self) -> Sequence[chess.Move]:
        return self.view.legal_moves

    def answers(self) -> Mapping[str, chess.Move]:
        """The legal moves, by SAN."""
        from darkchess.fog.game.san import san

        return {san(self.view, move): move for move in self.view.legal_moves}

    def read(self, text: str) -> chess.Move:
        """The move that is typed, in SAN or UCI."""
        from darkchess.errors import IllegalMove
        from darkchess.fog.game.san import parse_move

        if not text:
            raise Unread
        try:
            return parse_move(self.view, text)
        except IllegalMove as error:
            raise Unread(printable(str(error))) from None


def pictured(view: View) -> Picture:
    """The board of a view, with the squares of the ply that led to it, as far as they were seen."""
    move, lost = view.own_move, view.own_capture_square
    marked = (move.from_square, move.to_square) if move else () if lost is None else (lost,)
    return Picture(view.pieces, view.visible, marked)


def captured(before: View, view: View) -> tuple[chess.Piece, int, bool] | None:
    """The piece that was captured on the way from ``before`` to ``view``, one ply later, its square, and whether it was
    en passant; None if nothing was."""
    move, square = view.own_move, view.own_capture_square
    if move is None:
        return None if square is None else (before.pieces[square], square, view.opp_capture_landing_square is None)
    taken = before.pieces.get(move.to_square)
    if taken is not None:
        return taken, move.to_square, False
    if before.pieces[move.from_square].piece_type == chess.PAWN and move.to_square == before.ep_square:
        return chess.Piece(chess.PAWN, not view.color), move.to_square, True
    return None


def events(before: View, view: View) -> list[str]:
    """Sentences on the new facts in ``view``, compared with ``before``, one ply earlier; a capture comes first. What a
    move showed may have moved on since."""
    own, taken, news = view.own_move is not None, captured(before, view), list[str]()
    if taken is not None:
        piece, square, passing = taken
        name, where = chess.PIECE_NAMES[piece.piece_type], chess.SQUARE_NAMES[square]
        how = " en passant" if passing else ""
        capture = f"You captured {'the' if name == 'king' else 'a'} {name}{how} on {where}."
        news.append(capture if own else f"Your {name} on {where} was captured{how}.")
    elif not own:
        news.append(f"{chess.COLOR_NAMES[not view.color].capitalize()} moved.")
    fresh = [
        f"{chess.PIECE_NAMES[piece.piece_type]} {chess.SQUARE_NAMES[square]}"
        for square, piece in view.pieces.items()
        if piece.color != view.color and before.pieces.get(square) != piece
    ]
    if fresh:
        news.append(f"{'Your move showed' if own else 'Now in sight'}: {', '.join(fresh)}.")
    if view.ep_square is not None and view.to_move == view.color:
        news.append(f"You can capture en passant on {chess.SQUARE_NAMES[view.ep_square]}.")
    return news
