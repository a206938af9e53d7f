"""Scripted lines against a player of Reconnaissance Blind Chess: how they are played, searched, chosen and held."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import chess
import pytest

from darkchess.evaluation.evaluator import BuiltinEvaluator
from experiments.rbc_lines import DECISIVE, Duel, Setting, chosen, find, hold, main

RANDOM = Setting(player="rbc-random", nodes=1, seed=3, games=2)


def duel(color: chess.Color, *line: str, player: str = "rbc-random", game: int = 0) -> Duel:
    found = Duel(Setting(player=player, nodes=100), color, game, BuiltinEvaluator(threads=1))
    for text in line:
        found.ask(chess.Move.from_uci(text))
    return found


def row(line: str, *values: float, over: bool = False) -> dict[str, Any]:
    return {"line": line, "values": list(values), "taken": [0] * len(values), "promise": 0.0, "over": over}


def test_a_request_that_can_t_be_made_is_a_pass() -> None:
    found = duel(chess.WHITE, "e2e4", "e2e4")
    assert [turn.moved.taken for turn in found.referee.turns if turn.color] == [chess.Move.from_uci("e2e4"), None]
    assert found.referee.turn == chess.WHITE, "the player has answered"


def test_as_black_the_player_begins() -> None:
    found = duel(chess.BLACK)
    assert [turn.color for turn in found.referee.turns] == [chess.WHITE] and found.referee.turn == chess.BLACK


def test_a_king_that_is_taken_ends_a_line_as_a_win() -> None:
    # Whoever moves at random leaves the king where it stands, in one of these games at least.
    games = [duel(chess.WHITE, "b1c3", "c3b5", "b5c7", "c7e8", game=game) for game in range(12)]
    taken = [game for game in games if game.taken]
    assert taken and all(game.value == game.promise == 1.0 and game.threats == 0 for game in taken)
    turns = len(taken[0].referee.turns)
    taken[0].ask(chess.Move.from_uci("e2e4"))
    assert len(taken[0].referee.turns) == turns, "a game that is over stays as it is"


def test_a_threat_is_a_move_after_which_the_king_could_be_taken() -> None:
    found = duel(chess.WHITE, "b1c3", "c3b5", game=1)
    board = chess.Board(found.referee.position.fen())
    expected = 0
    for move in found.referee.position.legal_moves():
        after = board.copy()
        after.push(move)
        expected += after.is_attacked_by(chess.WHITE, found.referee.position.king(chess.BLACK) or 0)
    assert found.threats == expected > 0


def test_a_branch_leaves_the_game_as_it_was_and_goes_on_as_it_would() -> None:
    first = duel(chess.WHITE, "e2e4", player="rbc-expect,strangers=0")
    for request in ("d2d4", "g1f3"):
        first.branch().ask(chess.Move.from_uci(request))
    first.ask(chess.Move.from_uci("d2d4"))
    afresh = duel(chess.WHITE, "e2e4", "d2d4", player="rbc-expect,strangers=0")
    assert first.referee.position == afresh.referee.position
    assert len(first.referee.turns) == 4


def test_a_search_that_was_stopped_comes_to_the_same(tmp_path: Path) -> None:
    path = tmp_path / "lines.jsonl"
    whole = find(RANDOM, chess.WHITE, 2, 2, path)
    kept = path.read_text()
    assert len(kept.splitlines()) == len(whole) > 40
    path.write_text("".join(kept.splitlines(keepends=True)[:25]))
    assert find(RANDOM, chess.WHITE, 2, 2, path) == whole and path.read_text() == kept


def test_lines_are_chosen_by_what_they_win_and_each_once() -> None:
    rows = [
        row("a b c d", 0.7, 0.9), row("a b c", 0.9, 0.9), row("a b c e", 1.0, 0.2), row("a b d e", 1.0, 1.0),
        row("x y z", 0.0, DECISIVE), row("x y", 0.5, 0.5), row("v w", -1.0, -1.0),
    ]  # fmt: skip
    # What goes on from a better line, or begins one, is left out; and what wins nothing is.
    assert chosen(rows, 9, alike=3) == [("a", "b", "d", "e"), ("a", "b", "c"), ("x", "y", "z")]
    assert chosen(rows, 1, alike=3) == [("a", "b", "d", "e")]
    again = [row("a b c d", 1.0), row("a b c e", 0.9), row("a b c f", 0.8)]
    assert len(chosen(again, 9, alike=2)) == 2


def test_lines_held_against_a_player_say_what_they_win() -> None:
    line = ("b1c3", "c3b5", "b5c7", "c7e8")
    found = hold(Setting(player="rbc-random", nodes=1, seed=5, games=12), [(chess.WHITE, line)])
    (only,) = found["lines"]
    won, games, low, middle, high = found["won"]
    assert games == 12 and won == sum(value >= DECISIVE for value in only["values"])
    assert found["kings"][0] == sum(only["taken"]) > 0 and low < middle < high
    assert found["winning_lines"] == (won > 6) and found["top"] == pytest.approx(won / 12, abs=1e-4)


@pytest.mark.slow
def test_the_commands_keep_lines_and_what_players_lose_to_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    player = ["--player", "rbc-random", "--nodes", "1", "--results", str(tmp_path)]
    assert main(["hold", *player]) == 1
    assert "rbc_lines.json: got no lines" in capsys.readouterr().err
    searched = ["--games", "3", "--plies", "3", "--beam", "3", "--most", "2", "--runs", str(tmp_path / "runs")]
    assert main(["find", *player, *searched]) == 0
    for seed in ("7", "8", "8"):
        assert main(["hold", *player, "--games", "2", "--seed", seed]) == 0
    document = json.loads((tmp_path / "rbc_lines.json").read_text())
    assert {"commit", "versions", "created"} < document.keys()
    (search,) = document["searches"]
    assert search["player"] == "rbc-random" and search["lines"]
    names = [held["name"] for held in search["held"]]
    assert names == ["rbc-random-1nodes-seed7", "rbc-random-1nodes-seed8"], "the same again replaces"
    assert "top ten" in capsys.readouterr().out
    assert main(["hold", *player, "--lines", "others"]) == 1
    assert "got no lines" in capsys.readouterr().err
    assert main(["find", *player, *searched, "--name", "others"]) == 0
    assert main(["hold", *player, "--games", "1", "--lines", "lines", "--seed", "9"]) == 0
    searches = json.loads((tmp_path / "rbc_lines.json").read_text())["searches"]
    assert [(each["name"], len(each["held"])) for each in searches] == [("lines", 3), ("others", 0)]
    assert main(["hold", *player, "--player", "nobody"]) == 1
    assert "nobody" in capsys.readouterr().err
