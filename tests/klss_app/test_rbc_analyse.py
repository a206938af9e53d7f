"""``klss rbc analyse``: what a player thinks at a turn."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

FEW_MEN = "4k3/pppp4/8/8/8/8/PPPP4/4K3 w - - 0 1"
DSMCP = ("--configuration", "dsmcp,particles=4,batch=4", "--nodes", "40", "--seed", "1")


@pytest.fixture
def game(klss: Any) -> str:
    """A short game's file."""
    ran = klss("rbc", "match", "rbc-attacker", "rbc-random", "--fen", FEW_MEN, "--nodes", "5", "--seed", "3",
               "--check-truth", "--games", "1", "--out", "m")  # fmt: skip
    assert ran.code == 0, ran.err
    return "m/game-00000.json"


def test_a_planner_s_choices_best_first(klss: Any, game: str) -> None:
    found = json.loads(klss("rbc", "analyse", game, "--turn", "1", *DSMCP, "--json").out)
    assert (found["color"], found["positions"] > 1) == ("black", True)
    for part, what in ((found["sense"], "sense"), (found["move"], "move")):
        assert not part["sure"] and part["nodes"] >= 40 and part["playouts"] > 0
        assert part["choices"][0][what] == (part["chosen"] or "pass") and part["choices"][0]["value"] == part["value"]
        assert sum(choice["policy"] for choice in part["choices"]) == pytest.approx(1.0)
        assert all((choice["value"] is None) == (choice["visits"] == 0) for choice in part["choices"])
        assert abs(part["network_value"]) <= 1.0
    windows = [square for choice in found["sense"]["choices"] for square in (choice["sense"], *choice["alike"])]
    assert len({*windows}) == len(windows)


def test_a_win_that_is_sure_is_said_to_be(klss: Any) -> None:
    fen = "4k3/8/8/8/8/8/4R3/4K3 w - - 0 1"
    klss("rbc", "match", "rbc-random", "rbc-random", "--fen", fen, "--nodes", "1", "--games", "1", "--seed", "1",
         "--check-truth", "--out", "m")  # fmt: skip
    shown = klss("rbc", "analyse", "m/game-00000.json", "--turn", "0", *DSMCP).out
    assert "asks for Re8" in shown and "a win that is sure; the network's value" in shown


def test_a_whole_game_has_a_cost_for_every_turn_and_the_best_costs_nothing(klss: Any, game: str) -> None:
    asked = ("rbc", "analyse", game, "--nodes", "100", "--configuration", "rbc-expect,cap=100")
    found = json.loads(klss(*asked, "--json").out)["turns"]
    assert [turn["turn"] for turn in found] == list(range(len(found)))
    for turn in found:
        for part in ("sense", "move"):
            done, best, cost = (turn[part][key] for key in ("played", "best", "cost"))
            assert cost is None or (cost >= 0.0 and (cost == 0.0) >= ((done or "pass") == best))
    assert any(turn["move"]["cost"] for turn in found)
    one = json.loads(klss(*asked, "--turn", "2", "--json").out)
    assert found[2]["move"].items() <= one["move"].items() and found[2]["sense"].items() <= one["sense"].items()
    assert one["sense"]["gains"][one["sense"]["best"]] == max(one["sense"]["gains"].values())
    lines = klss(*asked).out.splitlines()
    assert lines[0] == f"rbc-expect,cap=100, {len(found)} turns" and lines[1].startswith("looks, mean cost: white")


def test_what_can_t_be_analysed_is_refused_and_the_game_is_kept(klss: Any, game: str) -> None:
    before = Path(game).read_bytes()
    for flags in (
        ("--turn", "1", "--configuration", "rbc-random"),
        ("--turn", "1", "--html", "a.html"),
        ("--html", game),
        ("--html", "nowhere/a.html"),
        ("--configuration", "dsmcp"),
    ):
        ran = klss("rbc", "analyse", game, "--nodes", "5", *flags)
        assert ran.code == 2 and ran.err.count("\n") == 1, ran.err
    assert Path(game).read_bytes() == before
