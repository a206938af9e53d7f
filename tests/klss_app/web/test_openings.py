"""The opening book in the browser: walked by clicks and by keyboard; what the server answers to other lines."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from tests.klss_app.web.browsing import PHONE, Board, opened, serious

pytestmark = pytest.mark.browser


@pytest.mark.parametrize("context", [{}, {"viewport": PHONE, "color_scheme": "dark"}], ids=["desktop", "phone"])
def test_a_line_is_walked_there_and_back(chromium: Browser, boards: Callable[..., Board], context: Any) -> None:
    board = boards()
    with opened(chromium, f"http://127.0.0.1:{board.port}/openings.html", **context) as (page,):
        expect(page.locator("#line")).to_have_text("The start")
        page.get_by_role("button", name="d4", exact=True).click()
        expect(page.locator("#line")).to_have_text("1. d4")
        expect(page.locator("#board")).to_have_class(re.compile("orientation-black"))
        page.get_by_role("button", name="d5", exact=True).press("Enter")
        expect(page.locator("#line")).to_have_text("1. d4 d5")
        assert not serious(page)
        page.click("#back")
        expect(page.locator("#line")).to_have_text("1. d4")


def test_black_s_first_page_is_the_same_whatever_white_played(chromium: Browser, boards: Callable[..., Board]) -> None:
    board = boards()
    with opened(chromium, f"http://127.0.0.1:{board.port}/openings.html") as (page,):
        at = f"http://127.0.0.1:{board.port}/openings"
        answers = [page.request.get(f"{at}/{line}").json() for line in ("d2d4", "b1c3")]
        assert answers[0]["moves"] == answers[1]["moves"] and answers[0]["board"] == answers[1]["board"]
        for line in ("e2e5", "e2e4-e2e4", "----", "e2e4-" * 13 + "e2e4", "x"):
            assert page.request.get(f"{at}/{line}").status == 404
