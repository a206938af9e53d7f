"""The positions that a player holds possible, board by board, by reconchess's own functions: slow, and no code of ours.

Needs the extra ``rbc``.
"""

from __future__ import annotations

import chess
from reconchess.utilities import add_pawn_queen_promotion, capture_square_of_move, move_actions, revise_move

__all__ = ["BoardSet", "board_key"]


class BoardSet:
    """Every board that a player holds possible.

    Parameters
    ----------
    color
        The player's. The game begins as usual.

    Attributes
    ----------
    boards
        By :func:`board_key`.
    """

    def __init__(self, color: chess.Color) -> None:
        self.boards = {board_key(chess.Board()): chess.Board()}
        self._color = color
        self._first = color == chess.WHITE

    def noticed(self, square: int | None) -> None:
        """The player's turn begins; the opponent captured on ``square``, or nowhere (None)."""
        if self._first:
            self._first = False
            return
        found = {}
        for board in self.boards.values():
            played = {None if asked is None else revise_move(board, asked) for asked in [None, *move_actions(board)]}
            for taken in played:
                if capture_square_of_move(board, taken) != square:
                    continue
                after = board.copy(stack=False)
                after.push(taken if taken is not None else chess.Move.null())
                if after.king(self._color) is not None:
                    found[board_key(after)] = after
        self.boards = found

    def sensed(self, contents: list[tuple[int, chess.Piece | None]]) -> None:
        """Keep the boards on which that stands there."""
        self.boards = {
            key: board
            for key, board in self.boards.items()
            if all(board.piece_at(square) == piece for square, piece in contents)
        }

    def moved(self, requested: chess.Move | None, taken: chess.Move | None, square: int | None) -> None:
        """Play a request: what became of it, and where it captured."""
        found = {}
        for board in self.boards.values():
            made = None if requested is None else revise_move(board, add_pawn_queen_promotion(board, requested))
            if made != taken or capture_square_of_move(board, made) != square:
                continue
            after = board.copy(stack=False)
            after.push(made if made is not None else chess.Move.null())
            if after.king(not self._color) is not None:
                found[board_key(after)] = after
        self.boards = found


def board_key(board: chess.Board) -> str:
    """A FEN's first four fields; the en passant square only where a pawn of the side to move stands beside."""
    fields = board.fen(en_passant="fen").split()
    if board.ep_square is not None:
        beside = chess.SquareSet(chess.BB_PAWN_ATTACKS[not board.turn][board.ep_square])
        if not board.pieces(chess.PAWN, board.turn) & beside:
            fields[3] = "-"
    return " ".join(fields[:4])
