"""A set of positions of Reconnaissance Blind Chess by reconchess's own functions, board by board: no code of ours."""

from __future__ import annotations

import chess
from reconchess.utilities import capture_square_of_move, move_actions, revise_move

__all__ = ["BoardSet"]


class BoardSet:
    """Every board that ``color`` holds possible, as python-chess boards, by what tells them apart."""

    def __init__(self, color: chess.Color) -> None:
        self.color = color
        self.first = color == chess.WHITE
        self.boards = {key(chess.Board()): chess.Board()}

    def noticed(self, square: int | None) -> None:
        if self.first:
            self.first = False
            return
        found = {}
        for board in self.boards.values():
            for asked in [None, *move_actions(board)]:
                taken = None if asked is None else revise_move(board, asked)
                if capture_square_of_move(board, taken) != square:
                    continue
                after = board.copy(stack=False)
                after.push(taken if taken is not None else chess.Move.null())
                if after.king(self.color) is not None:
                    found[key(after)] = after
        self.boards = found

    def sensed(self, contents: list[tuple[int, chess.Piece | None]]) -> None:
        self.boards = {
            name: board
            for name, board in self.boards.items()
            if all(board.piece_at(square) == piece for square, piece in contents)
        }

    def moved(self, requested: chess.Move | None, taken: chess.Move | None, square: int | None) -> None:
        found = {}
        for board in self.boards.values():
            made = None if requested is None else revise_move(board, _queen(board, requested))
            if made != taken or capture_square_of_move(board, made) != square:
                continue
            after = board.copy(stack=False)
            after.push(made if made is not None else chess.Move.null())
            if after.king(not self.color) is not None:
                found[key(after)] = after
        self.boards = found


def key(board: chess.Board) -> str:
    """Men, side to move, rights, and the en passant square where a pawn stands that could take so."""
    fields = board.fen(en_passant="fen").split()
    square = board.ep_square
    if square is not None:
        captors = board.pieces(chess.PAWN, board.turn) & chess.SquareSet(
            chess.BB_PAWN_ATTACKS[not board.turn][square]
        )
        fields[3] = chess.SQUARE_NAMES[square] if captors else "-"
    return " ".join(fields[:4])


def _queen(board: chess.Board, move: chess.Move) -> chess.Move:
    from reconchess.utilities import add_pawn_queen_promotion

    return add_pawn_queen_promotion(board, move)
