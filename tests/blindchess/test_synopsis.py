"""The synopsis of a set of positions against one written from its list of planes with python-chess, board by board."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property

import chess
import numpy as np
import pytest

from blindchess import Notice, Referee
from blindchess.belief.position_set import PositionSet
from blindchess.game.observation import INNER
from blindchess.synoptic.synopsis import MEMORY, MOVE, NAMES, PLANES, SENSE, Memory, synopses, synopsis

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
    """What a man of that kind would attack from there."""
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


def naive(boards: list[Board], stage: int, lasting: list[Squares], before: list[Squares]) -> list[Squares]:
    """The planes of boards on which she is White; planes 32 to 35, and 86 to 103."""

    def both(feature: Callable[[Board], Squares]) -> list[Squares]:
        sets = [feature(board) for board in boards]
        return [every(sets), some(sets)]

    def where(law: Callable[[int], bool]) -> Squares:
        return frozenset(at for at in EVERYWHERE if law(at))

    def mine(count: int, kinds: Iterable[int] = KINDS) -> list[Squares]:
        return both(lambda board: at_least(count, attacks(board, chess.WHITE, kinds)))

    def hers(count: int, kinds: Iterable[int] = KINDS) -> list[Squares]:
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
        EVERYWHERE if stage == MOVE else frozenset(),
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
    planes += [*hers(1), *hers(2), *hers(1, [chess.PAWN]), *hers(1, [chess.KNIGHT])]
    for kind in (chess.BISHOP, chess.ROOK):
        planes += both(
            lambda board, kind=kind: some(  # type: ignore[misc]
                along(board, at, kind) for piece in (kind, chess.QUEEN) for at in board.pieces(piece, chess.BLACK)
            )
        )
    planes += [hers(1, KINDS[:5])[1], hers(1, KINDS[1:])[1]]
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


def boards_of(known: PositionSet, indices: np.ndarray) -> list[Board]:
    """Members as boards of python-chess on which she is White."""
    from darkchess.board.position import Position

    found = []
    for row in known.rows(indices):
        board = chess.Board(Position(row).fen())
        found.append(Board((board.mirror() if known.flipped else board).fen()))
    return found


def seen(square: int | None, flipped: bool) -> Squares:
    return frozenset() if square is None else frozenset({square ^ 56 if flipped else square})


def decisions(
    seed: int, fen: str | None = None, turns: int = 24
) -> Iterator[tuple[PositionSet, int, Memory, list[list[Squares]], np.ndarray]]:
    """Of a game of random requests that favours captures: set, stage, memory, the planes remembered, the members."""
    rng = random.Random(seed)
    game = Referee(fen)
    known = {color: PositionSet(color, game.position, cap=3000, seed=seed) for color in chess.COLORS}
    memory = {color: Memory(flipped=not color) for color in chess.COLORS}
    lasting = {color: [frozenset()] * 4 for color in chess.COLORS}
    before = {color: [frozenset()] * 18 for color in chess.COLORS}
    while game.outcome is None and game.ply < turns:
        color = game.turn
        hers = known[color]
        hers.noticed(game.notice)
        memory[color].noticed(game.notice)
        lasting[color][3] = seen(game.notice.square, hers.flipped)
        members = hers.sample(rng.choice((1, 2, 7)), rng.randrange(1 << 30))
        yield hers, SENSE, memory[color], [lasting[color], before[color]], members
        hers.sensed(game.sense(rng.choice(INNER)))
        members = hers.sample(rng.choice((1, 2, 7)), rng.randrange(1 << 30))
        yield hers, MOVE, memory[color], [lasting[color], before[color]], members
        planes = synopsis(hers.own_row, hers.halves[members], MOVE, memory[color].words)
        before[color] = marginals(boards_of(hers, members)) + lasting[color]
        asked = [move for move in game.requests() if game.position.piece_at(move.to_square)]
        moved = game.move(rng.choice(asked if asked and rng.random() < 0.3 else game.requests()))
        taken = moved.taken
        lasting[color] = [
            seen(None if taken is None else taken.from_square, hers.flipped),
            seen(None if taken is None else taken.to_square, hers.flipped),
            seen(moved.capture_square, hers.flipped),
            frozenset(),
        ]
        if game.outcome is None:
            hers.moved(moved)
            memory[color].moved(moved, planes)


STARTS = {
    "start": (None, 30),
    "en passant": ("4k3/2p1p1p1/8/3P1P2/2p1p1p1/8/1P1P1P1P/4K3 w - - 0 1", 16),
    "castling": ("r3k2r/p6p/8/8/8/8/P6P/R3K2R w KQkq - 0 1", 16),
    "kings in the open": ("3rk3/8/2n2b2/8/3K4/4n3/8/R2Q4 w - - 0 1", 8),
    "promotion": ("3qk3/P1P5/8/8/8/8/p1p5/3QK3 w - - 0 1", 14),
}


@pytest.mark.parametrize("name", STARTS)
def test_every_plane_is_what_the_list_says(name: str) -> None:
    fen, turns = STARTS[name]
    compared = 0
    for seed in range(2):
        for known, stage, memory, (lasting, before), members in decisions(seed, fen, turns):
            halves = known.halves[members]
            found = synopsis(known.own_row, halves, stage, memory.words)
            wanted = naive(boards_of(known, members), stage, lasting, before)
            assert len(wanted) == PLANES
            for plane, squares in enumerate(wanted):
                got = frozenset(at for at in EVERYWHERE if int(found[plane]) >> at & 1)
                assert got == squares, f"plane {plane}, {NAMES[plane]}, at a set of {len(members)}"
            compared += 1
    assert compared >= 8


def test_many_sets_at_once_have_the_synopses_of_each() -> None:
    rows, halves, offsets, stages, memories, wanted = [], [], [0], [], [], []
    for known, stage, memory, _, members in decisions(5, turns=10):
        rows.append(known.own_row)
        halves.append(known.halves[members])
        offsets.append(offsets[-1] + len(members))
        stages.append(stage)
        memories.append(memory.words.copy())
        wanted.append(synopsis(rows[-1], halves[-1], stage, memory.words))
    found = synopses(np.array(rows), np.concatenate(halves), offsets, stages, np.array(memories))
    assert found.shape == (len(rows), PLANES)
    assert (found == np.array(wanted)).all()


def test_a_synopsis_hangs_neither_on_the_order_nor_on_the_number_of_times_that_a_member_comes() -> None:
    for known, stage, memory, _, members in decisions(6, turns=10):
        halves = known.halves[members]
        found = synopsis(known.own_row, halves, stage, memory.words)
        assert (found == synopsis(known.own_row, halves[::-1].repeat(2, axis=0), stage, memory.words)).all()


def test_an_empty_set_has_no_synopsis() -> None:
    known = PositionSet(chess.WHITE, Referee().position)
    with pytest.raises(ValueError, match="at least one"):
        synopsis(known.own_row, known.halves[:0], SENSE, np.zeros(MEMORY, dtype=np.uint64))
    with pytest.raises(ValueError, match="offsets"):
        synopses(known.own_row[None], known.halves, [0, 0], [SENSE], np.zeros((1, MEMORY), dtype=np.uint64))


def test_each_plane_has_a_name_of_its_own() -> None:
    assert len(NAMES) == len(set(NAMES)) == PLANES


def test_a_notice_is_remembered_for_its_turn() -> None:
    memory = Memory(flipped=True)
    memory.noticed(Notice(chess.E7))
    assert memory.words.tolist() == [0, 0, 0, 1 << chess.E2, *[0] * 18]
    memory.noticed(Notice(None))
    assert not memory.words.any()
