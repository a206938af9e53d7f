"""A terminal's boards beside those of a turn: the first one, before the game is loaded, and those of the true game."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import chess

from darkchess.fog.game.render import beside
from klss.play.contest import AnyReferee
from klss.play.outcome import Seat
from klss_app.cli.human import Human, Quit, drawn
from klss_app.cli.terminal import InputClosed, Terminal

if TYPE_CHECKING:
    from klss_app.front import Front, Step

_REVIEW_HELP = " Enter: the next ply (after the last the start), a number: that ply, quit"


def first_prompt(terminal: Terminal, names: Mapping[Seat, str], clocks: Mapping[Seat, float]) -> None:
    """Draw White's first board of Fog of War from the usual start, and read the first line, before anything is
    loaded."""
    from klss_app.known.fog import START, FogKnown

    Human(FogKnown, terminal, names, clocks).show(START)
    terminal.say(
        " You see your pieces and where they could move; the rest is fog. Type help for the commands.",
        " Easier or harder: klss play --black level-1 to level-8.",
    )
    while True:
        text = terminal.ask(" 1. your move: ")
        if text.lower() == "quit":
            raise Quit
        if text.lower() == "help":
            terminal.say(FogKnown.help)
        elif text:
            terminal.type_ahead(text)
            return


def boards(terminal: Terminal, front: Front, step: Step, bottom: chess.Color = chess.WHITE) -> list[str]:
    """The boards of a ply side by side, under the turn that led there."""
    named = [(f"White {front.sees}", step.known[True]), ("the board", step.truth),
             (f"Black {front.sees}", step.known[False])]  # fmt: skip
    return ["", step.words, *beside([(f"  {name}", drawn(terminal, each, bottom, small=True)) for name, each in named])]


def review(terminal: Terminal, front: Front, referee: AnyReferee, bottom: chess.Color) -> None:
    """Step through a finished game, with nothing hidden: at a terminal the last step and then those that the human asks
    for, else all at once."""
    steps = [boards(terminal, front, step, bottom) for step in front.steps(referee)]
    if not steps:
        return
    last = ply = len(steps) - 1
    for lines in steps[last if terminal.interactive else 0 :]:
        terminal.say(*lines)
    if terminal.interactive:
        terminal.say(_REVIEW_HELP)
    while True:
        try:
            text = terminal.ask(f" review {ply}/{last}> ").lower()
        except InputClosed:
            return
        if text == "quit":
            return
        if text == "" or (text.isascii() and text.isdigit() and int(text) <= last):
            ply = int(text) if text else (ply + 1) % (last + 1)
            terminal.say(*steps[ply])
        else:
            terminal.say(f" got {text!r}, expected one of:", _REVIEW_HELP)
