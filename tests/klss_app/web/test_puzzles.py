"""Puzzles and openings in the browser: by clicks, by keyboard, on a dark phone; what is sent before an answer."""

from __future__ import annotations

from typing import Any

import chess
import pytest
from playwright.sync_api import Browser, Page, expect

from darkchess.fog.game.referee import Referee
from darkchess.fog.players.book import Book
from klss_app.puzzles import puzzles
from tests.klss_app.web.browsing import DESKTOP, PHONE, Board, Boards, click, drawn, opened, turn, typed, violations

pytestmark = pytest.mark.browser

ORDERED = puzzles()


def link(board: Board, number: int) -> str:
    return f"http://127.0.0.1:{board.port}/#puzzle={number}"


def posed(page: Page, number: int) -> None:
    # The first one is counted while compiled code is loaded, beside whatever else the machine does.
    expect(page.locator("#number")).to_contain_text(f"Puzzle {number} of {len(ORDERED)}", timeout=120_000)


def test_a_wrong_move_typed_on_a_dark_phone(chromium: Browser, boards: Boards) -> None:
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


def test_a_theme_is_chosen_and_shuffled_and_what_was_solved_is_kept(chromium: Browser, boards: Boards) -> None:
    numbers = [i for i, puzzle in enumerate(ORDERED, 1) if puzzle.theme == "force"]
    with opened(chromium, link(boards(), 1)) as (page,):
        posed(page, 1)
        page.select_option("#theme", "force")
        posed(page, numbers[0])
        level = ORDERED[numbers[0] - 1].level
        expect(page.locator("#rating")).to_contain_text(f"Level {level}, " if level else "No level")
        move = ORDERED[numbers[0] - 1].solution.uci()
        click(page, move[:2], move[2:4])
        expect(page.locator("#number")).to_contain_text("✓, 1 solved")
        page.click("#previous")
        posed(page, numbers[-1])
        page.select_option("#order", "random")
        shown = set()
        for _ in numbers:
            page.click("#next")
            expect(page.locator("#board-frame")).to_have_attribute("aria-busy", "false")
            shown.add(page.locator("#number").inner_text().split()[1])
        assert shown == set(map(str, numbers))
        page.reload()
        expect(page.locator("#theme")).to_have_value("force")
        expect(page.locator("#number")).to_contain_text("1 solved", timeout=120_000)


@pytest.mark.parametrize(("scheme", "size"), [("light", DESKTOP), ("dark", PHONE)], ids=["desktop", "phone"])
def test_openings_are_clicked_through_as_the_side_to_move_sees_them(
    boards: Boards, scheme: str, size: dict[str, int]
) -> None:
    board = boards()
    with board.pages(color_scheme=scheme, viewport=size) as (page,):
        turn(page)
        page.click("#to-openings")
        rows = page.locator("#opening-moves tbody tr")
        first = Book.packaged().page(Referee().views(chess.WHITE))
        assert first is not None
        expect(rows).to_have_count(len(first.moves))
        expect(rows.first).to_contain_text(f"{first.moves[0].probability:.0%}")
        page.get_by_role("button", name="d4", exact=True).click()
        expect(page.locator("#opening-says")).to_have_text("1. d4: Black to move, as Black sees it. ")
        drawn(page, "black pawn d7", without="white")
        click(page, "c7", "c5")
        expect(page.locator("#opening-says")).to_contain_text("1. d4 c5: White to move")
        drawn(page, "white pawn d4", "black pawn c5", without="black queen")
        assert not violations(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]
        page.reload()
        expect(page.locator("#opening-says")).to_contain_text("1. d4 c5")
        page.click("#opening-back")
        drawn(page, "black pawn c7", without="white")
        page.click("#to-game")
        turn(page)
        page.set_viewport_size({"width": 320, "height": 568})
        page.wait_for_function("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
        for path in ("e2e5", "e2e", "e2e2", "e2e4" * 4, "E2e4"):
            assert page.request.get(f"http://127.0.0.1:{board.port}/openings/{path}").status == 404, path


def test_what_is_sent_before_the_answer_is_the_movers_view(chromium: Browser, boards: Boards) -> None:
    board = boards()
    with opened(chromium, link(board, 2)) as (page,):
        posed(page, 2)
        sent = page.evaluate("fetch('/puzzles/2').then((answer) => answer.json())")
        view = ORDERED[1].views[-1]
        fields = {"number", "of", "asked", "level", "themes", "color", "board", "happened", "moves"}
        assert set(sent) == fields and sent["board"] == view.fog_fen().split()[0]
        assert set(sent["moves"]) == {move.uci() for move in view.legal_moves}
        for path in ("/puzzles/0", "/puzzles/99999", "/puzzles/2/a1a1", "/puzzles/2/nonsense"):
            answer = page.request.get(f"http://127.0.0.1:{board.port}{path}")
            assert answer.status == 404, path
