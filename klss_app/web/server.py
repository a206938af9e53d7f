"""The server of ``klss board``: one page from memory, and one websocket per page.

No request reaches the file system: everything served is read from the package when the server starts. A page that sends
a malformed message gets an error message; one that sends too large a message is disconnected.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
from collections.abc import Awaitable, Callable, Mapping
from importlib.resources import files
from pathlib import Path
from typing import Annotated, TypeAlias

import msgspec
from aiohttp import WSCloseCode, WSMsgType, web
from aiohttp.http import HttpProcessingError

from klss.support.text import printable
from klss_app.front import BadGame, Reviewed
from klss_app.web.guard import HEADERS, host_allowed, origin_allowed, same_token
from klss_app.web.puzzle_pages import puzzle_routes
from klss_app.web.room import Refused, Room, Seat, Wish

MOST_BYTES = 256 * 1024
"""The largest message that a page may send; the largest are PGN files."""

_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
}
_MOST_WAITING = 512
"""Most messages that wait for a page."""
_CLOSE_WITHIN_S = 2.0


# ------------------------------------------------------------------------------------------------- what pages may send
class _Sit(msgspec.Struct, tag="sit"):
    token: object = None
    invite: object = None


class _Move(msgspec.Struct, tag="move"):
    move: str
    ply: int


class _Resign(msgspec.Struct, tag="resign"):
    pass


class _Draw(msgspec.Struct, tag="draw"):
    accepts: bool


class _Rematch(msgspec.Struct, tag="rematch"):
    pass


class _Review(msgspec.Struct, tag="review"):
    game: int


class _Pgn(msgspec.Struct, tag="pgn"):
    game: int
    comments: bool = False


class _Open(msgspec.Struct, tag="open"):
    pgn: Annotated[str, msgspec.Meta(max_length=MOST_BYTES)]


class _Analyse(msgspec.Struct, tag="analyse"):
    game: int


_Message: TypeAlias = _Sit | _Move | _Resign | _Draw | _Rematch | Wish | _Review | _Pgn | _Open | _Analyse
_decoder: msgspec.json.Decoder[_Message] = msgspec.json.Decoder(_Message)


def static_files() -> dict[str, tuple[bytes, str]]:
    """The files that are served: path -> bytes and content type."""
    root = Path(str(files("klss_app.web"))) / "static"
    paths = [path for path in root.rglob("*") if path.suffix in _TYPES]
    found = {f"/{path.relative_to(root).as_posix()}": (path.read_bytes(), _TYPES[path.suffix]) for path in paths}
    return {"/": found.pop("/index.html"), **found}


def our_fault(record: logging.LogRecord) -> bool:
    """Filter for aiohttp's logger: whether a record is about a bug of ours. Malformed requests and pages that went away
    are not: anybody who reaches the port could fill the player's terminal with those.
    """
    error = record.exc_info[1] if record.exc_info else None
    return not isinstance(error, HttpProcessingError | web.RequestPayloadError | ConnectionError)


def make_app(room: Room, host: str) -> web.Application:
    """The application; ``host`` is the name or address where it listens."""
    served = static_files()
    lines: dict[PageLine, None] = {}

    @web.middleware
    async def check_host(
        request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
    ) -> web.StreamResponse:
        if not host_allowed(request.headers.get("Host"), host):
            raise web.HTTPForbidden(text="got a Host that is not this server's, expected its address or localhost\n")
        return await handler(request)

    async def page(request: web.Request) -> web.StreamResponse:
        if request.path not in served:
            raise web.HTTPNotFound(text="there is no such page here\n")
        body, kind = served[request.path]
        response = web.Response(body=body, headers={"Content-Type": kind})
        response.enable_compression()  # to a third of the bytes; safe, as these files hold no secret
        return response

    async def socket(request: web.Request) -> web.StreamResponse:
        if not origin_allowed(request.headers.get("Origin"), request.headers.get("Host")):
            raise web.HTTPForbidden(text="a socket is for the page of this server\n")
        return await _serve_line(request, room, lines)

    async def add_headers(request: web.Request, response: web.StreamResponse) -> None:
        response.headers.update(HEADERS)
        response.headers.pop("Server", None)

    async def close_lines(app: web.Application) -> None:
        await asyncio.gather(*(line.close(WSCloseCode.GOING_AWAY) for line in lines))

    app = web.Application(client_max_size=1024, middlewares=[check_host])
    app.add_routes([web.get("/ws", socket), *puzzle_routes(), web.get("/{path:.*}", page)])
    app.on_response_prepare.append(add_headers)
    app.on_shutdown.append(close_lines)
    return app


async def _serve_line(request: web.Request, room: Room, lines: dict[PageLine, None]) -> web.StreamResponse:
    """Add a page's socket to ``lines``, and serve it until it is gone."""
    response = web.WebSocketResponse(timeout=_CLOSE_WITHIN_S, max_msg_size=MOST_BYTES, heartbeat=20.0, compress=False)
    try:
        await response.prepare(request)
    except ValueError:  # headers that are not ASCII; aiohttp itself refuses all other bad handshakes
        raise web.HTTPBadRequest(text="got a handshake that is none\n") from None
    line = PageLine(response, room, request.transport)
    lines[line] = None
    try:
        await line.run()
    finally:
        lines.pop(line, None)
    return response


