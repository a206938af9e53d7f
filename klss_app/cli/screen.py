"""A game on a terminal: the first prompt, the human, the turns of engines, and afterwards a review of the true game."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import chess

from darkchess.fog.game.render import beside
from klss.play.arbiter import AnyPlayed
from klss.play.contest import AnyReferee
from klss.play.outcome import Seat
from klss_app.cli.errors import UsageError
from klss_app.cli.games import Game
from klss_app.cli.human import AnyHuman, Human, Quit, drawn
from klss_app.cli.terminal import InputClosed, Terminal
from klss_app.known.known import Known

if TYPE_CHECKING:
    from klss_app.front import Front, Step

_REVIEW_HELP = " Enter: the next ply (after the last the start), a number: that ply, quit"


class Screen:
    """One game on a terminal: both players' names, and seconds left on the clocks, which the arbiter updates."""

    def __init__(self, game: Game, terminal: Terminal, names: Mapping[Seat, str], clocks: Mapping[Seat, float]) -> None:
        self._game, self._terminal, self._names, self._clocks = game, terminal, names, clocks
        self._human: AnyHuman | None = None
        self._drawn = -1

    @property
    def front(self) -> Front:
        """How people see the game; it loads compiled code."""
        return self._game.front

    def first_prompt(self) -> None:
        """Draw White's first board from the usual start, and read the first line, before anything is loaded; only in
        Fog of War."""
        if self._game.name != "fog":
            return
        from klss_app.known.fog import START, FogKnown

        terminal = self._terminal
        Human(FogKnown, terminal, self._names, self._clocks).show(START)
        terminal.say(
            " You see your pieces and where they could move; the rest is fog. Type help for the commands.",
            " Easier or harder: klss play --black level-1 to level-8.",
        )
        self._drawn = 0
        while True:
            text = terminal.ask(" 1. your move: ")
            if text.lower() in ("quit", "exit"):
                raise Quit
            if text.lower() in ("help", "?"):
                terminal.say(FogKnown.help)
            elif text:
                terminal.type_ahead(text)
                return

    def human(self, resumed: int) -> AnyHuman:
        """The human as a player; ``resumed``: turns already played in a resumed game."""
        if self.front.known is Known:
            raise UsageError(f"got --game {self._game.name}, whose answers can't be typed; klss match plays it")
        self._human = Human(self.front.known, self._terminal, self._names, self._clocks, resumed)
        self._human.drawn = self._drawn
        return self._human

    def seconds_left(self) -> float | None:
        """Seconds on the clock during the human's turn; None without a clock, and during the opponent's turn."""
        return None if self._human is None else self._human.seconds_left()

    def start_lines(self, referee: AnyReferee) -> list[str]:
        """The lines for the beginning of a game between two engines."""
        step = self.front.step(referee, 0)
        return [] if step is None else ["", *self._block(step)]

    def turn_lines(self, referee: AnyReferee, played: AnyPlayed) -> list[str]:
        """The lines for a turn of such a game."""
        step = self.front.step(referee, played.ply)
        if step is None:
            return [self.front.words(referee, played, self._names[played.seat])]
        return ["", *self._block(step)]

    def end_lines(self, referee: AnyReferee) -> list[str]:
        """The lines for the end of any game; with the last board between engines whose turns were told in words."""
        told = self._human is None and self.front.step(referee, 0) is None
        board = [line for step in self.front.steps(referee)[-1:] for line in self._block(step)] if told else []
        return [*board, *self.front.end_lines(referee, self._names)]

    def review(self, referee: AnyReferee) -> None:
        """Step through a finished game, with nothing hidden: at a terminal the last step and then those that the human
        asks for, else all at once."""
        terminal, steps = self._terminal, self.front.steps(referee)
        if not steps:
            return
        last = ply = len(steps) - 1
        for step in steps[last if terminal.interactive else 0 :]:
            terminal.say("", *self._block(step))
        if terminal.interactive:
            terminal.say(_REVIEW_HELP)
        while True:
            try:
                text = terminal.ask(f" review {ply}/{last}> ").lower()
            except InputClosed:
                return
            if text in ("quit", "exit", "q"):
                return
            if text == "" or (text.isascii() and text.isdigit() and int(text) <= last):
                ply = int(text) if text else (ply + 1) % (last + 1)
                terminal.say("", *self._block(steps[ply]))
            else:
                terminal.say(f" got {text!r}, expected one of:", _REVIEW_HELP)

    def _block(self, step: Step) -> list[str]:
        """The boards of a ply side by side, under the turn that led there."""
        bottom = chess.WHITE if self._human is None else self._human.bottom
        named = [(f"White {self.front.sees}", step.known[True]), ("the board", step.truth),
                 (f"Black {self.front.sees}", step.known[False])]  # fmt: skip
        blocks = [(f"  {name}", drawn(self._terminal, picture, bottom, small=True)) for name, picture in named]
        return [step.words, *beside(blocks)]
