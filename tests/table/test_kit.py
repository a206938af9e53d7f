"""A game of anybody's at the table: the match, the protocol and the terminal play what they have never heard of."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from klss.play.arbiter import Arbiter
from klss.play.contest import Forfeit, TruthCount
from klss.play.limits import TimeControl
from klss.play.outcome import Outcome
from tests.klss_app.conftest import klss  # noqa: F401
from tests.table import hidden_tictactoe as toy
from uci_bridge.kits.named import KITS, kit_named

GAME = ("--game", toy.KIT.name)


@pytest.mark.slow
def test_a_match_plays_it_with_processes_and_keeps_it(klss: Any, tmp_path: Path) -> None:  # noqa: F811
    flags = ("match", "random", "first", *GAME, "--games", "4", "--nodes", "1", "--seed", "3", "--json")
    ran = klss(*flags, "--out", "here")
    assert ran.code == 0, ran.err
    assert json.loads(ran.out)["games"] == 4
    lines = [json.loads(line) for line in (tmp_path / "here" / "games.jsonl").read_text().splitlines()]
    assert [(line["white"], line["black"]) for line in lines] == [("random", "first"), ("first", "random")] * 2
    tries = [json.loads(each.read_text())["tries"] for each in sorted((tmp_path / "here").glob("game-*.json"))]
    assert [len(each) for each in tries] == [line["plies"] for line in lines]
    assert json.loads((tmp_path / "here" / "match.json").read_text())["game"] == toy.KIT.name
    again = klss(*flags, "--out", "there")
    assert again.code == 0
    assert [json.loads(each.read_text())["tries"] for each in sorted((tmp_path / "there").glob("game-*.json"))] == tries
    assert klss(*flags, "--out", "here").code == 0, "it is resumed, and there is nothing left to play"


def test_a_human_plays_it_in_the_terminal(klss: Any, tmp_path: Path) -> None:  # noqa: F811
    flags = ("--black", "first", "--seed", "1", "--record", "game.json")
    ran = klss("play", *GAME, *flags, typed="4\n0\n9\n8\n6\n2\n5\n3\n1\n7\n")
    assert ran.code == 0, ran.err
    assert " wins: three_in_a_row." in ran.out and "0 is taken." in ran.out and "kept in" in ran.err
    tries = json.loads((tmp_path / "game.json").read_text())["tries"]
    assert [square for seat, square in tries if not seat][:1] == [0], "the first square that may be free"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (
            ["match", "a", "b", "--game", "chess"],
            "got 'chess'; expected fog, rbc, openspiel:GAME, or MODULE:NAME of a kit",
        ),
        (["match", "a", "b", "--game", "no.such:KIT"], "which can't be imported"),
        (["match", "a", "b", "--game", "tests.table.hidden_tictactoe:TIK"], "with that name in it"),
        (["match", "second", "first", *GAME], "player: got 'second', expected one of random, first"),
        (["track", *GAME], "expected it only with play, board, match, engine"),
    ],
)
def test_what_is_no_game_or_not_for_it_exits_2_with_one_line(klss: Any, arguments: list[str], says: str) -> None:  # noqa: F811
    ran = klss(*arguments)
    assert ran.code == 2 and ran.out == "" and ran.err.count("\n") == 1 and says in ran.err, ran.err


@pytest.mark.slow
def test_klss_rbc_is_another_spelling(klss: Any, tmp_path: Path) -> None:  # noqa: F811
    flags = ("rbc-random", "random", "--games", "2", "--nodes", "1", "--seed", "3")
    assert klss("rbc", "match", *flags, "--out", "one").code == 0
    assert klss("match", *flags, "--game", "rbc", "--out", "two").code == 0
    one, two = ((tmp_path / name / "game-00000.json").read_text() for name in ("one", "two"))
    assert one == two


def test_every_kit_is_named_as_it_is_found() -> None:
    for name in KITS:
        assert kit_named(name).name == name
    assert kit_named(toy.KIT.name) is toy.KIT


class Resigns(toy.Own):
    def answer(self, *question: Any) -> Any:
        raise Forfeit("no more")


def test_the_arbiter_gives_each_seat_its_own_observations_and_ends_by_the_ways_out() -> None:
    referee = toy.Referee()
    players = {True: toy.Own("first", 0), False: Resigns("first", 0)}
    played: list[Any] = []
    game = Arbiter(referee, players, dict.fromkeys(players, TimeControl(nodes=1)), played.append, TruthCount())
    game.play()
    assert referee.outcome == Outcome(True, "forfeit") and referee.tries == [(True, 0)]
    assert [(each.ply, each.seat, each.decision.answer) for each in played] == [(1, True, 0)]
    assert players[True].tried == {0} and players[False].tried == set()
    assert game.truth == TruthCount(), "players that hold no set are not looked at"
