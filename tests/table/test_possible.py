"""The sets of true games of small games, against enumerations that are written for each game alone."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence
from typing import Any

import pytest

from klss.play.kit import Replay
from klss.play.possible import sizes
from klss.play.small_game import Nature
from tests.table import ghost_hunt, hidden_tictactoe

Tries = Sequence[tuple[bool, int]]
MAGIC = (2, 7, 6, 9, 5, 1, 4, 3, 8)  # three squares are in line if their numbers have the sum 15


def of_tictactoe(tries: Tries, seat: bool, seen: object) -> int:
    """How many boards, with what the other side has tried, agree with what a seat was told of the tries."""

    def told(marks: dict[int, bool], mover: bool, square: int) -> list[object]:
        placed = square not in marks
        return [(square, placed)] if mover == seat else ["moved"] * placed

    def follow(marks: dict[int, bool], tried: frozenset[int], turn: bool, left: list[Any]) -> None:
        won = [[MAGIC[at] for at, who in marks.items() if who == side] for side in (True, False)]
        if any(sum(three) == 15 for mine in won for three in itertools.combinations(mine, 3)):
            return
        if not left:
            found.add((frozenset(marks.items()), tried))
        for square in [own for own, _ in left[:1]] if turn == seat else set(range(9)) - tried:
            news = told(marks, turn, square)
            if left[: len(news)] == news:
                also = {square} if turn != seat else set()
                follow({square: turn} | marks, tried | also, turn ^ (square not in marks), left[len(news) :])

    found, marks, news = set[Any](), dict[int, bool](), list[object]()
    for mover, square in tries:
        news += told(marks, mover, square)
        marks.setdefault(square, mover)
    follow({}, frozenset(), True, news)
    return len(found)


def of_ghost_hunt(steps: Tries, seat: bool, seen: Sequence[ghost_hunt.Seen]) -> int:
    """How many places of the other hunter and the ghost agree with the houses that a seat has seen."""

    def near(room: int) -> list[int]:
        return [at for at in range(16) if abs(at // 4 - room // 4) + abs(at % 4 - room % 4) <= 1]

    def looks(rooms: tuple[int, int], ghost: int) -> str:
        who = {ghost: "G", rooms[0]: "B", rooms[1]: "W"}
        return "".join(who.get(at, ".") if at in near(rooms[seat]) else "?" for at in range(16))

    held = {((15, 0), ghost) for ghost in (3, 6, 9, 12)}
    for ply, (mover, room) in enumerate([(True, -1), *steps]):
        moved = set(held) if not ply else set()
        for rooms, ghost in held if ply else ():
            for to in [room] if mover == seat else near(rooms[mover]):
                after = (rooms[0], to) if mover else (to, rooms[1])
                drifts = set(near(ghost)) - {ghost} if to != ghost else {ghost}
                moved |= {(after, drift) for drift in drifts if len({*after, drift}) == 3}
        held = {(rooms, ghost) for rooms, ghost in moved if looks(rooms, ghost) == seen[ply].house}
    return len(held)


@pytest.mark.parametrize(
    ("kit", "counted"), [(hidden_tictactoe.KIT, of_tictactoe), (ghost_hunt.KIT, of_ghost_hunt)], ids=["marks", "ghost"]
)
@pytest.mark.parametrize("seed", range(4))
def test_each_seat_holds_the_games_that_an_enumeration_finds(kit: Any, counted: Any, seed: int) -> None:
    chance, referee = random.Random(seed), kit.begun(Nature(seed))
    expected, most = [], 7
    while referee.outcome is None and referee.ply < most:
        expected.append({seat: counted(referee.answers, seat, referee.observations(seat)) for seat in (True, False)})
        referee.answer(chance.choice(kit.choices(referee.observations(referee.turn))))
    kept = Replay(lambda: kit.begun(Nature(seed)), [answer for _, answer in referee.answers], {}, None)
    assert [found for _, found in sizes(kit, kept, 100_000)][: len(expected)] == expected
    assert max(max(found.values()) for found in expected) > 20
