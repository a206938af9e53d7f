"""Networks that are none, wherever a player of Reconnaissance Blind Chess is named."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.oracles.networks import random_network


@pytest.fixture
def networks(tmp_path: Path) -> list[tuple[str, str]]:
    """Texts of networks that are none, and what is said of them."""
    good = tmp_path / "good.npz"
    random_network(1).write(good)
    (tmp_path / "torn.npz").write_bytes(good.read_bytes()[:-300])
    (tmp_path / "text.npz").write_text("no network")
    random_network(1, planes=9).write(tmp_path / "other.npz")
    random_network(1, headsets=("all", "trout")).write(tmp_path / "headless.npz")
    return [
        ("missing.npz", "No such file"),
        ("torn.npz", "expected a network that reads synopses"),
        ("text.npz", "expected a network that reads synopses"),
        ("other.npz", "9 planes and 4161 actions, expected 104 and 4161"),
        ("headless.npz", "none of the headset top"),
        ("packed", "did you mean packaged?"),
        (".", "Is a directory"),
    ]


@pytest.mark.parametrize(
    "command",
    [
        "rbc match {} rbc-random --games 2 --nodes 5",
        "rbc match rbc-random {} --games 2 --nodes 5",
        "rbc play --white {} --black rbc-random --nodes 5",
        "rbc play --black {}",
        "rbc engine --configuration {}",
        "rbc analyse game.json --turn 0 --configuration {}",
    ],
)
def test_a_network_that_is_none_exits_2_with_one_line_before_anybody_plays(
    klss: Any, networks: list[tuple[str, str]], command: str
) -> None:
    for name, says in networks:
        ran = klss(*command.format(f"dsmcp,network={name}").split())
        assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1), ran.err
        assert name in ran.err and says in ran.err and "network" in ran.err
