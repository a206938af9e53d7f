"""``klss match`` and ``klss rbc match``: their JSON, their files, resuming; players of every kind."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from klss.errors import INSTALL_EXTRAS
from tests.klss_app.match_files import rows, timeless

LINE = {"game", "pair", "white", "black", "result", "reason", "winner", "plies", "opening", "seed", "seconds"}
MATCH = ("match", "greedy", "random", "--nodes", "1", "--seed", "4")


@pytest.mark.usefixtures("played_here")
def test_the_document_counts_what_the_lines_say(klss: Any, tmp_path: Path) -> None:
    ran = klss(*MATCH, "--games", "4", "--out", "m", "--json")
    document = json.loads(ran.out)
    lines = rows(tmp_path / "m")
    assert set(document) == {
        "a", "b", "games", "score", "wins", "draws", "losses", "elo", "configurations", "seconds",
        "elo_method", "pairs", "sprt", "by_color", "reasons", "seed", "versions", "commit",
    }  # fmt: skip
    assert [set(line) - {"truth"} for line in lines] == [LINE] * 4
    assert [line["white"] for line in lines] == ["greedy", "random", "greedy", "random"]
    assert [line["pair"] for line in lines] == [0, 0, 1, 1]
    assert document["games"] == document["wins"] + document["draws"] + document["losses"] == 4
    assert document["score"] == sum({"a": 1.0, None: 0.5, "b": 0.0}[line["winner"]] for line in lines)
    for line in lines:
        white_won = {"1-0": True, "0-1": False, "1/2-1/2": None}[line["result"]]
        assert line["winner"] == (None if white_won is None else "a" if white_won == (line["game"] % 2 == 0) else "b")
    assert sorted(path.name for path in (tmp_path / "m").glob("*.pgn")) == [f"game-0000{i}.pgn" for i in range(4)]


def test_a_directory_of_another_match_or_version_or_in_use_is_refused(klss: Any, tmp_path: Path) -> None:
    assert klss(*MATCH, "--games", "1", "--out", "m", "--check-truth").code == 0
    path = tmp_path / "m" / "match.json"
    fcntl, about = __import__("fcntl"), json.loads(path.read_text())
    ran = [klss("match", "random", "random", "--nodes", "1", "--seed", "4", "--games", "1", "--out", "m")]
    with open(tmp_path / "m" / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        ran.append(klss(*MATCH, "--games", "2", "--out", "m", "--check-truth"))
    path.write_text(json.dumps(about | {"format": 2}))
    ran.append(klss(*MATCH, "--games", "2", "--out", "m", "--check-truth"))
    assert [(each.code, each.err.count("\n")) for each in ran] == [(2, 1)] * 3
    says = ("another match", "in use", "differs in format")
    assert all(words in each.err for each, words in zip(ran, says, strict=True))


@pytest.mark.usefixtures("played_here")
def test_a_line_s_seed_replays_its_game_in_play(klss: Any, tmp_path: Path) -> None:
    klss(*MATCH, "--games", "2", "--out", "m")
    line = rows(tmp_path / "m")[1]
    replay = ("play", "--white", line["white"], "--black", line["black"], "--seed", str(line["seed"]), "--nodes", "1")
    klss(*replay, "--pgn", "again.pgn")
    kept, again = (tmp_path / "m" / "game-00001.pgn").read_text(), (tmp_path / "again.pgn").read_text()
    assert kept.split("\n\n")[1] == again.split("\n\n")[1]
    assert '[BlackEvaluator "built-in evaluator"]' in kept and "WhiteEvaluator" not in kept


def test_with_check_truth_every_ply_of_both_players_is_looked_at_and_no_truth_is_lost(
    klss: Any, tmp_path: Path
) -> None:
    ran = klss(*MATCH, "--games", "2", "--out", "m", "--check-truth", "--json")
    truth = json.loads(ran.out)["truth"]
    plies = sum(line["plies"] for line in rows(tmp_path / "m"))
    # Before and after each move of its own, but for the move that ends the game.
    assert truth == {"checks": 2 * plies - 2, "lost": 0, "sampled": 0}


# ----------------------------------------------------------------------------------------------------------------------
# stopping


def test_without_a_seed_the_same_command_goes_on_with_the_seed_of_the_directory(klss: Any, tmp_path: Path) -> None:
    flags = ("match", "greedy,cap=1000", "random,cap=1000", "--nodes", "1", "--out", "m", "--check-truth", "--json")
    first = json.loads(klss(*flags, "--games", "2").out)
    second = json.loads(klss(*flags, "--games", "3").out)
    assert second["seed"] == first["seed"] and second["games"] == 3
    assert [line["game"] for line in rows(tmp_path / "m")] == [0, 1, 2]


@pytest.mark.slow
def test_workers_of_one_s_own_need_no_dask_and_play_the_same_games(
    klss: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    flags = (*MATCH, "--games", "3", "--openings", "2", "--check-truth")
    assert klss(*flags, "--out", "whole").code == 0
    assert klss(*flags, "--workers", "2", "--out", "m").code == 0
    assert timeless(tmp_path / "m") == timeless(tmp_path / "whole")
    ran = klss(*flags, "--scheduler", "tls://127.0.0.1:9")
    assert ran.code == 2 and INSTALL_EXTRAS in ran.err and ran.err.count("\n") == 1


def test_a_match_goes_on_with_the_games_that_are_missing_and_counts_none_twice(klss: Any, tmp_path: Path) -> None:
    flags = (*MATCH, "--games", "6", "--openings", "3", "--check-truth", "--json")
    whole = json.loads(klss(*flags, "--out", "whole").out)
    klss(*flags, "--out", "m")
    path = tmp_path / "m" / "games.jsonl"
    kept = path.read_text().splitlines(keepends=True)
    torn = '{"game": 2, "pair"'  # its writer died here
    path.write_text("".join([kept[4], kept[0], kept[5], kept[0], kept[3], torn]))
    assert _counts(json.loads(klss(*flags, "--out", "m").out)) == _counts(whole)
    assert sorted(line["game"] for line in rows(tmp_path / "m")) == list(range(6))
    for name in ("games", "moves"):
        assert timeless(tmp_path / "m", name) == timeless(tmp_path / "whole", name)


def _counts(document: dict[str, Any]) -> dict[str, Any]:
    return {key: document[key] for key in ("games", "score", "wins", "elo", "pairs", "by_color", "seed", "truth")}


def test_a_test_stops_the_match_on_evidence_and_stays_decided(klss: Any, tmp_path: Path) -> None:
    flags = (*MATCH, "--sprt", "0,400", "--check-truth", "--out", "m", "--json")
    document = json.loads(klss(*flags).out)
    sprt, games = document["sprt"], document["games"]
    assert sprt["decision"] == "elo1" and sprt["llr"] >= sprt["upper"] and 4 <= games < 60
    again = json.loads(klss(*flags).out)
    assert again["games"] == games and again["sprt"] == sprt
    few = json.loads(klss(*MATCH, "--sprt", "0,5", "--games", "3", "--check-truth", "--json").out)
    assert few["games"] == 3 and few["sprt"]["decision"] is None


# ----------------------------------------------------------------------------------------------------------------------
# files that no match writes, and disks that are full


@pytest.mark.parametrize(
    ("file", "line"),
    [
        ("games.jsonl", '{"game":1,"pair":0,"winner":"c","reason":"resign","plies":3}'),
        ("games.jsonl", '{"game":1,"pair":0,"winner":"a","reason":"resign","plies":3,"seconds":NaN}'),
        ("games.jsonl", "[" * 100_000),
        ("games.jsonl", '{"game":-1,"pair":0,"winner":"a","reason":"resign","plies":3}'),
        ("moves.jsonl", '{"game":0,"player":"c"}'),
        ("moves.jsonl", "\xff"),
    ],
)
def test_a_line_that_no_match_writes_is_named(klss: Any, tmp_path: Path, file: str, line: str) -> None:
    flags = (*MATCH, "--out", "m", "--check-truth", "--games")
    assert klss(*flags, "1").code == 0
    (tmp_path / "m" / file).write_text(line + "\n", encoding="latin-1")
    ran = klss(*flags, "2")
    assert ran.code == 2 and ran.out == "" and ran.err.count("\n") == 1 and f"{file}', line 1: " in ran.err


@pytest.mark.slow
def test_a_match_whose_disk_is_full_says_so_in_one_line_and_goes_on_later(klss: Any, tmp_path: Path) -> None:
    match = (*MATCH, "--games", "6", "--check-truth", "--out", "m", "--json")
    limited = ["/bin/sh", "-c", 'ulimit -f 8; exec "$@"', "sh", sys.executable, "-m", "klss"]  # files of 4 KiB at most
    ran = subprocess.run([*limited, *match], cwd=tmp_path, capture_output=True, text=True, timeout=300)
    said = [line for line in ran.stderr.splitlines() if not line.startswith("game ")]
    assert ran.returncode == 1 and ran.stdout == "" and len(said) == 1 and "m/moves.jsonl" in said[0]
    played = len(rows(tmp_path / "m"))
    assert 0 < played < 6 and not list((tmp_path / "m").glob("*.new"))
    ran = klss(*match)
    assert ran.code == 0 and json.loads(ran.out)["games"] == 6
    assert [line["game"] for line in rows(tmp_path / "m")] == list(range(6))


# ---------------------------------------------------------------- Reconnaissance Blind Chess
HERE = ("rbc", "match", "rbc-attacker", "rbc-random", "--nodes", "5", "--seed", "4", "--check-truth")
TURN = {"game", "ply", "player", "sense", "move", "taken", "seconds_wall", "seconds_sense"}


def test_the_document_and_the_files_are_those_of_a_match(klss: Any, tmp_path: Path) -> None:
    document = json.loads(klss(*HERE, "--games", "4", "--out", "m", "--json").out)
    assert document["games"] == document["wins"] + document["draws"] + document["losses"] == 4
    assert document["configurations"]["a"]["player"] == "attacker" and document["truth"]["lost"] == 0
    lines, turns = timeless(tmp_path / "m"), timeless(tmp_path / "m", "moves")
    assert [line["white"] for line in lines] == ["rbc-attacker", "rbc-random"] * 2
    assert {frozenset(turn) for turn in turns} == {frozenset(TURN - {"seconds_wall", "seconds_sense"})}
    for line in lines:
        history = json.loads((tmp_path / "m" / f"game-0000{line['game']}.json").read_text())
        assert (history["type"], history["white_name"]) == ("GameHistory", line["white"])
        mine = [turn for turn in turns if turn["game"] == line["game"]]
        assert line["plies"] == len(mine) == sum(map(len, history["senses"].values()))
        asked = [turn["move"] for turn in mine if turn["ply"] % 2 == 1]
        assert asked == [move and move["value"] for move in history["requested_moves"]["true"]]
    assert json.loads((tmp_path / "m" / "match.json").read_text())["game"] == "rbc"
    assert any(turn["move"] != turn["taken"] for turn in turns) and any(turn["move"] is None for turn in turns)
