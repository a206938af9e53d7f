"""Puzzles in the browser: by keyboard, on a dark phone; what is sent before an answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from klss_app.puzzles import puzzles
from tests.klss_app.web.browsing import PHONE, Board, opened, typed, violations

pytestmark = pytest.mark.browser

ORDERED = puzzles()


def link(board: Board, number: int) -> str:
    return f"http://127.0.0.1:{board.port}/#puzzle={number}"


def posed(page: Page, number: int) -> None:
    # The first one is counted while compiled code is loaded, beside whatever else the machine does.
    expect(page.locator("#number")).to_contain_text(f"Puzzle {number} of {len(ORDERED)}", timeout=120_000)


def test_a_wrong_move_typed_on_a_dark_phone(chromium: Browser, boards: Callable[..., Board]) -> None:
    dark: dict[str, Any] = {"viewport": PHONE, "color_scheme": "dark"}
    with opened(chromium, link(boards(), 3), **dark) as (page,):
        posed(page, 3)
        typed(page, "nonsense")
        expect(page.locator("#entry-says")).to_contain_text("expected one of your moves")
        puzzle = ORDERED[2]
        wrong = next(move for move in puzzle.game.legal_moves() if move != puzzle.solution)
        typed(page, wrong.uci())
        expect(page.locator("#status")).to_contain_text("is not sure")
        page.get_by_role("button", name="You saw").press("Enter")
        expect(page.get_by_role("button", name="You saw")).to_have_attribute("aria-pressed", "true")
        assert not violations(page)
        page.click("#next")
        posed(page, 4)


def test_what_is_sent_before_the_answer_is_the_movers_view(chromium: Browser, boards: Callable[..., Board]) -> None:
    board = boards()
    with opened(chromium, link(board, 2)) as (page,):
        posed(page, 2)
        sent = page.evaluate("fetch('/puzzles/2').then((answer) => answer.json())")
        view = ORDERED[1].views[-1]
        fields = {"number", "of", "asked", "rating", "color", "board", "happened", "moves"}
        assert set(sent) == fields and sent["board"] == view.fog_fen().split()[0]
        assert set(sent["moves"]) == {move.uci() for move in view.legal_moves}
        for path in ("/puzzles/0", "/puzzles/99999", "/puzzles/2/a1a1", "/puzzles/2/nonsense"):
            answer = page.request.get(f"http://127.0.0.1:{board.port}{path}")
            assert answer.status == 404, path
