"""A lichess-style server on the loopback, with a referee behind it, that misbehaves on demand.

What it says, and in which order, follows what pychess.org's server does (its source was read, nothing of it is here):
event queue and game queues, a ``gameFull`` put into the queue at each connection behind what already waits there, a
second stream of a game broken at once, ``{"ok": true}`` for moves that are ignored, a last move that is not shown, a
``gameEnd`` without a reason after which the stream stays open, take-backs of which nothing is given, a page of 84 kB
for everything that is not there, a stream that opens and breaks for a game that was put away.
"""

from __future__ import annotations

import asyncio
import json
import math
import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import chess
from aiohttp import web

from darkchess.fog.game.referee import Referee
from darkchess.fog.game.rules import PYCHESS
from klss.play.outcome import Outcome

TOKEN = "lip_Zx81TheTokenOfTheTests"
BOT = "klssbot"
LATE_S, RETRY_AFTER_S = 0.5, 0.2
"""The server's patience after a flag, and the pause that it asks for."""

JUNK = (
    b"<html>502</html>\n", b"{]\n", b"[1]\n", b"\xff\xfe\n", b'{"type":"gameState"}\n', b'{"type":"pi\xff"}\n',
    b'{"type":"gameState","moves":7,"wtime":"x","btime":1}\n', b"[" * 5000 + b"\n",
)  # fmt: skip
NOT_FOUND = "<!DOCTYPE html>\n" + "<p>404</p>\n" * 8000


@dataclass
class Faults:
    """How often (0 to 1) things go wrong."""

    cut: float = 0.0  # after a line, the stream's connection is cut
    half: float = 0.0  # half a line, then the cut
    repeat: float = 0.0  # a line comes twice
    garbage: float = 0.0  # a line that is none
    late_full: float = 0.0  # an old state before the gameFull
    double_full: float = 0.0  # the gameFull twice
    refuse: float = 0.0  # a call is answered 429, 500 or 409, or its connection cut
    lose_move: float = 0.0  # {"ok": true}, and nothing happens
    take_back: float = 0.0  # the opponent takes back, each time it could
    delay_s: float = 0.0  # before a line, up to this
    seed: int = 0


@dataclass
class Opponent:
    """Who plays against the bot: random moves, and an end."""

    delay_s: float = 0.0
    end: str | None = None  # "resign", "abandon", "abort", "flag", "draw": what the opponent does
    end_ply: int = 1 << 30  # from this ply on
    same_after_take_back: bool = False
    moves: list[str] = field(default_factory=list)  # played first, while legal


