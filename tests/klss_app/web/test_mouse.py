"""The board takes moves by mouse whatever was shown on it before: after a rematch, a flip, a look back, a review."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.klss_app.web.browsing import Boards, click, drag, resign, settled, turn

pytestmark = pytest.mark.browser


def moved(page: Page, number: int, move: str) -> None:
    expect(page.locator("#moves li").nth(number - 1)).to_contain_text(move)


@pytest.mark.parametrize("keys", ["ArrowLeft f ArrowRight", "f", "f f", "ArrowLeft f f ArrowRight f"])
def test_a_flip_leaves_a_board_that_is_played_on(boards: Boards, keys: str) -> None:
    with boards().pages() as (page,):
        turn(page)
        click(page, "e2", "e3")
        turn(page, 2)
        page.locator("#moves").focus()
        for key in keys.split():
            page.keyboard.press(key)
        click(page, "d2", "d3")
        moved(page, 2, "d3")


def test_a_move_is_tried_by_mouse_in_a_review_that_was_flipped_and_made_smaller_and_the_next_game_is_played(
    boards: Boards,
) -> None:
    with boards().pages() as (page,):
        turn(page)
        click(page, "e2", "e4")
        turn(page, 2)
        resign(page)
        page.click("#review-game")
        expect(page.locator("#review .where")).to_contain_text("ply 2 of 2")
        page.keyboard.press("f")
        page.set_viewport_size({"width": 900, "height": 700})
        page.keyboard.press("Home")
        expect(page.locator(".tried")).to_contain_text("Move a piece", timeout=300_000)
        settled(page)
        drag(page, "d2", "d4")
        expect(page.locator(".tried")).to_contain_text("Tried: d4")
        page.click("#to-game")
        page.click("#rematch")
        turn(page)
        drag(page, "d7", "d6")
        moved(page, 1, "d6")
