"""The review in a real browser, by a server and in one file; all three boards in one screen; the colours."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import chess
import pytest
from playwright.sync_api import Browser, Page, expect

from darkchess.fog.game.record import read_pgn
from darkchess.fog.game.rules import PAPER
from darkchess.rbc.game.referee import Referee
from klss_app.cli.main import main
from klss_app.web.fog_board import reviewed
from tests.klss_app.web.browsing import PHONE, Board, Boards, drag, drawn, resign, turn, violations
from uci_bridge.kits.rbc import RBC

pytestmark = pytest.mark.browser

GAME = '[White "ann"]\n[Variant "Fogofwar"]\n\n1. e4 d5 2. exd5 Qxd5 3. Nc3 Qa5 *\n'
FOG = '[White "</script><img src=x>"]\n[Variant "Fogofwar"]\n\n1. e4 d5 2. Bb5 dxe4 3. Bxe8 1-0\n'


@pytest.fixture
def reviewing(boards: Boards, request: pytest.FixtureRequest) -> Board:
    """A room in which a game is reviewed."""
    board = boards()
    board.room.opened = board.room.add(reviewed(read_pgn(request.param)[0], PAPER))
    return board


def test_a_long_review_is_one_screen_and_its_list_follows(boards: Boards) -> None:
    moves = " ".join(f"{n}. {'Nf3 Nf6' if n % 2 else 'Ng1 Ng8'}" for n in range(1, 61))
    with boards(fen="rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1").pages(
        viewport={"width": 1440, "height": 900}
    ) as (page,):
        turn(page)
        resign(page)
        expect(page.locator("#review-game")).to_be_enabled()
        page.set_input_files("#pgn-file", {"name": "x.pgn", "mimeType": "text/plain", "buffer": f"{moves} *".encode()})
        expect(page.locator("#review .where")).to_contain_text("(ply 120 of 120)")
        expect(page.locator("#chart svg")).to_be_visible(timeout=120_000)  # with the first values
        assert page.evaluate("document.documentElement.scrollHeight") <= 900
        # The box of what holds the chart: the chart itself is drawn anew with each value.
        box = page.locator("#chart").bounding_box()
        assert box is not None and box["y"] + box["height"] < 900
        for key, current in (("Home", 0), ("End", 119)):
            page.keyboard.press(key)
            expect(page.locator(".game-moves button").nth(current)).to_be_in_viewport()
        page.mouse.click(box["x"] + box["width"] / 2, box["y"] + 20)
        expect(page.locator("#review .where")).to_contain_text(re.compile(r"\(ply (6[0-9]|5[0-9]) of 120\)"))
        expect(page.locator(".game-moves button[aria-current]")).to_be_in_viewport()


def test_a_dropped_pgn_is_reviewed_and_its_names_are_text(boards: Boards) -> None:
    board = boards()
    with board.pages() as (page,):
        turn(page)
        resign(page)
        expect(page.locator("#review-game")).to_be_enabled()
        page.evaluate(
            "text => { const data = new DataTransfer(); data.items.add(new File([text], 'game.pgn'));"
            " document.dispatchEvent(new DragEvent('drop', {dataTransfer: data, cancelable: true})); }",
            FOG.replace("</script>", ""),
        )
        expect(page.locator("#review h2")).to_contain_text("<img src=x> – ?, 1-0")
        page.keyboard.press("ArrowLeft")
        expect(page.locator("#review .where")).to_have_text("2… dxe4 (ply 4 of 5)")
        expect(page.locator("#review [role=status]")).to_have_text("All 5 turns are analysed.", timeout=300_000)
        expect(page.locator(".mixture tbody tr")).to_have_text(["Bxe8100%+1.00"])
        expect(page.locator("#review .verdict")).to_contain_text("possible for Black. Best: ")
        expect(page.locator(".game-moves button").nth(3)).to_have_text("dxe4 ??")  # the king is taken for it
        page.keyboard.press("ArrowLeft")  # Black to move, and its king stands in check
        drag(page, "b8", "c6")
        expect(page.locator("#review .tried")).to_contain_text("Tried: Nc6 cost")
        drawn(page, "black knight b8")
        page.keyboard.press("ArrowRight")
        expect(page.locator("#review .tried")).to_contain_text("Move a piece of White's")
        page.select_option("#review select", "k")
        page.click("#review [value=white]")  # arrow keys step, whatever was clicked before
        page.keyboard.press("ArrowLeft")
        expect(page.locator("#review .where")).to_contain_text("(ply 3 of 5)")
        page.keyboard.press("Home")
        page.keyboard.press("ArrowRight")
        expect(page.locator("#board square.heat:visible")).not_to_have_count(0)
        page.reload()
        expect(page.locator("#review .where")).to_contain_text("(ply 1 of 5)")
        page.go_back()
        expect(page.locator("#play")).to_be_visible()
        page.go_forward()
        expect(page.locator("#review .where")).to_contain_text("(ply 1 of 5)")
        page.set_input_files("#pgn-file", {"name": "x.pgn", "mimeType": "text/plain", "buffer": b"no game {"})
        expect(page.locator("#banner")).to_contain_text("bad PGN")
        page.set_input_files("#pgn-file", {"name": "x.gz", "mimeType": "application/gzip", "buffer": bytes(100_000)})
        expect(page.locator("#banner")).to_contain_text("too large")


@pytest.mark.parametrize("reviewing", [GAME], indirect=True)
def test_the_review_shows_what_was_captured_where_the_true_board_is_shown(reviewing: Board) -> None:
    with reviewing.pages() as (page,):
        expect(page.locator("#review .where")).to_contain_text("(ply 6 of 6)")
        for key, bottom, top in (("1", "p", "P"), ("2", "", ""), ("4", "p", "P"), ("Home", "", "")):
            page.keyboard.press(key)
            for place, pieces, color in (("bottom", bottom, "black"), ("top", top, "white")):
                men = page.locator(f"#player-{place} .men")
                expect(men.locator(f"piece.pawn.{color}")).to_have_count(len(pieces))
                expect(men.locator("piece")).to_have_count(len(pieces))
        page.keyboard.press("End")
        expect(page.locator("#player-top .men")).to_have_attribute("aria-label", "taken: pawn")
        assert violations(page) == []


@pytest.mark.parametrize("reviewing", [FOG], indirect=True)
def test_the_next_mistake_and_a_better_move_from_what_its_side_saw(reviewing: Board) -> None:
    with reviewing.pages() as (page,):
        place = page.locator("#board").bounding_box()
        expect(page.locator("#review [role=status]")).to_have_text("All 5 turns are analysed.", timeout=300_000)
        page.keyboard.press("Home")
        while "dxe4" not in (page.locator(".where").text_content() or ""):
            page.click("#next-mistake")
        expect(page.locator("#chart circle.blunder")).not_to_have_count(0)
        expect(page.locator(".verdict")).to_contain_text("In the only possible position Bxe8 takes the king.")
        expect(page.locator("#board .cg-shapes line")).to_have_count(2)  # that reply, and the engine's move
        page.locator(".verdict button").nth(1).click()
        drawn(page, "white bishop e8", "black pawn e4")
        expect(page.locator(".verdict")).to_contain_text("A position that was possible")
        page.keyboard.press("ArrowLeft")
        drawn(page, "white bishop b5", "black pawn e4")
        assert violations(page) == []
        page.keyboard.press("ArrowLeft")
        expect(page.locator(".verdict")).to_contain_text("takes the king")
        better, worse = (float(page.locator(".sides .strong").nth(i).inner_text()) for i in (0, 1))
        assert 0 < worse < better <= 100
        page.click("#flip")
        page.click("#learn")
        expect(page.locator(".verdict")).to_contain_text("Black played dxe4 here. Find a better move")
        expect(page.locator("#board .cg-shapes line")).to_have_count(0)  # no arrow before the answer
        assert violations(page) == []
        drag(page, "c7", "c6")
        expect(page.locator(".verdict")).to_contain_text("Tried: c6")
        page.click("#to-game")
        assert page.locator("#board").bounding_box() == place


def test_lost_pieces_stand_beside_a_long_name_and_the_board_in_the_middle_of_a_phone(boards: Boards) -> None:
    board = boards()
    with board.pages(viewport=PHONE) as (page,):
        turn(page)
        seat = board.room.seats[0]
        names = {"white": "you", "black": "level-6 (an evaluator whose name is long)"}
        board.send(**{**(board.room.game_message(seat) or {}), "names": names, "lost": "QRBPP"})
        expect(page.locator("#player-top .name")).to_contain_text("Black: Level 6 (")
        # In one step, since the server's next message draws them anew.
        (left, width), *pieces = page.wait_for_function(
            """() => {
                const men = document.querySelector('#player-top .men'), pieces = men.querySelectorAll('piece');
                const place = (each) => { const box = each.getBoundingClientRect(); return [box.x, box.width]; };
                return pieces.length === 5 && [men, ...pieces].map(place);
            }"""
        ).json_value()
        assert all(each > 15 and x + each <= left + width + 0.5 for x, each in pieces)
        around, within = (page.locator(each).bounding_box() for each in ("#board", "#board cg-container"))
        assert around is not None and within is not None
        left, right = within["x"] - around["x"], around["width"] - within["width"]
        assert abs(2 * left - right) <= 1 and page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]


@pytest.mark.parametrize("contrast", ["no-preference", "more"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_fog_is_darker_than_any_square_that_is_seen(boards: Boards, scheme: str, contrast: str) -> None:
    with boards().pages(color_scheme=scheme, contrast=contrast) as (page,):
        turn(page)
        assert violations(page) == []
        light, dark, fog = _colours(page)
        over_light = (*(fog[3] * shade + (1 - fog[3]) * under for shade, under in zip(fog, light[:3], strict=False)), 1)
        assert _luminance(light) > _luminance(dark)
        assert (_luminance(dark) + 0.05) / (_luminance(over_light) + 0.05) > 2.5
        assert (_luminance(light) + 0.05) / (_luminance(dark) + 0.05) > 2.2


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


@contextmanager
def offline(chromium: Browser, html: Path) -> Iterator[Page]:
    """A page of a file; fails where it logs anything, or asks anybody for something."""
    context = chromium.new_context(offline=True)
    page = context.new_page()
    faults: list[str] = []
    page.on("console", lambda said: faults.append(said.text))
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("request", lambda asked: None if asked.url.startswith(("file:", "data:")) else faults.append(asked.url))
    page.goto(html.as_uri())
    yield page
    context.close()
    assert not faults


def blind_history() -> str:
    """A game of Reconnaissance Blind Chess to the capture of Black's king."""
    game = Referee()
    for square, move in (("e5", "e2e4"), ("e4", "f7f6"), ("e7", "d1h5"), ("e2", "a7a6"), ("e7", "h5e8")):
        game.sense(chess.parse_square(square))
        game.move(chess.Move.from_uci(move))
    return RBC.record(game, {"White": "</script><img src=x>", "Black": "b"})


