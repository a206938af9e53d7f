"""``experiments.belief rank``: how likely the truth is to each belief, against sums over all possible positions."""

from __future__ import annotations

import json
from pathlib import Path

import chess
import numpy as np
import pytest

from darkchess import Referee
from darkchess.evaluation.evaluator import BuiltinEvaluator
from darkchess.fog.belief.filter import Filter
from darkchess.fog.belief.policy import Policy
from darkchess.fog.belief.position_set import PositionSet
from darkchess.fog.game.record import GameRecord, write_pgn
from experiments.belief import rank
from experiments.belief.__main__ import main
from experiments.belief.mixture import Played, held_out

SICILIAN = ("e2e4", "c7c5", "g1f3", "d7d6", "d2d4", "c5d4", "f3d4", "g8f6", "b1c3", "a7a6", "c1e3", "e7e5")
MOVES = tuple(map(chess.Move.from_uci, SICILIAN))


def game(number: int, pair: int) -> Played:
    return Played("match", number, pair, "kluss", "greedy", 2, GameRecord(MOVES))


def test_what_is_told_of_the_truth_is_what_sums_over_all_positions_say() -> None:
    policy, evaluator, referee = Policy.packaged(), BuiltinEvaluator(), Referee()
    found = {look.ply: look for look in rank.looks(game(0, 0), policy, 1)}
    color = chess.WHITE
    known = PositionSet(referee.view(color), referee.position, weigher=Filter(policy))
    looked = 0
    for ply, move in enumerate(MOVES, 1):
        referee.push(move)
        known.observe(referee.view(color))
        if referee.turn != color or known.size < rank.LEAST:
            continue
        look = found[ply]
        assert look.size == known.size and (look.player, look.opponent) == ("kluss", "greedy")
        values = evaluator.values(known.rows(np.arange(known.size)))
        at = known.indices(referee.position.row)[0]
        powers = (0.5, 4.0)
        weights = known.weights**0.5 * np.exp(-4.0 * values)
        nats, likelier, below = rank.likelihoods_at(look, "features", powers)
        assert nats == pytest.approx(np.log(weights[at] / weights.mean()))
        better, equal = weights > weights[at] * (1 + 1e-9), np.isclose(weights, weights[at], rtol=1e-9)
        assert likelier == pytest.approx((weights[better].sum() + weights[equal].sum() / 2) / weights.sum())
        worse = (values < values[at]) + 0.5 * (values == values[at])
        assert below == pytest.approx((weights * worse).sum() / weights.sum())
        assert rank.counted(look, "features", powers) == pytest.approx((better + 0.5 * equal).mean())
        looked += 1
    assert looked >= 2


def test_of_a_draw_sums_are_estimated(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = {look.ply: look for look in rank.looks(game(0, 0), Policy.packaged(), 1)}
    monkeypatch.setattr(rank, "WHOLE", 150)
    drawn = [look for look in rank.looks(game(0, 0), Policy.packaged(), 1) if look.size > 150]
    assert drawn
    for look in drawn:
        exact = rank.likelihoods_at(whole[look.ply], "features", (1.0, 2.0))
        assert rank.likelihoods_at(look, "features", (1.0, 2.0))[0] == pytest.approx(exact[0], abs=0.5)


def test_every_fifth_pair_is_held_out() -> None:
    assert [pair for pair in range(20) if held_out(game(2 * pair, pair))] == [4, 9, 14, 19]


def test_the_command_writes_the_table_of_every_belief_and_goes_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "runs" / "belief" / "match"
    folder.mkdir(parents=True)
    lines = []
    for number, pair in ((0, 0), (1, 4)):
        (folder / f"game-{number:05d}.pgn").write_text(write_pgn(GameRecord(MOVES)))
        shown = {"game": number, "pair": pair, "white": "kluss,threads=1", "black": "greedy", "opening": "e2e4 c7c5"}
        lines.append(json.dumps(shown))
    (folder / "games.jsonl").write_text("\n".join(lines) + "\n")
    arguments = ["rank", "--runs", str(tmp_path / "runs"), "--results", str(tmp_path), "--workers", "1", "--every", "1"]
    assert main(arguments) == 0
    document = json.loads((tmp_path / "belief_rank.json").read_text())
    assert document["games"] == {"fitted": 1, "held_out": 1} and document["policy"]["games"] > 100
    shown = {row["belief"]: row["sizes"]["20"] for row in document["beliefs"]}
    assert shown["uniform"]["nats"] == 0.0 and shown["uniform"]["turns"] == document["turns"] > 0
    # The Najdorf's moves are likelier than most.
    assert shown["values"]["nats"] > 0.5
    assert {"values + value", "exp(-bu)"} <= shown.keys()
    kept = {path: path.stat().st_mtime_ns for path in (tmp_path / "runs").rglob("*.look")}
    assert len(kept) == 2 and main(arguments) == 0
    assert {path: path.stat().st_mtime_ns for path in kept} == kept
    capsys.readouterr()


def test_without_games_it_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rank", "--runs", str(tmp_path), "--results", str(tmp_path), "--workers", "1"]) == 1
    assert "no games to look at" in capsys.readouterr().out
