"""A game that is seen as text, in a real browser: by keyboard alone, and its review."""

from __future__ import annotations

from collections.abc import Callable

import pytest

pytest.importorskip("pyspiel")

from playwright.sync_api import Browser, Page, expect

from tests.klss_app.web.browsing import PHONE, Board, opened, serious
from tests.klss_app.web.test_text_board import DARK_HEX, text_board

pytestmark = pytest.mark.browser


def wait_for_turn(page: Page) -> bool:
    """Wait until it is the player's turn (True), or the game is over."""
    page.wait_for_selector("#actions button, #end:not([hidden])")
    return page.locator("#actions button").count() > 0


def texts(page: Page) -> list[str]:
    return page.locator("#texts pre").all_text_contents()


@pytest.mark.parametrize("context", [{}, {"viewport": PHONE, "color_scheme": "dark"}])
def test_a_game_is_played_to_its_end_by_keyboard_and_reviewed(
    chromium: Browser, boards: Callable[..., Board], context: dict[str, object]
) -> None:
    board = boards(text_board(DARK_HEX), black="random")
    with opened(chromium, board.link(), **context) as (page,):
        wait_for_turn(page)
        expect(page.locator("#status")).to_contain_text("Move 1: your turn")
        expect(page.locator("#board")).to_be_hidden()
        assert texts(page)[0].startswith("...\n...\n...") and serious(page) == []
        page.locator("#actions button").last.focus()
        page.keyboard.press("Enter")
        expect(page.locator("#moves li")).to_have_text(["1.c3"])
        turns = 1
        while wait_for_turn(page):
            if turns == 1:  # the focus waits where the next actions are
                expect(page.locator("#actions button").first).to_be_focused()
                page.keyboard.press("Escape")
                page.keyboard.press("ArrowLeft")
                expect(page.locator("#status")).to_contain_text("Ply 0 of")
                page.keyboard.press("ArrowRight")
                page.keyboard.press("/")  # the line keeps the focus from then on
            page.keyboard.type("zz" if turns == 2 else "1")
            page.keyboard.press("Enter")
            if turns == 2:
                expect(page.locator("#entry-says")).to_contain_text("expected an action of the list")
                page.keyboard.type("1")
                page.keyboard.press("Enter")
            turns += 1
            expect(page.locator("#moves li")).to_have_count(turns)
        expect(page.locator("#status")).to_contain_text("wins.")
        page.locator("#review-game").focus()
        page.keyboard.press("Enter")
        expect(page.locator("#review h2")).to_contain_text("human – random")
        last = page.locator(".game-moves button").count()
        expect(page.locator("#review .where")).to_contain_text(f"(ply {last} of {last})")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        truth, white, black = texts(page)
        assert ("White +1" in truth) != ("White -1" in truth) and white != black
        assert serious(page) == []
        page.keyboard.press("Home")
        expect(page.locator("#texts pre").nth(2)).to_have_text("Nothing yet.")
        for ply in range(1, last + 1):
            page.keyboard.press("ArrowRight")
            expect(page.locator("#review .where")).to_contain_text(f"(ply {ply} of {last})")
        assert texts(page) == [truth, white, black]
        page.keyboard.press("2")
        expect(page.locator("#texts pre")).to_have_text([white])
        with page.expect_download() as download:
            page.get_by_role("button", name="Download game").click()
        assert download.value.suggested_filename == "klss-1.json"
        page.keyboard.press("n")
        expect(page.locator("#settings [name=fen]")).to_have_count(0)
        page.locator("#settings [value=start]").press("Enter")
        wait_for_turn(page)
        expect(page.locator("#moves li")).to_have_count(0)
