"""Analyses of finished games, and deeper ones of single turns: one process at a time, for as long as a page listens.
The latest analyses of whole games are kept; a deeper analysis of a turn replaces that turn in them.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from typing import TYPE_CHECKING, Any

import chess

from klss_app.web.board_game import BoardGame, Finished
from klss_app.web.summaries import CAP, NODES
from uci_bridge.child_processes import guard, own_program

if TYPE_CHECKING:
    from klss_app.web.messages import Line
    from klss_app.web.settings import Settings

_LONGEST_LINE = 1 << 22
_MOST_WHOLE = 16
_DEEPER = 10
"""Factor on the nodes of a turn, for each search of a deeper analysis."""


class Analyses:
    """The analyses of one table's games.

    Parameters
    ----------
    kind
        The game that is played there.
    nodes, cap
        See :mod:`klss_app.web.summaries`.
    grace_s
        Seconds for which an analysis continues without a listener: a page that is reloaded comes back.
    """

    def __init__(self, kind: BoardGame, nodes: int = NODES, cap: int = CAP, grace_s: float = 5.0) -> None:
        self._kind = kind
        self._nodes = nodes
        self._cap = cap
        self._grace_s = grace_s
        self._ending: asyncio.Task[None] | None = None
        self._whole: dict[int, list[dict[str, Any]]] = {}
        self._running: _Running | None = None

    async def listen(self, game: Finished, settings: Settings, listener: Line, ply: int | None = None) -> None:
        """Send ``listener`` every turn of ``game``: the known ones at once, the others as they are found. The analysis
        is started if it does not run yet. With ``ply``: analyse that turn more deeply, once the whole game is analysed.

        Not for two callers at a time: each would start an analysis, and only one of the two would ever be ended.
        """
        whole = self._whole.get(game.number)
        # Nothing to run: the whole game is known already, or it is not, so that no single turn can be refined.
        if (ply is None) == (whole is not None):
            self.tell(listener, game, whole or [], whole=whole)
            return
        if self._running is None or (self._running.game.number, self._running.ply) != (game.number, ply):
            await self.stop()
            self._running = _Running(self, game, ply, self._request(game, settings, ply))
        self._running.listeners.add(listener)
        self.tell(listener, game, self._running.turns)

    def leave(self, listener: Line) -> None:
        """Drop ``listener``; ``grace_s`` after the last one has gone the analysis ends."""
        if self._running is not None:
            self._running.listeners.discard(listener)
            if not self._running.listeners:
                if self._ending is not None:
                    self._ending.cancel()
                self._ending = asyncio.create_task(self._end_unless_heard(self._running))

    async def _end_unless_heard(self, running: _Running) -> None:
        await asyncio.sleep(self._grace_s)
        if self._running is running and not running.listeners:
            await self.stop()

    async def stop(self) -> None:
        """End the running analysis, also one in its grace period; its turns are dropped."""
        ending, self._ending = self._ending, None
        if ending is not None and ending is not asyncio.current_task():
            ending.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await ending
        running, self._running = self._running, None
        if running is not None:
            await running.stop()

    def keep(self, number: int, ply: int | None, turns: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Store the turns of a complete analysis, of the game or of turn ``ply``; return all turns of the game."""
        if ply is not None and number in self._whole:
            self._whole[number][ply : ply + 1] = turns
            return self._whole[number]
        self._whole[number] = turns
        while len(self._whole) > _MOST_WHOLE:
            del self._whole[next(iter(self._whole))]
        return turns

    def whole(self, number: int) -> list[dict[str, Any]] | None:
        """All turns of a game whose analysis is complete; None for any other."""
        return self._whole.get(number)

    def _request(self, game: Finished, settings: Settings, ply: int | None) -> dict[str, Any]:
        nodes = self._nodes if ply is None else _DEEPER * self._nodes
        return {**self._kind.request(game.reviewed, settings), "nodes": nodes, "ply": ply, "cap": self._cap}

    @property
    def program(self) -> str:
        """The module that is run as the analysis process."""
        return self._kind.analysis

    def tell(
        self,
        listener: Line,
        game: Finished,
        turns: list[dict[str, Any]],
        *,
        whole: list[dict[str, Any]] | None = None,
        failed: str | None = None,
    ) -> None:
        """Send ``turns``; ``whole``: all turns of a complete analysis, which are summed up too."""
        done = whole is not None or failed is not None
        listener.send(
            {
                "type": "analysis",
                "game": game.number,
                "of": game.reviewed.plies,
                "done": done,
                "failed": failed,
                "turns": turns,
                "summary": {color: self._kind.summary(whole, color) for color in chess.COLOR_NAMES} if whole else None,
            }
        )


class _Running:
    def __init__(self, analyses: Analyses, game: Finished, ply: int | None, request: dict[str, Any]) -> None:
        self.game = game
        self.ply = ply
        self.turns: list[dict[str, Any]] = []
        self.listeners: set[Line] = set()
        self._analyses = analyses
        self._task = asyncio.create_task(self._run(request))

    async def stop(self) -> None:
        self._task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._task

    async def _run(self, request: dict[str, Any]) -> None:
        process = await asyncio.create_subprocess_exec(
            *own_program(self._analyses.program),
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
                self.turns.append(json.loads(line))
                for listener in tuple(self.listeners):
                    self._analyses.tell(listener, self.game, self.turns[-1:])
            last_words = (await process.stderr.read()).decode("utf-8", "replace").strip().splitlines()
            code = await process.wait()
            whole = self._analyses.keep(self.game.number, self.ply, self.turns) if code == 0 else None
            failed = None if code == 0 else (last_words or [f"exit code {code}"])[-1]
            for listener in tuple(self.listeners):
                self._analyses.tell(listener, self.game, [], whole=whole, failed=failed)
        finally:
            if process.returncode is None:
                with contextlib.suppress(ProcessLookupError):
                    process.kill()
                await process.wait()
            guard.tell("-", process.pid)
