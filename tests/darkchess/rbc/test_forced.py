"""Sure wins against every request and every window, tried at every member by the referee's rules."""

from __future__ import annotations

import random
from collections.abc import Iterator

import chess
import pytest

from darkchess.board.kernels.tables import TABLES
from darkchess.board.position import Position
from darkchess.rbc import Referee
from darkchess.rbc.belief.position_set import PositionSet
from darkchess.rbc.game.observation import INNER, looked
from darkchess.rbc.game.requests import played, requests
from darkchess.rbc.synoptic._kernels.forced import forced_win
from darkchess.rbc.synoptic._kernels.synopsis import MOVE, SENSE

STARTS = (
    "4k3/8/8/3q4/3Q4/8/8/4K3 w - - 0 1",
    "r3k2r/8/2n5/8/4R3/2B2N2/8/R3K2R w KQkq - 0 1",
    "8/2P1k1P1/8/3p4/4P3/8/2p1K1p1/8 w - - 0 1",
)


def winning_requests(member: Position) -> frozenset[chess.Move]:
    """Requests that take the king."""
    king = member.king(not member.turn)
    taken = {request: played(member, request) for request in requests(member)}
    return frozenset(request for request, move in taken.items() if move is not None and move.to_square == king)


def winning_windows(members: list[Position], wins: list[frozenset[chess.Move]]) -> set[int]:
    if not all(wins):  # some cell holds that member, whatever the window
        return set()
    found = set()
    for square in INNER:
        cells: dict[object, list[frozenset[chess.Move]]] = {}
        for member, winning in zip(members, wins, strict=True):
            cells.setdefault(looked(member, square).contents, []).append(winning)
        if all(frozenset.intersection(*cell) for cell in cells.values()):
            found.add(square)
    return found


def sets(seed: int, fen: str) -> Iterator[tuple[PositionSet, list[int]]]:
    """Samples of what both hold possible in a game, and such with members in which its pieces look at the king."""
    rng = random.Random(seed)
    game = Referee(fen)
    known = {color: PositionSet(color, game.position, cap=2000, seed=seed) for color in chess.COLORS}
    while game.outcome is None and game.ply < 12:
        own = known[game.turn]
        own.noticed(game.notice)
        for _ in range(2):
            sample = own.sample(8, rng.randrange(1 << 30)).tolist()
            yield own, sample[:4]
            looking = [i for i in sample if winning_requests(Position(own.rows([i])[0]))]
            for size in (1, 2, 3):
                if len(looking) >= size:
                    yield own, looking[:size]
            if game.question == "sense":
                own.sensed(game.sense(rng.choice(INNER)))
        moved = game.move(rng.choice(game.requests()))
        if game.outcome is None:
            own.moved(moved)


@pytest.mark.parametrize("fen", STARTS)
def test_a_win_is_claimed_where_there_is_one_and_its_action_wins(fen: str) -> None:
    found = {SENSE: 0, MOVE: 0, None: 0}
    for seed in range(2):
        for known, indices in sets(seed, fen):
            members = [Position(row) for row in known.rows(indices)]
            wins = [winning_requests(member) for member in members]
            turned = 56 if known.flipped else 0
            moves = {65 * (m.from_square ^ turned) + (m.to_square ^ turned) for m in frozenset.intersection(*wins)}
            senses = {65 * (square ^ turned) + 64 for square in winning_windows(members, wins)}
            for stage, right in ((SENSE, senses), (MOVE, moves)):
                action = int(forced_win(known.own_row, known.halves[indices], stage, TABLES))
                assert action in right if right else action < 0, [member.fen() for member in members]
                found[stage if right else None] += 1
    assert min(found.values()) > 5, found
