"""``experiments.rbc_learn.ladder``: who meets whom, and what is kept."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from experiments.rbc_learn import __main__ as program
from experiments.rbc_learn import ladder


def test_every_other_generation_meets_the_one_before_it_and_who_never_learns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    met: list[tuple[str, str]] = []

    def played(name: str, players: tuple[str, str], games: int, *more: Any) -> dict[str, Any]:
        met.append(players)
        return {"name": f"{name}-6nodes", "games": games, "percent": [40.0, 50.0, 60.0], "a": "?", "b": "?"}

    monkeypatch.setattr(ladder, "played", played)
    run = tmp_path / "run"
    run.mkdir()
    given = ["ladder", "--run", str(run), "--games", "2", "--nodes", "6", "--results", str(tmp_path)]
    assert program.main(given) == 2
    assert capsys.readouterr().err.count("\n") == 1
    for generation in range(5):
        (run / f"gen-{generation:03}.npz").touch()
    assert program.main(given) == 0
    text = (tmp_path / "rbc_ladder.json").read_text()
    pairs = [(match["a"], match["b"]) for match in json.loads(text)["matches"]]
    assert len(pairs) == len(met) == 3 * len(ladder.OTHERS) + 3
    for pair in ((2, 0), (4, 2), (4, 3)):
        assert tuple(f"generation {generation}" for generation in pair) in pairs
    assert ("generation 4", "trout") in pairs
    assert all(players[0].startswith(f"dsmcp,network={run}") for players in met) and str(run) not in text
