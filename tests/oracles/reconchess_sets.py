"""A player's position set by reconchess's own functions on python-chess boards, one board at a time."""

from __future__ import annotations

import chess
from reconchess.utilities import add_pawn_queen_promotion, capture_square_of_move, move_actions, revise_move


class BoardSet:
    """The position set of the player of ``color`` from ``start``; boards by :func:`board_key`."""

    def __init__(self, color: chess.Color, start: chess.Board) -> None:
        self.boards = {board_key(start): start}
        self._color = color
        self._first = color == start.turn

    def noticed(self, square: int | None) -> None:
        """Begin the player's turn; the opponent captured on ``square``, or nowhere (None)."""
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
        """Keep the boards with these contents."""
        self.boards = {
            key: board
            for key, board in self.boards.items()
            if all(board.piece_at(square) == piece for square, piece in contents)
        }

    def moved(self, requested: chess.Move | None, taken: chess.Move | None, square: int | None) -> None:
        """Play a request, and keep the boards with the same result and the same square of a capture."""
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
    """A FEN's first four fields; with an en passant square only if a pawn of the side to move is beside it."""
    fields = board.fen(en_passant="fen").split()
    if board.ep_square is not None:
        beside = chess.SquareSet(chess.BB_PAWN_ATTACKS[not board.turn][board.ep_square])
        if not board.pieces(chess.PAWN, board.turn) & beside:
            fields[3] = "-"
    return " ".join(fields[:4])
