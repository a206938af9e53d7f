"""What the page costs on a slow line: 800 ms until an answer begins, 50 kB a second; the browser does not slow down its
socket. Bytes are bounded here; times are printed for whoever asks with ``-rP`` (docs/board.md), and asserted nowhere.
And a game and its reviews without a message on the console."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from klss_app.kept_games import HUMAN
from tests.klss_app.web.browsing import Board, opened, turn, typed

pytestmark = pytest.mark.browser

LATENCY_MS = 800
BYTES_PER_S = 50_000
MOST_BYTES = 80_000
"""Of everything that a first visit fetches, headers included."""


def test_a_first_visit_by_a_slow_line_stays_small(chromium: Browser, boards: Callable[..., Board]) -> None:
    board = boards()
    with opened(chromium, board.link()) as (page,):
        turn(page)  # the engine is loaded: what is measured is the page
        line = page.context.new_cdp_session(page)
        received: dict[str, float] = {}
        line.on("Network.loadingFinished", lambda each: received.update({each["requestId"]: each["encodedDataLength"]}))
        line.send("Network.enable")
        line.send("Network.setCacheDisabled", {"cacheDisabled": True})
        slow = {"latency": LATENCY_MS, "downloadThroughput": BYTES_PER_S, "uploadThroughput": BYTES_PER_S}
        line.send("Network.emulateNetworkConditions", {"offline": False, **slow})
        # Ready: the board is drawn, and a piece can be moved.
        page.add_init_script(
            "new MutationObserver((_, observer) => {"
            " if (!document.querySelector('#board cg-board piece') || document.querySelector('#entry[hidden]')) return;"
            " window.ready = performance.now(); observer.disconnect();"
            "}).observe(document, { subtree: true, childList: true, attributes: true });"
        )
        page.reload()
        expect(page.locator("#status")).to_contain_text("Move 1: your turn", timeout=60_000)
        paints: list[dict[str, Any]] = page.evaluate(
            "performance.getEntriesByType('paint').map((each) => each.toJSON())"
        )
        paint = {each["name"]: each["startTime"] for each in paints}
        total = sum(received.values())
        first, ready = paint["first-contentful-paint"] / 1000, page.evaluate("window.ready") / 1000
        print(f"first paint {first:.1f} s, ready {ready:.1f} s, {total / 1000:.0f} kB in {len(received)} answers")
        assert len(received) > 10 and total < MOST_BYTES


def test_a_game_and_its_review_leave_the_console_empty(chromium: Browser, boards: Callable[..., Board]) -> None:
    """``opened`` fails at a warning, an error, an exception, or a request to elsewhere."""
    board = boards(black=HUMAN)
    with opened(chromium, board.link(0), board.link(1)) as (white, black):
        for number, (theirs, ours) in enumerate((("e4", "f6"), ("Qh5", "a6")), 1):
            turn(white, number)
            typed(white, theirs)
            turn(black, number)
            typed(black, ours)
        turn(white, 3)
        typed(white, "Qxe8")
        for page in (white, black):
            expect(page.locator("#status")).to_contain_text("White wins")
            page.click("#review-game")
            expect(page.locator("#review [role=status]")).to_have_text("All 5 turns are analysed.", timeout=60_000)
            for key in ("Home", "ArrowRight", "2", "3", "4", "1", "f", "End"):
                page.keyboard.press(key)
            page.select_option("#review select", "any")
            page.keyboard.press("ArrowLeft")
            page.click("#to-game")
        for page in (white, black):
            page.click("#rematch")
        turn(black)
