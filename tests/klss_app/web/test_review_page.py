"""What the pages look like in a real browser: all three boards in one screen, the edge of captured pieces,
the list of a file of games, the board's colours."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Browser, Page, expect

from darkchess.fog.game.record import read_pgn
from darkchess.fog.game.rules import PAPER
from klss_app.kept_games import HUMAN
from klss_app.web.fog_board import reviewed
from tests.klss_app.web.browsing import (
    DESKTOP,
    PHONE,
    SIDEWAYS,
    Board,
    click,
    opened,
    place,
    serious,
    settled,
    turn,
    typed,
)

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


def test_a_window_that_changes_its_size_in_a_review_leaves_a_board_that_is_played_on(
    chromium: Browser, boards: Callable[..., Board]
) -> None:
    board = boards()
    with opened(chromium, board.link()) as (page,):
        expect(page.locator("#status")).to_contain_text("your turn")
        typed(page, "e4")
        expect(page.locator("#status")).to_contain_text("Move 2: your turn")
        for _ in range(2):
            page.click("#resign")
        page.click("#review-game")
        expect(page.locator("#review .where")).to_contain_text("ply")
        page.set_viewport_size({"width": 900, "height": 700})
        settled(page)
        page.click("#new-game")
        page.click("#settings [value=start]")
        expect(page.locator("#status")).to_contain_text("Move 1: your turn")
        click(page, "d2", "d4")
        expect(page.locator("#moves li").first).to_contain_text("d4")


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
        # Waited for: the element that was found may be replaced before its style is read.
        light = re.compile(r"rgb\(232, 234, 237\)")
        if scheme == "dark":
            expect(taken).to_have_css("filter", light)
        else:
            expect(taken).not_to_have_css("filter", light)


@pytest.mark.parametrize(("scheme", "size"), [("light", DESKTOP), ("dark", PHONE)], ids=["desktop", "phone"])
def test_of_a_file_of_games_one_is_chosen_from_a_list(
    chromium: Browser, boards: Callable[..., Board], scheme: str, size: dict[str, int]
) -> None:
    board = boards()
    text = f'{GAME}\n[White "<img src=x>"]\n[Black "{"long " * 15}"]\n\n1. d4 f6 2. e4 1-0\n\n1. e4 e9 *\n'
    with opened(chromium, board.link(), color_scheme=scheme, viewport=size) as (page,):
        expect(page.locator("#status")).to_contain_text("your turn")
        for _ in range(2):
            page.click("#resign")
        expect(page.locator("#review-game")).to_be_enabled()
        _open(page, text)
        expect(page.locator("#games-title")).to_have_text("The file holds 3 games")
        rows = page.locator("#games tbody tr")
        expect(rows).to_have_count(3)
        expect(rows.nth(0)).to_have_text("1ann – ?*6")
        expect(rows.nth(1)).to_contain_text("<img src=x> – long")
        expect(rows.nth(2)).to_contain_text("got 'e9'")
        expect(rows.nth(2).locator("button")).to_have_count(0)
        expect(page.locator("#banner")).to_be_hidden()
        assert serious(page) == []
        assert page.evaluate("(games => games.scrollWidth <= games.clientWidth)(document.getElementById('games'))")
        rows.nth(1).locator("button").press("Enter")
        expect(page.locator("#games")).to_be_hidden()
        expect(page.locator("#review h2")).to_contain_text("<img src=x> – long")
        expect(page.locator("#review .where")).to_contain_text("(ply 3 of 3)")
        expect(page.locator("#banner")).to_be_hidden()
        _open(page, text)
        expect(page.locator("#games")).to_be_visible()
        page.keyboard.press("Escape")
        expect(page.locator("#review .where")).to_contain_text("(ply 3 of 3)")
        _open(page, "1. e4 *\n\n" * 501)
        expect(page.locator("#games")).to_contain_text("The first 500 are listed.", timeout=30_000)
        expect(rows).to_have_count(500)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_colours_of_the_board_are_chosen_and_kept_and_fog_is_darker_than_any_square(
    chromium: Browser, boards: Callable[..., Board], scheme: str
) -> None:
    board = boards()
    with opened(chromium, board.link(), color_scheme=scheme) as (page,):
        expect(page.locator("#status")).to_contain_text("your turn")
        squares = set()
        for colours in ("brown", "blue", "green", "contrast"):
            page.click("#keys")
            page.select_option("#help [name=colours]", colours)
            assert serious(page) == []
            page.keyboard.press("Escape")
            page.reload()
            expect(page.locator("#status")).to_contain_text("your turn")
            assert page.evaluate("document.documentElement.dataset.board") == colours
            assert serious(page) == []
            light, dark, fog = _colours(page)
            squares.add((light, dark))
            assert _luminance(light) > _luminance(dark)
            brightest = (
                *(fog[3] * shade + (1 - fog[3]) * under for shade, under in zip(fog, light[:3], strict=False)),
                1,
            )
            assert (_luminance(dark) + 0.05) / (_luminance(brightest) + 0.05) > 2.5
        assert len(squares) == 4
        page.evaluate("localStorage.setItem('klss-board-colours', 'toString')")
        page.reload()
        assert page.evaluate("document.documentElement.dataset.board") == "brown"


def _colours(page: Page) -> list[tuple[float, ...]]:
    """Red, green, blue and opacity of light squares, dark ones, and the fog over either."""
    found = page.evaluate(
        "['--light-square', '--dark-square', '--fog'].map((name) => { const probe = document.createElement('i');"
        " document.body.append(probe); probe.style.color = `var(${name})`;"
        " const color = getComputedStyle(probe).color; probe.remove(); return color; })"
    )
    read = [tuple(float(number) for number in re.findall(r"[\d.]+", color)) for color in found]
    return [(*color, 1.0)[:4] for color in read]


def _luminance(color: tuple[float, ...]) -> float:
    """Relative luminance, as WCAG 2.2 defines it."""
    parts = [each / 255 for each in color[:3]]
    red, green, blue = [each / 12.92 if each <= 0.04045 else ((each + 0.055) / 1.055) ** 2.4 for each in parts]
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _open(page: Page, text: str) -> None:
    page.set_input_files("#pgn-file", {"name": "x.pgn", "mimeType": "text/plain", "buffer": text.encode()})


def _width(page: Page, board: str) -> float:
    box = page.locator(board).bounding_box()
    assert box is not None
    return box["width"]


def test_the_review_shows_what_was_captured_where_the_true_board_is_shown(chromium: Browser, reviewing: Board) -> None:
    with opened(chromium, reviewing.link()) as (page,):
        expect(page.locator("#review .where")).to_contain_text("(ply 6 of 6)")
        for key, bottom, top in (("1", "p", "P"), ("2", "", ""), ("4", "p", "P"), ("Home", "", "")):
            page.keyboard.press(key)
            for place, pieces, color in (("bottom", bottom, "black"), ("top", top, "white")):
                men = page.locator(f"#player-{place} .men")
                expect(men.locator(f"piece.pawn.{color}")).to_have_count(len(pieces))
                expect(men.locator("piece")).to_have_count(len(pieces))
        page.keyboard.press("End")
        expect(page.locator("#player-top .men")).to_have_attribute("aria-label", "taken: pawn")
        said = page.evaluate("import('/strings.js').then(({ T }) => T.over({ winner: 'white', reason: 'unknown' }, 6))")
        assert said == "White wins."  # a file may not say how
        assert serious(page) == []


def test_lost_pieces_stand_beside_a_long_name_and_the_board_in_the_middle_of_a_phone(
    chromium: Browser, boards: Callable[..., Board]
) -> None:
    board = boards()
    with opened(chromium, board.link(), viewport=PHONE) as (page,):
        turn(page)
        seat = board.table.seats[0]
        names = {"white": "you", "black": "level-6 (an evaluator whose name is long)"}
        board.send(**{**(board.table.game_message(seat) or {}), "names": names, "lost": "QRBPP"})
        expect(page.locator("#player-top .name")).to_contain_text("Black: Level 6 (")
        men = page.locator("#player-top .men").bounding_box()
        assert men is not None
        for piece in page.locator("#player-top .men piece").all():
            box = piece.bounding_box()
            assert box is not None and box["width"] > 15 and box["x"] + box["width"] <= men["x"] + men["width"] + 0.5
        around, within = (page.locator(each).bounding_box() for each in ("#board", "#board cg-container"))
        assert around is not None and within is not None
        left, right = within["x"] - around["x"], around["width"] - within["width"]
        assert abs(2 * left - right) <= 1 and page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]


@pytest.mark.parametrize(
    ("values", "end"), [([0.1, -0.2], "+¼"), ([0.1, None, -0.3], "+½"), ([0.9], "+1"), ([None], "+¼")]
)
def test_the_graph_ends_where_the_values_do(
    chromium: Browser, reviewing: Board, values: list[float | None], end: str
) -> None:
    with opened(chromium, reviewing.link()) as (page,):
        texts = page.evaluate(
            "(values) => import('/chart.js').then((made) => [made.hasValues(values), "
            "made.chart([values, [], []], [[1], [1]], 0, 2, () => {}).querySelector('text').textContent])",
            values,
        )
        assert texts == [values != [None], end]
