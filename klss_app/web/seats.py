"""The players of a game in the browser: a human at a page, and an engine that can be interrupted.

Both stand on the player's side of the wall, and both answer through the game's inbox, so that a game can end while
either of them thinks.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

from darkchess.board.position import Position
from darkchess.errors import IllegalMove
from darkchess.fog.game.contest import Decision, Player
from darkchess.fog.game.rules import PAPER, Ruleset
from darkchess.fog.game.san import parse_move
from darkchess.fog.game.view import View
from klss.support.text import printable
from klss.table.limits import Limit, Progress
from klss_app.web.inbox import Answer, Inbox
from klss_app.web.messages import Telling

__all__ = ["EngineAtBoard", "HumanAtBoard"]

_MOST_TEXT = 40


class HumanAtBoard(Player):
    """A human in front of a page.

    Parameters
    ----------
    inbox
        The game's.
    show
        Called with what she may be told, :meth:`klss_app.web.messages.Telling.told`, whenever that has changed; by the
        game's thread.
    """

    def __init__(self, inbox: Inbox, show: Callable[[dict[str, Any]], None]) -> None:
        self._inbox = inbox
        self._show = show
        self._view: View | None = None

    def start(self, view: View, start: Position, ruleset: Ruleset = PAPER) -> None:
        """See :class:`darkchess.fog.game.contest.Player`."""
        self._view, self._telling = view, Telling(view)
        self._show(self._telling.told())

    def observe(self, view: View) -> None:
        """See :class:`darkchess.fog.game.contest.Player`."""
        self._telling.observe(view)
        self._view = view
        self._show(self._telling.told())

    def end(self, view: View) -> None:
        """See :class:`darkchess.fog.game.contest.Player`."""
        self._telling.end(view)
        self._view = view
        self._show(self._telling.told())

    def choose(self, limit: Limit, progress: Progress | None = None) -> Decision:
        """See :class:`darkchess.fog.game.contest.Player`; raises as :meth:`klss_app.web.inbox.Inbox.answer` does."""
        view = self._view
        assert view is not None
        deadline = None if limit.clock is None else time.monotonic() + limit.clock[0]
        return self._inbox.answer(view.color, view.ply, deadline)

    def move(self, text: str, ply: int) -> str | None:
        """Her page sends a move, SAN or UCI, for the turn at ``ply``; called by the server's thread.

        Returns
        -------
        str or None
            What is wrong with it; None where it was passed on.
        """
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


class EngineAtBoard(Player):
    """An engine, asked in a thread of its own.

    Parameters
    ----------
    player
        The engine as a player; its ``choose`` may take long, and is left alone where the game ends meanwhile.
    inbox
        The game's.
    ready
        Waits until the engine's process is loaded; the host's patience counts from there.

    Attributes
    ----------
    thinking
        Whether its ``choose`` is running.
    """

    def __init__(self, player: Player, inbox: Inbox, ready: Callable[[], None]) -> None:
        self._player = player
        self._inbox = inbox
        self._ready = ready
        self._view: View | None = None
        self.thinking = False

    def start(self, view: View, start: Position, ruleset: Ruleset = PAPER) -> None:
        """See :class:`darkchess.fog.game.contest.Player`."""
        self._view = view
        self._player.start(view, start, ruleset)

    def observe(self, view: View) -> None:
        """See :class:`darkchess.fog.game.contest.Player`."""
        self._view = view
        self._player.observe(view)

    def end(self, view: View) -> None:
        """See :class:`darkchess.fog.game.contest.Player`; an engine that still thinks is not told."""
        if not self.thinking:
            self._player.end(view)

    def choose(self, limit: Limit, progress: Progress | None = None) -> Decision:
        """See :class:`darkchess.fog.game.contest.Player`; raises as :meth:`klss_app.web.inbox.Inbox.answer` does."""
        view = self._view
        assert view is not None
        self.thinking = True
        threading.Thread(target=self._think, args=(view, limit), daemon=True).start()
        return self._inbox.answer(view.color, view.ply)

    def close(self) -> None:
        """See :class:`darkchess.fog.game.contest.Player`."""
        self._player.close()

    def _think(self, view: View, limit: Limit) -> None:
        answer: Decision | Exception
        try:
            self._ready()
            answer = self._player.choose(limit)
        except Exception as error:
            answer = error
        self.thinking = False
        self._inbox.put(Answer(view.color, view.ply, answer))