class FakeGame:
    def __init__(self, server: FakeServer, game_id: str, opponent: str = "human", *, bot_white: bool = True,
                 script: Opponent | None = None, initial_s: float = 300.0, increment_s: float = 2.0,
                 fen: str | None = None, moves: Sequence[str] = (), variant: str = "fogofwar") -> None:  # fmt: skip
        self.server, self.id, self.fen, self.variant = server, game_id, fen, variant
        self.script = script or Opponent()
        self.bot_color = chess.WHITE if bot_white else chess.BLACK
        self.names = {self.bot_color: BOT, not self.bot_color: opponent}
        self.referee = Referee.replay([chess.Move.from_uci(move) for move in moves], fen, PYCHESS)
        self.increment_s = increment_s
        self.clocks = [[initial_s * 1000.0], [initial_s * 1000.0]]  # of White, of Black: after each of their moves
        self.moved_at = time.monotonic()
        self.queue: asyncio.Queue[str] = asyncio.Queue()
        self.streaming = False
        self.outcome: Outcome | None = self.referee.outcome
        self.lost_by_illegal_move: str | None = None
        self.take_backs = 0
        self.told: dict[str, float] = {}  # a state's moves -> when it was written to the stream
        self.over = asyncio.Event()
        self.chat: list[tuple[str, str]] = []
        self.resigned = False
        self.put_away = False
        self.task: asyncio.Task[None] | None = None

    @property
    def moves(self) -> list[str]:
        return [move.uci() for move in self.referee.moves]

    def state(self) -> dict[str, Any]:
        lichess = self.server.dialect == "lichess"
        unit = 1000 if lichess else 1
        status, winner = "started", None
        if lichess and self.outcome is not None:
            status = {"resign": "resign", "flag": "outoftime", "aborted": "aborted"}.get(
                self.outcome.reason, "variantEnd"
            )
            status = "draw" if self.outcome.winner is None and status == "variantEnd" else status
            winner = None if self.outcome.winner is None else chess.COLOR_NAMES[self.outcome.winner]
        line = {
            "type": "gameState", "moves": " ".join(self.moves), "wtime": round(self.clocks[0][-1]),
            "btime": self.clocks[1][-1], "winc": self.increment_s * unit, "binc": self.increment_s * unit,
            "wdraw": False, "bdraw": False, "wtakeback": False, "btakeback": False, "status": status,
        }  # fmt: skip
        return line if winner is None else {**line, "winner": winner}

    def full(self) -> dict[str, Any]:
        key = "key" if self.server.dialect == "lichess" else "name"
        initial = self.fen if self.fen is not None else ("startpos" if key == "key" else random.choice(["", "None"]))
        return {
            "type": "gameFull", "id": self.id, "variant": {key: self.variant},
            "white": {"name": self.names[True]}, "black": {"name": self.names[False]},
            "initialFen": initial, "createdAt": 1, "state": self.state(),
        }  # fmt: skip

    def say(self, line: dict[str, Any]) -> None:
        self.queue.put_nowait(json.dumps(line) + "\n")

    def end(self, outcome: Outcome) -> None:
        if self.outcome is None:
            self.outcome = outcome
        self.say(self.state() if self.server.dialect == "lichess" else {"type": "gameEnd", "game": {"id": self.id}})
        self.over.set()

    def play(self, text: str) -> None:
        """A move of the side to move, legal."""
        mover = self.referee.turn
        clock = self.clocks[0 if mover else 1]
        now = time.monotonic()
        used = (now - self.moved_at) * 1000.0 if self.referee.ply >= 2 else 0.0
        clock.append(max(0.0, clock[-1] - used) + (self.increment_s * 1000.0 if self.referee.ply >= 2 else 0.0))
        self.moved_at = now
        self.referee.push(chess.Move.from_uci(text))
        if self.referee.outcome is not None:
            self.end(self.referee.outcome)
        else:
            self.say(self.state())

    def take_back(self) -> list[str]:
        """The human takes back: one ply if it is the bot's turn, else two; nobody is informed. What was undone."""
        plies = 1 if self.referee.turn == self.bot_color else 2
        if self.outcome is not None or self.referee.ply < 2 or plies > self.referee.ply:
            return []
        undone = self.moves[-plies:]
        for ply in range(self.referee.ply, self.referee.ply - plies, -1):
            clock = self.clocks[(ply + (0 if self.referee.positions[0].turn else 1) + 1) % 2]
            if len(clock) > 1:
                clock.pop()
        self.referee = Referee.replay(self.referee.moves[:-plies], self.fen, PYCHESS)
        self.moved_at = time.monotonic()
        self.take_backs += 1
        return undone

    def flagged(self) -> bool:
        """The flag of the side to move has fallen (and the server's patience is over)."""
        clock = self.clocks[0 if self.referee.turn else 1][-1]
        return self.referee.ply >= 2 and (time.monotonic() - self.moved_at - LATE_S) * 1000.0 > clock

    async def human(self) -> None:
        """The opponent, and the server's clock."""
        chooser = random.Random(self.server.faults.seed ^ sum(map(ord, self.id)))
        replay: list[str] = []
        while self.outcome is None:
            await asyncio.sleep(0.002 if self.script.delay_s == 0 else chooser.uniform(0.5, 1.5) * self.script.delay_s)
            if self.outcome is not None:
                break
            if self.flagged():
                self.end(Outcome(not self.referee.turn, "flag"))
                break
            mine = self.referee.turn != self.bot_color
            if (
                self.script.end is not None
                and self.referee.ply >= self.script.end_ply
                and (mine or self.script.end != "flag")
            ):
                if self.script.end == "flag":
                    self.clocks[0 if self.referee.turn else 1][-1] = 0.0
                    continue
                winner = None if self.script.end in ("abort", "draw") else self.bot_color
                reason = {"abort": "aborted", "draw": "unknown"}.get(self.script.end, self.script.end)
                self.end(Outcome(winner, reason))
                break
            if (
                not self.server.holding.is_set()
                and self.referee.ply >= 2
                and chooser.random() < self.server.faults.take_back
            ):
                undone = self.take_back()
                if self.script.same_after_take_back and undone:
                    replay = undone[:1]
                continue
            if not mine or self.server.holding.is_set():
                continue
            legal = [move.uci() for move in self.referee.legal_moves()]
            if replay and replay[0] in legal:
                self.play(replay.pop())
                continue
            replay = []
            wanted = self.script.moves.pop(0) if self.script.moves else None
            self.play(wanted if wanted in legal else chooser.choice(legal))


