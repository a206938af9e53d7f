"""The players of a game in the browser: a human at a page, and an engine that can be interrupted.

Both stand on the player's side of the wall, and both answer through the game's inbox, where its thread waits for a move
and for what may come instead: so a game can end while either of them thinks.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import chess

import klss.table.contest
from darkchess.board.position import Position
from darkchess.errors import IllegalMove
from darkchess.fog.game.contest import Player
from darkchess.fog.game.rules import PAPER, Ruleset
from darkchess.fog.game.san import parse_move
from darkchess.fog.game.view import View
from klss.support.text import printable
from klss.table.contest import Decision, OutOfTime, Resignation
from klss.table.limits import Limit, Progress
from klss.table.outcome import Outcome, Seat
from klss_app.web.messages import Telling

__all__ = ["Ended", "EngineAtBoard", "HumanAtBoard", "Inbox", "Leave", "Resign"]

_MOST_TEXT = 40


class Ended(Exception):
    """The game ends while somebody else is to move; ``outcome`` says how, None: it is left."""

    def __init__(self, outcome: Outcome | None) -> None:
        super().__init__(outcome)
        self.outcome = outcome


@dataclass(frozen=True)
class Answer:
    """What a player answers to the turn at ``ply``: a decision, or the reason that there is none."""

    color: chess.Color
    ply: int
    answer: Decision | Exception


@dataclass(frozen=True)
class Resign:
    """A player gives up, in its turn or not."""

    color: chess.Color


@dataclass(frozen=True)
class Leave:
    """The game is left as it is."""


class Inbox:
    """One game's; ``answered`` is called by the game's thread as soon as a decision is there."""

    def __init__(self, answered: Callable[[], None]) -> None:
        self._answered = answered
        self._letters: queue.SimpleQueue[Answer | Resign | Leave] = queue.SimpleQueue()

    def put(self, letter: Answer | Resign | Leave) -> None:
        """Send; from any thread."""
        self._letters.put(letter)

    def answer(self, color: chess.Color, ply: int, deadline: float | None = None) -> Decision:
        """Wait for the decision of ``color`` at ``ply``, until the moment ``deadline`` of :func:`time.monotonic`;
        answers to other turns are dropped.

        Raises
        ------
        Resignation, OutOfTime
            See :mod:`klss.table.contest`.
        Ended
            The other player resigned, or the game is left.
        """
        while True:
            left = None if deadline is None else max(0.0, deadline - time.monotonic())
            try:
                letter = self._letters.get(timeout=left)
            except queue.Empty:
                raise OutOfTime from None
            if isinstance(letter, Leave):
                raise Ended(None)
            if isinstance(letter, Resign):
                if letter.color == color:
                    raise Resignation
                raise Ended(Outcome(not letter.color, "resign"))
            if (letter.color, letter.ply) != (color, ply):
                continue
            if isinstance(letter.answer, Exception):
                raise letter.answer
            self._answered()
            return letter.answer


class HumanAtBoard(Player):
    """A human in front of a page; ``show`` is called by the game's thread with what the human may know,
    :meth:`klss_app.web.messages.Telling.message`, whenever that has changed; not before ``earlier`` plies, which were
    played before this game went on."""

    def __init__(self, inbox: Inbox, show: Callable[[dict[str, Any]], None], earlier: int = 0) -> None:
        self._inbox = inbox
        self._earlier = earlier
        self._show = show
        self._view: View | None = None

    def start(self, view: View, start: Position, ruleset: Ruleset = PAPER) -> None:
        """See :class:`darkchess.fog.game.contest.Player`."""
        self._view, self._telling = view, Telling(view)
        if not self._earlier:
            self._show(self._telling.message())

    def observe(self, view: View) -> None:
        """See :class:`darkchess.fog.game.contest.Player`."""
        self._telling.observe(view)
        self._view = view
        if view.ply >= self._earlier:
            self._show(self._telling.message())

    def end(self, outcome: Outcome) -> None:
        """See :class:`klss.table.contest.Player`: the last view again, unless it says how the game ended."""
        if self._view is not None and self._view.game_over is None:
            self._view = replace(self._view, game_over=outcome, legal_moves=())
            self._telling.end(self._view)
            self._show(self._telling.message())

    def choose(self, limit: Limit, progress: Progress | None = None) -> Decision:
        """See :class:`darkchess.fog.game.contest.Player`; raises as :meth:`Inbox.answer` does."""
        view = self._view
        assert view is not None
        deadline = None if limit.clock is None else time.monotonic() + limit.clock[0]
        return self._inbox.answer(view.color, view.ply, deadline)

    def move(self, text: str, ply: int) -> str | None:
        """The page sends a move, SAN or UCI, for the turn at ``ply``; called by the server's thread. Says what is wrong
        with it; None where it was passed on."""
        view = self._view
        if view is None or view.game_over is not None or view.to_move != view.color:
            return "it is not your turn"
        if ply != view.ply:
            return "the board has changed since"
        try:
            move = parse_move(view, text[:_MOST_TEXT])
        except IllegalMove as error:
            return printable(str(error))
        self._inbox.put(Answer(view.color, view.ply, Decision(move, {})))
        return None


class EngineAtBoard(klss.table.contest.Player):
    """An engine, asked in a thread of its own.

    Parameters
    ----------
    player
        The engine; its ``answer`` may take long, and is left alone where the game ends meanwhile. ``thinking`` says
        whether it runs.
    ready
        Waits until the engine's process is loaded; the host's patience counts from there.
    """

    def __init__(self, player: klss.table.contest.Player, inbox: Inbox, ready: Callable[[], None]) -> None:
        self._player = player
        self._inbox = inbox
        self._ready = ready
        self.thinking = False

    def begin(self, seat: Seat, setup: Any) -> None:
        """See :class:`klss.table.contest.Player`."""
        self._seat, self._ply = seat, 0
        self._player.begin(seat, setup)

    def observe(self, observation: Any) -> None:
        """See :class:`klss.table.contest.Player`."""
        self._ply = observation.ply
        self._player.observe(observation)

    def end(self, outcome: Outcome) -> None:
        """See :class:`klss.table.contest.Player`; an engine that still thinks does not learn of it."""
        if not self.thinking:
            self._player.end(outcome)

    def answer(self, question: Any, limit: Limit, progress: Progress | None = None) -> Decision:
        """See :class:`klss.table.contest.Player`; raises as :meth:`Inbox.answer` does."""
        self.thinking = True
        threading.Thread(target=self._think, args=(question, limit), daemon=True).start()
        return self._inbox.answer(self._seat, self._ply)

    def close(self) -> None:
        """See :class:`klss.table.contest.Player`."""
        self._player.close()

    def _think(self, question: Any, limit: Limit) -> None:
        answer: Decision | Exception
        try:
            self._ready()
            answer = self._player.answer(question, limit)
        except Exception as error:
            answer = error
        self.thinking = False
        self._inbox.put(Answer(self._seat, self._ply, answer))
