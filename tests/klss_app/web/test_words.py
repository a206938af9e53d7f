"""What the page says while something happens, and that a slip of the mouse ends nothing."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Browser, expect

from klss_app.web.rbc_board import RbcBoard
from tests.klss_app.web.browsing import Board, opened, turn, typed
from tests.klss_app.web.pages import FOREIGN

pytestmark = pytest.mark.browser

SAID = (
    "window.said = []; new MutationObserver(() => said.push(document.getElementById('status').textContent))"
    ".observe(document.getElementById('status'), { childList: true, characterData: true, subtree: true })"
)
"""Notes every text of the status."""


def test_a_game_that_is_left_for_a_new_one_is_not_heard_of_until_that_begins(
    chromium: Browser, boards: Callable[..., Board]
) -> None:
    board = boards(black=FOREIGN.replace(" good", " silent 1"), fen="4k3/8/8/8/8/8/4P3/4K3 w - - 0 1")
    with opened(chromium, board.link()) as (page,):
        turn(page)
        typed(page, "e4")
        expect(page.locator("#status")).to_contain_text("thinks")
        page.evaluate(SAID)
        page.click("#new-game")
        expect(page.locator("#settings [name=fen]")).to_have_value("")
        page.click("#settings [value=start]")
        expect(page.locator("#loading")).to_contain_text("Loading, 0 s")
        turn(page)
        assert not [each for each in page.evaluate("said") if "left" in each]
        assert page.evaluate("said[0]").startswith("The next game begins")
        expect(page.locator("#moves li")).to_have_count(0)
        expect(page.locator("#loading")).to_be_hidden(timeout=30_000)


def test_a_double_click_does_not_resign(chromium: Browser, boards: Callable[..., Board]) -> None:
    with opened(chromium, boards().link()) as (page,):
        turn(page)
        page.dblclick("#resign")
        expect(page.locator("#resign")).to_have_text("Really resign?")
        page.wait_for_timeout(300)
        expect(page.locator("#end")).to_be_hidden()
        page.click("#resign")
        expect(page.locator("#status")).to_contain_text("Black wins: White resigned.")


def test_a_key_that_is_held_down_does_not_resign(chromium: Browser, boards: Callable[..., Board]) -> None:
    with opened(chromium, boards().link()) as (page,):
        turn(page)
        page.focus("#resign")
        for _ in range(8):  # all but the first are repeats, for playwright as for a keyboard
            page.keyboard.down("Enter")
            page.wait_for_timeout(150)
        page.keyboard.up("Enter")
        expect(page.locator("#resign")).to_have_text("Really resign?")
        expect(page.locator("#end")).to_be_hidden()


def test_a_double_click_on_look_nowhere_does_not_pass(chromium: Browser, boards: Callable[..., Board]) -> None:
    with opened(chromium, boards(RbcBoard(), black="rbc-random", nodes=1).link()) as (page,):
        expect(page.locator("#status")).to_contain_text("choose where to look", timeout=60_000)
        page.click("#skip")
        expect(page.locator("#status")).to_contain_text("Turn 1: ask for a move")
        page.hover("#skip")
        page.mouse.down(click_count=2)  # the second click of two
        page.mouse.up(click_count=2)
        page.wait_for_timeout(500)
        expect(page.locator("#status")).to_contain_text("Turn 1: ask for a move")
        expect(page.locator("#skip")).to_have_text("Pass")


def test_a_puzzle_says_that_it_is_loading(chromium: Browser, boards: Callable[..., Board]) -> None:
    with opened(chromium, f"http://127.0.0.1:{boards().port}/icon.svg") as (page,):
        page.route("**/puzzles/*", lambda route: (page.wait_for_timeout(700), route.continue_()))
        page.goto(page.url.replace("icon.svg", "puzzles.html"), wait_until="commit")
        expect(page.locator("#status")).to_have_text("Loading the puzzle \u2026")
        expect(page.locator("#status")).to_contain_text("to move", timeout=30_000)


def test_titles_and_downloads_carry_the_players_names(chromium: Browser, boards: Callable[..., Board]) -> None:
    board = boards(black="human")
    with opened(chromium, board.link(0), board.link(1)) as (white, _):
        turn(white)
        expect(white).to_have_title("\u25cf you \u2013 opponent \u00b7 klss board")
        for _ in range(2):
            white.click("#resign")
        expect(white).to_have_title("you \u2013 opponent \u00b7 klss board")
        with white.expect_download() as download:
            white.click("#download")
        assert download.value.suggested_filename == "human-human.pgn"
        pgn = '[White "A/b c"]\n[Black "..\u4e16"]\n[Termination "Normal"]\n\n1. e4 e5 0-1\n'
        white.set_input_files("#pgn-file", {"name": "x.pgn", "mimeType": "text/plain", "buffer": pgn.encode()})
        expect(white).to_have_title("A/b c \u2013 ..\u4e16, 0-1 \u00b7 klss board")
        expect(white.locator("#review")).to_contain_text("Black wins.")
        with white.expect_download() as download:
            white.get_by_role("button", name="Download PGN").click()
        assert download.value.suggested_filename == "A_b_c-..\u4e16.pgn"


def test_nothing_is_said_of_turns_that_are_not_analysed(chromium: Browser, boards: Callable[..., Board]) -> None:
    with opened(chromium, boards(black="human").link()) as (page,):
        pgn = "1. e4 e5 2. Nf3 *"
        page.set_input_files("#pgn-file", {"name": "x.pgn", "mimeType": "text/plain", "buffer": pgn.encode()})
        expect(page.locator("#review [role=status]")).to_contain_text("of 3 turns")
        found, errors = page.evaluate(
            "['#review [role=status]', '.errors'].map((each) => document.querySelector(each).textContent)"
        )
        assert ": 0 of" not in found or "None" not in errors
        expect(page.locator("#review [role=status]")).to_contain_text("All 3 turns", timeout=60_000)
        expect(page.locator(".errors")).not_to_contain_text("so far")


def test_one_of_anything_is_said_in_the_singular(chromium: Browser, boards: Callable[..., Board]) -> None:
    with opened(chromium, boards(black="human").link()) as (page,):
        said = page.evaluate(
            """import('/strings.js').then(({ T }) => [
                T.analysed(1), T.analysing(0, 1), T.fogCount(1), T.positions('white', 1, false), T.gamesTitle(1),
                T.summary({ moves: 1, mean_cost: 0, marks: {}, mean_luck: 0 }), T.plies(1),
                T.over({ reason: 'aborted', winner: null }, 1),
                T.tried({ tries: { e2e4: ['e4', 0.02] }, moves: [] }, 'e2e4')])"""
        )
        plural = r"\b1 (turns|squares|positions|games|moves|plies|points)\b"
        assert not [each for each in said if re.search(plural, each)]
