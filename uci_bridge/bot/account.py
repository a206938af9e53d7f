"""The bot: one account on a lichess-style server, its challenges, its games.

Each game is a task and each engine a process, so that the failure of one does not end the others. A broken event stream
is opened again without limit. At every start the bot asks for its games under way by id, since the server reports them
again only sometimes. A game that starts without a challenge (a rematch) is checked against the same rules, and aborted
if they refuse it.

``concurrency`` is a limit on engines, whatever the server sends. A game that this bot has not accepted and that finds
no room is called off. One that it has (it was under way at the last end, and the limit was larger then) waits for the
end of another, while its clock runs.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable, Coroutine
from functools import partial
from pathlib import Path

from darkchess.evaluation.registry import EvaluatorChoice
from klss import __version__
from klss.support import threads
from klss.support.configuration_text import ConfigurationError
from klss.support.text import Document
from uci_bridge.bot.config import BotConfig, EngineConfig, path_in
from uci_bridge.bot.dialect import Challenge, GameFull, GameStart
from uci_bridge.bot.engine import EngineSeat
from uci_bridge.bot.game import BotGame
from uci_bridge.bot.lichess import Account, Client, Refused, Rejected, ServerError
from uci_bridge.bot.record import Records
from uci_bridge.commands import Command
from uci_bridge.errors import UciBridgeError
from uci_bridge.kits.fog import FOG
from uci_bridge.players import PlayerMaker
from uci_bridge.protocol.host import rehearse

log = logging.getLogger(__name__)

_REMEMBERED = 10_000
"""Most challenges that are known as answered."""
_MOST_TASKS = 200
"""Most challenges and games of which the answers are under way; what comes beyond is left out."""
_REFUSALS = 15
"""Refusals of the event stream in a row after which the bot gives up: eight minutes of them."""


class BotRefused(UciBridgeError):
    """The server does not accept this bot, or its engine fails, and another try would not help. One line."""


async def who_am_i(client: Client) -> Account:
    """Return the token's account. Raises BotRefused: the token is not valid or not a bot's, or there is no such API at
    that address; ServerError: the server can't be reached or has a fault, so another try may help.
    """
    try:
        account = await client.account()
    except Refused as error:
        raise BotRefused(f"token: {error}; expected the token of a bot account on this server") from None
    except Rejected as error:
        raise BotRefused(f"url: {error}; expected a server with the bot API") from None
    if account.title != "BOT":
        raise BotRefused(f"token: got that of {account.name!r}, which is no bot account; upgrade the account first")
    return account


async def variant_served(client: Client) -> None:
    """Check that the server accepts this bot and its variant, by opening the event stream for a moment. Raises
    BotRefused: it does not; ServerError: another try may help.
    """
    events = client.events()
    try:
        async with contextlib.aclosing(events):
            await anext(events, None)
    except (Refused, Rejected) as error:
        raise BotRefused(f"the server does not take a bot for {client.dialect.variant!r}: {error}") from None


def engine(config: EngineConfig, folder: Path) -> PlayerMaker:
    """The engine in ``config``, not started yet; paths of TOML files are relative to ``folder``. Raises
    ConfigurationError (see :func:`darkchess.fog.players.named_fog_players.configuration`), ConfigError (see
    :func:`uci_bridge.bot.config.path_in`).
    """
    choice = EvaluatorChoice(config.evaluator or EvaluatorChoice.name)
    if config.command is not None:
        return PlayerMaker(FOG, Command("engine", tuple(config.command)), choice)
    name = config.configuration or FOG.default_player
    spec = FOG.spec(path_in(folder, name, "configuration") if name.endswith(".toml") else name)
    if config.ponder and not FOG.ponders(FOG.pondering(spec, choice)):
        raise ConfigurationError(f"ponder: got true with {name}, expected kluss and the built-in evaluator for it")
    return PlayerMaker(FOG, spec, choice, ponders=config.ponder is not False)


def engine_tags(config: EngineConfig, folder: Path) -> dict[str, str]:
    """Tags of a game's record for the engine in ``config``: ``Engine``, and ``Evaluator`` if ours has one."""
    if config.command is not None:
        return {"Engine": Path(config.command[0]).name}
    tags = {"Engine": f"klss {__version__} {config.configuration or FOG.default_player}"}
    label = engine(config, folder).label
    return tags if label is None else tags | {"Evaluator": label}


async def check_engine(config: EngineConfig, folder: Path) -> None:
    """Start the engine once and let it answer a request, so that its code is compiled for the next time. Raises
    BotRefused: it does not work. Cancelling the task ends the engine.
    """
    process = engine(config, folder).process
    try:
        trouble = await asyncio.to_thread(rehearse, process, FOG.wire)
    finally:
        process.close()
    if trouble is not None:
        raise BotRefused(f"engine: {trouble}")


