"""What other programs rely on, asked of an installed klss: `make newest` and `make oldest` run it in environments of
their own, with the newest and the oldest versions that pyproject.toml allows.

The commands run outside of the checkout, so that they are the installed ones; this process imports the checkout's
helpers only.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import chess
import pytest

from darkchess.fog.game.referee import Referee
from tests.uci_bridge.bot_bench import write_config
from tests.uci_bridge.fake_server import TOKEN, FakeServer, Opponent
from tests.uci_bridge.protocol_games import turn

pytestmark = pytest.mark.contracts

ROOT = Path(__file__).resolve().parents[2]
ENVIRONMENT = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}


def klss(folder: Path, *arguments: str, said: str = "") -> str:
    """What the command writes to stdout; it exits with 0."""
    done = subprocess.run(
        [sys.executable, "-m", "klss", *arguments], cwd=folder, env=ENVIRONMENT, input=said, capture_output=True,
        text=True, timeout=540,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def document(folder: Path, *arguments: str) -> Any:
    """The one JSON document on stdout."""
    text = klss(folder, *arguments, "--json")
    assert text.count("\n") == 1 and text.endswith("\n")
    return json.loads(text)


def test_the_commands_are_those_of_the_environment(tmp_path: Path) -> None:
    where = "import klss, sys; print(klss.__file__)"
    found = subprocess.check_output([sys.executable, "-c", where], cwd=tmp_path, env=ENVIRONMENT, text=True)
    assert Path(found).is_relative_to(sys.prefix)


def test_table_1_is_the_printed_one_in_all_ten_rows(tmp_path: Path) -> None:
    printed = json.loads((ROOT / "experiments" / "results" / "tables.json").read_text())["table_1"]
    rows = document(tmp_path, "tables", "1")
    assert [row["game"] for row in rows] == [row["game"] for row in printed]
    for row, expected in zip(rows, printed):
        assert (row["blueprint"], row["after"]) == pytest.approx((expected["blueprint"], expected["after"]), abs=1e-6)
        assert row["subgames"] == expected["subgames"]


def test_solve_prints_one_document(tmp_path: Path) -> None:
    found = document(tmp_path, "solve", "leduc_poker")
    # OpenSpiel's own tests have this value of Leduc poker.
    assert found["value"] == pytest.approx(-0.085606424, abs=1e-8)
    assert found["exploitability"] < 1e-9


def test_the_bench_prints_one_document(tmp_path: Path) -> None:
    found = document(tmp_path, "bench", "equilibrium", "--repetitions", "1")
    assert found["figures"]["cold_over_warm_resolve"]["median"] > 0.0
    assert {"highspy", "numba", "numpy", "scipy"} <= found["versions"].keys()


def test_a_match_is_played_to_its_end(tmp_path: Path) -> None:
    found = document(tmp_path, "match", "kluss", "klss2021", "--games", "2", "--nodes", "60", "--seed", "5")
    assert found["wins"] + found["draws"] + found["losses"] == found["games"] == 2


def test_the_engine_answers_with_a_legal_move_and_nothing_else(tmp_path: Path) -> None:
    game = Referee()
    answer = klss(tmp_path, "engine", "--configuration", "klss2021", said=json.dumps(turn(game, nodes=60)) + "\n")
    assert answer.count("\n") == 1
    move = json.loads(answer)["move"]
    assert chess.Move.from_uci(move["from"] + move["to"]) in game.legal_moves()


def test_a_bot_plays_a_game_on_the_loopback(tmp_path: Path) -> None:
    with FakeServer() as server:
        config = write_config(tmp_path, server.url, engine="{configuration: kluss, nodes: 60}")
        with (tmp_path / "bot.log").open("wb") as log:
            bot = subprocess.Popen(
                [sys.executable, "-m", "klss", "bot", "--config", str(config)], cwd=tmp_path, env=ENVIRONMENT,
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log,
            )  # fmt: skip
        try:
            game_id = server.challenge("anna", color="black", script=Opponent(end="resign", end_ply=4))
            assert server.wait(lambda: game_id in server.games and bool(server.games[game_id].outcome), 300.0)
            bot.send_signal(signal.SIGTERM)
            assert bot.wait(60) == 0
        finally:
            bot.kill()
            out, _ = bot.communicate()
        assert not server.games[game_id].lost_by_illegal_move
    assert out == b""
    log_text = (tmp_path / "bot.log").read_text()
    assert TOKEN not in log_text and all(json.loads(line)["event"] for line in log_text.splitlines())
