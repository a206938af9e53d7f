"""Hidden tic-tac-toe, a whole game at the table in one file: each side sees its own marks alone, and what it ran into.

A square that the opponent holds is reported as taken, to its side alone, and the same side tries again.
"""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from klss.play.contest import Decision, Player
from klss.play.kit import Named, SmallKit
from klss.play.limits import Limit, Progress
from klss.play.outcome import Outcome, Seat
from klss.play.wire import PlainWire
from klss_app.front import Front
from klss_app.known.known import Known

LINES = ("012", "345", "678", "036", "147", "258", "048", "246")


@dataclass(frozen=True)
class Seen:
    """The square that one's own side tried (None: the other side has moved), and whether the mark is there."""

    square: int | None = None
    placed: bool = False


def open_squares(seen: Sequence[Seen]) -> list[int]:
    """The squares that may be free."""
    return sorted(set(range(9)) - {each.square for each in seen})


class Referee:
    """The true game."""

    setup = None
    question = "square"

    def __init__(self) -> None:
        self.tries: list[tuple[Seat, int]] = []
        self.marks: dict[int, Seat] = {}
        self.turn: Seat = True
        self.outcome: Outcome | None = None
        self._seen: dict[Seat, list[Seen]] = {True: [], False: []}

    @property
    def ply(self) -> int:
        return len(self.tries)

    @property
    def truth(self) -> Any:
        return self.marks

    def observations(self, seat: Seat) -> Sequence[Seen]:
        return self._seen[seat]

    def answer(self, square: int) -> None:
        if square not in range(9) or self.marks.get(square) == self.turn:
            raise ValueError(f"got {square}, expected a square that is not one's own")
        seat, placed = self.turn, square not in self.marks
        self.tries.append((seat, square))
        if placed:
            self.marks[square] = seat
            self.turn = not seat
        self._seen[seat].append(Seen(square, placed))
        if placed:
            self._seen[not seat].append(Seen())
        if any(all(self.marks.get(int(each)) == seat for each in line) for line in LINES):
            self.outcome = Outcome(seat, "three_in_a_row")
        elif len(self.marks) == 9:
            self.outcome = Outcome(None, "full")

    def resign(self, seat: Seat) -> None:
        self.end(Outcome(not seat, "resign"))

    def flag(self, seat: Seat) -> None:
        self.end(Outcome(not seat, "flag"))

    def end(self, outcome: Outcome) -> None:
        self.outcome = outcome


class Own(Player[None, Seen, int]):
    """Tries what may be free: the first such square, or any."""

    def __init__(self, name: str, seed: int) -> None:
        self._name, self._seed = name, seed

    def begin(self, seat: Seat, setup: None) -> None:
        self.tried: set[int] = set()
        self._random = random.Random(self._seed)

    def observe(self, observation: Seen) -> None:
        if observation.square is not None:
            self.tried.add(observation.square)

    def answer(self, question: str, limit: Limit, progress: Progress | None = None) -> Decision[int]:
        free = sorted(set(range(9)) - self.tried)
        return Decision(free[0] if self._name == "first" else self._random.choice(free), {"free": len(free)})


# ---------------------------------------------------------------------------------------------------- people


class TicTacToeKnown(Known):
    """What a side was told, in words, and the squares that may be free."""

    def __init__(self, seat: Seat, setup: None) -> None:
        super().__init__(seat, setup)
        self._free = set(range(9))

    def words(self, seen: Seen) -> str:
        self._free -= {seen.square}
        if seen.square is None:
            return "The other side has moved."
        return f"{seen.square} is {'yours' if seen.placed else 'taken'}."

    def answers(self) -> Mapping[str, int]:
        return {str(square): square for square in sorted(self._free)}


class TicTacToeFront(Front):
    known = TicTacToeKnown


class TicTacToe(SmallKit[Referee, Seen, int]):
    name = "tests.table.hidden_tictactoe:KIT"
    title = "Hidden tic-tac-toe"
    wire = PlainWire(name, Seen, int, open_squares, lambda: (True, []), key="square", mark="squares")
    configurations = ("random", "first")
    default_player = "random"
    front = "tests.table.hidden_tictactoe:TicTacToeFront"

    def player(self, spec: Named, seed: int) -> Own:
        return Own(spec.name, seed)

    def referee(self, setup: None, moves: Sequence[str] = (), seed: int = 0) -> Referee:
        return Referee()

    def record(self, referee: Referee, headers: Mapping[str, str]) -> str:
        return json.dumps({**headers, "tries": referee.tries})


KIT = TicTacToe()