class FakeServer:
    """Use as a context manager: a real HTTP server, in a thread of its own, on a free port of 127.0.0.1."""

    def __init__(self, faults: Faults | None = None, *, dialect: str = "pychess", ping_s: float = 0.3,
                 old_stream_s: float = 0.0, variants: tuple[str, ...] = ("fogofwar", "chess"),
                 title: str = "BOT") -> None:  # fmt: skip
        self.faults = faults or Faults()
        self.dialect, self.ping_s, self.old_stream_s = dialect, ping_s, old_stream_s
        self.variants, self.title = variants, title
        self.forgotten: dict[str, FakeGame] = {}
        self.random = random.Random(self.faults.seed)
        self.games: dict[str, FakeGame] = {}
        self.pending: dict[str, tuple[str, dict[str, Any]]] = {}  # the opponent's colour, and the game
        self.declined: dict[str, str] = {}
        self.done = Counter[str]()  # which faults happened, which calls came
        self.quiet_violations = 0
        self._quiet_from = self._quiet_until = 0.0
        self.refuse_all: int | None = None  # this status for every call, and every stream
        self._events: asyncio.Queue[str] = asyncio.Queue()
        self._ids = 0
        self._ready = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._main()), daemon=True)
        self.seen_headers: list[dict[str, str]] = []

    # From the test's thread.

    def __enter__(self) -> FakeServer:
        self._thread.start()
        assert self._ready.wait(20)
        return self

    def __exit__(self, *_: object) -> None:
        self.loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(20)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def call(self, function: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
        async def work() -> Any:
            return function(*arguments, **named)

        return asyncio.run_coroutine_threadsafe(work(), self.loop).result(20)

    def wait(self, condition: Callable[[], bool], seconds: float = 30.0) -> bool:
        """Until ``condition``; False when it does not come true."""
        deadline = time.monotonic() + seconds
        while not condition() and time.monotonic() < deadline:
            time.sleep(0.01)
        return condition()

    def challenge(self, opponent: str = "human", *, script: Opponent | None = None, color: str = "random",
                  initial_s: float = 300.0, increment_s: float = 2.0, **wire: Any) -> str:  # fmt: skip
        """Challenge the bot; ``wire`` replaces fields of the challenge. The id of the challenge."""

        def ask() -> str:
            game_id = self._new_id()
            body = {
                "id": game_id,
                "challenger": {"name": opponent, "rating": 1500, "title": "BOT" if opponent.endswith("bot") else ""},
                "variant": {"key": "fogofwar"}, "rated": False,
                "timeControl": {"type": "clock", "limit": int(initial_s), "increment": increment_s},
                "color": color, "finalColor": "white" if color == "random" else color, "speed": "blitz",
                "perf": {"name": "fogofwar"}, "level": 0, "chess960": False,
            }  # fmt: skip
            game = {"opponent": opponent, "script": script, "initial_s": initial_s, "increment_s": increment_s}
            self.pending[game_id] = color, game
            line = json.dumps({"type": "challenge", "challenge": body | wire}) + "\n"
            self._events.put_nowait(line)
            if self._happens("repeat"):
                self._events.put_nowait(line)
            self.loop.call_later(1.0, self._challenge_again, game_id, line)
            return game_id

        return self.call(ask)

    def start(self, opponent: str = "human", *, tell: bool = True, **game: Any) -> str:
        """Start a game without a challenge (a rematch, a game found in the middle); see :class:`FakeGame`."""

        def begin() -> str:
            game_id = self._new_id()
            self._begin(game_id, opponent, **game)
            if tell:
                self._tell_start(game_id)
            return game_id

        return self.call(begin)

    def forget(self, game_id: str) -> None:
        """Lose a game, as a server does that starts again without it."""

        def lose() -> None:
            game = self.forgotten[game_id] = self.games.pop(game_id)
            if game.task is not None:
                game.task.cancel()

        self.call(lose)

    def event(self, line: str) -> None:
        """Say a raw line on the event stream."""
        self.call(self._events.put_nowait, line)

    def drop_streams(self) -> None:
        """Cut every stream at its next line."""
        self.faults = replace(self.faults, cut=1.0)

    # The server's side.

    def _new_id(self) -> str:
        self._ids += 1
        return f"Srv{self._ids:05d}"

    def _challenge_again(self, game_id: str, line: str) -> None:
        """A person whose challenge got lost on a stream that had broken clicks again."""
        if game_id in self.pending:
            self._events.put_nowait(line)
            self.loop.call_later(1.0, self._challenge_again, game_id, line)

    def _begin(self, game_id: str, opponent: str, **about: Any) -> None:
        self.games[game_id] = game = FakeGame(self, game_id, opponent, **about)
        game.task = asyncio.create_task(game.human())

    def _tell_start(self, game_id: str) -> None:
        line = {"type": "gameStart", "game": {"id": game_id, "skill_level": "0", "chess960": "False"}}
        self._events.put_nowait(json.dumps(line) + "\n")

    def _happens(self, fault: str) -> bool:
        happens = self.random.random() < getattr(self.faults, fault)
        self.done[fault] += happens
        return happens

    async def _main(self) -> None:
        self.loop = asyncio.get_running_loop()
        self._stop, self.holding = asyncio.Event(), threading.Event()
        app = web.Application()
        app.add_routes([
            web.get("/api/account", self._account),
            web.get("/api/stream/event", self._event_stream),
            web.get("/api/bot/game/stream/{id}", self._game_stream),
            web.post("/api/challenge/{id}/accept", self._accept),
            web.post("/api/challenge/{id}/decline", self._decline),
            web.post("/api/bot/game/{id}/move/{move}", self._move),
            web.post("/api/bot/game/{id}/abort", self._abort),
            web.post("/api/bot/game/{id}/resign", self._resign),
            web.post("/api/bot/game/{id}/chat", self._chat),
        ])  # fmt: skip
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        self.port = site._server.sockets[0].getsockname()[1]  # type: ignore[union-attr]
        self._ready.set()
        await self._stop.wait()
        for game in self.games.values():
            if game.task is not None:
                game.task.cancel()
        await runner.cleanup()

    def _enter(self, request: web.Request, *, stream: bool = False) -> None:
        """The token, and the faults that every call has."""
        self.seen_headers.append(dict(request.headers))
        self.seen_headers = self.seen_headers[-100:]
        self.done[request.path.split("/")[2 if not stream else 3]] += 1
        if request.headers.get("Authorization") != f"Bearer {TOKEN}":
            raise web.HTTPForbidden()
        if self.refuse_all is not None:
            raise _status(self.refuse_all)
        if self._quiet_from < time.monotonic() < self._quiet_until - 0.02:
            self.quiet_violations += 1
        if self._happens("refuse"):
            how = self.random.choice([429, 500, 409, 0, 502, 1])
            if how == 429:
                # What was on its way when the 429 was said could not know of it.
                self._quiet_from = time.monotonic() + 0.1
                self._quiet_until = time.monotonic() + RETRY_AFTER_S
                raise web.HTTPTooManyRequests(headers={"Retry-After": str(RETRY_AFTER_S)})
            if how in (0, 1) and request.transport is not None:
                request.transport.abort()
                raise web.HTTPBadGateway
            raise _status(how)

    async def _account(self, request: web.Request) -> web.Response:
        self._enter(request)
        return web.json_response({"id": BOT, "username": BOT, "title": self.title})

    async def _event_stream(self, request: web.Request) -> web.StreamResponse:
        self._enter(request, stream=True)
        if self.dialect == "pychess":
            try:
                wanted = json.loads(request.headers["X-PyChess-Bot-Capabilities"])
            except (KeyError, ValueError):
                raise web.HTTPBadRequest(text="Missing required X-PyChess-Bot-Capabilities header.") from None
            if wanted.get("version") != 1 or not set(wanted["variants"]) & set(self.variants):
                raise web.HTTPBadRequest(text="BOT does not advertise any PyChess-supported variants.")
        response = web.StreamResponse()
        response.content_type = "application/x-ndjson"
        await response.prepare(request)
        for game in self.games.values():
            if game.outcome is None and game.referee.ply > 0 and not game.streaming:
                self._tell_start(game.id)
        await self._pour(request, response, self._events)
        return response

    async def _game_stream(self, request: web.Request) -> web.StreamResponse:
        self._enter(request, stream=True)
        game = self.games.get(request.match_info["id"])
        if game is None:
            raise _not_found()
        response = web.StreamResponse()
        response.content_type = "application/x-ndjson"
        await response.prepare(request)
        if game.put_away:
            return response
        if game.streaming:
            self.done["second stream"] += 1
            assert request.transport is not None
            request.transport.abort()
            return response
        game.streaming = True
        try:
            if self._happens("late_full"):
                game.say({**game.state(), "moves": " ".join(game.moves[:-1])})
            game.say(game.full())
            if self._happens("double_full"):
                game.say(game.full())
            if game.outcome is not None:
                game.end(game.outcome)
            await self._pour(request, response, game.queue, game)
        finally:
            # The server notices late that a client is gone.
            self.loop.call_later(self.old_stream_s, setattr, game, "streaming", False)
        return response

    async def _pour(self, request: web.Request, response: web.StreamResponse, queue: asyncio.Queue[str],
                    game: FakeGame | None = None) -> None:  # fmt: skip
        while True:
            try:
                async with asyncio.timeout(self.ping_s):
                    line = await queue.get()
            except TimeoutError:
                line = '{"type":"ping"}\n'
            if request.transport is None or request.transport.is_closing():
                if "challenge" in line:  # a person would challenge again
                    queue.put_nowait(line)
                return
            if self.faults.delay_s:
                await asyncio.sleep(self.random.uniform(0.0, self.faults.delay_s))
            try:
                if self._happens("garbage"):
                    await response.write(self.random.choice(JUNK))
                if self._happens("half"):
                    await response.write(line[: len(line) // 2].encode())
                    request.transport.abort()
                    if "challenge" in line:
                        queue.put_nowait(line)
                    return
                await response.write(line.encode())
                if game is not None and '"moves"' in line:
                    shown = json.loads(line)
                    moves = shown.get("state", shown)["moves"]
                    game.told[moves] = time.monotonic()
                if self._happens("repeat"):
                    await response.write(line.encode())
                if self._happens("cut"):
                    request.transport.abort()
                    return
                if self.dialect == "lichess" and '"status": "started"' not in line and "gameState" in line:
                    await response.write_eof()
                    return
            except (ConnectionError, RuntimeError):
                return

    async def _accept(self, request: web.Request) -> web.Response:
        self._enter(request)
        game_id = request.match_info["id"]
        if game_id in self.games:
            return web.json_response({"ok": True})
        if game_id not in self.pending:
            raise _not_found()
        color, game = self.pending.pop(game_id)
        color = self.random.choice(["white", "black"]) if color == "random" else color
        self._begin(game_id, bot_white=color == "black", **game)
        self._tell_start(game_id)
        return web.json_response({"ok": True})

    async def _decline(self, request: web.Request) -> web.Response:
        self._enter(request)
        game_id = request.match_info["id"]
        if self.pending.pop(game_id, None) is None:
            raise _not_found()
        self.declined[game_id] = str((await request.post()).get("reason"))
        return web.json_response({"ok": True})

    def _game(self, request: web.Request) -> FakeGame:
        game = self.games.get(request.match_info["id"])
        if game is None:
            raise _not_found()
        return game

    async def _move(self, request: web.Request) -> web.Response:
        self._enter(request)
        game, text = self._game(request), request.match_info["move"]
        self.done["moves"] += 1
        ignored = (
            game.outcome is not None or game.referee.turn != game.bot_color or (game.moves and text == game.moves[-1])
        )
        if ignored or self._happens("lose_move"):
            return web.json_response({"ok": True})
        try:
            move = chess.Move.from_uci(text)
            legal = game.referee.position.is_legal(move)
        except ValueError:
            legal = False
        if not legal and game.take_backs and time.monotonic() - game.told.get(" ".join(game.moves), math.inf) < 0.05:
            # It was on its way when moves were taken back and others played: a race that no bot can win.
            self.done["race"] += 1
            return web.json_response({"ok": True})
        if not legal:
            game.lost_by_illegal_move = f"{text} in {game.referee.position.fen()}"
            game.end(Outcome(not game.bot_color, "forfeit"))
        else:
            game.play(text)
        return web.json_response({"ok": True})

    async def _abort(self, request: web.Request) -> web.Response:
        self._enter(request)
        game = self._game(request)
        if game.referee.ply >= 2 and not game.resigned:
            raise _status(400)
        game.end(Outcome(not game.bot_color, "resign") if game.resigned else Outcome(None, "aborted"))
        return web.json_response({"ok": True})

    async def _resign(self, request: web.Request) -> web.Response:
        self._enter(request)
        game = self._game(request)
        game.resigned = True
        if self.dialect == "lichess":
            game.end(Outcome(not game.bot_color, "resign"))
        elif game.outcome is None:
            game.outcome = Outcome(not game.bot_color, "resign")
        return web.json_response({"ok": True})

    async def _chat(self, request: web.Request) -> web.Response:
        self._enter(request)
        form = await request.post()
        self._game(request).chat.append((str(form["room"]), str(form["text"])))
        return web.json_response({"ok": True})


def _not_found() -> web.HTTPException:
    return web.HTTPNotFound(text=NOT_FOUND, content_type="text/html")


def _status(status: int) -> web.HTTPException:
    class Answer(web.HTTPException):
        status_code = status

    return Answer(text="<html>trouble</html>")
