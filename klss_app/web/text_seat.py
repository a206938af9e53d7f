"""A human at the page who plays a game that is seen as text: the messages to the page, and the actions that it sends.

It is on the player's side of the wall: a message is a function of one player's observations and actions only.
"""

from __future__ import annotations

from typing import Any

import chess

from klss.openspiel.observations import Seen
from klss.support.text import printable
from klss.table.contest import Decision
from klss.table.limits import Limit, Progress
from klss.table.outcome import Outcome, Seat
from klss_app.web.messages import over_document
from klss_app.web.seats import Answer, HumanAtBoard

__all__ = ["TextHuman"]

_MOST_TEXT = 200


class TextHuman(HumanAtBoard):
    """See :class:`klss_app.web.seats.HumanAtBoard`; a question's number is the number of the player's own observations
    and actions before it, not of plies: a player may not know how many turns the opponent had.
    """

    _begun = False
    _acts = False
    _over: Outcome | None = None

    def begin(self, seat: Seat, setup: None) -> None:
        """See :class:`klss.table.contest.Player`."""
        self._color = seat
        self._seen: list[Seen] = []
        self._history: list[str] = []
        self._begun = True
        self._show(self.message())

    def observe(self, observation: Seen) -> None:
        """See :class:`klss.table.contest.Player`."""
        self._seen.append(observation)
        self._acts = observation.acts
        self._show(self.message())

    def answer(self, question: Any, limit: Limit, progress: Progress | None = None) -> Decision:
        """See :class:`klss.table.contest.Player`; raises as the base does."""
        decision = super().answer(question, limit, progress)
        seen = self._seen[-1]
        self._history.append(seen.names[seen.actions.index(decision.answer)])
        self._acts = False
        return decision

    def turn_over(self) -> None:
        """See the base: in some games nothing is observed after an own action."""
        self._show(self.message())

    def end(self, outcome: Outcome) -> None:
        """See :class:`klss.table.contest.Player`."""
        self._over, self._acts = outcome, False
        if self._begun:
            self._show(self.message())

    def message(self) -> dict[str, Any]:
        """The message's fields: those of :meth:`klss_app.web.messages.Telling.message` that don't belong to chess.
        ``past`` has every observed text, ``moves`` the names of the legal actions, ``history`` the player's own
        actions.
        """
        mine = chess.COLOR_NAMES[self._color]
        step = self.asked[1]
        return {
            "color": mine,
            "ply": step,
            "step": step,
            "fullmove": len(self._history) + 1,
            "past": [seen.text for seen in self._seen],
            "turn": mine if self._acts else chess.COLOR_NAMES[not self._color],
            "moves": self._seen[-1].names if self._acts else [],
            "history": tuple(self._history),
            "said": [],
            "lost": "",
            "taken": "",
            "over": over_document(self._over),
        }

    @property
    def asked(self) -> tuple[chess.Color, int]:
        """See the base."""
        return self._color, len(self._seen) + len(self._history)

    def move(self, text: str, number: int) -> str | None:
        """See the base: the name of an action, or its number in the list."""
        if not self._acts:
            return "it is not your turn"
        if number != self.asked[1]:
            return "the board has changed since"
        text = text[:_MOST_TEXT].strip()
        action = self._seen[-1].action(text)
        if action is None:
            return f"got {printable(text, 40)!r}, expected an action of the list, or its number"
        self._inbox.put(Answer(self._color, number, Decision(action)))
        return None
