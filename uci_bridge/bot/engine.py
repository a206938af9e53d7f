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
from pathlib import Path
from typing import TypeVar

import chess

from darkchess.board.position import START_FEN, Position
from darkchess.errors import DarkchessError
from darkchess.evaluation.registry import EvaluatorChoice
from darkchess.fog.game.contest import DEFAULT_PLAYER, Setup
from darkchess.fog.game.rules import PYCHESS
from darkchess.fog.game.view import View
from darkchess.fog.players.named_fog_players import configuration
from klss import __version__
from klss.play.contest import Forfeit, OutOfTime
from klss.play.limits import Limit
from klss.play.messages import Clock
from uci_bridge.bot.config import EngineConfig
from uci_bridge.child_processes import own_program
from uci_bridge.evaluators import can_ponder, evaluator_choice
from uci_bridge.protocol.engine_process import EngineProcess
from uci_bridge.protocol.fog import FOG
from uci_bridge.protocol.host import HostedPlayer, rehearse

_Result = TypeVar("_Result")

_RESTARTS = 3


def engine_command(config: EngineConfig, folder: Path) -> list[str]:
    """The command of the engine in ``config``; paths of TOML files are relative to ``folder``. Raises
    ConfigurationError (see :func:`darkchess.fog.players.named_fog_players.configuration`).
    """
    if config.command is not None:
        return list(config.command)
    name = _configuration_text(config, folder)
    command = own_program("klss", "engine", "--configuration", name)
    if config.evaluator is not None:
        command += ["--evaluator", config.evaluator]
    ponders = config.ponder
    if ponders is None:
        ponders = can_ponder(configuration(name), EvaluatorChoice(config.evaluator or EvaluatorChoice.name))
    return [*command, "--ponder"] if ponders else command


def engine_tags(config: EngineConfig, folder: Path) -> dict[str, str]:
    """Tags of a game's record for the engine in ``config``: ``Engine``, and ``Evaluator`` if it is ours."""
    if config.command is not None:
        return {"Engine": Path(config.command[0]).name}
    chosen = configuration(_configuration_text(config, folder))
    choice = evaluator_choice(chosen, EvaluatorChoice(config.evaluator or EvaluatorChoice.name))
    return {"Engine": f"klss {__version__} {config.configuration or chosen.name}", "Evaluator": choice.name}


def _configuration_text(config: EngineConfig, folder: Path) -> str:
    name = config.configuration or DEFAULT_PLAYER
    return str(folder / Path(name).expanduser()) if name.endswith(".toml") else name


async def check_engine(command: Sequence[str]) -> str | None:
    """Start the engine once and let it answer a request; return None if all is well, else what is wrong.

    Cancelling the task ends the engine.
    """
    process = EngineProcess(command, name="engine")
    try:
        return await asyncio.to_thread(rehearse, process, FOG)
    finally:
        process.close()


class EngineSeat:
    """One player in one game: an engine in a separate process. Views and a clock go in, moves come out.

    The host's calls block, so they run in a thread of this seat, one at a time. A call that is no longer needed, since
    the game changed meanwhile, runs to its end: its answer is dropped, but its process can still be used.
    """

    def __init__(
        self,
        command: Sequence[str],
        config: EngineConfig,
        *,
        fen: str | None = None,  # the start position; None for the usual one
        seed: int | None = None,  # of its random choices; None for a fresh one
        # the key that its opaque ids are derived from; None for a fresh one. Nothing from the server may be in it
        key: str | None = None,
        warm: bool = False,  # load all code before the first request: for games at their start, while no clock runs
    ) -> None:
        self._config = config
        self._start = Position.from_fen(START_FEN if fen is None else fen)
        self._process = EngineProcess(command, name="engine")
        self._player = HostedPlayer(
            self._process, FOG, seed=secrets.randbits(31) if seed is None else seed, key=key, restarts=_RESTARTS
        )
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="engine")
        self._told: tuple[View, ...] = ()
        if warm:
            self._thread.submit(rehearse, self._process, FOG)

    async def choose(self, views: Sequence[View], clock: Clock) -> chess.Move:
        """Return the move after the last of ``views`` (all of them, from ply 0 on). ``clock`` has the player's time,
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

    def _limit(self, clock: Clock) -> Limit:
        remaining_s, increment_s = (clock.remaining_ms or 0) / 1000.0, clock.increment_ms / 1000.0
        budget_s = self._config.move_time_s
        if budget_s is not None:
            budget_s = max(0.02, min(budget_s, remaining_s / 10.0 + 0.7 * increment_s, remaining_s / 2.0))
        return Limit(time_s=budget_s, nodes=self._config.nodes, clock=(remaining_s, increment_s))

    def _sync(self, views: tuple[View, ...]) -> None:
        """Bring the session to ``views``."""
        shown = self._told
        if not shown or views[: len(shown)] != shown:
            self._player.begin(views[0].color, Setup(self._start, PYCHESS))
            shown = views[:1]
        self._told = views
        for view in views[len(shown) :]:
            self._player.observe(view)

    def _choose(self, views: tuple[View, ...], limit: Limit) -> chess.Move:
        self._sync(views)
        move: chess.Move = self._player.answer("move", limit).answer
        return move

    def _tell(self, views: tuple[View, ...]) -> None:
        known = self._told
        if known and views[-1].game_over is not None and len(known) == len(views) and known[-1] != views[-1]:
            self._player.end(views[-1].game_over)
        elif known:
            self._sync(views)
