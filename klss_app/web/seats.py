"""The players of a game in the browser: a human at a page, and an engine that can be interrupted.

Both are on the player's side of the wall, and both answer through the game's inbox. There the game's thread waits for a
move, a resignation, an offer of a draw or the order to leave, so a game can end while either player thinks.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeAlias

import chess

from klss.play.contest import Answer, Decision, Observation, OutOfTime, Player, Setup
from klss.play.limits import Limit
from klss.play.outcome import Outcome, Seat
from klss.support.text import Document
from klss_app.known.known import Known, Unread

_MOST_TEXT = 200
"""Characters of a page's answer that are read."""


class Line(Protocol):
    """A page's connection."""

    def send(self, message: Mapping[str, object]) -> None:
        """Queue a message for sending."""
        ...


class Ended(Exception):
    """The game ends by something other than an answer, in whoever's turn: a player resigns, both agree to a draw, or it
    is left as it is (``outcome`` None)."""

    def __init__(self, outcome: Outcome | None) -> None:
        super().__init__(outcome)
        self.outcome = outcome


@dataclass(frozen=True)
class Answered(Generic[Answer]):
    """A player's answer to its question ``number``: a decision, or the error if there is none."""

    color: chess.Color
    number: int
    answer: Decision[Answer] | Exception


@dataclass(frozen=True)
class Draw:
    """A player offers a draw, in its turn or not, or ``accepts`` the other's offer."""

    color: chess.Color
    accepts: bool


class Inbox(Generic[Answer]):
    """The inbox of one game. The game's thread calls ``offered`` with the colour that offers a draw, or with None once
    an offer is over.

    An offer stands until the turn of the player that it was made to is over: a move that was refused and is tried again
    does not end it, so that nobody learns of it.

    Offers and moves go through the same queue, so that it is certain which was first.
    """

    def __init__(self, offered: Callable[[chess.Color | None], None]) -> None:
        self._offered = offered
        self._offer: chess.Color | None = None
        self._letters: queue.SimpleQueue[Answered[Answer] | Draw | Ended] = queue.SimpleQueue()

    def put(self, letter: Answered[Answer] | Draw | Ended) -> None:
        """Add a letter; from any thread."""
        self._letters.put(letter)

    def answer(self, color: chess.Color, number: int, deadline: float | None = None) -> Decision[Answer]:
        """Wait for the decision of ``color`` on its question ``number``, until the moment ``deadline`` of
        :func:`time.monotonic`; answers to other questions are dropped. Raises OutOfTime; Ended, which may be a letter,
        or say that both agreed to a draw.
        """
        while True:
            left = None if deadline is None else max(0.0, deadline - time.monotonic())
            try:
                letter = self._letters.get(timeout=left)
            except queue.Empty:
                raise OutOfTime from None
            if isinstance(letter, Ended):
                raise letter
            if isinstance(letter, Draw):
                self._draw(letter)
                continue
            if (letter.color, letter.number) != (color, number):
                continue
            if isinstance(letter.answer, Exception):
                raise letter.answer
            return letter.answer

    def turn_over(self, color: chess.Color) -> None:
        """The turn of ``color`` is over; called by the game's thread."""
        if self._offer == (not color):
            self._set_offer(None)

    def _draw(self, letter: Draw) -> None:
        if self._offer == (not letter.color):
            raise Ended(Outcome(None, "agreement"))
        # Accepting an offer that has ended meanwhile is not an offer of one's own.
        if self._offer is None and not letter.accepts:
            self._set_offer(letter.color)

    def _set_offer(self, color: chess.Color | None) -> None:
        self._offer = color
        self._offered(color)


