"""How people see a game: the class of what a player knows, and pictures of the true game once it is over.

The terminal has one screen over it (:mod:`klss_app.cli.screen`), the browser one board
(:mod:`klss_app.web.board_game`). It is on the referee's side of the wall.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import chess

from klss.play.arbiter import AnyPlayed
from klss.play.kit import AnyKit
from klss.play.outcome import Outcome, Seat
from klss.play.small_game import PlainKit
from klss.support.text import counted
from klss_app.known.known import AnyKnown, Known, Picture, PlainKnown

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


@dataclass(frozen=True)
class Step:
    """A ply of a game with nothing hidden: the turn that led to it, and the boards after it."""

    words: str  # the turn, with its number
    turn: chess.Color  # the side to move, and the number of its move, as in FEN
    number: int
    truth: Picture  # the true board
    known: Mapping[chess.Color, Picture]  # what each side knew
    # the move that was played in UCI, and the turn in letters as the review lists it; None: none, or the start
    move: str | None = None
    letters: str | None = None
    extra: Mapping[str, Any] | None = None  # what only this game's page shows


class Front:
    """A game as people see it; this class takes any game, which it shows as text. A game's own class is named by
    :attr:`klss.play.kit.Kit.front`.
    """

    known: Callable[[Seat, Any], AnyKnown] = Known  # what a player knows, from its seat and the setup
    turns = "turn", "turns"  # the game's words for one turn and for more
    sees = "knew"  # the word for what a side made of the board

    def __init__(self, kit: AnyKit) -> None:
        self.kit = kit
        if isinstance(kit, PlainKit):
            self.known = partial(PlainKnown, kit)

    def words(self, referee: Any, played: AnyPlayed, name: str) -> str:
        """A turn of a game between engines, just played by ``name``."""
        said = self.kit.line(referee, played)
        answers = said.get("answers")
        shown = answers if isinstance(answers, list) else said.values()
        return f"{played.ply}. {name}: {', '.join(map(str, shown))}"

    def step(self, referee: Any, ply: int) -> Step | None:
        """The ply with its boards, if every turn of a game between engines is shown so."""
        return None

    def steps(self, referee: Any) -> list[Step]:
        """All plies of a game, from the start on; empty: the game has no pictures."""
        return []

    def end_lines(self, referee: Any, names: Mapping[Seat, str]) -> list[str]:
        """The end of a game in words."""
        return [ended_text(referee.outcome, counted(referee.ply, *self.turns))]

    def hints(self, path: str) -> list[str]:
        """Commands for the game kept in ``path``, which is quoted for a shell."""
        return []


class OpenSpielFront(Front):
    """A game of OpenSpiel; see :class:`Front`."""

    def end_lines(self, referee: Any, names: Mapping[Seat, str]) -> list[str]:
        """The true state, as OpenSpiel prints it, and both payoffs."""
        if referee.returns is None:
            return [str(referee), f"{referee.outcome.result} ({referee.outcome.reason})"]
        first, second = referee.returns
        return [str(referee), f"{names[True]} {first:+g}, {names[False]} {second:+g}"]


def front_of(kit: AnyKit) -> Front:
    """The front of a kit's game."""
    if kit.front is None:
        return Front(kit)
    module, _, name = kit.front.partition(":")
    front: Front = getattr(importlib.import_module(module), name)(kit)
    return front


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