class PageLine:
    """A page's socket: handles its messages, and sends the queued ones in order."""

    def __init__(self, socket: web.WebSocketResponse, room: Room, transport: asyncio.BaseTransport | None) -> None:
        self._socket = socket
        self._room = room
        self._transport = transport
        self._seat: Seat | None = None
        self._waiting: asyncio.Queue[str] = asyncio.Queue()

    def send(self, message: Mapping[str, object]) -> None:
        """Queue a message for sending. A page that does not read is cut off."""
        if self._waiting.qsize() < _MOST_WAITING:
            self._waiting.put_nowait(json.dumps(message, separators=(",", ":"), allow_nan=False))
        elif isinstance(self._transport, asyncio.WriteTransport):
            self._transport.abort()

    async def close(self, code: int) -> None:
        """Close the socket; data on the way to a page that does not read is dropped."""
        with contextlib.suppress(Exception):
            await asyncio.wait_for(self._socket.close(code=code), _CLOSE_WITHIN_S)
        if isinstance(self._transport, asyncio.WriteTransport) and self._transport.get_write_buffer_size() > 0:
            self._transport.abort()

    async def run(self) -> None:
        """Serve the page until it is gone."""
        sending = asyncio.create_task(self._send_all())
        try:
            async for message in self._socket:
                if message.type is WSMsgType.ERROR:
                    break
                await self._take(message.data)
        finally:
            sending.cancel()
            if self._seat is not None:
                self._room.leave(self._seat, self)

    async def _send_all(self) -> None:
        with contextlib.suppress(ConnectionError, RuntimeError):
            while True:
                await self._socket.send_str(await self._waiting.get())

    async def _take(self, data: str | bytes) -> None:
        message: _Message | None = None
        why = ""
        try:
            message = _decoder.decode(data)
        except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
            why = printable(str(error), 120)
        if self._seat not in self._room.seats:  # it may have been one for a game with a friend
            await self._sit(message if isinstance(message, _Sit) else _Sit())
            return
        if message is None:
            self.send({"type": "error", "why": why})
            return
        try:
            await self._act(self._seat, message)
        except (Refused, BadGame) as refused:
            self.send({"type": "refused", "of": message.__struct_config__.tag, "why": str(refused)})

    async def _sit(self, said: _Sit) -> None:
        code = said.invite
        for seat in self._room.seats:
            if seat.invites(code) if code is not None else same_token(said.token, seat.token):
                self._seat = seat
                if code is not None:  # from now on the page uses the seat's own token
                    self.send({"type": "seat", "token": seat.token})
                await self._room.sit(seat, self)
                return
        self.send({"type": "error", "why": "no seat" if code is None else "no invitation"})
        await asyncio.sleep(0.1)
        await self.close(WSCloseCode.POLICY_VIOLATION)

    async def _act(self, seat: Seat, message: _Message) -> None:
        """Do what a page asks; raises Refused or BadGame."""
        room = self._room
        match message:
            case _Move():
                room.move(seat, message.move, message.ply)
            case _Resign():
                room.resign(seat)
            case _Draw():
                room.draw(seat, message.accepts)
            case _Rematch():
                await room.rematch(seat)
            case Wish():
                await room.new_game(seat, message)
            case _Review():
                await self._review(message.game)
            case _Pgn():
                game = self._finished(message.game)
                turns = room.analyses.whole.get(game.number) if message.comments else None
                text = game.text if turns is None else room.kind.annotated(game, turns)
                self.send({"type": "pgn", "game": game.number, "pgn": text, "names": game.names})
            case _Open():
                self._only_between_games()
                async with room.reading:
                    reviewed = await asyncio.to_thread(room.kind.opened, message.pgn, room.settings.ruleset.name)
                await self._review(room.add(reviewed))
            case _Analyse():
                async with room.changing:  # a game may begin while this waits, so the check comes after it
                    await room.analyses.begin(self._finished(message.game), room.settings)

    async def _review(self, number: int) -> None:
        game = self._finished(number)
        async with self._room.reading:
            document = await asyncio.to_thread(self._room.kind.review, game)
        color = "white" if game.color else "black"
        self.send({"type": "review", "game": game.number, "color": color, **document})

    def _finished(self, number: int) -> Reviewed:
        """A game that is over; refused while another is played, so that no player gets an engine's help there."""
        self._only_between_games()
        if number not in self._room.finished:
            raise Refused("there is no such game here")
        return self._room.finished[number]

    def _only_between_games(self) -> None:
        if self._room.playing:
            raise Refused("a game is going on; finish it first")