class HumanAtBoard(Player[Setup, Observation, Answer]):
    """A human at a page. The game's thread calls ``show`` with what the human may know whenever that has changed, but
    of the ``earlier`` observations from before the game was resumed only for the last. ``make`` makes what the human
    knows.
    """

    known: Known[Setup, Observation, Answer] | None = None

    def __init__(
        self,
        make: Callable[[Seat, Setup], Known[Setup, Observation, Answer]],
        inbox: Inbox[Answer],
        show: Callable[[Document], None],
        earlier: int = 0,
    ) -> None:
        self._make, self._inbox, self._show, self._earlier = make, inbox, show, earlier

    def begin(self, seat: Seat, setup: Setup) -> None:
        self.known = self._make(seat, setup)
        self._tell()

    def observe(self, observation: Observation) -> None:
        assert self.known is not None
        self.known.observe(observation)
        self._tell()

    def _tell(self) -> None:
        assert self.known is not None
        if self.known.number >= self._earlier:
            self._show(self.known.message())

    def answer(self, question: str, limit: Limit) -> Decision[Answer]:
        """See :class:`klss.play.contest.Player`; raises as :meth:`Inbox.answer` does."""
        assert self.known is not None
        deadline = None if limit.clock is None else time.monotonic() + limit.clock[0]
        if self.known.question is None:  # the observations did not tell
            self.known.question = question
            self._tell()
        return self._inbox.answer(self.known.seat, self.known.number, deadline)

    def end(self, outcome: Outcome) -> None:
        """See :class:`klss.play.contest.Player`: sent again, unless the last message told how the game ended."""
        if self.known is not None and self.known.over is None:
            self.known.end(outcome)
            self._show(self.known.message())

    def move(self, text: str, number: int) -> str | None:
        """Answer question ``number`` with the page's text; called by the server's thread. Return what is wrong with it,
        or None if it was passed on.
        """
        known = self.known
        if known is None or known.question is None:
            return "it is not your turn"
        if number != known.number:
            return "the board has changed since"
        try:
            answer = known.read(text[:_MOST_TEXT])
        except Unread as error:
            return str(error) or "got nothing, expected an answer"
        self._inbox.put(Answered(known.seat, number, Decision(answer)))
        return None


class EngineAtBoard(Player[Setup, Observation, Answer]):
    """An engine, asked in a thread of its own: its answer may take long, and nobody waits for it if the game ends
    meanwhile. ``ready`` waits until the engine's process is loaded; the host's time limit counts from there.
    """

    def __init__(
        self, player: Player[Setup, Observation, Answer], inbox: Inbox[Answer], ready: Callable[[], None]
    ) -> None:
        self._player, self._inbox, self._ready = player, inbox, ready
        self.thinking = False  # whether its ``answer`` runs

    def begin(self, seat: Seat, setup: Setup) -> None:
        self._seat, self._number = seat, 0
        self._player.begin(seat, setup)

    def observe(self, observation: Observation) -> None:
        self._player.observe(observation)

    def end(self, outcome: Outcome) -> None:
        """See :class:`klss.play.contest.Player`; not passed to an engine that still thinks."""
        if not self.thinking:
            self._player.end(outcome)

    def answer(self, question: str, limit: Limit) -> Decision[Answer]:
        """See :class:`klss.play.contest.Player`; raises as :meth:`Inbox.answer` does."""
        self.thinking = True
        self._number += 1
        threading.Thread(target=self._think, args=(question, limit, self._number), daemon=True).start()
        return self._inbox.answer(self._seat, self._number)

    def close(self) -> None:
        self._player.close()

    def _think(self, question: str, limit: Limit, number: int) -> None:
        answer: Decision[Answer] | Exception
        try:
            self._ready()
            answer = self._player.answer(question, limit)
        except Exception as error:
            answer = error
        self.thinking = False
        self._inbox.put(Answered(self._seat, number, answer))


AnyInbox: TypeAlias = Inbox[Any]
AnyHumanAtBoard: TypeAlias = HumanAtBoard[Any, Any, Any]
AnyEngineAtBoard: TypeAlias = EngineAtBoard[Any, Any, Any]
"""The same in a game that is chosen by name: its types are known only at run time."""
