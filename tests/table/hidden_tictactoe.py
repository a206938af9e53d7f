"""Hidden tic-tac-toe, a whole game at the table in one file: each side sees its own marks alone, and what it ran into.

A square that the opponent holds is reported as taken, to its side alone, and the same side tries again.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from klss.play.outcome import Outcome
from klss.play.small_game import Nature, SmallKit, SmallReferee

LINES = ("012", "345", "678", "036", "147", "258", "048", "246")


@dataclass(frozen=True)
class Seen:
    """The square that one's own side tried (None: the other side has moved), and whether the mark is there."""

    square: int | None = None
    placed: bool = False


class Referee(SmallReferee[Seen, int]):
    """The true game."""

    def __init__(self, nature: Nature) -> None:
        super().__init__(nature)
        self.marks: dict[int, bool] = {}
        for seat in (True, False):
            self.show(seat, Seen())

    def play(self, square: int) -> None:
        if square not in range(9) or self.marks.get(square) == self.turn:
            raise ValueError(f"got {square}, expected a square that is not one's own")
        seat, placed = self.turn, square not in self.marks
        self.show(seat, Seen(square, placed))
        if not placed:
            return
        self.marks[square] = seat
        self.turn = not seat
        self.show(not seat, Seen())
        if any(all(self.marks.get(int(each)) == seat for each in line) for line in LINES):
            self.outcome = Outcome(seat, "three_in_a_row")
        elif len(self.marks) == 9:
            self.outcome = Outcome(None, "full")


class TicTacToe(SmallKit[Referee, Seen, int]):
    """Its players try what may be free: the first such square, or any."""

    name = "tests.table.hidden_tictactoe:KIT"
    title = "Hidden tic-tac-toe"
    true_game, observation, answer = Referee, Seen, int
    configurations = ("random", "first")

    def choices(self, seen: Sequence[Seen]) -> list[int]:
        return sorted(set(range(9)) - {each.square for each in seen})

    def told(self, seen: Sequence[Seen]) -> str:
        square, placed = seen[-1].square, seen[-1].placed
        if square is None:
            return "The other side has moved." if seen[1:] else "Nine squares are free."
        return f"{square} is {'yours' if placed else 'taken'}."

    def choose(self, name: str, seen: Sequence[Seen], chance: random.Random) -> int:
        return self.choices(seen)[0] if name == "first" else super().choose(name, seen, chance)


KIT = TicTacToe()
