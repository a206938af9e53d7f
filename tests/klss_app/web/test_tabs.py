"""An open page finds its game again after a restart of the server: by a mark that is kept beside the game."""

from __future__ import annotations

import os
import re
import signal
import subprocess
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from klss_app.kept_games import keep_marks, kept_marks
from klss_app.web.guard import game_mark, new_token
from klss_app.web.table import Seat
from tests.klss_app.web.browsing import turn, typed
from tests.klss_app.web.pages import FOREIGN, run
from tests.klss_app.web.test_program import board, seated


def link(process: subprocess.Popen[str]) -> tuple[str, str]:
    """The server's address, and its seat's token."""
    assert process.stdout is not None
    url, _, token = process.stdout.readline().removeprefix("klss board: ").strip().partition("/#seat=")
    return url, token


def left(process: subprocess.Popen[str]) -> Path:
    """Ctrl-C; where the game is kept."""
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)
    kept = re.fullmatch(r"klss board: the game is kept in (\S+\.pgn)\n", err)
    assert kept, err
    return Path(kept[1])


@pytest.mark.slow
def test_a_page_of_an_earlier_run_is_let_in_to_the_game_that_it_shows_and_to_no_other(tmp_path: Path) -> None:
    tokens = []
    for ply in (0, 2, 4):  # left twice: the page of the first run, or that of the second, goes on
        arguments = ("--resume", "last") if ply else ("--nodes", "10", "--time", "1")
        with board(tmp_path, *arguments, "--black", FOREIGN) as process:
            url, token = link(process)
            tokens.append(token)

            async def play(url: str, ply: int) -> None:
                if ply:
                    for game in (2, 0, None, "1", True, [1], 10**30):
                        async with seated(url, tokens[0], game) as page:
                            assert (await page.next())["why"] == "no seat"
                    async with seated(url, new_token(), 1) as page:
                        assert (await page.next())["why"] == "no seat"
                async with seated(url, tokens[0], 1) as page:
                    await page.until("game", ply=ply)
                    await page.send(type="move", move=f"{'abc'[ply // 2]}3", ply=ply)
                    await page.until("game", ply=ply + 2)
                async with seated(url, tokens[0]) as page:  # a reload
                    await page.until("game", ply=ply + 2)

            run(play(url, ply))
            pgn = tmp_path / left(process)
        beside = pgn.with_name(f"{pgn.name}.seat")
        assert game_mark(tokens[0], 1) in kept_marks(pgn)
        assert beside.stat().st_mode & 0o777 == 0o600
        assert not any(token in text for token in tokens for text in (pgn.read_text(), beside.read_text()))
        assert not any(mark in pgn.read_text() for mark in kept_marks(pgn))

    with board(tmp_path, "--resume", "last", "--black", FOREIGN) as process:
        url, _ = link(process)

        async def end() -> None:
            async with seated(url, tokens[1], 1) as page:
                await page.until("game", ply=6)
                await page.send(type="resign")
                await page.until("table", playing=False)

        run(end())
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=30)
    assert not beside.exists()  # the game is over


def test_what_others_may_have_written_opens_no_seat(tmp_path: Path) -> None:
    pgn, mark = tmp_path / "g.pgn", game_mark("token", 1)
    assert kept_marks(pgn) == frozenset()
    keep_marks(pgn, [mark])
    beside = tmp_path / "g.pgn.seat"
    assert kept_marks(pgn) == {mark}
    os.chmod(beside, 0o620)
    assert kept_marks(pgn) == frozenset()
    os.chmod(beside, 0o600)
    beside.write_text(f"{mark}\nno mark\n{mark.upper()}\n{mark}0\n")
    assert kept_marks(pgn) == {mark}
    beside.write_bytes(b"\xff\xfe")
    assert kept_marks(pgn) == frozenset()
    keep_marks(pgn, [])
    assert not beside.exists()


def test_a_seat_is_opened_by_its_own_token_whatever_game_a_page_shows() -> None:
    seat = Seat(True)
    for game in (None, 1, "x"):
        assert seat.opened_by(seat.token, game) and not seat.opened_by(new_token(), game)
    assert seat.kept_marks(3) == {game_mark(seat.token, 3)} and seat.earlier == ()


@pytest.mark.browser
def test_an_open_tab_goes_on_by_itself_once_its_game_does(chromium: Browser, tmp_path: Path) -> None:
    page = chromium.new_page()
    with board(tmp_path, "--nodes", "10", "--black", FOREIGN) as process:
        url, token = link(process)
        page.goto(f"{url}/#seat={token}")
        turn(page)
        typed(page, "e4")
        turn(page, 2)
        left(process)
    expect(page.locator("#banner")).to_contain_text("The connection is lost")
    port = url.rpartition(":")[2]
    with board(tmp_path, "--resume", "last", "--black", FOREIGN, "--port", port):
        expect(page.locator("#banner")).to_be_hidden(timeout=30_000)
        typed(page, "d4")
        turn(page, 3)
        page.reload()
        turn(page, 3)
    page.close()
