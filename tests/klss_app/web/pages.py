"""A room with its server in this process, and pages that are websockets."""

from __future__ import annotations

import asyncio
import datetime
import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import chess
import pytest
from aiohttp import ClientWebSocketResponse, WSMsgType
from aiohttp.test_utils import TestClient, TestServer

from klss_app.front import Front, front_of
from klss_app.kept_games import HUMAN, Settings
from klss_app.web.room import Room
from klss_app.web.server import make_app
from uci_bridge.kits.fog import FOG
from uci_bridge.kits.rbc import RBC

FOREIGN = f"cmd:{sys.executable} -S -E {Path(__file__).parents[2] / 'uci_bridge' / 'foreign_engine.py'} good"
"""An engine that is there at once, and plays some legal move."""


def settings(white: str = HUMAN, black: str = FOREIGN, **rest: Any) -> Settings:
    """A game's, by default of a human against an engine that does not think."""
    return Settings({chess.WHITE: white, chess.BLACK: black}, **{"time_s": None, "nodes": 10, "seed": 3, **rest})


KINDS = pytest.mark.parametrize("kind", [front_of(FOG), front_of(RBC)], ids=["fog", "rbc"])

FIRST = {"fog": ("e4",), "rbc": ("e5", "e2e4")}
"""White's answers in its first turn: in blind chess it looks first."""


class Page:
    """A page's end of the line; ``game`` is the last message of the game."""

    def __init__(self, socket: ClientWebSocketResponse) -> None:
        self.socket = socket
        self.heard: list[bytes] = []
        self.game: dict[str, Any] = {}

    async def send(self, **message: Any) -> None:
        await self.socket.send_json(message)

    async def next(self) -> dict[str, Any]:
        """The next message."""
        frame = await asyncio.wait_for(self.socket.receive(), 120)
        assert frame.type is WSMsgType.TEXT, frame
        self.heard.append(frame.data.encode())
        message: dict[str, Any] = json.loads(frame.data)
        if message["type"] == "game":
            self.game = message
        return message

    async def until(self, kind: str, **fields: Any) -> dict[str, Any]:
        """The next message of that type with those fields."""
        while True:
            message = await self.next()
            if message["type"] == kind and all(message[name] == value for name, value in fields.items()):
                return message

    async def plays(self, *answers: str) -> dict[str, Any]:
        """Answer these questions at its turns; the message of the game after the last of them."""
        for text in answers:
            while not self.game or self.game["over"] or self.game["turn"] != self.game["color"]:
                await self.until("game")
            number = self.game.get("step", self.game["ply"])
            await self.send(type="move", move=text, ply=number)
            while self.game.get("step", self.game["ply"]) == number:
                await self.until("game")
        return self.game


class Served:
    """A room behind its server."""

    def __init__(self, room: Room, client: TestClient[Any, Any], kept: list[str]) -> None:
        self.room = room
        self.client = client
        self.kept = kept

    async def line(self, **headers: str) -> ClientWebSocketResponse:
        """A socket that nobody has sat down with."""
        origin = f"http://{self.client.host}:{self.client.port}"
        return await self.client.ws_connect("/ws", headers={"Origin": origin, **headers})

    async def page(self, seat: int = 0) -> Page:
        """A page at a seat."""
        page = Page(await self.line())
        await page.send(type="sit", token=self.room.seats[seat].token)
        return page


@asynccontextmanager
async def served(chosen: Settings, kind: Front | None = None) -> AsyncIterator[Served]:
    """A server with a room, by default of Fog of War; its games are kept in ``kept``."""
    kept: list[str] = []

    def keep(text: str, begun: datetime.datetime, to: Path | None) -> None:
        kept.append(text)

    room = Room(chosen, kind or front_of(FOG), keep=keep)
    client = TestClient(TestServer(make_app(room, "127.0.0.1")))
    await client.start_server()
    try:
        yield Served(room, client, kept)
    finally:
        await room.close()
        await client.close()
