"""A series of matches: what is played, what goes on, what its summary says."""

from __future__ import annotations

import argparse
import itertools
import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from experiments.report import PAPERS_MATCH, load
from experiments.series import __main__ as program
from experiments.series import blind, catalogue
from experiments.series.runner import Pairing, Plan, Series, main, play, share
from experiments.series.summary import SESSIONS, match_document, series_document, told_together
from klss.table.limits import TimeControl
from uci_bridge.kits.fog import FOG
from uci_bridge.kits.rbc import RBC
from uci_bridge.match.documents import write_document
from uci_bridge.match.match import Match, MatchError
from uci_bridge.players import player_spec

SHUFFLE = Series(
    "shuffle", "random against itself", games=4, time_s=0.1, matches=lambda: [Pairing("twins", "random", "random")]
)


def write_match(folder: Path, winners: Sequence[str | None], seed: int = 5) -> None:
    """A match's directory, as it writes it; two moves a game, |P| 10 and 1000."""
    match = Match(
        FOG, player_spec(FOG, "klss2021"), player_spec(FOG, "greedy"), len(winners), seed, TimeControl(time_s=0.125)
    )
    folder.mkdir(parents=True)
    (folder / "match.json").write_text(json.dumps(match.identity()))
    games, moves = "", ""
    for game, winner in enumerate(winners):
        line = {"game": game, "pair": game // 2, "winner": winner, "plies": 30 + game, "reason": "king_captured"}
        games += json.dumps(line | {"seconds": 2.0, "opening": None}) + "\n"
        for ply, positions in ((1, 10), (2, 1000)):
            player = "a" if (ply + game) % 2 else "b"
            shown = {"seconds_wall": 0.1, "positions": positions, "nodes": 50, "gadget": "resolve", "lp_share": 0.25}
            moves += json.dumps({"game": game, "ply": ply, "player": player, "move": "e2e4"} | shown) + "\n"
    (folder / "games.jsonl").write_text(games)
    (folder / "moves.jsonl").write_text(moves)


def test_a_summary_counts_every_game_for_a(tmp_path: Path) -> None:
    write_match(tmp_path / "m", ["a", "b", None, "a"])
    found = match_document("m", tmp_path / "m", planned=10)
    assert found is not None
    assert (found["games"], found["wins"], found["draws"], found["losses"]) == (4, 2, 1, 1)
    assert (found["score"], found["percent"][1], found["games_planned"]) == (2.5, 62.5, 10)
    # A is White in games 0 and 2: a win and a draw; Black in 1 and 3: a loss and a win.
    assert (found["by_color"]["white"]["score"], found["by_color"]["black"]["score"]) == (1.5, 1.0)
    assert found["samples"]["rows"][:2] == [
        [0, 1.0, 30, "king_captured", "white"],
        [1, 0.0, 31, "king_captured", "black"],
    ]
    assert found["seconds"] == 8.0
    assert found["changed"]["a"] == {} and found["changed"]["b"]["player"] == "greedy"


def test_the_interval_of_the_score_is_that_of_the_elo_difference(tmp_path: Path) -> None:
    write_match(tmp_path / "m", ["a"] * 20)
    found = match_document("m", tmp_path / "m")
    # Wilson, 20 of 20 games: 20 / (20 + 1.96²) = 0.8389.
    assert found is not None and found["percent"] == [pytest.approx(83.89, abs=0.01), 100.0, 100.0]
    assert found["elo"][2] is None and found["elo_method"] == "wilson"


def test_a_match_without_a_finished_game_is_left_out(tmp_path: Path) -> None:
    write_match(tmp_path / "begun", [])
    write_match(tmp_path / "played", ["a", "a"])
    folders = {name: tmp_path / name for name in ("begun", "played", "missing")}
    found = {name: match_document(name, folder, 2) for name, folder in folders.items()}
    assert [name for name, shown in found.items() if shown is not None] == ["played"]


def test_a_line_that_was_cut_off_is_no_game(tmp_path: Path) -> None:
    write_match(tmp_path / "m", ["a", "b"])
    with open(tmp_path / "m" / "games.jsonl", "a") as file:
        file.write('{"game": 2, "pair"')
    found = match_document("m", tmp_path / "m")
    assert found is not None and found["games"] == 2


def test_sessions_tell_which_code_played_how_many_games(tmp_path: Path) -> None:
    write_match(tmp_path / "m", ["a", "b", "a", "b", "a"])
    common: dict[str, Any] = {"utc": "2026-01-01T00:00:00Z", "versions": {}, "modified": False}
    rows = [common | {"commit": commit, "code": commit, "games_before": before} for commit, before in
            (("one", 0), ("one", 1), ("two", 3))]  # fmt: skip
    (tmp_path / "m" / SESSIONS).write_text("".join(json.dumps(row) + "\n" for row in rows))
    found = match_document("m", tmp_path / "m")
    assert found is not None
    assert [(session["commit"], session["games"]) for session in found["sessions"]] == [("one", 3), ("two", 2)]


def test_a_document_of_200_games_is_small_and_names_no_place(tmp_path: Path) -> None:
    write_match(tmp_path / "m", ["a", "b"] * 100)
    found = match_document("m", tmp_path / "m", 200)
    assert found is not None
    write_document(tmp_path / "s.json", series_document("s", [found]))
    text = (tmp_path / "s.json").read_text()
    assert len(text) < 100_000 and str(tmp_path) not in text
    assert len(json.loads(text)["matches"][0]["samples"]["rows"]) == 200


def test_what_is_written_reads_back_the_same(tmp_path: Path) -> None:
    shown = {"text": "a [ b\n] {c}", "rows": [[1, "x", None], [2.5, "[\n 1]", True]], "empty": [], "nested": {"a": {}}}
    write_document(tmp_path / "d.json", shown)
    assert json.loads((tmp_path / "d.json").read_text()) == shown


def test_what_is_not_finite_is_written_as_text(tmp_path: Path) -> None:
    write_document(tmp_path / "d.json", {"information": float("inf")})
    assert json.loads((tmp_path / "d.json").read_text()) == {"information": "inf"}


# ----------------------------------------------------------------------------------------------------------------------
# what is played


HEAD_TO_HEAD, OPPONENTS, ABLATIONS, PARTS = (
    catalogue.FOG[name] for name in ("head_to_head", "opponents", "ablations", "parts")
)


@pytest.mark.parametrize("series", catalogue.FOG.values(), ids=lambda series: series.name)
def test_every_series_names_players_that_exist_and_each_match_once(series: Series) -> None:
    names = [pairing.name for pairing in series.pairings()]
    assert len(set(names)) == len(names) > 0
    for pairing in series.pairings():
        match = Plan(series.games, series.time_s).match(pairing)
        threads = match.a.fields()["threads"], match.b.fields()["threads"]
        assert threads == ((2, 1) if pairing.name == "one-thread" else (1, 1))  # who says its own keeps them


def test_all_ablations_differ_in_one_field() -> None:
    for pairing in ABLATIONS.pairings():
        a, b = (vars(player_spec(FOG, text)) for text in (pairing.a, pairing.b))
        assert len([key for key in a if key != "name" and a[key] != b[key]]) == 1, pairing.name


def test_every_part_of_kluss_is_another_kluss() -> None:
    usual = player_spec(FOG, "kluss")
    for pairing in PARTS.pairings():
        a, b = player_spec(FOG, pairing.a), player_spec(FOG, pairing.b)
        assert a == (player_spec(FOG, "kluss,threads=2") if pairing.name == "one-thread" else usual), pairing.name
        assert vars(a) | {"name": b.name} != vars(b), pairing.name


def test_opponents_have_the_time_that_was_asked_for() -> None:
    """Issue 15: `baseline` at 0.2 s, the others at 0.1 s."""
    plan = Plan(2, OPPONENTS.time_s)
    names = [plan.name(pairing) for pairing in OPPONENTS.pairings(["kluss"])]
    assert names == ["kluss-best-guess-0.1s", "kluss-greedy-0.1s", "kluss-random-0.1s", "kluss-baseline-0.2s"]


def test_what_a_report_asks_of_matches_are_matches_that_a_series_plays() -> None:
    found = set()
    for player in ("klss2021", "kluss"):
        found |= {Plan(2, OPPONENTS.time_s).name(pairing) for pairing in OPPONENTS.pairings([player])}
        for rival, time_s in itertools.product(("klss2021", "klss2021-paper", "baseline"), (0.1, 0.5)):
            found |= {Plan(2, time_s).name(pairing) for pairing in HEAD_TO_HEAD.pairings([player, rival])}
    assert PAPERS_MATCH in found


# ----------------------------------------------------------------------------------------------------------------------
# going on


def arguments(folder: Path, *more: str) -> list[str]:
    places = ["--runs", str(folder / "runs"), "--results", str(folder / "results")]
    return [*places, "--nodes", "1", "--workers", "1", *more]


@pytest.mark.slow
@pytest.mark.usefixtures("played_here")
def test_a_series_goes_on_where_it_stopped_and_its_summary_counts_all(tmp_path: Path) -> None:
    assert main(SHUFFLE, arguments(tmp_path, "--games", "2")) == 0
    before = (tmp_path / "runs" / "shuffle" / "twins-1nodes" / "games.jsonl").read_text()
    assert main(SHUFFLE, arguments(tmp_path)) == 0
    after = (tmp_path / "runs" / "shuffle" / "twins-1nodes" / "games.jsonl").read_text()
    assert after.startswith(before) and after.count("\n") == 4
    found = json.loads((tmp_path / "results" / "shuffle.json").read_text())
    assert found["experiment"] == "shuffle" and found["games"] == 4 and found["versions"]["klss"]
    (match,) = found["matches"]
    assert [session["games"] for session in match["sessions"]] == [4]
    assert match["budgets"]["a"]["nodes"] == 1 and match["openings"] == {"random_plies": 4}


def test_a_summary_alone_plays_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(SHUFFLE, arguments(tmp_path, "--summary-only")) == 1
    assert not (tmp_path / "results").exists() and "no games" in capsys.readouterr().err


def test_every_pair_of_players_at_every_budget_is_a_match_of_its_own_and_stays_in_the_summary(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runs, path = tmp_path / "runs" / "head_to_head", tmp_path / "results" / "head_to_head.json"

    def summarised(name: str, *more: str) -> list[dict[str, Any]]:
        write_match(runs / name, ["a", "b"])
        assert main(HEAD_TO_HEAD, arguments(tmp_path, "--summary-only", *more)) == 0
        return list(json.loads(path.read_text())["matches"])

    first = summarised("klss2021,caution=1-greedy-1nodes", "--players", "klss2021,caution=1", "greedy")
    shutil.rmtree(runs)  # as on another machine
    summarised("klss2021-baseline-1nodes")
    found = summarised("klss2021-baseline-2nodes", "--nodes", "2")
    assert found[:1] == first and [match["name"] for match in found[1:]] == [
        "klss2021-baseline-1nodes",
        "klss2021-baseline-2nodes",
    ]
    with pytest.raises(SystemExit):
        main(HEAD_TO_HEAD, arguments(tmp_path, "--players", "random", "randon"))
    assert "did you mean random?" in capsys.readouterr().err


def test_a_second_seed_goes_on_with_what_another_machine_summed_up(tmp_path: Path) -> None:
    runs = tmp_path / "runs" / "head_to_head"
    players = arguments(tmp_path, "--summary-only", "--players", "klss2021", "greedy")
    write_match(runs / "klss2021-greedy-1nodes", ["a", "b", "a", None], seed=1)
    assert main(HEAD_TO_HEAD, players) == 0
    shutil.rmtree(runs)
    write_match(runs / "klss2021-greedy-1nodes-seed2", ["a", "a"], seed=2)
    assert main(HEAD_TO_HEAD, [*players, "--seed", "2"]) == 0
    path = tmp_path / "results" / "head_to_head.json"
    one, two = json.loads(path.read_text())["matches"]
    assert (one["seed"], two["seed"]) == (1, 2) and two["name"] == one["name"] + "-seed2"
    (shown,) = load(path.parent, "head_to_head")["matches"]  # type: ignore[index]
    assert shown["name"] == one["name"] and shown["seeds"] == [1, 2]
    assert shown["games"] == one["games"] + two["games"] and shown["score"] == one["score"] + two["score"]
    assert shown["pairs"] == [a + b for a, b in zip(one["pairs"], two["pairs"], strict=True)]
    assert shown["by_color"]["white"]["games"] == one["by_color"]["white"]["games"] + two["by_color"]["white"]["games"]
    assert shown["sessions"] == one["sessions"] + two["sessions"]
    # Other players, another budget, or the same seed again: not the same match.
    assert len(told_together([one, two | {"b": "random"}])) == len(told_together([one, one])) == 2
    # Nor are players of one name who were not configured alike.
    other = two["configurations"]["a"] | {"particles": 7}
    assert len(told_together([one, two | {"configurations": two["configurations"] | {"a": other}}])) == 2


@pytest.mark.slow
@pytest.mark.usefixtures("played_here")
def test_other_code_does_not_go_on_with_a_match_unless_allowed(tmp_path: Path) -> None:
    (pairing,) = SHUFFLE.pairings()
    play("shuffle", pairing, Plan(2, 0.1, nodes=1, workers=1, runs=tmp_path))
    path = tmp_path / "shuffle" / "twins-1nodes" / SESSIONS
    path.write_text(json.dumps(json.loads(path.read_text()) | {"code": "other"}) + "\n")
    with pytest.raises(MatchError, match="other code"):
        play("shuffle", pairing, Plan(4, 0.1, nodes=1, workers=1, runs=tmp_path))
    assert play("shuffle", pairing, Plan(2, 0.1, nodes=1, workers=1, runs=tmp_path)).games == 2  # nothing left to play
    assert play("shuffle", pairing, Plan(4, 0.1, nodes=1, workers=1, runs=tmp_path, mixed=True)).games == 4


@pytest.mark.parametrize("name", catalogue.BLIND)
def test_every_match_of_a_series_in_the_dark_has_players_and_a_share_of_the_games(name: str) -> None:
    for a, b, part in catalogue.BLIND[name].pairings.values():
        assert a != b and 0 < part <= 1
        for text in (a, b):
            assert player_spec(RBC, text).name.startswith(text.partition(",")[0])


def test_the_catalogue_is_listed_and_another_name_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert program.main(["--list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == [*catalogue.FOG, *catalogue.BLIND]
    for given in (["head-to-head"], []):
        assert program.main(given) == 2
        said = capsys.readouterr().err
        assert "expected --list or one of head_to_head" in said and said.count("\n") == 1


@pytest.mark.parametrize("wrong", ["nan", "inf", "0", "-1", "x", ""])
def test_a_time_that_is_none_is_refused_before_anything_is_played(
    wrong: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("rbc_games", "head_to_head"):
        with pytest.raises(SystemExit) as raised:
            program.main([name, "--time", wrong])
        assert raised.value.code == 2
        assert f"got {wrong!r}, expected a number above 0" in capsys.readouterr().err


@pytest.mark.usefixtures("played_here")
def test_another_seed_of_blind_games_is_another_match(tmp_path: Path) -> None:
    players, budget = ("rbc-random", "rbc-random"), TimeControl(nodes=1)
    usual = blind.played("twins", players, 2, budget, 1, tmp_path)
    other = blind.played("twins", players, 2, budget, 1, tmp_path, seed=7)
    assert (usual["name"], usual["seed"]) == ("twins-1nodes", blind.SEED)
    assert (other["name"], other["seed"]) == ("twins-1nodes-seed7", 7)
    for match in (usual, other):
        blind.keep(tmp_path / "rbc_planning.json", match)
    assert list(blind.matches_of(tmp_path / "rbc_planning.json")) == ["twins-1nodes", "twins-1nodes-seed7"]


def test_parts_of_a_whole_are_from_0_to_1() -> None:
    assert (share("0"), share("1"), share("0.25")) == (0.0, 1.0, 0.25)
    for wrong in ("-0.1", "1.1", "nan", "half"):
        with pytest.raises(argparse.ArgumentTypeError, match="from 0 to 1"):
            share(wrong)
