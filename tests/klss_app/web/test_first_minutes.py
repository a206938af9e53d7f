"""The first ten minutes of somebody who comes from a chess server, by clicks; the lesson is in test_review_page."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Browser, Route, expect

from klss_app.front import Front
from klss_app.puzzles import puzzles
from tests.klss_app.web.browsing import PHONE, Boards, click, drag, drawn, hidden, opened, resign, turn, violations
from tests.klss_app.web.pages import FOREIGN, KINDS

pytestmark = pytest.mark.browser


@pytest.mark.parametrize("shown", [{}, {"viewport": PHONE, "color_scheme": "dark", "has_touch": True}])
def test_from_the_start_page_to_a_lost_game_the_truth_and_a_rematch(boards: Boards, shown: dict[str, Any]) -> None:
    asked = list[Route]()
    with boards(asks=True).pages(**shown) as (page,):
        expect(page.locator("#level-says")).to_contain_text("Level 3, learner: looks at 60 positions")
        page.click("#start [value=level-8]")
        expect(page.locator("#level-says")).to_contain_text("merciless")
        page.click("#start summary")
        page.select_option("#start [name=engine]", label=page.locator("#start option", has_text="foreign").inner_text())
        page.click("#start [value='180+2']")
        page.fill("#start [name=fen]", "nonsense")
        page.click("#begin")
        expect(page.locator("#banner")).to_contain_text("FEN")  # and the choices stay
        page.fill("#start [name=fen]", "")
        page.click("#start input[value='']")
        page.fill("#start [name=time]", "")
        page.click("#begin")
        expect(page.locator("#banner")).to_contain_text("Expected")
        page.click("#start [value='180+2']")
        page.click("#begin")
        turn(page)
        expect(page.locator("#player-bottom .clock")).to_have_text("3:00")
        click(page, "e2", "e4")
        turn(page, 2)
        page.click("#flip")
        click(page, "d2", "d4")
        turn(page, 3)
        page.click("#to-puzzles")
        expect(page.locator("#number")).to_contain_text("Puzzle 1 of", timeout=120_000)
        move = puzzles()[0].solution.uci()
        click(page, move[:2], move[2:4])
        expect(page.locator("#status")).to_contain_text("Right:")
        expect(page.locator("#number")).to_contain_text("✓, 1 solved")
        page.click("#next")
        expect(page.locator("#number")).to_contain_text("Puzzle 2 of", timeout=120_000)
        page.route("**/puzzles/2/-", lambda route: asked.append(route))
        page.click("#give-up")
        page.click("#to-game")
        drawn(page, "white pawn e4", "white pawn d4")
        with page.expect_response("**/puzzles/2/-"):  # it comes too late
            asked[0].continue_()
        page.wait_for_timeout(300)
        click(page, "c2", "c3")
        turn(page, 4)
        resign(page)
        hidden(page, 0)
        drawn(page, "black king e8")
        expect(page.locator("#score")).to_have_text("You lost, 0–1")
        page.evaluate("Object.defineProperty(WebSocket.prototype, 'readyState', {get: () => window.state})")
        page.click("#rematch")
        expect(page.locator("#banner")).to_contain_text("The connection is lost")
        page.evaluate("state = WebSocket.OPEN")
        page.click("#rematch")
        turn(page)
        drag(page, "d7", "d5")
        turn(page, 2)
        drawn(page, "black pawn d5", without="white king")


@KINDS
def test_a_friend_is_invited_from_the_start_page_and_left_for_the_computer(
    chromium: Browser, boards: Boards, kind: Front
) -> None:
    board = boards(kind, black="rbc-random" if kind.kit.name == "rbc" else FOREIGN, asks=True)
    board.room.origins = [f"http://127.0.0.1:{board.port}"]
    with board.pages() as (page,):
        page.click("#start [value=friend]")
        page.click("#start [name=color][value=black]")
        page.click("#begin")
        link = page.locator("#invitation input").input_value(timeout=60_000)
        with opened(chromium, link) as (friend,):
            expect(friend.locator("#player-bottom .name")).to_have_text("White: you")
            resign(friend)
            expect(friend.locator("#score")).to_have_text("0–1")
            page.click("#new-game")
            page.click("#start [value=engine]")
            page.click("#begin")
            expect(friend.locator("#banner")).to_contain_text("another game")
            expect(page.locator("#player-top .name")).to_have_text(re.compile("White: (Level 3|rbc-)"), timeout=120_000)


def test_a_piece_that_was_seen_leaves_a_ghost_where_the_fog_closed(boards: Boards) -> None:
    board = boards(black="human", fen="4k3/8/8/4n3/8/2B5/8/4K3 w - - 0 1")
    with board.pages(0, 1) as (white, black):
        turn(white)
        click(white, "c3", "d2")
        turn(black)
        ghost = white.locator("#board cg-auto-pieces piece.knight.black")
        expect(ghost).to_have_count(1)
        assert violations(white) == []
        white.click("#ghosts")
        expect(ghost).to_have_count(0)
