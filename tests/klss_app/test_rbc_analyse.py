"""``klss rbc analyse``: what a player thinks at a turn."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

FEW_MEN = "4k3/pppp4/8/8/8/8/PPPP4/4K3 w - - 0 1"


@pytest.fixture
def game(klss: Any) -> str:
    """A short game's file."""
    ran = klss("rbc", "match", "rbc-attacker", "rbc-random", "--fen", FEW_MEN, "--nodes", "5", "--seed", "3",
               "--check-truth", "--games", "1", "--out", "m")  # fmt: skip
    assert ran.code == 0, ran.err
    return "m/game-00000.json"


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
        ("--turn", "1", "--configuration", "dsmcp"),
    ):
        ran = klss("rbc", "analyse", game, "--nodes", "5", *flags)
        assert ran.code == 2 and ran.err.count("\n") == 1, ran.err
    assert Path(game).read_bytes() == before
