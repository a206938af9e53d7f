"""Games that were left go on from the page: which are listed, what is shown of them, and that nobody plays on who has
seen the hidden moves."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import chess
import pytest
from playwright.sync_api import Browser, expect

from darkchess.rbc.game.referee import Referee
from klss_app.cli.board import _LeftGames
from klss_app.cli.games import FOG, game_named
from klss_app.kept_games import HUMAN, shown_name
from klss_app.web.board_game import BadGame
from klss_app.web.table import keep_in_folder
from tests.klss_app.web.browsing import DESKTOP, PHONE, Board, opened, serious, turn, typed
from tests.klss_app.web.pages import FOREIGN, Page, run, served, settings
from uci_bridge.kits.rbc import RBC

TAGS = '[Date "2026.11.22"]\n[UTCTime "07:27:41"]\n[White "human"]\n[Black "greedy"]\n[MoveNodes "3"]\n\n'


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where games are kept."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "klss-games").mkdir()
    return tmp_path / "klss-games"


async def rows(page: Page) -> list[dict[str, Any]]:
    """The games that a page is shown."""
    await page.send(type="left")
    games: list[dict[str, Any]] = (await page.until("left"))["games"]
    return games


def test_the_list_names_games_that_may_go_on_and_shows_no_move(folder: Path) -> None:
    (folder / "left.pgn").write_text(f"{TAGS}1. e4 e6 2. Nf3 *\n")
    (folder / "over.pgn").write_text(f"{TAGS}1. e4 d5 2. Bb5 dxe4 3. Bxe8 1-0\n")
    (folder / "two.pgn").write_text('[White "human"]\n[Black "human"]\n\n1. e4 e6 *\n')
    (folder / "none.pgn").write_text("no game")
    left = _LeftGames(FOG, settings())
    row = {"name": "left", "begun": 1795332461.0, "color": "white", "engine": "greedy", "plies": 3}
    assert left.rows(()) == [row] and left.rows({(folder / "left.pgn").resolve()}) == []
    chosen = left.settings("left")
    assert chosen.players == {chess.WHITE: HUMAN, chess.BLACK: "greedy"} and chosen.nodes == 3
    assert chosen.earlier is not None and len(chosen.earlier.moves) == 3
    assert chosen.earlier.path == Path("klss-games/left.pgn")


def test_kept_games_of_reconnaissance_are_listed_where_that_is_played(folder: Path) -> None:
    game = Referee()
    game.sense(chess.E5)
    game.move(chess.Move.from_uci("e2e4"))
    (folder / "left.json").write_text(RBC.record(game, {"White": "human", "Black": "rbc-random"}))
    (folder / "left.pgn").write_text(f"{TAGS}1. e4 e6 *\n")
    left = _LeftGames(game_named("rbc"), settings())
    row = {"name": "left", "begun": None, "color": "white", "engine": "rbc-random", "plies": 1}
    assert left.rows(()) == [row]
    chosen = left.settings("left").earlier
    assert chosen is not None and (chosen.plies, chosen.path) == (1, Path("klss-games/left.json"))


@pytest.mark.parametrize("name", ["", "over", "none", "klss-games/left", "../other", "other", "left.pgn", "/dev/zero"])
def test_a_name_is_that_of_a_kept_game_that_may_go_on_and_of_no_other_file(folder: Path, name: str) -> None:
    (folder / "left.pgn").write_text(f"{TAGS}1. e4 e6 *\n")
    (folder / "over.pgn").write_text(f"{TAGS}1. e4 d5 2. Bb5 dxe4 3. Bxe8 1-0\n")
    (folder.parent / "other.pgn").write_text(f"{TAGS}1. e4 e6 *\n")
    with pytest.raises(BadGame, match="expected"):
        _LeftGames(FOG, settings()).settings(name)


def test_a_file_starts_no_program_but_the_one_that_the_command_line_names(folder: Path) -> None:
    for engine in ("cmd:engine", shown_name(FOREIGN)):
        (folder / "left.pgn").write_text(f"{TAGS}1. e4 e6 *\n".replace("greedy", engine))
        with pytest.raises(BadGame, match=r"may not start|expected a known name"):
            _LeftGames(FOG, settings(black="greedy")).settings("left")
    assert _LeftGames(FOG, settings(black=FOREIGN)).settings("left").engine == FOREIGN


def test_a_game_that_is_left_on_the_page_goes_on_in_its_file(folder: Path) -> None:
    async def work() -> None:
        async with served(settings()) as at:
            at.table._keep = keep_in_folder
            at.table.left_games = _LeftGames(FOG, at.table.settings)
            wish = {"type": "new", "engine": at.table.described(at.table.seats[0])["engine"], "color": "white"}
            page = await at.page()
            await page.until("game", ply=0)
            assert await rows(page) == []
            await page.send(type="move", move="e4", ply=0)
            await page.until("game", ply=2)
            await page.send(**wish, time=1)
            await page.until("game", number=2, ply=0)
            (row,) = await rows(page)
            assert row["plies"] == 2
            await page.send(type="new", left=row["name"])
            game = await page.until("game", number=3)
            assert (game["ply"], game["history"][0], game["turn"]) == (2, "e4", "white")
            assert await rows(page) == []  # it goes on
            await page.send(type="new", left=row["name"])
            assert "goes on" in (await page.until("refused", of="new"))["why"]
            await page.send(type="move", move=game["moves"][0], ply=2)
            await page.until("game", ply=4)
            await page.send(**wish, time=1)
            await page.until("game", number=4, ply=0)
            assert [each["plies"] for each in await rows(page)] == [4]
            assert len(list(folder.glob("*.pgn"))) == 1

    run(work())


def test_who_has_seen_a_game_that_was_left_does_not_play_it_on(folder: Path) -> None:
    async def work() -> None:
        async with served(settings()) as at:
            at.table._keep = keep_in_folder
            at.table.left_games = _LeftGames(FOG, at.table.settings)
            page = await at.page()
            await page.until("game", ply=0)
            await page.send(type="move", move="e4", ply=0)
            await page.until("game", ply=2)
            engine = at.table.described(at.table.seats[0])["engine"]
            await page.send(type="new", engine=engine, color="white", time=1)
            await page.until("game", number=2, ply=0)
            (row,) = await rows(page)
            await page.send(type="review", game=1)
            assert "going on" in (await page.until("refused", of="review"))["why"]
            await page.send(type="resign")
            await page.until("table", playing=False)
            assert await rows(page) == [row]
            await page.send(type="review", game=1)
            await page.until("review")
            assert await rows(page) == []
            await page.send(type="new", left=row["name"])
            assert "were shown" in (await page.until("refused", of="new"))["why"]

    run(work())


def test_two_people_are_shown_no_kept_games_and_nonsense_is_refused(folder: Path) -> None:
    (folder / "left.pgn").write_text(f"{TAGS}1. e4 e6 *\n")

    async def work() -> None:
        async with served(settings(HUMAN, HUMAN)) as at:
            at.table.left_games = _LeftGames(FOG, at.table.settings)
            for seat in (0, 1):
                page = await at.page(seat)
                assert await rows(page) == []
                await page.send(type="new", left="left")
                assert "two humans" in (await page.until("refused", of="new"))["why"]
        async with served(settings()) as at:
            page = await at.page()
            assert await rows(page) == []
            for name in ("left", 1, ["left"], {}):
                await page.send(type="new", left=name)
                assert "no kept games" in (await page.until("refused", of="new"))["why"]

    run(work())


@pytest.mark.browser
@pytest.mark.parametrize(("scheme", "size"), [("light", DESKTOP), ("dark", PHONE)], ids=["desktop", "phone"])
def test_one_of_the_games_that_were_left_is_chosen_in_new_game(
    chromium: Browser, boards: Callable[..., Board], folder: Path, scheme: str, size: dict[str, int]
) -> None:
    for number in range(1, 13):
        text = f"{TAGS}1. e4 e6 2. Nf3 Nf6 *\n".replace("greedy", shown_name(FOREIGN) if number == 1 else "<i>x</i>")
        (folder / f"left{number}.pgn").write_text(text)
    board = boards()
    board.table.left_games = _LeftGames(FOG, board.table.settings)
    with opened(chromium, board.link(), color_scheme=scheme, viewport=size) as (page,):
        turn(page)
        page.click("#new-game")
        expect(page.locator("#left-games li")).to_have_count(12)
        assert serious(page) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]
        page.click("#left-games button[value=left2]")
        expect(page.locator("#banner")).to_contain_text("<i>x</i>")
        expect(page.locator("#board-frame")).to_have_attribute("aria-busy", "false")
        page.click("#new-game")
        page.click("#left-games button[value=left1]")
        turn(page, 3)
        expect(page.locator("#moves li")).to_have_text(["1.e4?", "2.Nf3?"])
        typed(page, "d4")
        turn(page, 4)
