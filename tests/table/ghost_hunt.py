"""Ghost hunt, a dark board game with nature's moves: two hunters and a ghost in a dark house of four by four rooms.

In its turn a hunter goes to a room beside its own, or stays; then the ghost drifts to any room beside its own. A hunter
sees its own room and those beside it. Who steps on the other wins; whom the ghost meets loses.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from klss.play.outcome import Outcome, Seat
from klss.play.small_game import Nature, SmallKit, SmallReferee

SIZE, LONGEST = 4, 60
LETTERS = {True: "W", False: "B"}


def beside(room: int) -> list[int]:
    """The rooms that one can be in after a step from ``room``, itself included."""
    row, column = divmod(room, SIZE)
    steps = ((0, 0), (-1, 0), (0, -1), (0, 1), (1, 0))
    return [
        (row + down) * SIZE + column + right
        for down, right in steps
        if row + down in range(SIZE) and column + right in range(SIZE)
    ]


@dataclass(frozen=True)
class Seen:
    """The hunter's own room, and all rooms: ``?`` is dark, ``.`` empty, ``W``, ``B`` and ``G`` the hunters and the
    ghost."""

    room: int
    house: str


class Referee(SmallReferee[Seen, int]):
    """The true game."""

    def __init__(self, nature: Nature) -> None:
        super().__init__(nature)
        self.rooms = {True: 0, False: SIZE * SIZE - 1}
        self.ghost = self.draw([3, 6, 9, 12])
        self._show_both()

    def play(self, room: int) -> None:
        mover = self.turn
        if room not in beside(self.rooms[mover]):
            raise ValueError(f"got the room {room}, expected one of {beside(self.rooms[mover])}")
        self.rooms[mover] = room
        if room == self.rooms[not mover]:
            self.outcome = Outcome(mover, "caught")
        else:
            self._drift(mover)
        self.turn = not mover
        self._show_both()

    def _drift(self, mover: Seat) -> None:
        """The ghost moves; if it meets a hunter, the mover first, that one loses."""
        if self.ghost != self.rooms[mover]:
            self.ghost = self.draw(beside(self.ghost)[1:])
        met = [seat for seat in (mover, not mover) if self.rooms[seat] == self.ghost]
        if met:
            self.outcome = Outcome(not met[0], "ghost")
        elif self.ply + 1 >= LONGEST:
            self.outcome = Outcome(None, "dawn")

    def _show_both(self) -> None:
        house = ["."] * SIZE * SIZE
        house[self.ghost] = "G"
        for seat, room in self.rooms.items():
            house[room] = LETTERS[seat]
        for seat, room in self.rooms.items():
            near = beside(room)
            self.show(seat, Seen(room, "".join(each if at in near else "?" for at, each in enumerate(house))))


class GhostHunt(SmallKit[Referee, Seen, int]):
    """Its careful player steps on whom it sees, and never beside a ghost that it sees if it can help it."""

    name = "tests.table.ghost_hunt:KIT"
    title = "Ghost hunt"
    true_game, observation, answer = Referee, Seen, int
    configurations = ("careful", "random")
    default_player = "careful"

    def choices(self, seen: Sequence[Seen]) -> list[int]:
        return beside(seen[-1].room)

    def told(self, seen: Sequence[Seen]) -> str:
        house = seen[-1].house
        return "\n".join(" ".join(house[at : at + SIZE]) for at in range(0, SIZE * SIZE, SIZE))

    def word(self, answer: int, seen: Sequence[Seen]) -> str:
        steps = {0: "stay", -SIZE: "up", SIZE: "down", -1: "left", 1: "right"}
        return steps[answer - seen[-1].room]

    def choose(self, name: str, seen: Sequence[Seen], chance: random.Random) -> int:
        last, rooms = seen[-1], self.choices(seen)
        if name == "random":
            return chance.choice(rooms)
        prey = [room for room in rooms if last.house[room] in "WB" and room != last.room]
        ghost = last.house.find("G")
        safe = [room for room in rooms if ghost < 0 or room not in beside(ghost)]
        return chance.choice(prey or safe or rooms)


KIT = GhostHunt()
