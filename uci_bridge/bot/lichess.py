"""A client of the lichess-style bot API, over aiohttp: calls and newline-delimited streams, bounded and timed.

The server is not trusted: the sizes of answers and lines are limited, every wait has an end, redirects are not
followed, nothing is decompressed, and every line goes through :mod:`uci_bridge.bot.dialect`. The token is in one header
only: aiohttp's own exceptions carry the request's headers, so they are never passed on or chained.

A method does one exchange, or yields the lines of one connection; on failure it raises a :class:`ServerError`.
The caller tries again, after :meth:`Timing.waits`. Only the pause that an answer 429 asks for is kept here, by all
calls.

Why not the library berserk (0.14): it needs a thread per stream, has no time-outs, follows redirects, reads bodies and
lines of any length, hides the keep-alives that show that a stream lives, and does not know pychess's dialect.
"""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import itertools
import logging
import math
import random
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, TypeVar

import aiohttp
import msgspec
from aiohttp.http import HttpProcessingError

from klss.support.text import Document, printable
from uci_bridge.bot.dialect import PYCHESS, Dialect, Event, GameLine, valid_id
from uci_bridge.errors import UciBridgeError

log = logging.getLogger(__name__)

MAX_LINE_BYTES = 1 << 16
MAX_ANSWER_BYTES = 1 << 16
MAX_QUIET_S = 600.0
_REASON_S = 1.0
"""Most seconds for reading the body of a refusal."""
_SHOWN = 120
"""Characters of a server's own words that are shown."""
_CALLS_AT_ONCE = 4
_Line = TypeVar("_Line")
_Answer = TypeVar("_Answer")


class ServerError(UciBridgeError):
    """The server or the connection to it failed, or what it sent breaks the dialect; another try may help."""

    def __init__(self, message: str, status: int | None = None, wait_s: float = 0.0) -> None:
        super().__init__(message)
        self.status = status  # the HTTP status; None if the server may or may not have got the request
        self.wait_s = wait_s  # seconds that the server asks us to wait; 0 if it doesn't


class Refused(ServerError):
    """The token is not valid, or not allowed to do this (401, 403)."""


class Rejected(ServerError):
    """The server refused the request (any other 4xx, or a redirect)."""


class Token:
    """A secret that is never shown, not even in a traceback that prints variables.

    >>> Token("secret")
    Token(...)
    """

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return "Token(...)"

    def header(self) -> dict[str, str]:
        """The header that authenticates us."""
        return {"Authorization": f"Bearer {self._text}"}

    def hide(self, text: str) -> str:
        """``text`` with the token replaced."""
        return text.replace(self._text, "[token]")


@dataclass(frozen=True)
class Timing:
    """Time limits and waits, in seconds."""

    connect_s: float = 10.0
    call_s: float = 15.0
    idle_s: float = 20.0  # a stream without a line for so long is dead (servers send a keep-alive every 6 or 7 s)
    first_retry_s: float = 0.5
    last_retry_s: float = 60.0
    # silence before the first move on a fresh stream, since old lines may come before the true state
    settle_s: float = 0.25
    room_s: float = 2.0  # a challenge that finds no room waits so long for a game to end
    confirm_s: float = 10.0  # if no state shows a sent move within this time, the stream is reopened

    def waits(self, most_s: float = math.inf) -> Iterator[float]:
        """Waits between tries in seconds: doubling up to a maximum, each a fifth shorter or longer by chance."""
        for tries in itertools.count():
            yield min(self.first_retry_s * 2.0 ** min(tries, 30), self.last_retry_s, most_s) * random.uniform(0.8, 1.2)


class Account(msgspec.Struct, frozen=True):
    """The account of a token."""

    name: Annotated[str, msgspec.Meta(min_length=1, max_length=128)] = msgspec.field(name="username")
    title: Annotated[str, msgspec.Meta(max_length=16)] | None = None


def is_loopback(host: str) -> bool:
    """Whether ``host`` is this machine, by its name or address.

    >>> is_loopback("127.0.0.1"), is_loopback("localhost"), is_loopback("[::1]"), is_loopback("example.org")
    (True, True, True, False)
    """
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


