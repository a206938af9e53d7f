"""What the tests of the page in a real browser are driven by: a room with its server, pages, clicks, axe."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import chess
from playwright.sync_api import Browser, BrowserContext, Page, expect

from klss_app.front import Front
from klss_app.kept_games import Settings
from tests.klss_app.web.pages import served

AXE = (Path(__file__).parent / "axe" / "axe.min.js").read_text(encoding="utf-8")
DESKTOP = {"width": 1280, "height": 860}
NARROW = {"width": 700, "height": 900}
PHONE = {"width": 390, "height": 844}
SIDEWAYS = {"width": 844, "height": 390}


class Board:
    """A room and its server, in a thread of its own, and pages of it in ``chromium``."""

    def __init__(self, chromium: Browser, chosen: Settings, kind: Front) -> None:
        self._chromium = chromium
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._stop = asyncio.Event()
        self._thread = threading.Thread(target=lambda: self._loop.run_until_complete(self._serve(chosen, kind)))
        self._thread.start()
        assert self._ready.wait(60)

    async def _serve(self, chosen: Settings, kind: Front) -> None:
        async with served(chosen, kind) as at:
            self.room, self.kept, self.port = at.room, at.kept, at.client.port
            self.room.analyses.nodes, self.room.analyses.cap = 30, 10_000
            self._ready.set()
            await self._stop.wait()

    def link(self, seat: int = 0) -> str:
        return f"http://127.0.0.1:{self.port}/#seat={self.room.seats[seat].token}"

    def pages(self, *seats: int, **context: Any) -> AbstractContextManager[list[Page]]:
        """Pages of these seats, by default one of the first: see :func:`opened`."""
        return opened(self._chromium, *map(self.link, seats or (0,)), **context)

    def send(self, **message: Any) -> None:
        """To all pages of the first seat."""
        self._loop.call_soon_threadsafe(self.room.seats[0].send, message)

    def close(self) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(30)


Boards = Callable[..., Board]
"""Makes rooms."""


@contextmanager
def opened(chromium: Browser, *links: str, **context: Any) -> Iterator[list[Page]]:
    """Pages at these links; fails where one of them logs an error or asks anybody else for something."""
    made: BrowserContext = chromium.new_context(**{"viewport": DESKTOP, "reduced_motion": "reduce", **context})
    faults: list[str] = []
    pages = []
    for link in links:
        page = made.new_page()
        page.on("console", lambda said: faults.append(said.text) if said.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("request", lambda asked: None if "127.0.0.1" in asked.url or asked.url.startswith(("data:", "blob:"))
                else faults.append(asked.url))  # fmt: skip
        page.goto(link)
        pages.append(page)
    yield pages
    made.close()
    assert not faults, faults


def place(page: Page, square: str, board: str = "#board") -> tuple[float, float]:
    """Where a square's middle is."""
    box = page.locator(f"{board} cg-board").bounding_box()
    assert box is not None
    file, rank = chess.FILE_NAMES.index(square[0]), int(square[1]) - 1
    if page.locator(f"{board}.orientation-black").count():
        file, rank = 7 - file, 7 - rank
    step = box["width"] / 8
    return box["x"] + (file + 0.5) * step, box["y"] + (7.5 - rank) * step


def click(page: Page, *squares: str) -> None:
    for square in squares:
        page.mouse.click(*place(page, square))


def drag(page: Page, start: str, end: str) -> None:
    page.mouse.move(*place(page, start))
    page.mouse.down()
    page.mouse.move(*place(page, end), steps=4)
    page.mouse.up()


def typed(page: Page, text: str) -> None:
    page.fill("#typed", text)
    page.press("#typed", "Enter")


def resign(page: Page) -> None:
    page.click("#resign")
    page.click("#resigning [value=yes]")


def turn(page: Page, number: int = 1) -> None:
    """Wait for its turn at that move."""
    expect(page.locator("#status")).to_contain_text(f"Move {number}: your turn")


def drawn(page: Page, *wanted: str, without: str = " ") -> None:
    """Wait until these pieces are on the board, and none whose name begins so; boards are drawn a frame later."""
    for _ in range(100):
        found = pieces(page)
        if set(wanted) <= found and not any(piece.startswith(without) for piece in found):
            return
        page.wait_for_timeout(20)
    raise AssertionError(f"got {sorted(pieces(page))}, expected {wanted} and none of {without}")


def settled(page: Page) -> None:
    """Wait until what the last event began is drawn."""
    page.evaluate(
        "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 20))))"
    )


def hidden(page: Page, squares: int) -> None:
    """Wait until so many squares are drawn as fog."""
    expect(page.locator("#board square.fog:visible")).to_have_count(squares)


def pieces(page: Page) -> set[str]:
    """The pieces on the board and their squares, such as ``white pawn e4``."""
    found = page.evaluate(
        "[...document.querySelectorAll('#board cg-board piece')].filter(p => !p.classList.contains('ghost'))"
        ".map(p => p.cgPiece + ' ' + p.cgKey)"
    )
    return set(found)


def fogged(page: Page) -> set[str]:
    """The squares that are drawn as fog; the board keeps those that are none any more, and hides them."""
    return set(
        page.evaluate(
            "[...document.querySelectorAll('#board square.fog')].filter(s => s.style.visibility !== 'hidden')"
            ".map(s => s.cgKey)"
        )
    )


def violations(page: Page) -> list[str]:
    """What axe finds, minor or worse."""
    page.evaluate(AXE)
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    return [
        f"{each['id']}: {[node['html'][:200] + ' ' + node['failureSummary'][:300] for node in each['nodes']]}"
        for each in found["violations"]
    ]
