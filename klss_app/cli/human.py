"""A human at the terminal, as a player of any game: sees what one player knows, and types answers.

It waits for a line until the clock runs out; some lines are commands, the others are answers in the game.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import chess

from darkchess.fog.game.render import Style, beside, board_lines
from klss.play.contest import Answer, Decision, Observation, OutOfTime, Player, Resignation, Setup
from klss.play.limits import Limit
from klss.play.outcome import Outcome, Seat
from klss_app.cli.terminal import Terminal, TimeUp
from klss_app.known.known import Known, Picture, Unread, wrapped

_LISTED = 30
"""Most answers that are listed unasked, in a game without a picture."""


class Quit(Exception):
    """The human leaves the game."""


def clock_text(remaining_s: float) -> str:
    """Seconds as a clock shows them.

    >>> clock_text(3600.0), clock_text(59.9), clock_text(7.25), clock_text(-1.0)
    ('60:00', '0:59', '0:07.2', '0:00.0')
    """
    minutes, rest = divmod(max(0.0, remaining_s), 60.0)
    if remaining_s < 10.0:
        return f"{int(minutes)}:{int(rest * 10) / 10:04.1f}"
    return f"{int(minutes)}:{int(rest):02d}"


def drawn(terminal: Terminal, picture: Picture, bottom: chess.Color, *, small: bool = False) -> list[str]:
    """The lines of a board as ``terminal`` can show it; unless ``small``, in square cells where there are colours, and
    with the ages beside it, where there are any. See :func:`darkchess.fog.game.render.board_lines`."""
    style, cell = Style(unicode=terminal.unicode, color=terminal.color), 3 if terminal.color and not small else 2
    board = board_lines(picture.pieces, picture.seen, bottom=bottom, style=style, marked=picture.marked, cell=cell)
    if picture.ages is None or small:
        return board
    return beside([("", board), ("", [*_ages(terminal, picture, bottom), "turns ago"])])[1:]


def _ages(terminal: Terminal, picture: Picture, bottom: chess.Color) -> list[str]:
    """Turns since each square was known: a dot for never, nothing for squares with own pieces."""
    ages, never = picture.ages or {}, "·" if terminal.unicode else "."
    ranks = range(7, -1, -1) if bottom else range(8)
    files = range(8) if bottom else range(7, -1, -1)

    def age(square: int) -> str:
        if square not in ages:
            return " " if picture.seen >> square & 1 else never
        return str(ages[square]) if ages[square] < 10 else "+"

    return [" ".join(age(8 * rank + file) for file in files).rstrip() for rank in ranks]


class Human(Player[Setup, Observation, Answer]):
    """The human; see :class:`klss.play.contest.Player`. ``make`` makes what the player knows; ``names`` and ``clocks``
    are both players', with the seconds left, which the arbiter updates. ``earlier`` is the number of observations
    before a game was resumed: only the last of them is shown. ``help`` replaces the game's own.
    """

    def __init__(
        self,
        make: Callable[[Seat, Setup], Known[Setup, Observation, Answer]],
        terminal: Terminal,
        names: Mapping[chess.Color, str],
        clocks: Mapping[chess.Color, float],
        earlier: int = 0,
        help: str | None = None,
    ) -> None:
        self._make, self._terminal, self._names, self._clocks = make, terminal, names, clocks
        self._earlier, self._help = earlier, help
        self._deadline: float | None = None
        self.bottom: chess.Color = chess.WHITE
        self.drawn = -1  # the number of the observation that was shown last

    def begin(self, seat: Seat, setup: Setup) -> None:
        """Begin a game; nothing is drawn before the human's first turn."""
        self.known, self.bottom = self._make(seat, setup), seat

    def observe(self, observation: Observation) -> None:
        """Take in an observation. On a screen the result of the human's own move is shown at once."""
        known = self.known
        known.observe(observation)
        waits = known.question is None and self._terminal.screen and known.picture() is not None
        if known.number == self._earlier or (known.number > self._earlier and waits):
            self.draw()

    def answer(self, question: str, limit: Limit) -> Decision[Answer]:
        """Ask until an answer is typed. Raises Resignation, OutOfTime: see :mod:`klss.play.contest`; Quit, InputClosed:
        the human leaves.
        """
        known = self.known
        known.question = question
        if self.drawn != known.number:
            self.draw()
        self._list(_LISTED)
        self._deadline = None if limit.clock is None else time.monotonic() + limit.clock[0]
        while True:
            try:
                text = self._terminal.ask(known.prompt, self.seconds_left())
            except TimeUp:
                raise OutOfTime from None
            command = " ".join(text.lower().split())
            if command == "quit":
                raise Quit
            if command == "resign":
                raise Resignation
            if command == "flip":
                self.bottom = not self.bottom
                self.draw()
            elif command == "help":
                self._terminal.say(self._help or known.help)
            elif command == "moves":
                self._terminal.say(wrapped("  ".join(known.answers())))
            elif command == "history":
                self._terminal.say(*known.history_lines())
            else:
                try:
                    answer = known.read(text)
                except Unread as error:
                    self._terminal.say(*[f" {error}"] * bool(str(error)))
                    self._list()
                    continue
                self._deadline = None
                return Decision(answer)

    def end(self, outcome: Outcome) -> None:
        """See the base: what was not shown yet is shown."""
        self.known.end(outcome)
        if self.drawn != self.known.number:
            if self._terminal.screen:
                self.draw()
            else:
                self._terminal.say(*(f" {line}" for line in self.known.said))

    def seconds_left(self) -> float | None:
        """Seconds on the clock during the human's turn; None without a clock, and during the opponent's turn."""
        return None if self._deadline is None else self._deadline - time.monotonic()

    def draw(self) -> None:
        """Show what the player knows: the board between both names and clocks, and what happened."""
        known, terminal = self.known, self._terminal
        self.drawn = known.number
        picture = known.picture()
        if picture is None:
            terminal.say("", *known.said)
            return
        self.show(picture)
        terminal.say(*(f" {line}" for line in known.said))

    def show(self, picture: Picture) -> None:
        """Put a board on the screen, between both names and clocks."""

        def player(color: chess.Color) -> str:
            clock = f"   {clock_text(self._clocks[color])}" if color in self._clocks else ""
            return f"   {'White' if color else 'Black'}: {self._names[color]}{clock}"

        board = (" " + line for line in drawn(self._terminal, picture, self.bottom))
        self._terminal.clear()
        self._terminal.say(player(not self.bottom), *board, player(self.bottom))

    def _list(self, most: int | None = None) -> None:
        """List the open answers, of a game without a picture."""
        if self.known.picture() is not None:
            return
        names = list(self.known.answers())
        plain = any(name.isdecimal() for name in names)
        listed = [name if plain else f"{number}: {name}" for number, name in enumerate(names[:most], 1)]
        more = [f"… {len(names)} in all (Enter lists them)"] if len(listed) < len(names) else []
        self._terminal.say("  ".join(listed + more))


AnyHuman: TypeAlias = Human[Any, Any, Any]
"""A human in a game that is chosen by name."""
