"""``klss match``: its JSON, its files, resuming."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

LINE = {"game", "pair", "white", "black", "result", "reason", "winner", "plies", "opening", "seed", "seconds"}
MATCH = ("match", "greedy", "random", "--nodes", "1", "--seed", "4")


def _lines(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "games.jsonl").read_text().splitlines()]


def _moves(folder: Path) -> list[dict[str, Any]]:
    """The lines of moves.jsonl, without times."""
    moves = [json.loads(line) for line in (folder / "moves.jsonl").read_text().splitlines()]
    return [{key: value for key, value in move.items() if key != "seconds_wall"} for move in moves]


def test_the_document_counts_what_the_lines_say(klss: Any, tmp_path: Path) -> None:
    ran = klss(*MATCH, "--games", "4", "--out", "m", "--json")
    document = json.loads(ran.out)
    lines = _lines(tmp_path / "m")
    assert set(document) == {
        "a", "b", "games", "score", "wins", "draws", "losses", "elo", "configurations", "seconds",
        "elo_method", "pairs", "sprt", "by_color", "statistics", "seed", "versions", "commit",
    }  # fmt: skip
    assert [set(line) for line in lines] == [LINE] * 4
    assert [line["white"] for line in lines] == ["greedy", "random", "greedy", "random"]
    assert [line["pair"] for line in lines] == [0, 0, 1, 1]
    assert document["games"] == document["wins"] + document["draws"] + document["losses"] == 4
    assert document["score"] == sum({"a": 1.0, None: 0.5, "b": 0.0}[line["winner"]] for line in lines)
    for line in lines:
        white_won = {"1-0": True, "0-1": False, "1/2-1/2": None}[line["result"]]
        assert line["winner"] == (None if white_won is None else "a" if white_won == (line["game"] % 2 == 0) else "b")
    assert sorted(path.name for path in (tmp_path / "m").glob("*.pgn")) == [f"game-0000{i}.pgn" for i in range(4)]


def test_a_match_is_resumed_where_it_was_left_and_gives_the_same_games(klss: Any, tmp_path: Path) -> None:
    klss(*MATCH, "--games", "4", "--out", "whole")
    klss(*MATCH, "--games", "2", "--out", "parts")
    with open(tmp_path / "parts" / "games.jsonl", "a") as file:
        file.write('{"game": 2, "pair"')  # its writer died here
    ran = klss(*MATCH, "--games", "4", "--out", "parts", "--json")
    whole, parts = _lines(tmp_path / "whole"), _lines(tmp_path / "parts")
    for line in whole + parts:
        del line["seconds"]
    assert parts == whole and json.loads(ran.out)["games"] == 4
    assert _moves(tmp_path / "parts") == _moves(tmp_path / "whole")


def test_a_directory_of_another_match_is_refused(klss: Any) -> None:
    assert klss(*MATCH, "--games", "1", "--out", "m").code == 0
    ran = klss("match", "random", "random", "--nodes", "1", "--seed", "4", "--games", "1", "--out", "m")
    assert ran.code == 2 and "another match" in ran.err and ran.err.count("\n") == 1


def test_a_directory_in_use_is_refused(klss: Any, tmp_path: Path) -> None:
    fcntl = __import__("fcntl")
    (tmp_path / "m").mkdir()
    with open(tmp_path / "m" / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        ran = klss(*MATCH, "--games", "1", "--out", "m")
    assert ran.code == 2 and "in use" in ran.err and ran.err.count("\n") == 1


def test_a_line_s_seed_replays_its_game_in_play(klss: Any, tmp_path: Path) -> None:
    klss(*MATCH, "--games", "2", "--out", "m")
    line = _lines(tmp_path / "m")[1]
    replay = ("play", "--white", line["white"], "--black", line["black"], "--seed", str(line["seed"]), "--nodes", "1")
    klss(*replay, "--pgn", "again.pgn")
    kept, again = (tmp_path / "m" / "game-00001.pgn").read_text(), (tmp_path / "again.pgn").read_text()
    assert kept.split("\n\n")[1] == again.split("\n\n")[1]


def test_with_check_truth_every_ply_of_both_players_is_looked_at_and_no_truth_is_lost(
    klss: Any, tmp_path: Path
) -> None:
    ran = klss(*MATCH, "--games", "2", "--out", "m", "--check-truth", "--json")
    truth = json.loads(ran.out)["truth"]
    plies = sum(line["plies"] for line in _lines(tmp_path / "m"))
    # Before and after each move of hers, but for the move that ends the game.
    assert truth == {"checks": 2 * plies - 2, "lost": 0, "sampled": 0}