class Bot:
    """A bot that plays until it is asked to stop.

    ``folder`` is that of ``bot.yml``; ``seat`` makes an engine's seat, by default a process as in ``config.engine``.
    """

    def __init__(
        self, config: BotConfig, client: Client, account: Account, records: Records, *, folder: Path,
        seat: Callable[[str | None, int], EngineSeat] | None = None,
    ) -> None:  # fmt: skip
        self._config, self._client, self._account, self._records = config, client, account, records
        self._folder, self._tags = folder, engine_tags(config.engine, folder)
        self._seat = seat or self._engine_seat
        self._games: dict[str, tuple[BotGame, asyncio.Task[None]]] = {}
        self._promised: dict[str, str | None] = {}
        self._places = asyncio.Semaphore(config.accept.concurrency)
        threads.games_at_a_time = config.accept.concurrency
        self._answered: set[str] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._stopping = asyncio.Event()
        self.finished = 0

    @property
    def games(self) -> tuple[str, ...]:
        """Ids of the games under way."""
        return tuple(self._games)

    def stop(self) -> bool:
        """Start no new games from now on; return whether it was not asked before."""
        if self._stopping.is_set():
            return False
        again = "another signal leaves them at once"
        self._say(logging.INFO, "stopping: no new games", games=len(self._games), note=again)
        self._stopping.set()
        return True

    async def run(self, grace_s: float | None = None) -> None:
        """Play until :meth:`stop`, then finish the games under way within ``grace_s`` seconds (None: without a limit).

        Games not finished by then stay in the records and are resumed at the next start. Raises BotRefused: the server
        no longer accepts the token or the variant.
        """
        for game_id in list(self._records.under_way):
            self._play(game_id, known=True)
        listener = asyncio.create_task(self._listen(), name="event stream")
        stopping = asyncio.create_task(self._stopping.wait())
        try:
            await asyncio.wait({listener, stopping}, return_when=asyncio.FIRST_COMPLETED)
            if listener.done():
                listener.result()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(grace_s):
                    while self._games or self._tasks:
                        work = {task for _, task in self._games.values()} | self._tasks
                        await asyncio.wait(work, return_when=asyncio.FIRST_COMPLETED)
            if self._games:
                self._say(logging.WARNING, "grace is over: the rest goes on at the next start", games=len(self._games))
        finally:
            tasks = [listener, stopping, *(task for _, task in self._games.values()), *self._tasks]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    # The event stream.

    async def _listen(self) -> None:
        waits = self._client.timing.waits()
        welcome, refusals = False, 0
        while True:
            wait_s, problem = 0.0, "the stream ended"
            try:
                events = self._client.events()
                async with contextlib.aclosing(events):
                    async for event in events:
                        if event is None:
                            self._say(logging.INFO, "listening for challenges", account=self._account.name)
                            continue
                        waits = self._client.timing.waits()
                        welcome, refusals = True, 0
                        if isinstance(event, Challenge):
                            self._spawn(self._answer(event))
                        elif isinstance(event, GameStart):
                            self._started(event)
            except (Refused, Rejected) as error:
                # A refusal at the first try is final; one by a server that accepted us before may be a passing fault.
                refusals, problem = refusals + 1, str(error)
                meant = isinstance(error, Refused) or error.status in (400, 404, 405)
                if (meant and not welcome) or refusals >= _REFUSALS:
                    raise BotRefused(f"the server takes no bot for {self._client.dialect.variant!r}: {error}") from None
            except ServerError as error:
                wait_s, problem = error.wait_s, str(error)
            wait_s = max(wait_s, next(waits))
            self._say(logging.WARNING, "event stream broke", reason=problem, retry_s=round(wait_s, 2))
            await asyncio.sleep(wait_s)

    async def _answer(self, challenge: Challenge) -> None:
        """Accept or decline a challenge; servers may send the same one again, which is ignored."""
        if challenge.id in self._answered or challenge.id in self._games:
            return
        if challenge.player.lower() == self._account.name.lower():
            return  # our own, sent back to us
        if len(self._answered) >= _REMEMBERED:
            self._answered.clear()
        self._answered.add(challenge.id)
        reason = self._config.accept.decline_reason(challenge, self._client.dialect.variant)
        who: Document = {"challenge": challenge.id, "player": challenge.player}
        if reason is None and (limit := await self._no_room(challenge.id, challenge.player)) is not None:
            reason, who["limit"] = "later", limit
        try:
            if reason is not None:
                self._say(logging.INFO, "challenge declined", **who, reason=reason)
                await self._client.insist(lambda: self._client.decline(challenge.id, reason))
                return
            self._records.begin(challenge.id, opponent=challenge.player, initial_s=challenge.initial_s)
            self._say(logging.INFO, "challenge accepted", **who)
            await self._client.insist(lambda: self._client.accept(challenge.id))
            # Don't wait for the gameStart: it may be lost, and at ply 0 the server does not send it again.
            self._play(challenge.id, known=True)
        except ServerError as error:
            self._answered.discard(challenge.id)
            if challenge.id not in self._games:
                self._records.forget(challenge.id)
            self._say(logging.INFO, "challenge not answered", **who, error=str(error))
        finally:
            self._promised.pop(challenge.id, None)

    async def _no_room(self, game_id: str, player: str | None) -> str | None:
        """The limit that a game would exceed, also after ``room_s`` seconds: news of a game's end come late. If it is
        within the limits, None, and it is promised its place."""
        deadline = time.monotonic() + self._client.timing.room_s
        while (limit := self._limit(player, game_id)) is not None:
            if self._stopping.is_set() or time.monotonic() >= deadline:
                return limit
            await asyncio.sleep(0.05)
        self._promised[game_id] = player
        return None

    def _limit(self, player: str | None, but: str) -> str | None:
        """The limit that one more game with ``player`` (None: unknown) would exceed, or None; ``but`` is its own id."""
        if self._stopping.is_set():
            return "stopping"
        playing = {known: game for known, (game, _) in self._games.items() if not game.over}
        opponents = {**self._promised, **{known: game.opponent for known, game in playing.items()}}
        opponents.pop(but, None)
        with_player = sum(name is not None and name.lower() == (player or "").lower() for name in opponents.values())
        accept = self._config.accept
        if len(opponents) >= accept.concurrency:
            return f"concurrency: {accept.concurrency}"
        return f"per_player: {accept.per_player}" if with_player >= accept.per_player else None

    # Games.

    def _started(self, start: GameStart) -> None:
        if start.id in self._games:
            return
        if start.chess960:
            self._spawn(self._call_off(start.id, "variant"))
        elif start.id in self._records.under_way:
            self._play(start.id, known=True)
        else:
            self._spawn(self._admit(start.id))

    async def _admit(self, game_id: str) -> None:
        """Play a game that this bot has not accepted, if there is room."""
        limit = await self._no_room(game_id, None)
        if limit is None:
            self._play(game_id, known=False)
            self._promised.pop(game_id, None)
        else:
            await self._call_off(game_id, limit)

    async def _call_off(self, game_id: str, reason: str) -> None:
        """Abort a game, or resign it if the server does not let it be aborted any more."""
        self._say(logging.INFO, "game refused", game=game_id, reason=reason)
        with contextlib.suppress(ServerError):
            try:
                await self._client.insist(lambda: self._client.abort(game_id))
            except Rejected:
                await self._client.insist(lambda: self._client.resign(game_id))

    def _play(self, game_id: str, *, known: bool) -> None:
        if game_id in self._games:
            return
        game = BotGame(
            game_id, client=self._client, records=self._records, name=self._account.name, seat=self._seat,
            refusal=partial(self._refusal, known=known), greeting=self._config.greeting,
            margin_ms=self._config.engine.margin_ms, engine=self._tags,
        )  # fmt: skip
        remembered = self._records.under_way.get(game_id)
        game.opponent = None if remembered is None else remembered.opponent
        task = asyncio.create_task(self._in_turn(game), name=f"game {game_id}")
        self._games[game_id] = (game, task)
        task.add_done_callback(lambda _: self._ended(game_id))

    async def _in_turn(self, game: BotGame) -> None:
        """Play a game once fewer engines than ``concurrency`` run; those of games just over need a moment to end."""
        async with self._places:
            await game.run()

    def _refusal(self, full: GameFull, opponent: str, *, known: bool) -> str | None:
        """The reason not to play a game, or None. The variant is checked always; the rules for accepting only at the
        start of a game that this bot has not accepted (not ``known``)."""
        if full.variant != self._client.dialect.variant:
            return "variant"
        if known or len(full.state.moves) >= 2:
            return None
        if self._limit(opponent, full.id) is not None:
            return "later"
        white_is_us = full.white.lower() == self._account.name.lower()
        bots = full.bots
        return self._config.accept.refusal(
            rated=full.rated,
            bot=None if bots is None else bots[1 if white_is_us else 0],
            initial_s=full.state.clock_ms[0] / 1000.0 if full.initial_s is None else full.initial_s,
            increment_s=full.state.increment_ms[0] / 1000.0,
        )

    def _ended(self, game_id: str) -> None:
        self._games.pop(game_id, None)
        self.finished += 1

    def _engine_seat(self, fen: str | None, ply: int) -> EngineSeat:
        return EngineSeat(engine(self._config.engine, self._folder).process, self._config.engine, fen=fen, warm=ply < 2)

    def _spawn(self, work: Coroutine[None, None, None]) -> None:
        if len(self._tasks) >= _MOST_TASKS:
            self._say(logging.WARNING, "too much at once: a challenge or game was left out", tasks=len(self._tasks))
            work.close()
            return
        task = asyncio.create_task(work)  # one challenge's trouble is no other's: asyncio logs it
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _say(self, level: int, event: str, **fields: object) -> None:
        log.log(level, event, extra={"fields": fields})
