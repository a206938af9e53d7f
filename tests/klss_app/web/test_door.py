"""Connections that are opened and left: they are cut off, make way, and keep nobody from the board."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aiohttp
from aiohttp import web

from klss_app.web.door import Door
from klss_app.web.fog_board import FogBoard
from klss_app.web.server import make_app
from klss_app.web.table import Table
from tests.klss_app.web.pages import Page, run, settings

Half = tuple[asyncio.StreamReader, asyncio.StreamWriter]


@asynccontextmanager
async def guarded(most: int, within_s: float) -> AsyncIterator[tuple[Table, int]]:
    """A table behind a door; its port."""
    table = Table(settings(), FogBoard(), keep=lambda text, begun, to: None)
    runner = web.AppRunner(make_app(table, "127.0.0.1"), shutdown_timeout=0.1)
    await runner.setup()
    assert runner.server is not None
    server = await asyncio.get_running_loop().create_server(Door(runner.server, most, within_s), "127.0.0.1", 0)
    try:
        yield table, server.sockets[0].getsockname()[1]
    finally:
        server.close()
        await table.close()
        await runner.cleanup()


async def half_open(port: int, count: int, said: bytes = b"") -> list[Half]:
    """Connections that say no more than ``said``."""
    found = [await asyncio.open_connection("127.0.0.1", port) for _ in range(count)]
    for _, writer in found:
        writer.write(said)
    return found


async def ended(half: Half) -> bool:
    """Whether the server cuts it off, within two seconds."""
    with contextlib.suppress(ConnectionError):
        try:
            await asyncio.wait_for(half[0].read(), 2.0)
        except TimeoutError:
            return False
    return True


@asynccontextmanager
async def seated(table: Table, port: int) -> AsyncIterator[Page]:
    url = f"http://127.0.0.1:{port}"
    async with (
        aiohttp.ClientSession() as session,
        session.ws_connect(f"{url}/ws", headers={"Origin": url}) as socket,
    ):
        page = Page(socket)
        await page.send(type="sit", token=table.seats[0].token)
        await page.until("game")
        yield page


def test_who_says_nothing_or_half_a_request_is_cut_off_and_a_page_is_not() -> None:
    async def work() -> None:
        async with guarded(64, 0.4) as (table, port), seated(table, port) as page:
            upgrade = (
                f"GET /ws HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nOrigin: http://127.0.0.1:{port}\r\n"
                "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
                "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
            ).encode()
            whole = f"GET / HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode()
            halves = []
            for said in (b"", b"GET / HT", whole[:-2], whole, upgrade, b"POST / HTTP/1.1\r\nContent-Length: 9\r\n\r\n"):
                halves += await half_open(port, 1, said)
            assert await asyncio.gather(*map(ended, halves)) == [True] * 6
            await page.send(type="move", move="e4", ply=0)
            assert (await page.until("game"))["history"] == ["e4"]
            for _, writer in halves:
                writer.close()

    run(work())


def test_where_too_many_are_open_the_oldest_makes_way_and_new_pages_come_in() -> None:
    async def work() -> None:
        async with guarded(8, 60.0) as (table, port), seated(table, port) as page:
            halves = await half_open(port, 40, b"GET / HT")
            assert await asyncio.gather(*map(ended, halves[:32])) == [True] * 32
            async with aiohttp.ClientSession() as session, session.get(f"http://127.0.0.1:{port}/") as answer:
                assert answer.status == 200 and b"klss" in await answer.read()
            async with seated(table, port) as second:
                await second.send(type="move", move="e4", ply=0)
                assert (await page.until("game"))["history"] == ["e4"]
            for _, writer in halves:
                writer.close()

    run(work())
