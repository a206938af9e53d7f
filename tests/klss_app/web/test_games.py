"""Games over the websocket: what a page is given, what it may ask, what is kept."""

from __future__ import annotations

import asyncio
from typing import Any

import chess
import psutil
import pytest

from darkchess.fog.game.record import read_pgn
from klss_app.kept_games import HUMAN
from klss_app.web.board_game import BoardGame
from klss_app.web.fog_board import FogBoard
from klss_app.web.rbc_board import RbcBoard
from tests.klss_app.web.pages import FOREIGN, Page, run, served, settings
from uci_bridge.child_processes import guard


async def moved(page: Page, *moves: str) -> dict[str, Any]:
    """Play these at its turns; what it observes after the enemy's answer to the last."""
    game: dict[str, Any] = {}
    for move in moves:
        game = game if game.get("turn") == game.get("color", "?") else await page.until("game", turn="white")
        await page.send(type="move", move=move, ply=game["ply"])
        game = await page.until("game", turn="white")
    return game


def test_a_game_begins_with_the_first_page_and_goes_on_move_by_move() -> None:
    async def work() -> None:
        async with served(settings()) as at:
            page = await at.page()
            game = await page.until("game")
            assert (game["color"], game["ply"], game["turn"], game["clock"]) == ("white", 0, "white", None)
            assert game["board"] == "????????/????????/????????/????????/8/8/PPPPPPPP/RNBQKBNR"
            assert len(game["moves"]) == 20
            await page.send(type="move", move="Nf3", ply=0)
            mine = await page.until("game")
            assert (mine["history"], mine["last"], mine["moves"]) == (["Nf3"], ["g1", "f3"], [])
            answered = await page.until("game")
            assert answered["ply"] == 2 and answered["history"] == ["Nf3", "?"]
            assert {"kind": "moved", "square": None, "man": None, "enPassant": False} in answered["happened"]

    run(work())


def test_what_is_no_move_is_refused_in_words_and_an_old_one_does_not_count() -> None:
    async def work() -> None:
        async with served(settings()) as at:
            page = await at.page()
            await page.until("game")
            for text, why in (("Nxx", "misspelt move"), ("e2e5", "illegal move"), ("", "misspelt")):
                await page.send(type="move", move=text, ply=0)
                refused = await page.until("refused")
                assert why in refused["why"] and refused["of"] == "move"
            await page.send(type="move", move="e4", ply=7)
            assert "changed" in (await page.until("refused"))["why"]

    run(work())


def test_a_reload_and_a_second_tab_are_where_the_game_is() -> None:
    async def work() -> None:
        async with served(settings()) as at:
            page = await at.page()
            shown = await moved(page, "e4", "Nf3")
            await page.socket.close()
            again, second = await at.page(), await at.page()
            assert await again.until("game") == await second.until("game") == shown
            await second.send(type="move", move="d4", ply=4)
            assert (await again.until("game", ply=5))["last"] == ["d2", "d4"]

    run(work())


@pytest.mark.parametrize("kind", [FogBoard(), RbcBoard()], ids=["fog", "rbc"])
def test_the_clock_of_a_human_who_begins_stands_still_until_the_turn_is_over(kind: BoardGame) -> None:
    async def work() -> None:
        async with served(settings(HUMAN, HUMAN, clock=(0.5, 0.0)), kind) as at:
            white, black = await at.page(0), await at.page(1)
            game = await white.until("game")
            for shown in (game, await black.until("game")):
                assert shown["clock"] == {"white": 500, "black": 500, "running": None}
            await asyncio.sleep(0.7)
            if "question" in game:
                game = await white.until("game", question="sense")
                await white.send(type="move", move="e5", ply=game["step"])
                game = await white.until("game", question="move")
            await white.send(type="move", move="e4", ply=game.get("step", 0))
            game = await white.until("game", turn="black")
            assert game["clock"]["white"] == 500 and 300 < game["clock"]["black"] <= 500
            over = await white.until("game", turn="black", over={"winner": "white", "reason": "flag", "result": "1-0"})
            assert over["clock"]["running"] is None

    run(work())


def test_pages_are_told_that_something_is_loading_and_when_it_is_there() -> None:
    async def work() -> None:
        async with served(settings(HUMAN, FOREIGN.replace(" good", " 'slow start'"))) as at:
            page = await at.page()
            assert (await page.until("game"))["turn"] == "white", "the human may move meanwhile"
            assert (await (await at.page()).next())["loading"]
            await page.until("table", loading=False)
            assert not (await (await at.page()).next())["loading"]

    run(work())


@pytest.mark.parametrize("kind", [FogBoard(), RbcBoard()], ids=["fog", "rbc"])
def test_compiled_code_is_loaded_by_a_turn_of_each_side(kind: BoardGame) -> None:
    async def work() -> None:
        async with served(settings(HUMAN, HUMAN), kind) as at:
            await asyncio.to_thread(at.table.warm_up)
            white = await at.page(0)
            assert not (await white.next())["loading"]
            await at.page(1)
            assert (await white.until("game"))["ply"] == 0

    run(work())


def test_the_clocks_go_on_between_messages_and_a_flag_loses() -> None:
    async def work() -> None:
        async with served(settings(clock=(0.7, 0.0))) as at:
            page = await at.page()
            game = await moved(page, "e4")
            assert 400 < game["clock"]["white"] <= 700 and game["clock"]["running"] == "white"
            over = await page.until("game")
            assert over["over"] == {"winner": "black", "reason": "flag", "result": "0-1"}
            assert over["clock"]["white"] == 0 and over["clock"]["running"] is None

    run(work())


