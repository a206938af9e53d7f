"""The planes of a synopsis that are about the pieces, written from their list with python-chess, board by board."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from functools import cached_property

import chess

__all__ = ["EVERYWHERE", "Board", "Squares", "marginals", "naive"]

Squares = frozenset[int]
KINDS = (chess.PAWN, chess.KNIGHT, chess.BISHOP, chess.ROOK, chess.QUEEN, chess.KING)
EVERYWHERE = frozenset(chess.SQUARES)


def every(sets: Iterable[Squares]) -> Squares:
    return frozenset.intersection(*sets)


def some(sets: Iterable[Squares]) -> Squares:
    return frozenset().union(*sets)


class Board(chess.Board):
    """One that is looked at often and not changed."""

    @cached_property
    def looks(self) -> dict[int, tuple[chess.Piece, Squares]]:
        """Every man and what it attacks."""
        return {at: (piece, frozenset(self.attacks(at))) for at, piece in self.piece_map().items()}


def attacks(board: Board, color: chess.Color, kinds: Iterable[int] = KINDS) -> dict[int, Squares]:
    return {
        at: attacked
        for at, (piece, attacked) in board.looks.items()
        if piece.color == color and piece.piece_type in kinds
    }


def at_least(count: int, attacked: dict[int, Squares]) -> Squares:
    times = Counter(at for found in attacked.values() for at in found)
    return frozenset(at for at, found in times.items() if found >= count)


def along(board: Board, square: int, kind: int) -> Squares:
    """What a piece of that kind would attack from there."""
    if kind == chess.BISHOP:
        return frozenset(chess.SquareSet(chess.BB_DIAG_ATTACKS[square][chess.BB_DIAG_MASKS[square] & board.occupied]))
    ranks = chess.BB_RANK_ATTACKS[square][chess.BB_RANK_MASKS[square] & board.occupied]
    files = chess.BB_FILE_ATTACKS[square][chess.BB_FILE_MASKS[square] & board.occupied]
    return frozenset(chess.SquareSet(ranks | files))


def lines(board: Board, kind: int) -> Squares:
    return some(along(board, at, kind) for at in board.pieces(chess.QUEEN, chess.WHITE))


def reached(board: Board) -> Squares:
    other = board.copy(stack=False)
    other.turn, other.ep_square = chess.BLACK, None
    found = {move.to_square for move in other.pseudo_legal_moves if not other.is_castling(move)}
    home = other.king(chess.BLACK) == chess.E8
    if home and other.castling_rights & chess.BB_H8 and not other.occupied & (chess.BB_F8 | chess.BB_G8):
        found.add(chess.G8)
    if home and other.castling_rights & chess.BB_A8 and not other.occupied & (chess.BB_B8 | chess.BB_C8 | chess.BB_D8):
        found.add(chess.C8)
    return frozenset(found)


def castles_now(board: Board) -> Squares:
    found = set()
    if board.castling_rights & chess.BB_H1 and not board.occupied & (chess.BB_F1 | chess.BB_G1):
        found.add(chess.G1)
    if board.castling_rights & chess.BB_A1 and not board.occupied & (chess.BB_B1 | chess.BB_C1 | chess.BB_D1):
        found.add(chess.C1)
    return frozenset(found)


def pawn_takes(board: Board) -> Squares:
    takes = {at for found in attacks(board, chess.WHITE, [chess.PAWN]).values() for at in found}
    return frozenset(at for at in takes if board.color_at(at) == chess.BLACK or at == board.ep_square)


def marginals(boards: list[Board]) -> list[Squares]:
    held = [[frozenset(at for at in EVERYWHERE if board.color_at(at) != chess.BLACK) for board in boards]]
    held += [[frozenset(board.pieces(kind, chess.BLACK)) for board in boards] for kind in KINDS]
    return [every(sets) for sets in held] + [some(sets) for sets in held]


def naive(boards: list[Board], tenth: Squares, lasting: list[Squares], before: list[Squares]) -> list[Squares]:
    """The planes of boards on which it is White; plane 10, planes 32 to 35, and 86 to 103 are given."""

    def both(feature: Callable[[Board], Squares]) -> list[Squares]:
        sets = [feature(board) for board in boards]
        return [every(sets), some(sets)]

    def where(law: Callable[[int], bool]) -> Squares:
        return frozenset(at for at in EVERYWHERE if law(at))

    def mine(count: int, kinds: Iterable[int] = KINDS) -> list[Squares]:
        return both(lambda board: at_least(count, attacks(board, chess.WHITE, kinds)))

    def is_own(count: int, kinds: Iterable[int] = KINDS) -> list[Squares]:
        return both(lambda board: at_least(count, attacks(board, chess.BLACK, kinds)))

    def near(step: Callable[[Board], Squares], kinds: Iterable[int]) -> list[Squares]:
        return both(lambda board: step(board) & some(frozenset(board.pieces(k, chess.BLACK)) for k in kinds))

    any_board = boards[0]
    own = frozenset(chess.SquareSet(any_board.occupied_co[chess.WHITE]))
    king = any_board.king(chess.WHITE)
    assert king is not None
    by_man = [attacks(board, chess.WHITE) for board in boards]
    fixed = {at: every(found[at] for found in by_man) for at in by_man[0]}
    held = marginals(boards)

    planes = [
        where(lambda at: chess.square_file(at) >= 4), where(lambda at: chess.square_file(at) < 4),
        where(lambda at: chess.square_rank(at) < 4), where(lambda at: chess.square_rank(at) >= 4),
        where(lambda at: chess.square_rank(at) == 0), where(lambda at: chess.square_rank(at) == 7),
        where(lambda at: chess.square_file(at) == 0), where(lambda at: chess.square_file(at) == 7),
        where(lambda at: (at // 8 + at % 8) % 2 == 0), where(lambda at: (at // 8 + at % 8) % 2 == 1),
        tenth,
        EVERYWHERE - own,
    ]  # fmt: skip
    planes += [frozenset(any_board.pieces(kind, chess.WHITE)) for kind in KINDS]
    planes += held
    planes += lasting
    for count in (1, 2):
        planes += [at_least(count, fixed), *mine(count)]
    planes += both(pawn_takes)
    planes += [mine(1, [chess.KNIGHT])[0], *mine(1, [chess.BISHOP]), *mine(1, [chess.ROOK])]
    planes += [mine(1, KINDS[:5])[1], mine(1, KINDS[1:])[1]]
    planes += [*is_own(1), *is_own(2), *is_own(1, [chess.PAWN]), *is_own(1, [chess.KNIGHT])]
    for kind in (chess.BISHOP, chess.ROOK):
        planes += both(
            lambda board, kind=kind: some(  # type: ignore[misc]
                along(board, at, kind) for piece in (kind, chess.QUEEN) for at in board.pieces(piece, chess.BLACK)
            )
        )
    planes += [is_own(1, KINDS[:5])[1], is_own(1, KINDS[1:])[1]]
    planes.append(
        some(
            frozenset(at for at in board.pieces(chess.KING, chess.BLACK) if not board.is_attacked_by(chess.WHITE, at))
            for board in boards
        )
    )
    planes.append(some(reached(board) for board in boards))
    planes.append(
        some(frozenset(at for at in (chess.A8, chess.H8) if board.castling_rights >> at & 1) for board in boards)
    )
    planes.append(where(lambda at: len({board.piece_at(at) for board in boards}) == 1))
    planes.append(frozenset(chess.SquareSet(chess.BB_KING_ATTACKS[king])))
    leaps = frozenset(chess.SquareSet(chess.BB_KNIGHT_ATTACKS[king]))
    planes += [leaps, *near(lambda board: leaps, [chess.KNIGHT])]
    for kind in (chess.BISHOP, chess.ROOK):
        planes.append(both(lambda board, kind=kind: along(board, king, kind))[1])  # type: ignore[misc]
        planes += near(lambda board, kind=kind: along(board, king, kind), [kind, chess.QUEEN])  # type: ignore[misc]
    planes.append(own)
    planes.append(where(lambda at: all(board.piece_at(at) is None for board in boards)))
    planes.append(frozenset(at for at in (chess.A1, chess.H1) if any_board.castling_rights >> at & 1))
    definitely, possibly = both(castles_now)
    planes += [possibly, definitely]
    planes += [both(lambda board, kind=kind: lines(board, kind))[1] for kind in (chess.ROOK, chess.BISHOP)]  # type: ignore[misc]
    return planes + before
