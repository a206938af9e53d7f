"""The base of a kit's ``screen``: how people see a game in the terminal, play it, and step through it afterwards."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any

from klss.play.contest import AnyPlayer
from klss.play.outcome import Outcome, Seat
from klss.support.text import counted
from klss_app.cli.terminal import InputClosed, Terminal

_LOSSES = {
    "king_captured": "{}'s king was captured",
    "no_move": "{} has no move left",
    "resign": "{} resigned",
    "flag": "{} ran out of time",
    "forfeit": "{} forfeited",
}
_DRAWS = {
    "agreement": "both players agreed",
    "no_move": "no move is left",
    "repetition": "third occurrence of the position",
    "fifty_moves": "fifty moves without a capture or a pawn move",
    "ply_limit": "the limit of plies was reached",
}
REVIEW_HELP = " Enter: the next ply (after the last the start), a number: that ply, quit"


class Quit(Exception):
    """The human leaves the game."""


class Screen(ABC):
    """One game on a terminal: both players' names, and seconds left on the clocks, which the arbiter updates. ``turns``
    are the game's words for one turn and for more.
    """

    turns = "turn", "turns"

    def __init__(self, terminal: Terminal, names: Mapping[Seat, str], clocks: Mapping[Seat, float]) -> None:
        self.terminal, self.names, self.clocks = terminal, names, clocks

    def first_prompt(self) -> None:
        """Draw White's first board from the usual start, and read the first line, before anything is loaded."""
        return

    @abstractmethod
    def human(self, resumed: int) -> AnyPlayer:
        """The human as a player; ``resumed``: turns already played in a resumed game."""

    def seconds_left(self) -> float | None:
        """Seconds on the clock during the human's turn; None without a clock, and during the opponent's turn."""
        return None

    def start_lines(self, referee: Any) -> list[str]:
        """The lines for the beginning of a game between two engines."""
        return []

    @abstractmethod
    def turn_lines(self, referee: Any, ply: int) -> list[str]:
        """The lines for the turn of such a game that led to ``ply``."""

    def end_lines(self, referee: Any) -> list[str]:
        """The lines for the end of any game."""
        return [ended_text(referee.outcome, counted(referee.ply, *self.turns))]

    def review(self, referee: Any) -> None:
        """Step through a finished game, with nothing hidden."""
        return

    def hints(self, path: str) -> list[str]:
        """Commands for the game kept in ``path``; the path is quoted for a shell."""
        return []


def ended_text(outcome: Outcome | None, after: str) -> str:
    """The end of any game in one line; ``after``: its length in words.

    >>> ended_text(None, "3 turns"), ended_text(Outcome(False, "resign"), "0 plies")
    ('Unfinished after 3 turns.', 'Black wins: White resigned. 0-1 after 0 plies.')
    """
    if outcome is None:
        return f"Unfinished after {after}."
    if outcome.winner is None:
        return f"Draw: {_DRAWS.get(outcome.reason, outcome.reason)}. {outcome.result} after {after}."
    winner, loser = ("White", "Black") if outcome.winner else ("Black", "White")
    reason = _LOSSES.get(outcome.reason, outcome.reason).format(loser)
    return f"{winner} wins: {reason}. {outcome.result} after {after}."


def step_through(terminal: Terminal, last: int, lines: Callable[[int], list[str]]) -> None:
    """Show a game step by step, from 0 to ``last``: at a terminal the last step and then those that the human asks for,
    else all at once. ``lines`` makes the block of a step from its number.
    """
    ply = last
    for each in [ply] if terminal.interactive else range(last + 1):
        terminal.say("", *lines(each))
    if terminal.interactive:
        terminal.say(REVIEW_HELP)
    while True:
        try:
            text = terminal.ask(f" review {ply}/{last}> ").lower()
        except InputClosed:
            return
        if text in ("quit", "exit", "q"):
            return
        if text == "" or (text.isascii() and text.isdigit() and int(text) <= last):
            ply = int(text) if text else (ply + 1) % (last + 1)
            terminal.say("", *lines(ply))
        else:
            terminal.say(f" got {text!r}, expected one of:", REVIEW_HELP)
