"""A game of OpenSpiel in the terminal: the player's observation, as OpenSpiel writes it, and a list of actions."""

from __future__ import annotations

from typing import Any

from klss.openspiel.observations import Seen
from klss.play.contest import Decision, Player, Resignation
from klss.play.limits import Limit, Progress
from klss.play.outcome import Seat
from klss_app.cli.screen import Quit, Screen

_SHOWN = 30
"""Most actions that are listed unasked."""


class _Human(Player[None, Seen, int]):
    """A human who types actions, by name or by number."""

    def __init__(self, screen: Screen) -> None:
        self._terminal = screen.terminal

    def begin(self, seat: Seat, setup: None) -> None:
        self._seen: list[Seen] = []

    def observe(self, observation: Seen) -> None:
        self._seen.append(observation)
        if not observation.acts:
            self._terminal.say(observation.text)

    def answer(self, question: str, limit: Limit, progress: Progress | None = None) -> Decision[int]:
        seen = self._seen[-1]
        self._terminal.say("", seen.text)
        self._list(seen, _SHOWN)
        while True:
            typed = self._terminal.ask("your action: ").strip()
            if typed == "quit":
                raise Quit
            if typed == "resign":
                raise Resignation
            action = seen.action(typed)
            if action is not None:
                return Decision(action)
            self._terminal.say(f"got {typed[:40]!r}, expected a number or a name of the list, resign or quit")
            self._list(seen, len(seen.actions))

    def _list(self, seen: Seen, most: int) -> None:
        listed = [f"{number}: {name}" for number, name in enumerate(seen.names[:most], 1)]
        more = [f"… {len(seen.names)} in all (Enter lists them)"] if len(seen.names) > most else []
        self._terminal.say("  ".join(listed + more))


class OpenSpielScreen(Screen):
    """See :class:`klss_app.cli.screen.Screen`."""

    def human(self, resumed: int) -> _Human:
        """See the base."""
        return _Human(self)

    def turn_lines(self, referee: Any, ply: int) -> list[str]:
        """See the base."""
        seat, _, name = referee.actions[ply - 1]
        return [f"{ply}. {self.names[seat]}: {name}"]

    def end_lines(self, referee: Any) -> list[str]:
        """See the base."""
        if referee.returns is None:
            return [str(referee), f"{referee.outcome.result} ({referee.outcome.reason})"]
        first, second = referee.returns
        return [str(referee), f"{self.names[True]} {first:+g}, {self.names[False]} {second:+g}"]
