"""The page in a real browser: games by clicks and by keyboard, premoves, promotion, clocks, reload, a rematch; in light
and dark, on a phone; by axe. ``make browser`` runs these, in Debian's chromium; ``make check`` does too.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from klss.play.kit import AnyKit
from klss_app.front import Front, front_of
from klss_app.kept_games import HUMAN
from tests.klss_app.web.browsing import (
    DESKTOP,
    NARROW,
    PHONE,
    SIDEWAYS,
    Boards,
    click,
    drag,
    drawn,
    fogged,
    hidden,
    opened,
    pieces,
    place,
    resign,
    settled,
    turn,
    typed,
    violations,
)
from tests.klss_app.web.pages import FOREIGN, KINDS
from tests.table import ghost_hunt, hidden_tictactoe
from uci_bridge.kits.rbc import RBC

pytestmark = pytest.mark.browser

SAID = """for (const id of ['status', 'loading']) {
  const element = document.getElementById(id), texts = (window[id + '_said'] = []);
  new MutationObserver(() => texts.push(element.textContent)).observe(
    element, { childList: true, characterData: true, subtree: true });
}"""
"""Notes every text of the status, and of the line that counts the seconds of loading."""


def test_a_whole_game_by_clicks_and_drags_between_two_pages(boards: Boards) -> None:
    board = boards(black="human")
    with board.pages(0, 1) as (white, black):
        turn(white)
        click(white, "e2", "e4")
        turn(black)
        drawn(white, "white pawn e4")
        drawn(black, without="white")
        assert "e4" in fogged(black)
        drag(black, "f7", "f6")
        turn(white, 2)
        drag(white, "d1", "h5")
        turn(black, 2)
        expect(black.locator("#moves")).to_contain_text("?")
        click(black, "a7", "a6")
        turn(white, 3)
        drawn(white, "black king e8")
        click(white, "h5", "e8")
        expect(white.locator("#status")).to_contain_text("White wins: Black's king was captured.")
        expect(black.locator("#status")).to_contain_text("Your king on e8 was captured.")
        drawn(white, "black rook a8", "white pawn a2")  # the fog is lifted
        hidden(white, 0)
        expect(white.locator("#board square.fell:visible")).to_have_count(1)
        expect(white.locator("#score")).to_have_text("1–0")
        white.click("#review-game")
        with white.expect_download() as download:
            white.click("#download-review")
        # The same text, but for the comments of the analysis, which may be complete by now.
        commented = re.compile(r"\{[^}]*\}|\$\d+|\d+\.\.\.")
        assert commented.sub("", Path(download.value.path()).read_text()).split() == board.kept[0].split()
        black.click("#review-game")
        expect(black.locator("#review h2")).to_have_text("human – human, 1-0")
        black.keyboard.press("Home")
        hidden(black, 0)
        drawn(black, "black pawn a7")
        assert len(pieces(black)) == 32
        black.keyboard.press("3")
        hidden(black, 32)
        drawn(black, without="white")
        expect(black.locator("#review [role=status]")).to_have_text("All 5 turns are analysed.", timeout=300_000)
        black.click("#to-game")
        black.click("#rematch")
        expect(white.locator("#status")).to_contain_text("Your opponent asks for a rematch.")
        white.click("#to-game")
        white.click("#rematch")
        turn(black)
        click(black, "e2", "e4")
        turn(white)
        drag(white, "e7", "e5")
        turn(black, 2)


def test_a_game_by_keyboard_alone_and_what_is_typed_wrong_is_said(boards: Boards) -> None:
    with boards(black="human").pages(0, 1) as (white, black):
        turn(white)
        white.keyboard.press("m")
        white.keyboard.type("Nf4")
        white.keyboard.press("Enter")
        expect(white.locator("#entry-says")).to_contain_text("illegal move")
        white.keyboard.type("e4")
        white.keyboard.press("Enter")
        turn(black)
        expect(white.locator("#entry-says")).to_be_empty()
        black.focus("#board-frame")
        for key in ("ArrowRight", "ArrowLeft", "Enter", "ArrowUp", "Enter"):
            black.keyboard.press(key)  # Black sits below, so left is towards h; its cursor begins on e7
        expect(black.locator("#cursor-says")).to_contain_text("f6")
        turn(white, 2)
        typed(white, "Qh5")
        turn(black, 2)
        typed(black, "a7a6")
        turn(white, 3)
        typed(white, "Qxe8")
        expect(white.locator("#status")).to_contain_text("White wins")
        expect(white.locator("#words p")).to_contain_text("queen e8")


def test_a_premove_is_played_when_it_can_be_and_dropped_when_it_can_not(boards: Boards) -> None:
    with boards(black="human").pages(0, 1) as (white, black):
        turn(white)
        click(black, "d7", "d5")
        expect(black.locator("#status")).to_contain_text("Premove d7d5")
        click(white, "e2", "e4")
        turn(white, 2)
        drawn(white, "black pawn d5")
        click(black, "g8", "f6")
        expect(black.locator("#status")).to_contain_text("Premove g8f6")
        black.keyboard.press("Escape")
        expect(black.locator("#status")).not_to_contain_text("Premove")
        click(black, "d8", "d1")
        expect(black.locator("#status")).to_contain_text("Premove d8d1")
        click(white, "g1", "f3")
        turn(black, 2)
        drawn(black, "black queen d8")
        click(black, "e7", "e5")
        click(black, "c7", "c6")
        black.click("#to-openings")
        expect(black.locator("#opening td").first).to_be_visible()
        expect(black.locator("#board square.current-premove:visible")).to_have_count(0)


def test_a_pawn_becomes_what_is_chosen_and_a_premove_what_was_chosen_when_it_was_made(boards: Boards) -> None:
    with boards(black="human", fen="7k/P7/1p6/K7/8/8/7p/8 w - - 0 1").pages(0, 1) as (white, black):
        turn(white)
        for page, (start, end) in ((black, ("h2", "h1")), (white, ("a7", "a8"))):
            click(page, start, end)
            expect(page.locator("#promotion")).to_be_visible()
            assert violations(page) == []
            page.keyboard.press("Escape")
            expect(page.locator("#promotion")).to_be_hidden()
            expect(page.locator("#status")).not_to_contain_text("Premove")
            settled(page)
            click(page, start, end)
            page.click("#promotion [value=n]")
            expect(page.locator("#moves" if page is white else "#status")).to_contain_text(
                "a8=N" if page is white else "Premove h2h1n"
            )
        drawn(white, "white knight a8")
        expect(black.locator("#moves")).to_contain_text("h1=N")
        turn(white, 2)
        click(white, "a5", "b6")
        expect(white.locator("#player-bottom piece.pawn.black")).to_have_count(1)
        expect(white.locator("#player-bottom .men")).to_have_attribute("aria-label", "taken: pawn")
        expect(black.locator("#player-top piece.pawn.black")).to_have_count(1)


def test_who_runs_out_of_time_loses_and_the_clock_is_seen_to_run(boards: Boards) -> None:
    with boards(clock=(2.0, 0.0)).pages() as (page,):
        turn(page)
        page.wait_for_timeout(1000)
        expect(page.locator("#player-bottom .clock")).to_have_text("0:02.0")
        click(page, "e2", "e4")
        turn(page, 2)
        expect(page.locator("#player-bottom .clock")).to_have_text(re.compile(r"0:0[01]\.\d"))
        expect(page.locator("#status")).to_contain_text("Black wins: White ran out of time.", timeout=10_000)
        expect(page.locator("#player-bottom .clock")).to_have_text("0:00.0")


def test_a_reload_and_a_second_tab_are_in_the_game_and_resigning_asks_twice(boards: Boards) -> None:
    with boards(black=FOREIGN).pages(0, 0) as (page, second):
        turn(page)
        typed(page, "e4")
        expect(page.locator("#moves li")).to_have_text("1.e4?")
        turn(page, 2)
        page.reload()
        turn(page, 2)
        for each in (page, second):
            drawn(each, "white pawn e4")
        typed(second, "d4")
        expect(page.locator("#moves li")).to_have_count(2)
        page.click("#resign")
        expect(page.locator("#resigning")).to_contain_text("Really resign?")
        assert violations(page) == []
        page.keyboard.press("Escape")
        expect(page.locator("#end")).to_be_hidden()
        resign(page)
        for each in (page, second):
            expect(each.locator("#status")).to_contain_text("Black wins: White resigned.")
        page.click("#new-game")
        page.click("#start [value=black]")
        page.click("#start [value='60+1']")
        page.click("#begin")
        turn(page)
        expect(second.locator("#player-bottom .name")).to_have_text("Black: you")


@pytest.mark.parametrize(
    ("scheme", "size"),
    [("light", DESKTOP), ("dark", NARROW), ("light", PHONE), ("dark", SIDEWAYS)],
    ids=["light", "narrow", "phone", "sideways"],
)
def test_everybody_can_use_it(boards: Boards, scheme: str, size: dict[str, int]) -> None:
    """Axe finds nothing in play, dialogs and review; nothing is wider than the screen without its scroll bar."""
    board = boards()
    over = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    with board.pages(color_scheme=scheme, viewport=size, is_mobile=size is PHONE) as (page,):
        turn(page)
        typed(page, "e4")
        turn(page, 2)
        assert violations(page) == []
        assert page.evaluate(over) <= 0
        box = page.locator("#board cg-board").bounding_box()
        assert box is not None and box["y"] + box["height"] <= size["height"]
        assert size["height"] > 844 or box["width"] > (0.96 * 390 if size is PHONE else 0.75 * size["height"])
        page.click("#keys")
        expect(page.locator("#help")).to_be_visible()
        assert violations(page) == []
        page.keyboard.press("Escape")
        tabs = {"#new-game": "#start", "#to-puzzles": "#puzzle", "#to-openings": "#opening td", "#to-game": "#moves"}
        for tab, shown in tabs.items():
            page.click(tab)
            expect(page.locator(shown).first).to_be_visible()
            assert violations(page) == []
            assert page.evaluate(over) <= 0
        resign(page)
        hidden(page, 0)
        assert violations(page) == []
        page.click("#review-game")
        expect(page.locator("#review [role=status]")).to_contain_text("turns are analysed.", timeout=300_000)
        page.keyboard.press("Home")
        assert violations(page) == []
        assert page.evaluate(over) <= 0


@pytest.mark.parametrize(("scheme", "size"), [("light", DESKTOP), ("dark", PHONE)], ids=["desktop", "phone"])
def test_reconnaissance_is_played_by_looks_and_requests_and_reviewed(
    boards: Boards, scheme: str, size: dict[str, int]
) -> None:
    """By pointer and by keyboard alone; the nine squares light up; axe finds nothing."""
    board = boards(front_of(RBC), black="rbc-random", nodes=1)
    status, lit = "#status", "#board square.lit:visible"
    with board.pages(color_scheme=scheme, viewport=size) as (page,):
        expect(page.locator(status)).to_contain_text("Turn 1: choose where to look", timeout=300_000)
        page.locator("#moves").focus()
        page.keyboard.press("f")
        page.keyboard.press("f")
        page.mouse.move(*place(page, "e5"))
        expect(page.locator(lit)).to_have_count(9)
        assert violations(page) == []
        page.mouse.click(*place(page, "e5"))
        expect(page.locator(status)).to_contain_text("Around e5: no enemy piece. Turn 1: ask for a move")
        expect(page.locator(lit)).to_have_count(0)
        page.mouse.click(*place(page, "e2"))
        page.mouse.click(*place(page, "e4"))
        expect(page.locator(status)).to_contain_text("Turn 2: choose where to look")
        expect(page.locator("#moves li")).to_have_text("1.e5: e4?")
        page.focus("#board-frame")
        for key in ("ArrowUp", "ArrowUp", "ArrowUp", "Enter"):
            page.keyboard.press(key)
        expect(page.locator(status)).to_contain_text("Around e4: ")
        page.click("#skip")
        expect(page.locator(status)).to_contain_text("Turn 3")
        page.click("#skip")
        expect(page.locator(status)).to_contain_text("You looked nowhere.")
        page.fill("#typed", "d4")
        page.keyboard.press("Enter")
        expect(page.locator(status)).to_contain_text("You played d4")
        resign(page)
        page.click("#review-game")
        expect(page.locator("#review [role=status]")).to_contain_text("turns are analysed.", timeout=300_000)
        page.keyboard.press("Home")
        expect(page.locator(lit)).to_have_count(9)
        expect(page.locator(".mixture")).to_contain_text("Looked at e5")
        for key, count in (("2", 9), ("3", 0), ("4", 9), ("1", 9)):  # Black does not see where White should look
            page.keyboard.press(key)
            expect(page.locator(lit)).to_have_count(count)
        page.keyboard.press("ArrowRight")
        page.keyboard.press("ArrowRight")
        for key, aged in (("1", False), ("2", True), ("3", True)):
            page.keyboard.press(key)
            shaded = expect(page.locator("#board square.age:visible"))
            shaded.not_to_have_count(0) if aged else shaded.to_have_count(0)
        expect(page.locator("#chart .legend span")).to_have_count(2)  # nothing values the true board
        assert violations(page) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]


@pytest.mark.parametrize(
    ("kit", "sees"), [(hidden_tictactoe.KIT, "is yours."), (ghost_hunt.KIT, "W . ? ? . ? ? ?")], ids=["marks", "ghost"]
)
def test_a_game_of_anybodys_is_played_by_its_texts_and_reviewed(boards: Boards, kit: AnyKit, sees: str) -> None:
    board = boards(front_of(kit), black="random", nodes=1)
    with board.pages() as (page,):
        for count in (1, 2):
            page.locator("#answers button").first.click(timeout=300_000)
            expect(page.locator("#moves")).to_contain_text(f"{count}.")
        expect(page.locator("body")).to_contain_text(sees)
        assert violations(page) == []
        resign(page)
        page.click("#review-game")
        expect(page.locator("#review [role=status]")).to_contain_text("turns are analysed.", timeout=300_000)
        expect(page.locator("#review")).to_contain_text(sees)
        page.keyboard.press("Home")
        expect(page.locator(".saw")).to_contain_text("White sees")
        expect(page.locator(".mixture tbody tr")).not_to_have_count(0)
        expect(page.locator("#board")).to_be_hidden()
        page.keyboard.press("ArrowRight")
        expect(page.locator("#review .verdict")).to_contain_text("Cost unknown.")
        assert violations(page) == []


def test_one_looks_back_at_what_was_seen_and_sees_whether_the_other_is_there(boards: Boards) -> None:
    board = boards(black=HUMAN)
    with board.pages(0, 1) as (white, black):
        turn(white)
        typed(white, "e4")
        turn(black)
        typed(black, "e5")
        turn(white, 2)
        white.locator("#moves").focus()
        white.keyboard.press("ArrowLeft")
        white.keyboard.press("ArrowLeft")
        expect(white.locator("#status")).to_contain_text("Ply 0 of 2, as you saw it then")
        drawn(white, "white pawn e2", without="white pawn e4")
        white.keyboard.press("ArrowRight")
        white.keyboard.press("ArrowRight")
        turn(white, 2)
        drawn(white, "white pawn e4", without="white pawn e2")
        expect(white.locator("#player-top .name")).to_have_text("Black: opponent")
        black.close()
        expect(white.locator("#player-top .name")).to_have_text("Black: opponent (not at the board now)")


@KINDS
def test_the_button_offers_and_accepts_a_draw(boards: Boards, kind: Front) -> None:
    with boards(kind, black=HUMAN).pages(0, 1) as (white, black):
        for page in (white, black):
            expect(page.locator("#draw")).to_have_text("Offer a draw")
        white.click("#draw")
        expect(white.locator("#draw")).to_be_disabled()
        expect(white.locator("#status")).to_contain_text("You offered a draw")
        expect(black.locator("#draw")).to_have_text("Accept the draw")
        expect(black.locator("#status")).to_contain_text("Your opponent offers a draw")
        assert violations(black) == []
        black.click("#draw")
        for page in (white, black):
            expect(page.locator("#status")).to_contain_text("Draw: both players agreed.")
            expect(page.locator("#draw")).not_to_be_visible()
        white.click("#review-game")
        expect(white.locator("#review")).to_contain_text("Draw: both players agreed.")


@pytest.mark.parametrize(("scheme", "size"), [("light", DESKTOP), ("dark", PHONE)], ids=["desktop", "phone"])
def test_the_link_is_copied_and_opens_the_seat_in_one_other_browser(
    chromium: Browser, boards: Boards, scheme: str, size: dict[str, int]
) -> None:
    board = boards(black=HUMAN)
    board.room.origins = [f"http://127.0.0.1:{board.port}", "http://192.168.1.7:8765"]
    shown = {"color_scheme": scheme, "viewport": size, "permissions": ["clipboard-read", "clipboard-write"]}
    with board.pages(**shown) as (white,):
        expect(white.locator("#invitation input")).to_have_count(2)
        for live in ("#typed", "#resign", "#draw"):
            expect(white.locator(live)).to_be_hidden()
        assert violations(white) == []
        assert white.evaluate("document.documentElement.scrollWidth") <= size["width"]
        white.locator("#invitation button").first.click()
        expect(white.locator("#invitation button").first).to_have_text("Copied")
        link = white.evaluate("navigator.clipboard.readText()")
        assert link == f"http://127.0.0.1:{board.port}/#invite={board.room.seats[1].invitation}"
        with opened(chromium, link) as (black,):
            turn(white)
            expect(white.locator("#invitation")).to_be_hidden()
            assert black.evaluate("location.hash") == f"#seat={board.room.seats[1].token}"
            typed(white, "e4")
            turn(black)
            black.reload()
            turn(black)
            with opened(chromium, link) as (third,):
                expect(third.locator("#banner")).to_contain_text("This invitation was used already.")
                expect(third.locator("#play")).to_be_hidden()


def test_a_game_that_is_left_for_a_new_one_is_not_heard_of_until_that_begins(boards: Boards) -> None:
    with boards(black=FOREIGN.replace(" good", " silent 1"), fen="4k3/8/8/8/8/8/4P3/4K3 w - - 0 1").pages() as (page,):
        turn(page)
        typed(page, "e4")
        expect(page.locator("#status")).to_contain_text("thinks")
        page.evaluate(SAID)
        page.click("#new-game")
        expect(page.locator("#start [name=fen]")).to_have_value("")
        page.click("#begin")
        turn(page)
        assert any(each.startswith("Loading, 0 s") for each in page.evaluate("loading_said"))
        assert not [each for each in page.evaluate("status_said") if "left" in each]
        expect(page.locator("#moves li")).to_have_count(0)
        expect(page.locator("#loading")).to_be_hidden(timeout=120_000)


def test_a_double_click_or_a_key_that_is_held_down_does_not_resign(boards: Boards) -> None:
    with boards().pages() as (page,):
        turn(page)
        page.dblclick("#resign")
        page.keyboard.press("Escape")
        page.focus("#resign")
        for _ in range(8):  # all but the first are repeats, for playwright as for a keyboard
            page.keyboard.down("Enter")
            page.wait_for_timeout(100)
            expect(page.locator("#end")).to_be_hidden()
        page.keyboard.up("Enter")
        page.keyboard.press("Escape")
        resign(page)
        expect(page.locator("#status")).to_contain_text("Black wins: White resigned.")


def test_a_double_click_on_look_nowhere_does_not_pass(boards: Boards) -> None:
    with boards(front_of(RBC), black="rbc-random", nodes=1).pages() as (page,):
        expect(page.locator("#status")).to_contain_text("choose where to look", timeout=300_000)
        page.click("#skip")
        expect(page.locator("#status")).to_contain_text("Turn 1: ask for a move")
        page.hover("#skip")
        page.mouse.down(click_count=2)  # the second click of two
        page.mouse.up(click_count=2)
        page.wait_for_timeout(500)
        expect(page.locator("#status")).to_contain_text("Turn 1: ask for a move")
        expect(page.locator("#skip")).to_have_text("Pass")
