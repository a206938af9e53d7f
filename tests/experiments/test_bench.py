"""What the benches say, and the signature that guards the engine's behaviour."""

from __future__ import annotations

import functools
import itertools
import json

import pytest

import darkchess.board.position_step as position_step
import darkchess.fog.players.tracking as tracking
import klss_app.bench.evaluator as evaluator_bench
from darkchess.fog.belief.position_set import PositionSet
from darkchess.fog.players.named_fog_players import configuration
from klss_app.bench.equilibrium import TOLERANCE, Step, program_sequence
from klss_app.bench.positions import bench_games
from klss_app.bench.signature import EXPECTED, signature
from klss_app.cli.main import main


@pytest.mark.parametrize("threads", [1, 2])
def test_the_signature_is_the_expected_one_on_one_thread_and_on_two(
    threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tracking, "PositionSet", functools.partial(PositionSet, threads=threads))
    monkeypatch.setattr(position_step, "PART", 1)
    found, expected = signature(configuration("klss2021")), json.loads(EXPECTED.read_text())["signature"]
    assert found == expected, (
        f"the engine plays differently: signature {found}, expected {expected}. If that was meant, renew it with "
        "`python -m klss_app.bench.signature --write` and say in the commit what changed and why; if it was not "
        "meant, find out what changed it"
    )


def test_warm_and_cold_programs_agree_and_the_sequences_are_long_enough_to_tell() -> None:
    games = bench_games()  # the start has one root infoset, the middlegames several: there caution matters
    for (name, moves), kind in itertools.product((games[0], games[2]), ("resolve", "maxmargin")):
        steps = program_sequence(configuration("klss2021,particles=30"), moves, kind, 3000)  # type: ignore[arg-type]
        assert len(steps) >= 4, name
        assert max(step.difference for step in steps) <= TOLERANCE
        assert max(step.gap for step in steps) <= 1e-6
        assert {step.ply for step in steps} == {0, 2}, "a fresh trunk and one carried on"


def test_solvers_that_disagree_end_the_bench_in_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    step = Step(0, 1, 1.0, 1.0, 1.0, difference=0.1, gap=0.0)
    monkeypatch.setattr("klss_app.bench.equilibrium.program_sequence", lambda *_: [step])
    assert main(["bench", "equilibrium", "--repetitions", "1"]) == 1
    assert "warm and cold differ" in capsys.readouterr().err.splitlines()[-1]


def test_bench_prints_one_document_with_figures(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """docs/json.md, "`klss bench`": the evaluator's bench, which is the quickest."""
    monkeypatch.setattr(evaluator_bench, "_LEAST_S", 0.01)
    assert main(["bench", "evaluator", "--json", "--repetitions", "2"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found.keys() >= {"bench", "signature", "figures", "configuration", "versions"}
    for name in ("values_per_s", "values_per_s_1t", "values_per_s_2t", "mean_abs_tanh_error"):
        figure = found["figures"][name]
        assert figure.keys() == {"min", "median", "max", "unit"}
        assert figure["min"] <= figure["median"] <= figure["max"]
