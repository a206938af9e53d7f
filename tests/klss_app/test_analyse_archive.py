"""``klss analyse FILE --all``: the sums are those of the single games, a file continues, and what is refused."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from klss_app.cli.fog import analyse_game

GAMES = """[White "Ann"]
[Black "bob"]
[Variant "Fogofwar"]

1. e4 f6 2. Qh5 a6 3. Qxe8 1-0

[Variant "Atomic"]

1. e4 *

[White "carl"]
[Black "ann"]
[Variant "Fogofwar"]

1. d4 e5 2. dxe5 0-1

[White "ann"]
[Black "carl"]
[Variant "Fogofwar"]

1. d4 *
"""
QUICK = ("--nodes", "100")


@pytest.fixture
def games(tmp_path: Path) -> str:
    (tmp_path / "games.pgn").write_text(GAMES)
    return "games.pgn"


def test_the_report_sums_up_what_is_said_of_each_game(klss: Any, games: str) -> None:
    ran = klss("analyse", games, "--all", "--json", *QUICK)
    assert ran.code == 0 and ran.err.startswith("game 2: got the variant 'Atomic'"), ran.err
    found = json.loads(ran.out)
    single = {number: json.loads(klss("analyse", games, "--game", number, "--json", *QUICK).out) for number in "13"}
    turns = [(int(number), turn) for number, each in single.items() for turn in each["turns"]]
    costs = {(number, turn["ply"]): turn["played"]["loss"] for number, turn in turns}
    assert (found["games"], found["refused"], found["unfinished"], found["interrupted"]) == (2, 1, 1, False)
    assert found["summary"]["moves"] == len(turns) == 8
    assert found["summary"]["mean_cost"] == pytest.approx(sum(max(0.0, cost) for cost in costs.values()) / 8, abs=1e-4)
    for kind in ("phases", "known"):
        assert sum(each["moves"] for each in found[kind].values()) == 8
    few = sum(turn["positions"][turn["color"]][0] <= 10 for _, turn in turns)
    assert found["phases"]["opening"]["moves"] == 8 and found["known"]["1 to 10"]["moves"] == few > 0
    worst = [(each["game"], each["ply"]) for each in found["costliest"]]
    dear = [where for where in costs if costs[where] >= 0.005]
    assert worst == sorted(dear, key=lambda where: (-costs[where], where))
    assert found["costliest"][0]["san"] == "a6" and found["costliest"][0]["best"]["san"] == "g6"


def test_a_player_has_the_moves_of_the_seats_it_had(klss: Any, games: str) -> None:
    found = json.loads(klss("analyse", games, "--all", "--player", "ANN", "--json", *QUICK).out)
    assert found["games"] == 2 and found["summary"]["moves"] == 4
    assert {each["player"].lower() for each in found["costliest"]} == {"ann"}
    black = json.loads(klss("analyse", games, "--all", "--player", "ann", "--color", "black", "--json", *QUICK).out)
    assert black["games"] == 1 and black["summary"]["moves"] == 1
    ran = klss("analyse", games, "--all", "--player", "dan", *QUICK)
    assert ran.code == 2 and "--player: got 'dan', in none of 4 games; expected a name such as" in ran.err


def test_an_interrupted_analysis_tells_what_it_has_and_continues(
    klss: Any, games: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = ("analyse", games, "--all", *QUICK)
    whole = klss(*command, "--out", "whole.jsonl")
    assert whole.code == 0
    turns, calls = analyse_game.turn_documents, []

    def interrupted(*arguments: Any) -> Iterator[dict[str, Any]]:
        calls.append(0)
        for turn in turns(*arguments):
            yield turn
            if len(calls) == 2:
                raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(analyse_game, "turn_documents", interrupted)
        ran = klss(*command, "--out", "part.jsonl")
    assert ran.code == 1 and ran.err.endswith("interrupted after 1 game; the same command goes on from there\n")
    assert ran.out.startswith("1 game, both sides; kluss")
    # A line that was being written when the power failed is written anew.
    with (tmp_path / "part.jsonl").open("a") as file:
        file.write('{"game": 3, "mo')
    assert klss(*command, "--out", "part.jsonl").out == whole.out
    assert (tmp_path / "part.jsonl").read_bytes() == (tmp_path / "whole.jsonl").read_bytes()
    # A file with all games serves for one player as well.
    player = (*command, "--player", "carl")
    assert klss(*player, "--out", "whole.jsonl").out == klss(*player).out


def test_files_and_flags_that_do_not_belong_are_refused_in_a_line(klss: Any, games: str, tmp_path: Path) -> None:
    command = ("analyse", games, "--all", *QUICK)
    assert klss(*command, "--out", "a.jsonl").code == 0
    kept = (tmp_path / "a.jsonl").read_bytes()
    (tmp_path / "other.pgn").write_text("1. e4 e5 2. a3 a6 1-0\n")
    (tmp_path / "unfinished.pgn").write_text("1. e4 e5 *\n")
    for arguments, complaint in (
        ((games, "--all", "--out", "a.jsonl", "--nodes", "50"), "--out: got 'a.jsonl', an analysis with nodes 100"),
        (("other.pgn", "--all", "--out", "a.jsonl", *QUICK), "which has another game where game 1"),
        ((games, "--all", "--out", games), f"--out: got '{games}', the game itself"),
        ((games, "--all", "--out", "other.pgn"), "which has no analysis of a file of games"),
        ((games, "--all", "--ply", "1"), "--all: got it with --ply"),
        ((games, "--all", "--game", "1"), "--game: got it with --all"),
        ((games, "--player", "ann"), "--player: got it without --all"),
        (("unfinished.pgn", "--all"), "got 1 game in 'unfinished.pgn', of which 0 can't be read and 1 are not over"),
        (("none.pgn", "--all"), "can't read 'none.pgn'"),
    ):
        ran = klss("analyse", *arguments)
        assert ran.code == 2 and complaint in ran.err and ran.err.count("\n") <= 2, (arguments, ran.err)
    assert (tmp_path / "a.jsonl").read_bytes() == kept
    assert (tmp_path / "other.pgn").read_text() == "1. e4 e5 2. a3 a6 1-0\n"
