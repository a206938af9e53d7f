"""How games of the bot end: every finished one is recorded with the server's result, and none blocks the next."""

from __future__ import annotations

import json
import re
from pathlib import Path

import chess
import pytest

from klss.play.outcome import Outcome
from tests.uci_bridge.bot_bench import PLENTY, play, play_games, recorded, under_way
from tests.uci_bridge.fake_server import FakeServer, Faults, Opponent

ONE = {**PLENTY, "concurrency": 1}


# What the server tells.


def test_a_record_has_the_clocks_the_time_control_the_engine_and_its_evaluator(tmp_path: Path) -> None:
    with FakeServer() as server:
        play_games(server, tmp_path, [Opponent(end="resign", end_ply=6)], engine={"evaluator": "builtin"})
        (theirs,) = server.games.values()
    (game,) = recorded(tmp_path).values()
    us = "White" if game.headers["White"] == "klssbot" else "Black"
    assert game.headers["TimeControl"] == "300+2"
    assert re.fullmatch(r"klss \S+ kluss", game.headers[f"{us}Engine"])
    assert game.headers[f"{us}Evaluator"] == "built-in evaluator"
    clocks = re.findall(r"\[%clk\s(\d+:\d\d:\d\d)\]", next(tmp_path.glob("games-*.pgn")).read_text())
    assert len(clocks) == len(game.moves) >= 6 and clocks[:2] == ["0:05:00", "0:05:00"]
    assert max(theirs.clocks[0][1:]) >= 300_000.0  # the increment is in them


@pytest.mark.parametrize("dialect", ["pychess", "lichess"])
def test_a_game_that_ended_while_the_bot_was_away_is_recorded(tmp_path: Path, dialect: str) -> None:
    with FakeServer(dialect=dialect) as server:
        server.holding.set()
        game_id = server.start(bot_white=True, moves=["e2e4", "e7e6", "d2d4"])
        (tmp_path / "under_way.json").write_text(json.dumps({game_id: {"since": 1, "opponent": "human"}}))
        server.call(server.games[game_id].end, Outcome(chess.WHITE, "resign"))
        play(server, tmp_path, lambda bot: bot.finished == 1)
    (game,) = recorded(tmp_path).values()
    told = dialect == "lichess"
    assert game.outcome == (Outcome(chess.WHITE, "resign") if told else None) and ("Ending" in game.headers) != told
    assert len(game.moves) == 3
    assert under_way(tmp_path) == {}


def test_a_game_that_the_server_has_put_away_meanwhile_takes_no_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("uci_bridge.bot.stream._GONE_S", 0.3)
    with FakeServer() as server:
        server.holding.set()
        game_id = server.start(bot_white=True, moves=["e2e4", "e7e6", "d2d4"])
        (tmp_path / "under_way.json").write_text(json.dumps({game_id: {"since": 1, "opponent": "human"}}))
        server.games[game_id].put_away = True  # its stream opens and breaks at once
        play(server, tmp_path, lambda bot: bot.finished == 1)
    assert under_way(tmp_path) == {}


# What is no more.


def test_a_game_that_the_server_does_not_know_takes_no_place_and_is_forgotten(tmp_path: Path) -> None:
    known = {"since": 1795289068, "opponent": "x"}
    (tmp_path / "under_way.json").write_text(json.dumps({"AbCd1234": known}))
    with FakeServer() as server:

        def ask() -> None:
            assert server.wait(lambda: under_way(tmp_path) == {})
            server.challenge("anna", script=Opponent(end="resign", end_ply=6))

        play(server, tmp_path, lambda bot: bot.finished == 2, during=ask, accept=ONE)
        assert not server.declined
    assert under_way(tmp_path) == {} and len(recorded(tmp_path)) == 1


def test_a_game_that_the_server_loses_in_the_middle_is_recorded_as_far_as_it_went(tmp_path: Path) -> None:
    with FakeServer() as server:
        game_id = server.start(bot_white=True, moves=["e2e4", "e7e6", "d2d4"])

        def lose() -> None:
            assert server.wait(lambda: server.games[game_id].referee.ply >= 8)
            server.forget(game_id)
            server.drop_streams()

        play(server, tmp_path, lambda bot: bot.finished == 1, during=lose)
    game = recorded(tmp_path)[game_id]
    assert len(game.moves) >= 8 and game.headers["Ending"] == "not told by the server"
    assert under_way(tmp_path) == {}


def test_refusals_that_pass_end_neither_the_bot_nor_its_game(tmp_path: Path) -> None:
    with FakeServer() as server:
        script = Opponent(end="resign", end_ply=12)
        game = server.games[server.start(bot_white=True, moves=["e2e4", "e7e6"], script=script)]

        def refuse() -> None:
            assert server.wait(lambda: game.referee.ply >= 4)
            server.refuse_all, game.fen = 403, "4k3/8/8/8/8/8/PPP5/4K3 w - - 0 1"  # and later another start position
            server.drop_streams()
            assert server.wait(lambda: server.done["event"] >= 7)
            server.refuse_all, server.faults = None, Faults()

        play(server, tmp_path, lambda bot: bot.finished == 1, during=refuse)
        assert game.outcome is not None and set(recorded(tmp_path)) == {game.id}


# Room for the next.


def test_a_challenge_that_comes_with_the_end_of_a_game_finds_room(tmp_path: Path) -> None:
    with FakeServer() as server:
        server.holding.set()
        first = server.start("anna", bot_white=True, moves=["e2e4", "e7e6", "d2d4"])

        def again() -> None:
            assert server.wait(lambda: bool(server.games[first].streaming))
            server.challenge("anna", color="white", script=Opponent(end="resign", end_ply=0))
            server.call(server.games[first].end, Outcome(chess.WHITE, "resign"))
            server.holding.clear()

        play(server, tmp_path, lambda bot: bot.finished == 2, during=again, accept=ONE)
        assert not server.declined
    assert len(recorded(tmp_path)) == 2
