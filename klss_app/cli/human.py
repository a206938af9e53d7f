"""A human at the terminal who plays on a chessboard: the part that is the same in every such game.

It waits for a line until the clock runs out; some lines are commands, the others are answers in the game.
"""

from __future__ import annotations

import textwrap
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NoReturn

import chess

from darkchess.fog.game.render import Style, board_lines
from klss.play.contest import OutOfTime, Resignation
from klss.play.limits import Limit
from klss_app.cli.screen import Quit
from klss_app.cli.terminal import Terminal, TimeUp

WIDTH = 76
"""Columns of long lists."""


def side_name(color: chess.Color) -> str:
    """``White`` or ``Black``."""
    return "White" if color else "Black"


def clock_text(remaining_s: float) -> str:
    """Seconds as a clock shows them.

    >>> clock_text(179.2), clock_text(7.25)
    ('2:59', '0:07.2')
    """
    minutes, rest = divmod(max(0.0, remaining_s), 60.0)
    if remaining_s < 10.0:
        return f"{int(minutes)}:{int(rest * 10) / 10:04.1f}"
    return f"{int(minutes)}:{int(rest):02d}"


def drawn(
    terminal: Terminal,
    pieces: Mapping[int, chess.Piece],
    visible: int,
    bottom: chess.Color,
    marked: tuple[int, ...] = (),
) -> list[str]:
    """The lines of a board as ``terminal`` can show it; see :func:`darkchess.fog.game.render.board_lines`."""
    style, cell = Style(unicode=terminal.unicode, color=terminal.color), 3 if terminal.color else 2
    return board_lines(pieces, visible, bottom=bottom, style=style, marked=marked, cell=cell)


def framed(
    board: Iterable[str], bottom: chess.Color, names: Mapping[chess.Color, str], clocks: Mapping[chess.Color, float]
) -> list[str]:
    """The lines of a board between the two players' names and clocks; ``bottom`` sits below it."""

    def player(color: chess.Color) -> str:
        clock = f"   {clock_text(clocks[color])}" if color in clocks else ""
        return f"   {side_name(color)}: {names[color]}{clock}"

    return [player(not bottom), *(" " + line for line in board), player(bottom)]


class Typist:
    """The human's side of a player; a game's own class has this and the game's ``Player`` as bases. The arguments are
    those of :class:`klss_app.cli.screen.Screen`."""

    help: str

    def __init__(
        self, terminal: Terminal, names: Mapping[chess.Color, str], clocks: Mapping[chess.Color, float]
    ) -> None:
        self._terminal, self._names, self._clocks = terminal, names, clocks
        self._news: list[str] = []
        self._deadline: float | None = None
        self.bottom: chess.Color = chess.WHITE

    def draw(self) -> None:
        """Draw the current board, and the events since the human's last move."""
        raise NotImplementedError

    def choices(self) -> Iterable[str]:
        """The possible answers now, as they are typed."""
        raise NotImplementedError

    def show(self, board: Iterable[str]) -> None:
        """Put a board on the screen between the players, and the news below it."""
        self._terminal.clear()
        self._terminal.say(*framed(board, self.bottom, self._names, self._clocks))
        for line in self._news:
            self._terminal.say(f" {line}")

    def question_begins(self, limit: Limit) -> None:
        """Start the clock, if there is one."""
        self._deadline = None if limit.clock is None else time.monotonic() + limit.clock[0]

    def seconds_left(self) -> float | None:
        """Seconds on the clock during the human's turn; None without a clock, and during the opponent's turn."""
        return None if self._deadline is None else self._deadline - time.monotonic()

    def ask(self, prompt: str) -> str | None:
        """Read a line; if it is a command, do it and return None. Raises Resignation, OutOfTime: see
        :mod:`klss.play.contest`; Quit, InputClosed: the human leaves.
        """
        try:
            text = self._terminal.ask(prompt, self.seconds_left())
        except TimeUp:
            raise OutOfTime from None
        action = self.commands().get(" ".join(text.lower().split()))
        if action is None:
            return text
        action()
        return None

    def commands(self) -> dict[str, Callable[[], Any]]:
        """The commands that may be typed besides answers."""
        say = self._terminal.say
        return {
            "help": lambda: say(self.help),
            "?": lambda: say(self.help),
            "moves": lambda: say(wrapped("  ".join(self.choices()))),
            "flip": self._flip,
            "resign": self._resign,
            "quit": self._quit,
            "exit": self._quit,
        }

    def _flip(self) -> None:
        self.bottom = not self.bottom
        self.draw()

    def _resign(self) -> NoReturn:
        raise Resignation

    def _quit(self) -> NoReturn:
        raise Quit


def wrapped(text: str) -> str:
    """A long list, wrapped into lines for a terminal."""
    return textwrap.fill(text, width=WIDTH, initial_indent=" ", subsequent_indent=" ", break_on_hyphens=False)
