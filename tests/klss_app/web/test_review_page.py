"""What the pages look like in a real browser: all three boards in one screen, the edge of captured pieces."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Browser, Page, expect

from darkchess.fog.game.record import read_pgn
from darkchess.fog.game.rules import PAPER
from klss_app.kept_games import HUMAN
from klss_app.web.fog_board import reviewed
from tests.klss_app.web.browsing import DESKTOP, PHONE, SIDEWAYS, Board, opened, place, settled, typed

pytestmark = pytest.mark.browser

GAME = '[White "ann"]\n[Variant "Fogofwar"]\n\n1. e4 d5 2. exd5 Qxd5 3. Nc3 Qa5 *\n'


@pytest.fixture
def reviewing(boards: Callable[..., Board]) -> Board:
    """A table at which a game is reviewed."""
    board = boards()
    board.table.opened = board.table.add(reviewed(read_pgn(GAME)[0], PAPER))
    return board


@pytest.mark.parametrize(
    "size",
    [{"width": 1440, "height": 900}, DESKTOP, {"width": 1024, "height": 768}, SIDEWAYS, PHONE],
    ids=["wide", "desktop", "small", "sideways", "phone"],
)
def test_all_three_boards_are_in_one_screen(chromium: Browser, reviewing: Board, size: dict[str, int]) -> None:
    with opened(chromium, reviewing.link(), viewport=size) as (page,):
        expect(page.locator("#review .where")).to_contain_text("(ply 6 of 6)")
        before = _width(page, "#board")
        page.keyboard.press("4")
        settled(page)
        for board in ("#board", "#board-white", "#board-black"):
            box = page.locator(board).bounding_box()
            assert box is not None and box["x"] >= 0 and box["x"] + box["width"] <= size["width"]
            assert box["y"] + box["height"] <= size["height"]
        least = {1440: 480, 1280: 420, 1024: 400, 844: 290, 390: 380}
        assert _width(page, "#board") > least[size["width"]], "the true board stays the large one"
        assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]
        if size["width"] >= 1280:
            assert page.evaluate("document.documentElement.scrollHeight") <= size["height"]
        pawn = page.evaluate(
            "(at => (at => [at.left + at.width / 2, at.top + at.height / 2])(at.getBoundingClientRect()))"
            "([...document.querySelectorAll('#board piece')].find(piece => piece.cgKey === 'h2'))"
        )
        assert pawn == pytest.approx(place(page, "h2"), abs=2), "pieces stand on the squares of the smaller board"
        page.keyboard.press("1")
        settled(page)
        assert _width(page, "#board") == before


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_captured_black_pieces_have_a_light_edge_on_a_dark_page(
    chromium: Browser, boards: Callable[..., Board], scheme: str
) -> None:
    board = boards(black=HUMAN)
    with opened(chromium, board.link(0), board.link(1), color_scheme=scheme) as (white, black):
        for page, move in ((white, "e4"), (black, "d5"), (white, "exd5"), (black, "Qxd5")):
            expect(page.locator("#status")).to_contain_text("your turn")
            typed(page, move)
        taken = white.locator("#player-bottom .men piece.black.pawn")
        expect(taken).to_have_count(1)
        edge = taken.evaluate("piece => getComputedStyle(piece).filter")
        assert ("rgb(232, 234, 237)" in edge) == (scheme == "dark"), edge


def _width(page: Page, board: str) -> float:
    box = page.locator(board).bounding_box()
    assert box is not None
    return box["width"]
