"""`klss bot` as a process: killed, stopped, checked, and what others can see of it."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest

from klss_app.cli.main import main
from tests.uci_bridge.bot_bench import GOOD, klss_bot, recorded, said, under_way, write_config
from tests.uci_bridge.fake_server import TOKEN, FakeServer, Opponent
from uci_bridge.child_processes import PASSED_ON, PREFIXES_PASSED_ON


@pytest.mark.slow
def test_killed_in_the_middle_of_four_games_and_started_again_it_ends_all_four(tmp_path: Path) -> None:
    with FakeServer() as server:
        config = write_config(tmp_path, server.url, greeting="hello")
        first = klss_bot(config, "--log", "debug")
        for number in range(4):
            script = Opponent(delay_s=0.03, end="resign", end_ply=40)
            server.challenge(f"human{number}", color=("white", "black")[number % 2], script=script)
        games = server.games
        assert server.wait(lambda: len(games) == 4 and all(game.referee.ply >= 6 for game in games.values()))
        first.kill()
        first.wait()
        plies = {game_id: game.referee.ply for game_id, game in games.items()}
        second = klss_bot(config, "--log", "debug")
        assert server.wait(lambda: all(game.outcome for game in games.values()))
        assert all(game.referee.ply > plies[game_id] for game_id, game in games.items())
        assert server.wait(lambda: not under_way(tmp_path / "records"))
        second.send_signal(signal.SIGTERM)
        assert second.wait(20) == 0
        assert not any(game.lost_by_illegal_move for game in games.values())
    assert set(recorded(tmp_path / "records")) == set(games)
    assert all(game.chat == [("player", "hello")] for game in games.values())
    everything = said(tmp_path) + "".join(path.read_text() for path in (tmp_path / "records").iterdir())
    assert TOKEN not in everything
    assert all(json.loads(line)["event"] for line in said(tmp_path).splitlines())


@pytest.mark.slow
def test_sigterm_takes_no_new_game_finishes_those_under_way_and_exits_0(tmp_path: Path) -> None:
    with FakeServer() as server:
        seen = tmp_path / "seen"
        engine = json.dumps({"command": [*GOOD, "--environment", str(seen)], "nodes": 5})
        config = write_config(tmp_path, server.url, engine=engine, token="{env: THE_TOKEN}")
        bot = klss_bot(config, THE_TOKEN=TOKEN, ANOTHER_SECRET="lip_Another")
        server.holding.set()
        first = server.challenge("anna", color="black", script=Opponent(end="resign", end_ply=6))
        assert server.wait(lambda: first in server.games and server.games[first].referee.ply == 1)
        bot.send_signal(signal.SIGTERM)
        assert server.wait(lambda: "no new games" in said(tmp_path))
        second = server.challenge("bob")
        assert server.wait(lambda: second in server.declined) and server.declined[second] == "later"
        assert bot.poll() is None
        server.holding.clear()
        assert bot.wait(20) == 0
        assert server.games[first].referee.ply >= 6
    environment = json.loads(seen.read_text())
    assert environment.keys() >= {"PATH", "PYTHONPATH"}
    assert all(name in PASSED_ON or name.startswith(PREFIXES_PASSED_ON) for name in environment)
    assert "THE_TOKEN" not in environment and "ANOTHER_SECRET" not in environment


def test_the_second_signal_leaves_at_once_and_the_first_says_so(tmp_path: Path) -> None:
    with FakeServer() as server:
        server.holding.set()
        bot = klss_bot(write_config(tmp_path, server.url))
        game_id = server.challenge("anna", color="black")
        assert server.wait(lambda: game_id in under_way(tmp_path / "records"))
        bot.send_signal(signal.SIGINT)
        assert server.wait(lambda: "another signal leaves them at once" in said(tmp_path))
        assert bot.poll() is None
        bot.send_signal(signal.SIGINT)
        assert bot.wait(20) == 0
    assert "left at once" in said(tmp_path) and "Traceback" not in said(tmp_path)
    assert set(under_way(tmp_path / "records")) == {game_id}


CHECKS = {  # what is changed in a bot.yml that is right, the exit code, and what the one line must hold
    "nothing": ({}, 0, "klssbot plays on"),
    "token": ({"token": "{file: other}"}, 2, "token: /api/account: the server answers 403"),
    "no token": ({"token": "{env: NO_SUCH_VARIABLE}"}, 2, "token.env: "),
    "server": ({"url": "http://127.0.0.1:9"}, 2, "no connection to http://127.0.0.1:9"),
    "engine": ({"engine": '{command: ["/nonexistent/engine"]}'}, 2, "engine: "),
    "configuration": ({"engine": "{configuration: klss2012}"}, 2, "did you mean klss2021?"),
    "home": ({"engine": "{configuration: ~nosuchuser/x.toml}"}, 2, "configuration: got a path"),
    "ponder": ({"engine": "{configuration: klss2021, ponder: true}"}, 2, "ponder: got true"),
    "variant": ({}, 2, "'fogofwar'"),
    "account": ({}, 2, "no bot account"),
}


@pytest.mark.parametrize("wrong", CHECKS)
def test_a_check_says_in_one_line_what_is_wrong(tmp_path: Path, capsys: pytest.CaptureFixture[str], wrong: str) -> None:
    changes, code, word = CHECKS[wrong]
    variants = ("chess",) if wrong == "variant" else ("fogofwar",)
    with FakeServer(variants=variants, title="" if wrong == "account" else "BOT") as server:
        config = write_config(tmp_path, **{"url": server.url, **changes})
        (tmp_path / "other").write_text("lip_wrong")
        (tmp_path / "other").chmod(0o600)
        assert main(["bot", "--config", str(config), "--check"]) == code
    out, err = capsys.readouterr()
    lines = [line for line in (out + err).splitlines() if not line.startswith(("{", "engine: "))]
    assert len(lines) == 1 and word in lines[0]