class Client:
    """The calls and streams of one bot; use it as an asynchronous context manager. ``url`` is https, or the loopback's
    (:class:`uci_bridge.bot.config.BotConfig` sees to that).
    """

    def __init__(self, url: str, token: Token, dialect: Dialect = PYCHESS, timing: Timing | None = None) -> None:
        self._url = url.rstrip("/")
        self._token = token
        self.dialect = dialect
        self.timing = timing or Timing()
        self._session: aiohttp.ClientSession | None = None
        self._quiet_until = 0.0
        self._calls = asyncio.Semaphore(_CALLS_AT_ONCE)

    async def __aenter__(self) -> Client:
        # trust_env=False: a proxy or a .netrc of the environment could send the token elsewhere. Cookies aren't needed.
        self._session = aiohttp.ClientSession(
            trust_env=False,
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
            read_bufsize=MAX_LINE_BYTES // 2,  # a line may be twice as long
            connector=aiohttp.TCPConnector(limit=256, ttl_dns_cache=60),
        )
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._session is not None:
            await self._session.close()

    def address(self, game_id: str) -> str:
        """The address of a game's page for people."""
        return f"{self._url}/{valid_id(game_id)}"

    async def account(self) -> Account:
        """The account of the token. Raises Refused if the token is not valid."""
        answer = await self._call("GET", "/api/account")
        try:
            found = msgspec.json.decode(answer, type=Account)
            return msgspec.structs.replace(found, name=printable(found.name))
        except (msgspec.MsgspecError, ValueError, RecursionError) as error:
            raise ServerError(f"/api/account: got no account: {printable(str(error), _SHOWN)}") from None

    async def accept(self, challenge_id: str) -> None:
        """Accept a challenge."""
        await self._call("POST", f"/api/challenge/{valid_id(challenge_id)}/accept")

    async def decline(self, challenge_id: str, reason: str) -> None:
        """Decline a challenge; ``reason`` is one of the dialect's keys."""
        await self._call("POST", f"/api/challenge/{valid_id(challenge_id)}/decline", {"reason": reason})

    async def move(self, game_id: str, move: str) -> None:
        """Send a move (UCI). Success does not prove that it was played: only the next state does."""
        await self._call("POST", f"/api/bot/game/{valid_id(game_id)}/move/{move}")

    async def abort(self, game_id: str) -> None:
        """Abort a game."""
        await self._call("POST", f"/api/bot/game/{valid_id(game_id)}/abort")

    async def resign(self, game_id: str) -> None:
        """Resign a game, by all calls that the server needs to report it to the opponent."""
        for step in self.dialect.resign_steps:
            await self._call("POST", f"/api/bot/game/{valid_id(game_id)}/{step}")

    async def chat(self, game_id: str, text: str) -> None:
        """Send a chat message to the opponent."""
        await self._call("POST", f"/api/bot/game/{valid_id(game_id)}/chat", {"room": "player", "text": text})

    async def insist(self, call: Callable[[], Awaitable[_Answer]], tries: float = 5) -> _Answer:
        """Await ``call``, up to ``tries`` times if it fails by an error that another try may cure; the log says when
        the next try is.
        """
        waits = self.timing.waits()
        while True:
            try:
                return await call()
            except (Refused, Rejected):
                raise
            except ServerError as error:
                tries -= 1
                if tries <= 0:
                    raise
                wait_s = max(error.wait_s, next(waits))
                log.warning("no server", extra={"fields": {"reason": str(error), "retry_s": round(wait_s, 2)}})
                await asyncio.sleep(wait_s)

    def events(self) -> AsyncGenerator[Event | None, None]:
        """One connection to the event stream: None once it is open, then its events. Ends or raises when it breaks."""
        # Not strict: a bad line may come again on every connection, and must not block the others.
        return self._stream("/api/stream/event", self.dialect.event_headers(), self.dialect.event, strict=False)

    def game(self, game_id: str) -> AsyncGenerator[GameLine | None, None]:
        """One connection to a game's stream: None once it is open, then its lines. Ends or raises when it breaks."""
        return self._stream(f"/api/bot/game/stream/{valid_id(game_id)}", {}, self.dialect.game_line, strict=True)

    async def _stream(
        self, path: str, headers: Mapping[str, str], parse: Callable[[Document], _Line], *, strict: bool
    ) -> AsyncGenerator[_Line | None, None]:
        """Yield None, then the parsed lines. A line that can't be read ends the stream if ``strict``, else it is
        skipped.
        """
        idle_s = self.timing.idle_s
        timeout = aiohttp.ClientTimeout(total=None, sock_connect=self.timing.connect_s)
        try:
            async with contextlib.AsyncExitStack() as stack:
                # Limits on the whole answer and on each line: one on the silence between bytes would let them trickle.
                async with asyncio.timeout(self.timing.call_s):
                    response = await stack.enter_async_context(self._request("GET", path, headers, None, timeout))
                    await self._check(path, response)
                yield None
                while True:
                    async with asyncio.timeout(idle_s):
                        line = await response.content.readline()
                    if not line.endswith(b"\n"):
                        return
                    parsed = self._parsed(line.strip() or b'{"type":"ping"}', parse, strict=strict)
                    if parsed is not None:
                        yield parsed
        except (TimeoutError, aiohttp.ClientError, OSError) as error:
            raise self._failed(path, error, f"nothing came for {idle_s:g} s") from None
        except (ValueError, HttpProcessingError):  # of aiohttp 3.10, and of later ones
            raise ServerError(f"stream: got a line of more than {MAX_LINE_BYTES} bytes") from None

    def _parsed(self, line: bytes, parse: Callable[[Document], _Line], *, strict: bool) -> _Line | None:
        try:
            return parse(msgspec.json.decode(line, type=dict[str, object]))
        except Exception as error:  # no line of a server may end the bot, whatever a decoder raises
            text = printable(line[:60].decode("utf-8", "replace"))
            problem = f"stream: got {text!r}: {printable(str(error), _SHOWN) or type(error).__name__}"
            if strict:
                raise ServerError(problem) from None
            log.warning("a line was left out", extra={"fields": {"reason": self._token.hide(problem)}})
            return None

    async def _call(self, method: str, path: str, form: Mapping[str, str] | None = None) -> bytearray:
        timeout = aiohttp.ClientTimeout(total=self.timing.call_s, sock_connect=self.timing.connect_s)
        body = bytearray()
        try:
            async with self._calls, self._request(method, path, {}, form, timeout) as response:
                await self._check(path, response)
                while chunk := await response.content.readany():
                    body += chunk
                    if len(body) > MAX_ANSWER_BYTES:
                        raise ServerError(f"{path}: got an answer of more than {MAX_ANSWER_BYTES} bytes, expected less")
        except (TimeoutError, aiohttp.ClientError, OSError) as error:
            raise self._failed(path, error, f"no answer within {self.timing.call_s:g} s") from None
        return body

    def _request(
        self, method: str, path: str, headers: Mapping[str, str], form: Mapping[str, str] | None,
        timeout: aiohttp.ClientTimeout,
    ) -> contextlib.AbstractAsyncContextManager[aiohttp.ClientResponse]:  # fmt: skip
        if self._session is None:
            raise RuntimeError("the client is not open: use it as an asynchronous context manager")
        if (wait := self._quiet_until - time.monotonic()) > 0.0:
            raise ServerError(f"the server wants no request for another {wait:.1f} s", wait_s=wait)
        log.debug("request", extra={"fields": {"method": method, "path": path}})
        return self._session.request(
            method,
            self._url + path,
            headers={**self._token.header(), "Accept-Encoding": "identity", "User-Agent": "klss-bot", **headers},
            data=form,
            allow_redirects=False,
            timeout=timeout,
        )

    async def _check(self, path: str, response: aiohttp.ClientResponse) -> None:
        """Raise the error of the status, if it is none of success."""
        status = response.status
        if 200 <= status < 300:
            return
        body = b""
        with contextlib.suppress(TimeoutError, aiohttp.ClientError, OSError):  # the status is known
            async with asyncio.timeout(_REASON_S):
                body = await response.content.readany()
        said = "" if body.lstrip().startswith(b"<") else printable(body.decode("utf-8", "replace"), _SHOWN)
        text = self._token.hide(f"{path}: the server answers {status}" + (f" ({said})" if said else ""))
        if status == 429:
            wait = self.dialect.quiet_s
            with contextlib.suppress(KeyError, ValueError):
                wait = min(max(0.1, float(response.headers["Retry-After"])), MAX_QUIET_S)
            self._quiet_until = max(self._quiet_until, time.monotonic() + wait)
            raise ServerError(text, wait_s=wait)
        if status in (401, 403):
            raise Refused(text)
        if status >= 500 or status == 408:
            raise ServerError(text, status)
        raise Rejected(text, status)

    def _failed(self, path: str, error: Exception, late: str) -> ServerError:
        """The error to raise for a failed exchange; never aiohttp's own errors, which carry the request's headers."""
        if isinstance(error, TimeoutError):
            return ServerError(f"{path}: {late}")
        reason = error.strerror if isinstance(error, OSError) and error.strerror else type(error).__name__
        return ServerError(self._token.hide(f"{path}: no connection to {self._url} ({printable(str(reason), _SHOWN)})"))
