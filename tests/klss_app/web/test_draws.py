"""Offers of a draw between two people: who sees them, when they end, how an agreed draw is written and shown."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from darkchess.fog.game.archive import games_of
from darkchess.fog.game.record import read_pgn
from klss.table.outcome import Outcome
from klss_app.cli.screen import ended_text
from klss_app.kept_games import HUMAN
from klss_app.web.board_game import BoardGame
from klss_app.web.fog_board import FogBoard
from klss_app.web.rbc_board import RbcBoard
from klss_app.web.rbc_board import opened as opened_history
from tests.klss_app.web.browsing import Board, opened, serious, turn, typed
from tests.klss_app.web.pages import Page, Served, run, served, settings

AGREED = {"winner": None, "reason": "agreement", "result": "1/2-1/2"}


async def seated(at: Served) -> tuple[Page, Page]:
    """Both pages, the game having begun."""
    white, black = await at.page(0), await at.page(1)
    assert (await white.until("game"))["offer"] is None
    await black.until("game")
    return white, black


async def offered(by: Page, other: Page) -> dict[str, Any]:
    """An offer, and what the other page gets of it."""
    await by.send(type="draw", accepts=False)
    await by.until("game", offer="white")
    return await other.until("game", offer="white")


@pytest.mark.parametrize("kind", [FogBoard(), RbcBoard()], ids=["fog", "rbc"])
def test_an_offer_that_is_accepted_ends_the_game_and_the_next_begins_without_one(kind: BoardGame) -> None:
    async def work() -> None:
        async with served(settings(HUMAN, HUMAN), kind) as at:
            white, black = await seated(at)
            for number in (1, 2):
                offers, accepts = (white, black) if number == 1 else (black, white)  # colours are swapped
                await offered(offers, accepts)
                await accepts.send(type="draw", accepts=True)
                for page in (white, black):
                    assert (await page.until("game", over=AGREED))["offer"] is None
                    assert (await page.until("table", playing=False))["last"] == number
                    await page.send(type="rematch")
                for page in (white, black):
                    assert (await page.until("game", number=number + 1))["offer"] is None

    run(work())


def test_an_offer_tells_the_other_nothing_but_that_it_was_made() -> None:
    async def work() -> None:
        async with served(settings(HUMAN, HUMAN)) as at:
            white, black = await at.page(0), await at.page(1)
            await white.until("game")
            before = await black.until("game")
            assert await offered(white, black) == {**before, "offer": "white"}
            # A page that comes back finds the offer; a second one of the same player says nothing new.
            await white.send(type="draw", accepts=False)
            again = await at.page(1)
            assert await again.until("game") == {**before, "offer": "white"}

    run(work())


def test_the_others_next_move_ends_an_offer_and_ones_own_does_not() -> None:
    async def work() -> None:
        async with served(settings(HUMAN, HUMAN)) as at:
            white, black = await seated(at)
            await offered(white, black)
            await white.send(type="move", move="e4", ply=0)
            assert (await black.until("game", ply=1))["offer"] == "white"
            await black.send(type="move", move="e5", ply=1)
            # On its way when the move was made: it finds no offer, and makes none.
            await black.send(type="draw", accepts=True)
            for page in (white, black):
                assert (await page.until("game", ply=2))["offer"] is None
            await white.send(type="move", move="d4", ply=2)
            for page in (white, black):
                game = await page.until("game", ply=3)
                assert game["offer"] is None and game["over"] is None
            # Both who offer agree.
            await offered(white, black)
            await black.send(type="draw", accepts=False)
            assert (await white.until("game", ply=3, over=AGREED))["moves"] == []

    run(work())


def test_a_look_ends_no_offer_and_a_request_does() -> None:
    async def work() -> None:
        async with served(settings(HUMAN, HUMAN), RbcBoard()) as at:
            white, black = await at.page(0), await at.page(1)
            step = (await white.until("game", question="sense"))["step"]
            await black.send(type="draw", accepts=False)
            assert (await white.until("game", offer="black"))["step"] == step
            await white.send(type="move", move="e5", ply=step)
            asked = await white.until("game", question="move")
            assert asked["offer"] == "black"
            await white.send(type="move", move="pass", ply=asked["step"])
            assert (await white.until("game", question=None))["offer"] is None
            assert (await black.until("game", question="sense"))["offer"] is None

    run(work())


def test_an_engine_is_offered_nothing_and_a_page_that_says_nonsense_is_answered() -> None:
    async def work() -> None:
        async with served(settings()) as at:
            page = await at.page()
            await page.until("game")
            for accepts in (False, True):
                await page.send(type="draw", accepts=accepts)
                assert "engine" in (await page.until("refused", of="draw"))["why"]
        async with served(settings(HUMAN, HUMAN)) as at:
            page = await at.page()
            await page.send(type="draw", accepts=False)  # before the game
            for nonsense in ({}, {"accepts": 1}, {"accepts": None}):
                await page.send(type="draw", **nonsense)
                assert "draw message" in (await page.until("error"))["why"]

    run(work())


async def agreed(kind: BoardGame, *moves: str) -> tuple[str, dict[str, Any]]:
    """The file of a game that was drawn after these answers, and its review."""
    async with served(settings(HUMAN, HUMAN), kind) as at:
        white, black = await seated(at)
        game: dict[str, Any] = {"ply": 0, "step": 0}
        for move in moves:
            if isinstance(kind, RbcBoard):
                game = await white.until("game", question="sense" if move in ("e5", "") else "move")
            await white.send(type="move", move=move, ply=game.get("step", 0))
        await white.until("game", turn="black")
        await black.send(type="draw", accepts=False)
        await white.until("game", offer="black")
        await white.send(type="draw", accepts=True)
        await white.until("table", playing=False)
        await white.send(type="review", game=1)
        return at.kept[0], await white.until("review")


def test_the_kept_game_says_how_it_ended_and_is_read_again(tmp_path: Path) -> None:
    text, review = run(agreed(FogBoard(), "e4"))
    assert '[Termination "agreement"]' in text and '[Result "1/2-1/2"]' in text
    record = read_pgn(text)[0]
    assert record.outcome == Outcome(None, "agreement") and len(record.moves) == 1
    assert review["over"] == AGREED and FogBoard().review(FogBoard().opened(text, settings()))["over"] == AGREED
    assert ended_text(record.outcome, "1 ply") == "Draw: both players agreed. 1/2-1/2 after 1 ply."
    (tmp_path / "game.pgn").write_text(text)
    assert [game.record().outcome for game in games_of(tmp_path / "game.pgn")] == [record.outcome]


def test_the_kept_history_of_reconnaissance_says_it_too_and_reconchess_reads_it(tmp_path: Path) -> None:
    text, review = run(agreed(RbcBoard(), "e5", "e2e4"))
    assert json.loads(text)["reason"] == "agreement" and json.loads(text)["win_reason"] is None
    assert review["over"] == AGREED and RbcBoard().review(opened_history(text))["over"] == AGREED
    reconchess = pytest.importorskip("reconchess")
    (tmp_path / "game.json").write_text(text)
    theirs = reconchess.GameHistory.from_file(str(tmp_path / "game.json"))
    assert (theirs.get_winner_color(), theirs.get_win_reason()) == (None, None)


@pytest.mark.browser
@pytest.mark.parametrize("kind", [FogBoard(), RbcBoard()], ids=["fog", "rbc"])
def test_the_button_offers_and_accepts_a_draw(chromium: Browser, boards: Callable[..., Board], kind: BoardGame) -> None:
    board = boards(kind, black=HUMAN)
    with opened(chromium, board.link(0), board.link(1)) as (white, black):
        for page in (white, black):
            expect(page.locator("#draw")).to_have_text("Offer a draw")
        white.click("#draw")
        expect(white.locator("#draw")).to_be_disabled()
        expect(white.locator("#status")).to_contain_text("You offered a draw")
        expect(black.locator("#draw")).to_have_text("Accept the draw")
        expect(black.locator("#status")).to_contain_text("Your opponent offers a draw")
        assert serious(black) == []
        black.click("#draw")
        for page in (white, black):
            expect(page.locator("#status")).to_contain_text("Draw: both players agreed.")
            expect(page.locator("#draw")).not_to_be_visible()
        white.click("#review-game")
        expect(white.locator("#review")).to_contain_text("Draw: both players agreed.")


@pytest.mark.browser
def test_an_offer_is_gone_after_the_others_move_and_disturbs_nobody_who_looks_back(
    chromium: Browser, boards: Callable[..., Board]
) -> None:
    board = boards(black=HUMAN)
    with opened(chromium, board.link(0), board.link(1)) as (white, black):
        turn(white)
        typed(white, "e4")
        turn(black)
        black.locator("#moves").focus()
        black.keyboard.press("ArrowLeft")
        white.click("#draw")
        expect(black.locator("#draw")).to_have_text("Accept the draw")
        expect(black.locator("#status")).to_contain_text("Ply 0 of 1")
        typed(black, "e5")
        turn(white, 2)
        for page in (white, black):
            expect(page.locator("#draw")).to_have_text("Offer a draw")
            expect(page.locator("#draw")).to_be_enabled()


@pytest.mark.browser
def test_against_an_engine_there_is_no_button(chromium: Browser, boards: Callable[..., Board]) -> None:
    with opened(chromium, boards().link()) as (page,):
        turn(page)
        expect(page.locator("#resign")).to_be_visible()
        expect(page.locator("#draw")).not_to_be_visible()
