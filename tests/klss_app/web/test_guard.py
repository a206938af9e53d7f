"""Who is let in, and what becomes of hostile requests and frames: an answer, never the end of the server."""

from __future__ import annotations

import asyncio
import json
import random
from typing import Any

import pytest
from aiohttp import ClientError, WSMsgType, WSServerHandshakeError

from klss_app.web import server
from klss_app.web.guard import host_allowed, origin_allowed
from klss_app.web.server import MOST_BYTES, static_files
from tests.klss_app.web.pages import Page, Served, served, settings


@pytest.mark.parametrize(
    ("header", "host", "allowed"),
    [
        ("127.0.0.1:8765", "127.0.0.1", True),
        ("localhost", "127.0.0.1", True),
        ("[::1]:80", "::1", True),
        ("192.168.1.5:8765", "0.0.0.0", True),
        ("chess.home:8765", "chess.home", True),
        ("evil.example:8765", "127.0.0.1", False),
        ("127.0.0.1.evil.example", "127.0.0.1", False),
        ("localhost.evil.example:8765", "127.0.0.1", False),
        ("[127.0.0.1].evil.example", "127.0.0.1", False),
        ("[localhost]evil.example:80", "127.0.0.1", False),
        ("[::1", "127.0.0.1", False),
        ("", "127.0.0.1", False),
        (None, "127.0.0.1", False),
    ],
)
def test_a_name_that_somebody_else_bound_to_our_address_is_no_host(
    header: str | None, host: str, allowed: bool
) -> None:
    assert host_allowed(header, host) is allowed


def test_only_the_page_of_the_same_host_may_open_a_socket() -> None:
    assert origin_allowed("http://127.0.0.1:1", "127.0.0.1:1")
    for origin in (None, "null", "http://127.0.0.1:2", "https://127.0.0.1:1", "http://localhost:1"):
        assert not origin_allowed(origin, "127.0.0.1:1")


async def test_requests_from_elsewhere_are_refused_and_every_answer_has_the_headers() -> None:
    async with served(settings()) as at:
        good = await at.client.get("/")
        assert good.status == 200 and "klss board" in await good.text()
        assert "script-src 'self'" in good.headers["Content-Security-Policy"]
        assert good.headers["X-Content-Type-Options"] == "nosniff" and "Server" not in good.headers
        assert (await at.client.get("/", headers={"Host": "evil.example"})).status == 403
        for headers in ({"Origin": "http://evil.example"}, {"Host": "evil.example"}, {"Origin": "null"}):
            with pytest.raises(WSServerHandshakeError) as refused:
                await at.line(**headers)
            assert refused.value.status == 403


async def asked(at: Served, head: str) -> bytes:
    """The answer to a request as it stands, however odd."""
    reader, writer = await asyncio.open_connection(at.client.host, at.client.port)
    writer.write(f"{head}Connection: close\r\n\r\n".encode())
    try:
        await writer.drain()
        return await asyncio.wait_for(reader.read(), 10)
    except ConnectionError:
        return b""
    finally:
        writer.close()