@pytest.mark.parametrize("kind", ["fog", "rbc"])
def test_a_review_in_one_file_needs_no_server(chromium: Browser, tmp_path: Path, kind: str) -> None:
    blind = kind == "rbc"
    game, html = tmp_path / ("game.json" if blind else "game.pgn"), tmp_path / "game.html"
    game.write_text(blind_history() if blind else FOG)
    assert main(["analyse", str(game), "--game", kind, "--nodes", "200" if blind else "30", "--html", str(html)]) == 0
    with offline(chromium, html) as page:
        expect(page.locator("#review h2")).to_have_text(f"</script><img src=x> – {'b' if blind else '?'}, 1-0")
        page.keyboard.press("ArrowLeft")
        expect(page.locator("#review .where")).to_contain_text("(ply 4 of 5)")
        if blind:
            expect(page.locator(".mixture")).to_contain_text("Looked at e7")
            expect(page.locator("#board square.lit:visible")).not_to_have_count(0)
            drawn(page, "white queen h5")
            page.keyboard.press("2")
            drawn(page, "white queen h5", "black king e8")
        else:
            drawn(page, "black pawn e4")
        with page.expect_download() as download:
            page.get_by_role("button", name="Download").click()
        assert download.value.suggested_filename.startswith("_script_img_src=x_-")
        text = Path(download.value.path()).read_text()
        assert text == game.read_text() if blind else "Bxe8" in text


def test_the_report_of_a_file_of_games_leads_to_the_turn_of_each_of_its_entries(
    chromium: Browser, tmp_path: Path
) -> None:
    games, html = tmp_path / "games.pgn", tmp_path / "games.html"
    games.write_text(f'{FOG}\n\n[White "ann"]\n\n1. e4 f6 2. Qh5 a6 3. Qxe8 1-0\n')
    assert main(["analyse", str(games), "--all", "--nodes", "100", "--html", str(html)]) == 0
    with offline(chromium, html) as page:
        expect(page.locator("#report summary")).to_contain_text("2 games, both sides")
        page.locator("#report a", has_text="2... a6").click()
        expect(page.locator("#review h2")).to_have_text("ann – ?, 1-0")
        expect(page.locator("#review .where")).to_contain_text("(ply 3 of 5)")
        drawn(page, "white queen h5")
        page.go_back()
        expect(page.locator("#review h2")).not_to_have_text("ann – ?, 1-0")
