"""Analyses of finished games, one process at a time. The latest ones of whole games are kept."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import chess

from klss_app.analysis.summaries import CAP, NODES, summary
from klss_app.web.board_game import BoardGame, Finished
from uci_bridge.child_processes import guard, own_program

if TYPE_CHECKING:
    from klss_app.web.board_game import Settings

_LONGEST_LINE = 1 << 22
_MOST_WHOLE = 16


class Analyses:
    """The analyses of one room's games. An analysis goes on until every turn is analysed, another game's is asked for,
    or :meth:`stop`.

    Parameters
    ----------
    kind
        The game that is played there.
    tell
        Sends a message to all pages.

    Attributes
    ----------
    nodes, cap
        See :mod:`klss_app.analysis.summaries`.
    """

    def __init__(self, kind: BoardGame, tell: Callable[[Mapping[str, Any]], None]) -> None:
        self.nodes, self.cap = NODES, CAP
        self._kind, self._tell = kind, tell
        self._whole: dict[int, list[dict[str, Any]]] = {}
        self._task: asyncio.Task[None] | None = None
        self._number: int | None = None  # of the game that is being analysed, with its turns so far
        self._turns: list[dict[str, Any]] = []

    async def begin(self, game: Finished, settings: Settings) -> None:
        """Send the known turns of ``game`` to the pages, and begin its analysis unless it runs or is complete.

        Not for two callers at a time: each would begin an analysis, and only one of the two would ever be ended.
        """
        whole = self._whole.get(game.number)
        if whole is None and game.number != self._number:
            await self.stop()
            self._number, self._turns = game.number, []
            request = self._kind.request(game.reviewed, settings) | {"nodes": self.nodes, "cap": self.cap}
            self._task = asyncio.create_task(self._run(game, request))
        self._told(game, whole or self._turns, whole)

    async def stop(self) -> None:
        """End the running analysis; its turns are dropped."""
        task, self._task, self._number = self._task, None, None
        if task is not None:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task

    def whole(self, number: int) -> list[dict[str, Any]] | None:
        """All turns of a game whose analysis is complete; None for any other."""
        return self._whole.get(number)

    def _told(
        self,
        game: Finished,
        turns: list[dict[str, Any]],
        whole: list[dict[str, Any]] | None = None,
        failed: str | None = None,
    ) -> None:
        """Send ``turns``; ``whole``: all turns of a complete analysis, which are summed up too."""
        self._tell(
            {
                "type": "analysis",
                "game": game.number,
                "of": game.reviewed.plies,
                "done": whole is not None or failed is not None,
                "failed": failed,
                "turns": turns,
                "summary": {color: summary(whole, color) for color in chess.COLOR_NAMES} if whole else None,
            }
        )

    async def _run(self, game: Finished, request: dict[str, Any]) -> None:
        turns = self._turns
        process = await asyncio.create_subprocess_exec(
            *own_program("klss_app.analysis.process"),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            limit=_LONGEST_LINE,
        )
        assert process.stdin is not None and process.stdout is not None and process.stderr is not None
        guard.tell("+", process.pid)
        try:
            process.stdin.write(json.dumps(request).encode() + b"\n")
            await process.stdin.drain()
            while line := await process.stdout.readline():
                turns.append(json.loads(line))
                self._told(game, turns[-1:])
            last_words = (await process.stderr.read()).decode("utf-8", "replace").strip().splitlines()
            if code := await process.wait():
                self._told(game, [], failed=(last_words or [f"exit code {code}"])[-1])
                return
            self._whole[game.number] = turns
            while len(self._whole) > _MOST_WHOLE:
                del self._whole[next(iter(self._whole))]
            self._told(game, [], turns)
        finally:
            self._number = None
            if process.returncode is None:
                with contextlib.suppress(ProcessLookupError):
                    process.kill()
                await process.wait()
            guard.tell("-", process.pid)
