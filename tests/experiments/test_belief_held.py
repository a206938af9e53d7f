"""``experiments.belief held``: how often the truth is in a set that had too little time."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from darkchess.fog.belief import position_set
from darkchess.fog.game.record import write_pgn
from experiments.belief.__main__ import main
from experiments.belief.held import ARMS
from tests.experiments.test_belief_loss import GAME


def test_games_are_gone_through_with_both_cuts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    match = tmp_path / "match"
    match.mkdir()
    (match / "match.json").write_text("{}")
    (match / "game-00000.pgn").write_text(write_pgn(GAME), encoding="utf-8")
    # So slow a machine, in words, that all but ten positions are left behind at once.
    monkeypatch.setattr(position_set, "_FOLLOWED_PER_S", 1)
    monkeypatch.setattr(position_set, "_LEAST_FOLLOWED", 10)
    assert main(["held", str(match), "--time", "60", "--results", str(tmp_path)]) == 0
    document = json.loads((tmp_path / "belief_held.json").read_text(encoding="utf-8"))
    assert set(document["summary"]) == set(ARMS)
    likeliest, anywhere = (document["summary"][arm] for arm in ("likeliest", "anywhere"))
    assert likeliest["turns"] == anywhere["turns"] == 12
    assert likeliest["sampled"] > 0 and 0.0 < likeliest["held"] < 1.0
    # A minute a move is no deadline for sets of this game.
    assert (anywhere["sampled"], anywhere["without_truth"], anywhere["truth"]) == (0, 0, None)
