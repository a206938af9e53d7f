"""The engine's seat at a game of the bot: one process per game, behind the wall.

The seat gets the views of one colour, the start position that both players know, and a clock. The process gets messages
of the engine protocol (:mod:`uci_bridge.protocol.host`), with ids that are made here. Nothing in this file knows the
true game, the server, or the opponent.

A session continues while the views extend those that its engine was shown. If they don't (moves that this player could
see were taken back), a new session starts from the whole transcript. So if an unseen move is taken back and replaced by
another unseen one, the engine does not learn even that.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TypeVar

import chess

from darkchess.board.position import START_FEN, Position
from darkchess.errors import DarkchessError
from darkchess.fog.game.contest import Setup
from darkchess.fog.game.rules import PYCHESS
from darkchess.fog.game.view import View
from klss.play.contest import Forfeit, OutOfTime
from klss.play.limits import Limit
from uci_bridge.bot.config import EngineConfig
from uci_bridge.protocol.engine_process import EngineProcess
from uci_bridge.protocol.fog import FOG
from uci_bridge.protocol.host import HostedPlayer, rehearse

_Result = TypeVar("_Result")

_RESTARTS = 3


class EngineSeat:
    """One player in one game: an engine in a separate process. Views and a clock go in, moves come out.

    The host's calls block, so they run in a thread of this seat, one at a time. A call that is no longer needed, since
    the game changed meanwhile, runs to its end: its answer is dropped, but its process can still be used.
    """

    def __init__(
        self,
        process: EngineProcess,
        config: EngineConfig,
        *,
        fen: str | None = None,  # the start position; None for the usual one
        seed: int | None = None,  # of its random choices; None for a fresh one
        # the key that its opaque ids are derived from; None for a fresh one. Nothing from the server may be in it
        key: str | None = None,
        warm: bool = False,  # load all code before the first request: for games at their start, while no clock runs
    ) -> None:
        self._config, self._process = config, process
        self._setup = Setup(Position.from_fen(START_FEN if fen is None else fen), PYCHESS)
        seed = secrets.randbits(31) if seed is None else seed
        self._player = HostedPlayer(process, FOG, seed=seed, key=key, restarts=_RESTARTS)
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="engine")
        self._told: tuple[View, ...] = ()
        if warm:
            self._thread.submit(rehearse, process, FOG)

    async def choose(self, views: Sequence[View], clock: tuple[float, float]) -> chess.Move:
        """Return the move after the last of ``views`` (all of them, from ply 0 on). ``clock`` has the player's seconds,
        less the margin for the network's delay. Raises Forfeit: the engine gave none; it can be asked again.
        """
        try:
            return await self._run(partial(self._choose, tuple(views), self._limit(clock)))
        except (OutOfTime, OSError, DarkchessError, RuntimeError) as error:  # RuntimeError: closed meanwhile
            raise Forfeit(str(error) or type(error).__name__) from None

    async def tell(self, views: Sequence[View]) -> None:
        """Show the player its view after its own move, or at the end; never raises."""
        with contextlib.suppress(OSError, DarkchessError, RuntimeError):
            await self._run(partial(self._tell, tuple(views)))

    async def close(self) -> None:
        """End the engine's process, even during a call."""
        self._player.close()
        await asyncio.to_thread(self._process.close)
        self._thread.shutdown(wait=False, cancel_futures=True)

    async def _run(self, call: Callable[[], _Result]) -> _Result:
        return await asyncio.get_running_loop().run_in_executor(self._thread, call)

    def _limit(self, clock: tuple[float, float]) -> Limit:
        (remaining_s, increment_s), budget_s = clock, self._config.move_time_s
        if budget_s is not None:
            budget_s = max(0.02, min(budget_s, remaining_s / 10.0 + 0.7 * increment_s, remaining_s / 2.0))
        return Limit(time_s=budget_s, nodes=self._config.nodes, clock=clock)

    def _sync(self, views: tuple[View, ...]) -> None:
        """Bring the session to ``views``."""
        shown = self._told
        if not shown or views[: len(shown)] != shown:
            self._player.begin(views[0].color, self._setup)
            shown = views[:1]
        self._told = views
        for view in views[len(shown) :]:
            self._player.observe(view)

    def _choose(self, views: tuple[View, ...], limit: Limit) -> chess.Move:
        self._sync(views)
        return self._player.answer("move", limit).answer

    def _tell(self, views: tuple[View, ...]) -> None:
        known = self._told
        if known and views[-1].game_over is not None and len(known) == len(views) and known[-1] != views[-1]:
            self._player.end(views[-1].game_over)
        elif known and known[: len(views)] != views:  # else nothing is new: moves were taken back, maybe unseen ones
            self._sync(views)
