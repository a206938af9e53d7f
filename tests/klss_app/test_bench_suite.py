"""The suite: each right move is proven here, by code that shares nothing with the engine."""

from __future__ import annotations

import chess
import numpy as np
import pytest

from darkchess.evaluation.evaluator import BuiltinEvaluator
from darkchess.fog.game.contest import DEFAULT_PLAYER
from darkchess.fog.players.named_fog_players import configuration, make_player
from klss.play.limits import Limit
from klss_app.bench import suite as suite_module
from klss_app.bench.positions import seated
from klss_app.bench.suite import mixture, suite, suite_entries
from tests.klss_app.suite_laws import LAWS, START, king_falls, parsed, turn, uci
from tests.oracles import brute_force, pawn_ending

ENTRIES = {entry.name: entry for entry in suite_entries()}


def test_there_are_thirty_entries_and_more_each_with_a_source_and_a_question() -> None:
    assert len(ENTRIES) == len(suite_entries()) >= 30
    assert all(entry.source and entry.asked and entry.game.outcome is None for entry in ENTRIES.values())


@pytest.mark.parametrize("name", ENTRIES)
def test_the_right_moves_are_those_of_the_law_in_every_possible_position(name: str) -> None:
    entry = ENTRIES[name]
    found = turn(entry.fen, [move.uci() for move in entry.moves])
    assert {uci(move) for move in LAWS[entry.law](found)} == {move.uci() for move in entry.right}
    assert 0 < len(entry.right) < len(entry.game.legal_moves()), "some moves are right, and some are not"


def test_the_table_of_the_pawn_ending_agrees_with_all_moves() -> None:
    """White wins where a move leads to a position that is won, Black loses where every move does."""
    rng = np.random.default_rng(1)
    seen = set()
    for _ in range(400):
        king, other, pawn = rng.choice(64, 3, replace=False)
        if not 8 <= pawn < 56:
            continue
        board = ["."] * 64
        board[king], board[other], board[pawn] = "K", "k", "P"
        for side in "wb":
            position = ("".join(board), side, "", -1)
            after = [brute_force.play(position, move) for move in brute_force.moves(position)]
            # A piece other than a queen is no better; its table is not there.
            won = [pawn_ending.wins(each) for each in after if not set("NBR") & set(each[0])]
            assert pawn_ending.wins(position) == (any(won) if side == "w" else all(won)), position
            seen.add((side, pawn_ending.wins(position)))
    assert len(seen) == 4


def test_nobody_overlooked_a_king_on_the_way() -> None:
    """A king that can be taken is seen: no player lets it go, so no possible position need be believed to hold one."""
    for entry in ENTRIES.values():
        position = brute_force.parse(entry.fen or START)
        for move in entry.moves:
            assert not king_falls(position), entry.name
            position = brute_force.play(position, parsed(move.uci()))


# -------------------------------------------------------------------------------------------------------- the bench
@pytest.mark.parametrize("name", ["klss2021", "kluss", "baseline"])
def test_the_mixture_is_what_the_player_draws_her_move_from(name: str) -> None:
    chosen, evaluator, limit = configuration(f"{name},threads=1"), BuiltinEvaluator(), Limit(nodes=300)
    for entry in (ENTRIES["Qa4+ after 1.c4 d5"], ENTRIES["king v unseen rook"], ENTRIES["Qxe8"]):
        played, positions = mixture(chosen, evaluator, entry.game, limit, seed=1)
        decision = seated(make_player(chosen, evaluator, seed=1), entry.game).answer("move", limit)
        assert sum(played.values()) == pytest.approx(1.0) and played[decision.answer] > 0.0
        assert positions == decision.diagnostics["positions"]
        assert chosen.search is not None or next(iter(played)) == decision.answer, "in the order of the draws"


def test_who_plays_by_default_keeps_her_king_from_an_unseen_queen_on_a4() -> None:
    """1.c4 d5 2.Qa4+: a belief that was learned from those who don't play it takes the pawn, and the king is gone."""
    entry, chosen = ENTRIES["Qa4+ after 1.c4 d5"], configuration(f"{DEFAULT_PLAYER},threads=1")
    played = [mixture(chosen, BuiltinEvaluator(), entry.game, Limit(nodes=4000), seed=seed)[0] for seed in (0, 1)]
    assert all(found.get(chess.Move.from_uci("d5c4"), 0.0) < 0.05 for found in played)
    assert min(map(entry.score, played)) > 0.5


def test_the_report_tells_each_entry_and_the_means(monkeypatch: pytest.MonkeyPatch) -> None:
    some = [ENTRIES[name] for name in ("Qxe8", "kings meet", "king v unseen rook", "Qa4+ after 1.c4 d5")]
    monkeypatch.setattr(suite_module, "suite_entries", lambda: some)
    said: list[str] = []
    report = suite(configuration("klss2021"), BuiltinEvaluator(), Limit(nodes=200), repetitions=2, say=said.append)
    assert len(report.rows) == len(said) == 8
    assert {row["entry"] for row in report.rows} == {entry.name for entry in some}
    assert all(0.0 <= row["score"] <= 1.0 for row in report.rows)
    assert report.figures.keys() == {"score", "blind", *(f"score_{entry.theme}" for entry in some)}
    means = [np.mean([row["score"] for row in report.rows if row["repetition"] == each]) for each in (0, 1)]
    score = report.figures["score"]
    assert score is not None and (score["min"], score["max"]) == pytest.approx((min(means), max(means)))
