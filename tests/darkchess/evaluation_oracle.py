"""A slow, obvious reading of the evaluation's terms, over python-chess boards; it shares no code with the kernels."""

from __future__ import annotations

from collections import Counter

import chess
import numpy as np
import numpy.typing as npt


def board_of(row: npt.NDArray[np.uint64]) -> chess.Board:
    """The pieces of a position row, and the side to move."""
    board = chess.Board(None)
    for piece in range(6):
        for side, color in ((6, chess.WHITE), (7, chess.BLACK)):
            for square in chess.SquareSet(int(row[piece] & row[side])):
                board.set_piece_at(square, chess.Piece(piece + 1, color))
    board.turn = bool(int(row[8]) & 1 == 0)
    return board


def _relative(square: int, color: chess.Color) -> int:
    return square if color else chess.square_mirror(square)


def _pawns_on(board: chess.Board, color: chess.Color, file: int) -> list[int]:
    return [s for s in board.pieces(chess.PAWN, color) if chess.square_file(s) == file]


def _ahead(color: chess.Color, of: int, square: int) -> bool:
    ranks = chess.square_rank(square) - chess.square_rank(of)
    return ranks > 0 if color else ranks < 0


def terms(board: chess.Board) -> Counter[int]:
    """Feature → sum of its counts, for the features below 481 (all but kings and threats) and the threats by pawns."""
    found: Counter[int] = Counter()
    for color in (chess.WHITE, chess.BLACK):
        sign = 1 if color == board.turn else -1
        covered = {s for p in board.pieces(chess.PAWN, not color) for s in board.attacks(p)}
        for square, piece in board.piece_map().items():
            if piece.color != color:
                continue
            kind = piece.piece_type
            found[64 * (kind - 1) + _relative(square, color)] += sign
            if kind in (chess.KNIGHT, chess.BISHOP, chess.ROOK, chess.QUEEN):
                clear = board.copy(stack=False)
                for other in list(board.pieces(chess.QUEEN, color)) * (kind in (chess.BISHOP, chess.ROOK)):
                    clear.remove_piece_at(other)
                for other in list(board.pieces(chess.ROOK, color)) * (kind == chess.ROOK):
                    if other != square:
                        clear.remove_piece_at(other)
                shut = set(board.pieces(chess.PAWN, color) | board.pieces(chess.KING, color)) | covered
                first = {chess.KNIGHT: 384, chess.BISHOP: 393, chess.ROOK: 407, chess.QUEEN: 422}[kind]
                found[first + len(set(clear.attacks(square)) - shut)] += sign
            if kind == chess.ROOK and not _pawns_on(board, color, chess.square_file(square)):
                found[480 if _pawns_on(board, not color, chess.square_file(square)) else 479] += sign
            if kind == chess.PAWN:
                _pawn(board, color, square, sign, found)
            threatened = {chess.KNIGHT: 0, chess.BISHOP: 1, chess.ROOK: 2, chess.QUEEN: 3}.get(kind)
            if threatened is not None and square in covered:
                found[(509 if color == board.turn else 521) + threatened] += 1
        if len(board.pieces(chess.BISHOP, color)) > 1:
            found[450] += sign
    return found


def _pawn(board: chess.Board, color: chess.Color, square: int, sign: int, found: Counter[int]) -> None:
    file, rank = chess.square_file(square), chess.square_rank(_relative(square, color))
    near = [f for f in (file - 1, file + 1) if 0 <= f < 8]
    against = [p for f in [file, *near] for p in _pawns_on(board, not color, f) if _ahead(color, square, p)]
    mates_ahead = [p for p in _pawns_on(board, color, file) if _ahead(color, square, p)]
    step = 8 if color else -8
    if not against and not mates_ahead:
        found[451 + rank] += sign
        if board.piece_at(square + step):
            found[459 + rank] += sign
        kings = board.king(color), board.king(not color)
        if rank > 2 and None not in kings:
            found[467] += sign * chess.square_distance(kings[0], square + step)  # type: ignore[arg-type]
            found[468] += sign * chess.square_distance(kings[1], square + step)  # type: ignore[arg-type]
        # A runner: nothing before it, an enemy without pieces whose king comes too late.
        before = range(square + step, 64 if color else -1, step)
        alone = all(p.piece_type in (chess.PAWN, chess.KING) for p in board.piece_map().values() if p.color != color)
        if alone and kings[1] is not None and not any(board.piece_at(s) for s in before):
            steps = len(before) - (rank == 1)
            if chess.square_distance(kings[1], before[-1]) - (color != board.turn) > steps:
                found[534 + steps] += sign
    beside = [p for f in near for p in _pawns_on(board, color, f)]
    guarded = any(square in board.attacks(p) for p in beside)
    if guarded or any(chess.square_rank(p) == chess.square_rank(square) for p in beside):
        found[471 + rank] += sign
    if not beside:
        found[469] += sign
    if any(_ahead(color, p, square) for p in _pawns_on(board, color, file)):
        found[470] += sign
