"""Analyses of finished games, one process at a time. The latest ones of whole games are kept."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Mapping

import chess

from klss.support.text import Document
from klss_app.analysis.process import AnalysisProcess, Request
from klss_app.analysis.summaries import CAP, NODES, Turns, summary
from klss_app.front import Front, Reviewed
from klss_app.kept_games import Settings
from uci_bridge.errors import EngineFailed

_MOST_WHOLE = 16
"""Most complete analyses that are kept."""


class Analyses:
    """The analyses of one room's games, of which ``tell`` sends messages to all pages. An analysis goes on until every
    turn is analysed, another game's is asked for, or :meth:`stop`.
    """

    def __init__(self, kind: Front, tell: Callable[[Mapping[str, object]], None]) -> None:
        self.nodes, self.cap = NODES, CAP  # see :mod:`klss_app.analysis.summaries`
        self._kind, self._tell = kind, tell
        self.whole: dict[int, Turns] = {}  # all turns of the latest games whose analysis is complete, by numbers
        self._task: asyncio.Task[None] | None = None
        self._number: int | None = None  # of the game that is being analysed, with its turns so far
        self._turns: Turns = []

    async def begin(self, game: Reviewed, settings: Settings) -> None:
        """Send the known turns of ``game`` to the pages, and begin its analysis unless it runs or is complete.

        Not for two callers at a time: each would begin an analysis, and only one of the two would ever be ended.
        """
        whole = self.whole.get(game.number)
        if whole is None and game.number != self._number:
            await self.stop()
            self._number, self._turns = game.number, []
            chosen = settings.evaluator
            request = Request(
                self._kind.kit.name, self._kind.kit.default_player, chosen.name, chosen.stockfish, self.nodes,
                cap=self.cap, text=game.text, rules=game.rules,
            )  # fmt: skip
            self._task = asyncio.create_task(self._run(game, request))
        self._told(game, whole or self._turns, done=whole is not None)

    async def stop(self) -> None:
        """End the running analysis; its turns are dropped."""
        task, self._task, self._number = self._task, None, None
        if task is not None:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task

    def _told(self, game: Reviewed, turns: Turns, *, done: bool = False, failed: str | None = None) -> None:
        """Send new ``turns``."""
        self._tell(told(game, turns, self.whole.get(game.number, self._turns), done=done, failed=failed))

    async def _run(self, game: Reviewed, request: Request) -> None:
        turns, process = self._turns, AnalysisProcess()
        found = process.turns(request)
        try:
            while (turn := await asyncio.to_thread(next, found, None)) is not None:
                turns.append(turn)
                self._told(game, [turn])
            self.whole[game.number] = turns
            while len(self.whole) > _MOST_WHOLE:
                del self.whole[next(iter(self.whole))]
            self._told(game, [], done=True)
        except EngineFailed as error:
            self._told(game, [], done=True, failed=str(error))
        finally:
            self._number = None
            await asyncio.to_thread(process.close)


def told(game: Reviewed, turns: Turns, known: Turns, *, done: bool = True, failed: str | None = None) -> Document:
    """The message of new ``turns`` to a page, with the sums over all that are ``known``."""
    sums = {color: summary(known, color) for color in chess.COLOR_NAMES}
    head = {"type": "analysis", "game": game.number, "of": game.plies, "done": done, "failed": failed}
    return head | {"turns": turns, "summary": sums}