def test_resigning_ends_a_game_also_while_the_engine_thinks_and_everything_is_shown_then() -> None:
    async def work() -> None:
        async with served(settings(black="klss2021", time_s=30.0, nodes=None)) as at:
            page = await at.page()
            await page.until("game")
            await page.send(type="move", move="e4", ply=0)
            await page.until("game", ply=1)
            await page.send(type="review", game=1)
            assert "going on" in (await page.until("refused"))["why"]
            await page.send(type="resign")
            over = await page.until("game")
            assert over["over"] == {"winner": "black", "reason": "resign", "result": "0-1"}
            table = await page.until("table")
            assert table["last"] == 1 and not table["playing"]
            await page.send(type="review", game=1)
            review = await page.until("review")
            assert [ply["san"] for ply in review["plies"]] == [None, "e4"]
            assert review["plies"][1]["truth"] == "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR"
            await page.send(type="pgn", game=1)
            pgn = (await page.until("pgn"))["pgn"]
            assert at.kept == [pgn] and read_pgn(pgn)[0].moves == (chess.Move.from_uci("e2e4"),)

    run(work())


def test_a_table_that_is_closed_while_the_engine_thinks_about_a_game_that_is_over_leaves_no_process() -> None:
    async def work() -> None:
        async with served(settings(black="klss2021", time_s=600.0, nodes=None)) as at:
            page = await at.page()
            await page.until("game")
            await page.send(type="move", move="e4", ply=0)
            await page.until("game", ply=1)
            await page.send(type="resign")
            await page.until("table", playing=False)
        while set(psutil.Process().children()) - others:
            await asyncio.sleep(0.02)

    guard.tell("-", 0)  # it runs from now on
    others = set(psutil.Process().children())
    run(asyncio.wait_for(work(), 60))


def test_a_rematch_swaps_the_colours_and_a_new_game_is_as_wished() -> None:
    async def work() -> None:
        async with served(settings()) as at:
            page = await at.page()
            await page.until("game")
            await page.send(type="resign")
            await page.until("table", playing=False)
            await page.send(type="rematch")
            game = await page.until("game", over=None)
            assert (game["number"], game["color"]) == (2, "black")
            wish = {"engine": at.table.described(at.table.seats[0])["engine"], "color": "white", "clock": [60, 1]}
            await page.send(type="new", **wish, fen="4k3/P7/8/8/8/8/8/4K3 w - - 0 1")
            game = await page.until("game", number=3)
            assert game["clock"]["black"] == 60000 and "a7a8n" in game["moves"]
            for bad in ({"clock": [0, 1]}, {"engine": "cmd:sh"}, {"color": 3}, {"fen": "8/8"}, {"clock": "x"}):
                await page.send(type="new", **{**wish, **bad})
                assert (await page.until("refused"))["of"] == "new"

    run(work())


def test_a_game_that_is_left_is_kept() -> None:
    async def work() -> list[str]:
        async with served(settings()) as at:
            page = await at.page()
            await moved(page, "e4", "Nf3")
            kept = at.kept
        return kept

    (pgn,) = run(work())
    record = read_pgn(pgn)[0]
    assert len(record.moves) == 4 and record.outcome is None


def test_two_humans_get_a_seat_each_and_the_game_waits_for_both() -> None:
    async def work() -> None:
        async with served(settings(black="human")) as at:
            white = await at.page(0)
            assert (await white.until("table"))["waiting"]
            black = await at.page(1)
            await white.until("game")
            assert not (await black.until("game"))["moves"]
            await white.send(type="move", move="e4", ply=0)
            assert (await black.until("game", ply=1))["history"] == ["?"]
            await black.send(type="move", move="d7d5", ply=1)
            assert (await white.until("game", ply=2))["board"].split("/")[3] == "?1?p1??1"
            await black.send(type="new", engine="klss2021", color="white")
            assert (await black.until("refused"))["of"] == "new"
            await white.send(type="resign")
            assert (await black.until("game"))["over"]["winner"] == "black"
            for page in (white, black):
                await page.until("table", playing=False)
                await page.send(type="rematch")
            assert (await white.until("game", number=2))["color"] == "black"

    run(work())


def test_two_tabs_that_ask_at_once_begin_one_game_and_one_that_is_left_is_kept_first() -> None:
    async def work() -> list[str]:
        async with served(settings()) as at:
            page, second = await at.page(), await at.page()
            await moved(page, "e4")
            wish = {"engine": at.table.described(at.table.seats[0])["engine"], "color": "white", "time": 1}
            await page.send(type="new", **wish)
            await second.send(type="new", **wish)
            await page.until("game", number=3)
            assert at.table.playing
            await page.send(type="resign")
            await page.until("table", playing=False, last=3)
            await page.send(type="rematch")
            await second.send(type="rematch")
            assert (await page.until("game", number=4))["color"] == "black"
            await page.send(type="resign")
            assert (await page.until("table", playing=False))["last"] == 4
            return at.kept

    kept = run(work())
    assert len(read_pgn(kept[0])[0].moves) > 0
    assert len(kept) == 3  # the second was left before its first move


def test_of_many_new_games_asked_for_at_once_few_are_begun() -> None:
    async def work() -> None:
        async with served(settings()) as at:
            pages = [await at.page() for _ in range(20)]
            engine = at.table.described(at.table.seats[0])["engine"]
            for page in pages:
                await page.until("game")
            for page in pages:
                await page.send(type="new", engine=engine, color="white", time=1)
                await page.send(type="what was asked for is done")
            for page in pages:
                await page.until("error")
            assert 1 < (await (await at.page()).until("game"))["number"] < 8

    run(work())
