"""``klss board`` as a program: its first line, its seat, Ctrl-C, its refusals."""

from __future__ import annotations

import asyncio
import datetime
import io
import re
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import aiohttp
import chess
import pytest

from darkchess.fog.game.record import read_pgn
from darkchess.rbc.game.history import history_text
from darkchess.rbc.game.referee import Referee
from klss.play.outcome import Outcome
from klss_app.cli.board import _links, addresses
from klss_app.cli.main import main
from klss_app.web.rbc_board import RbcBoard
from klss_app.web.room import keep_in_folder
from tests.klss_app.web.pages import FOREIGN, Page
from uci_bridge.child_processes import own_program

ROOT = Path(__file__).resolve().parents[3]


@contextmanager
def board(folder: Path, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """The program, at any free port."""
    command = [sys.executable, "-m", "klss", "board", "--no-open", "--port", "0", *arguments]
    with subprocess.Popen(
        command, cwd=folder, env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"}, text=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as process:  # fmt: skip
        try:
            yield process
        finally:
            process.kill()


@pytest.mark.parametrize(("host", "lines"), [("127.0.0.1", 0), ("0.0.0.0", 3), ("::", 5)])
def test_who_listens_to_everyone_is_given_links_for_other_devices_and_a_warning(
    host: str, lines: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = ["192.168.1.7"] if host == "0.0.0.0" else ["192.168.1.7", "2001:db8::7"]
    monkeypatch.setattr("klss_app.cli.board.addresses", lambda host: own)
    mine, theirs, *said = _links(host, 8765, [("white", "abc"), ("black", "def")])
    assert mine.endswith(":8765/#seat=abc") and theirs.startswith("black's seat, for the other player: http://")
    assert len(said) == lines
    if lines:
        assert said[0] == "white's seat, from another device: http://192.168.1.7:8765/#seat=abc"
        assert said[-2].endswith("/#seat=def") and "nothing is encrypted" in said[-1]
        assert ("http://[2001:db8::7]:8765/" in said[1]) == (host == "::")


def test_the_addresses_for_other_devices_are_none_of_this_machine_alone() -> None:
    assert addresses("127.0.0.1") == []
    assert not any(each.startswith(("127.", "0.")) for each in addresses("0.0.0.0"))


def test_a_game_is_kept_although_nobody_reads_where(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Gone(io.StringIO):
        def write(self, text: str) -> int:
            raise BrokenPipeError

    monkeypatch.setattr(sys, "stderr", Gone())
    begun = datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)
    for path in (tmp_path / "g.pgn", tmp_path / "no folder" / "g.pgn"):
        keep_in_folder("1. e4 *\n", begun, path, ".pgn")
    assert (tmp_path / "g.pgn").read_text() == "1. e4 *\n"


async def pester(port: int) -> None:
    """Requests that are none, a handshake that is none, and a socket that is pinged, never read, and reset."""
    handshake = (
        f"GET /ws HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nOrigin: http://127.0.0.1:{port}\r\nConnection: Upgrade\r\n"
        "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
    ).encode()
    no_zip = b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Encoding: gzip\r\nContent-Length: 99\r\n\r\nzzzzzzzzzzzzzz"
    ping = b"\x89\xe4\0\0\0\0" + 100 * b"x"
    for said in (
        b"GET / HTTP/1.1\r\nHost: a\x0bb\r\n\r\n",
        no_zip,
        handshake.replace(b"AA==", b"\xff\xff=="),
        handshake + 50_000 * ping,
    ):
        _, writer = await asyncio.open_connection("127.0.0.1", port, limit=1)
        writer.write(said)
        await asyncio.sleep(0.05)
        writer.transport.abort()


@asynccontextmanager
async def seated(url: str, token: str) -> AsyncIterator[Page]:
    """A page that has taken its seat."""
    async with aiohttp.ClientSession() as session, session.ws_connect(f"{url}/ws", headers={"Origin": url}) as socket:
        page = Page(socket)
        await page.send(type="sit", token=token)
        yield page


def test_the_first_line_is_the_seat_and_ctrl_c_keeps_the_game(tmp_path: Path) -> None:
    """On stderr stands where it is kept and nothing else, whatever others send to the port."""
    with board(tmp_path, "--black", FOREIGN, "--nodes", "10") as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        match = re.fullmatch(r"klss board: (http://127\.0\.0\.1:\d+)/#seat=([\w-]{22})\n", line)
        assert match, line
        url, token = match.groups()

        async def play() -> None:
            async with seated(url, token) as page:
                await page.until("game")
                await page.send(type="move", move="e4", ply=0)
                await pester(int(url.rpartition(":")[2]))
                await page.until("game", ply=2)

        asyncio.run(play())
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    assert (process.returncode, out) == (0, "")
    kept = re.fullmatch(r"klss board: the game is kept in (klss-games/\S+\.pgn)\n", err)
    assert kept, err
    record = read_pgn((tmp_path / kept[1]).read_text())[0]
    assert len(record.moves) == 2 and record.headers["Event"] == "klss board"


@pytest.mark.slow
def test_a_game_that_was_left_goes_on_in_its_file(tmp_path: Path) -> None:
    tags = '[White "human"]\n[Black "random"]\n[MoveNodes "3"]\n[TimeControl "600+3"]\n[WhiteClock "75.5"]\n'
    (tmp_path / "g.pgn").write_text(tags + "\n1. e4 e6 2. Nf3 d6 *\n")
    with board(tmp_path, "--resume", "g.pgn", "--black", FOREIGN) as process:
        assert process.stdout is not None
        url, _, token = process.stdout.readline().removeprefix("klss board: ").strip().partition("/#seat=")

        async def play() -> None:
            async with seated(url, token) as page:
                game = await page.until("game")
                assert (game["ply"], game["history"]) == (4, ["e4", "?", "Nf3", "?"])
                assert 60_000 < game["clock"]["white"] <= 75_500 and game["clock"]["black"] == 600_000
                await page.send(type="move", move="Ng1", ply=4)
                await page.until("game", ply=6)

        asyncio.run(play())
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    assert (process.returncode, out, err) == (0, "", "klss board: the game is kept in g.pgn\n")
    record = read_pgn((tmp_path / "g.pgn").read_text())[0]
    assert [move.uci() for move in record.moves[:5]] == ["e2e4", "e7e6", "g1f3", "d7d6", "f3g1"]
    assert not (tmp_path / "klss-games").exists()


@pytest.mark.parametrize("from_here", [False, True])
def test_what_lies_in_the_working_directory_is_run_only_if_this_program_is_from_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, from_here: bool
) -> None:
    (tmp_path / "mate.py").write_text("print('run')\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [str(tmp_path if from_here else ROOT), *sys.path])
    done = subprocess.run(own_program("mate"), capture_output=True, text=True)
    assert done.stdout == ("run\n" if from_here else ""), done.stderr


def test_the_command_opens_a_history_and_begins_a_blind_game(
    tmp_path: Path, opened_boards: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    game = Referee()
    for text in ("e2e4", "f7f6", "d1h5"):
        game.move(chess.Move.from_uci(text))
    game.end(Outcome(None, "aborted"))
    (tmp_path / "game.json").write_text(history_text(game, "a", "b"))
    monkeypatch.chdir(tmp_path)
    for arguments in (["board", "game.json", "--game", "rbc"], ["rbc", "board"]):
        assert main([*arguments, "--port", "0", "--no-open"]) == 0
    (kind, reviewed), (other, nothing) = opened_boards
    assert isinstance(kind, RbcBoard) and isinstance(other, RbcBoard) and nothing is None
    assert (reviewed.plies, kind.review(reviewed)["tags"]) == (3, {"White": "a", "Black": "b"})