async def test_no_path_reaches_the_file_system() -> None:
    async with served(settings()) as at:
        for path in (
            "/../pyproject.toml", "/%2e%2e/%2e%2e/pyproject.toml", "/static/../server.py", "//etc/passwd",
            "/etc/passwd", "/server.py", "/vendor/chessground/LICENSE", "/%00", "/index.html/../../server.py",
            "/ws/../server.py",
        ):  # fmt: skip
            answer = await asked(at, f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n")
            assert answer.split()[1] in (b"400", b"403", b"404"), (path, answer)
            assert b"import" not in answer


async def test_without_the_token_there_is_no_seat_and_nothing_is_told() -> None:
    async with served(settings()) as at:
        good = await at.page()
        await good.until("game")
        wrong: list[Any] = ["", None, 7, "é", "x" * 22, at.room.seats[0].token[:-1], [at.room.seats[0].token]]
        for token in wrong:
            page = Page(await at.line())
            await page.send(type="sit", token=token)
            assert await page.next() == {"type": "error", "why": "no seat"}
            assert (await page.socket.receive()).type in (WSMsgType.CLOSE, WSMsgType.CLOSED)
        page = Page(await at.line())
        await page.send(type="move", move="e4", ply=0)
        assert await page.next() == {"type": "error", "why": "no seat"}
        await good.send(type="move", move="e4", ply=0)
        assert (await good.until("game"))["history"] == ["e4"]


async def test_too_large_a_message_cuts_the_page_off_and_nobody_else() -> None:
    async with served(settings()) as at:
        good = await at.page()
        await good.until("game")
        large = await at.page()
        await large.until("game")
        await large.socket.send_str("x" * (MOST_BYTES + 1))
        while (await asyncio.wait_for(large.socket.receive(), 5)).type is WSMsgType.TEXT:
            pass
        assert large.socket.closed
        await good.send(type="move", move="e4", ply=0)
        assert (await good.until("game"))["history"] == ["e4"]


def _hostile(rng: random.Random) -> str:
    """A frame that no page of ours sends."""
    values: list[Any] = [
        None, True, -1, 0, 1e308, 10**30, "", "e4", "O-O-O-O", "\ud800", "<b>", "../x", "a" * 3000, [], {}, [[]],
        {"a": 1}, [1, 2], [60, 1], "white", "klss2021",
    ]  # fmt: skip
    kinds = ["move", "resign_", "rematch", "new", "review", "pgn", "open", "analyse", "stop", "sit", "", "__class__", 3]
    keys = ["move", "ply", "game", "pgn", "engine", "time", "clock", "color", "fen", "token", "nodes"]
    shape = rng.randrange(8)
    if shape == 0:
        return "".join(chr(rng.randrange(32, 0x250)) for _ in range(rng.randrange(200)))
    if shape == 1:
        return rng.choice(
            ['{"type":', "[" * 5000, "null", "3", '"move"', '{"type":null}', "{}", '{"type":"move"}', "NaN"]
        )
    message = {"type": rng.choice(kinds), **{rng.choice(keys): rng.choice(values) for _ in range(rng.randrange(6))}}
    return json.dumps(message)


async def _flood(at: Served, rng: random.Random, frames: int) -> None:
    sent = 0
    while sent < frames:
        page = await at.page()
        try:
            for _ in range(20):
                text = _hostile(rng)
                if rng.random() < 0.05:
                    await page.socket.send_bytes(text.encode("utf-8", "replace"))
                else:
                    await page.socket.send_str(text)
                sent += 1
            await page.socket.close()
        except (ClientError, ConnectionError):
            pass


async def test_two_thousand_hostile_frames_and_requests_and_the_server_lives_on() -> None:
    rng = random.Random(17)
    async with served(settings()) as at:
        await _flood(at, rng, 1800)
        for _ in range(200):
            path = "".join(rng.choice("abc./%2e~\\?&=<>é\u2028\r\n ") for _ in range(rng.randrange(30)))
            head = f"{rng.choice(['GET', 'POST', 'PUT', '', 'X' * 9000])} /{path} HTTP/1.1\r\nHost: 127.0.0.1\r\n"
            answer = await asked(at, head + rng.choice(["", "Content-Length: x\r\n", "Upgrade: websocket\r\n"]))
            assert not answer or answer.split()[1][:1] in (b"2", b"4"), (head, answer)
        page = await at.page()
        game = await page.until("game")
        if game["over"] is not None or game["turn"] != game["color"]:
            await page.send(type="new", engine=at.room.described(at.room.seats[0])["engine"], color="white", time=1)
            game = await page.until("game", over=None, turn="white", color="white")
        await page.send(type="move", move=game["moves"][0], ply=game["ply"])
        assert (await page.until("game"))["ply"] == game["ply"] + 1


def test_what_is_served_is_small_and_names_nothing_outside() -> None:
    served_files = static_files()
    board = [body for path, (body, _) in served_files.items() if not path.startswith("/puzzles")]
    assert sum(map(len, board)) < 170_000
    assert sum(len(body) for body, _ in served_files.values()) < 180_000
    for path, (body, _) in served_files.items():
        if "vendor" not in path:
            text = body.decode()
            assert "http://" not in text.replace("http://www.w3.org", "") and "https://" not in text, path
            assert "innerHTML" not in text and "onclick=" not in text, path


async def test_a_page_that_does_not_read_is_cut_off_and_keeps_no_server_from_ending(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(server, "_CLOSE_WITHIN_S", 0.2)
    monkeypatch.setattr(server, "_MOST_WAITING", 8)
    async with served(settings()) as at:
        page = await at.page()
        await page.until("game")
        await at.page()
        while len(at.room.seats[0].lines) < 2:
            await asyncio.sleep(0.02)
        for _ in range(40):
            at.room.seats[0].send({"type": "filler", "text": "x" * (1 << 20)})
            await page.until("filler")
        while len(at.room.seats[0].lines) > 1:
            await asyncio.sleep(0.02)
        await page.send(type="move", move="e4", ply=0)
        assert (await page.until("game"))["history"] == ["e4"]
        await at.page()
        while len(at.room.seats[0].lines) < 2:
            await asyncio.sleep(0.02)
        for _ in range(8):
            at.room.seats[0].send({"type": "filler", "text": "x" * (1 << 20)})
        await asyncio.sleep(0.05)
