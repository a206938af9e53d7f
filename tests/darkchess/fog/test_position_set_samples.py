"""What is declared when a position set is no longer exact; and that nothing depends on threads, batches or storage."""

from __future__ import annotations

import math
import random
import time
from functools import partial

import chess
import numpy as np
import pytest

from darkchess import PAPER, Referee
from darkchess.board import position_step, position_table
from darkchess.board.kernels import position_table as kernels
from darkchess.board.kernels.tables import TABLES
from darkchess.fog.belief import position_set
from darkchess.fog.belief.filter import Filter
from darkchess.fog.belief.policy import Policy
from darkchess.fog.belief.position_set import PositionSet
from darkchess.fog.game._kernels import vision
from klss.support.threads import share
from tests.darkchess.fog.position_set_games import STARTS, choose, followed

LINE = ["g1f3", "a7a6", "b1c3", "h7h6", "e2e3", "b7b6", "d2d3", "g7g6"]
"""Quiet moves out of Black's sight: 1, 20, 20, 246, 246, 2365, 2365, 18947, 18947 positions for Black."""


def after_line(color: chess.Color, plies: int = len(LINE), **options: object) -> tuple[Referee, PositionSet]:
    return followed(LINE[:plies], color, **options)


def halves(known: PositionSet) -> list[tuple[int, ...]]:
    return [tuple(row) for row in known.rows(np.arange(known.size)).tolist()]


def test_past_the_cap_the_front_of_the_exact_set_stays_and_the_set_says_so() -> None:
    game, exact = after_line(chess.BLACK, 5, seed=3)
    assert exact.size == 2365
    assert (exact.capped_by, exact.sampled) == (None, False)
    _, capped = after_line(chess.BLACK, 5, seed=3, cap=exact.size - 1)
    assert (capped.size, capped.capped_by, capped.sampled) == (exact.size - 1, "cap", True)
    assert capped.halves.tolist() == exact.halves[:-1].tolist()
    _, full = after_line(chess.BLACK, 5, seed=3, cap=exact.size)
    assert (full.size, full.capped_by) == (exact.size, None)
    game.push(chess.Move.from_uci(LINE[5]))
    capped.observe(game.view(chess.BLACK))
    assert capped.sampled, "a sample stays one"


def test_a_set_is_cut_at_random_by_its_seed_and_says_what_part_it_holds() -> None:
    _, exact = after_line(chess.BLACK, 5)
    capped = [after_line(chess.BLACK, 5, seed=seed, cap=1000)[1] for seed in range(2)]
    kept = [set(map(tuple, each.halves.tolist())) for each in capped]
    assert len(kept[0] & kept[1]) == pytest.approx(1000 * 1000 / exact.size, rel=0.15)
    assert [each.held for each in capped] == pytest.approx([1000 / exact.size] * 2, rel=0.1)


def test_a_sample_is_not_drawn_again_by_the_hash_that_it_was_drawn_by(monkeypatch: pytest.MonkeyPatch) -> None:
    """A piece that went out and back makes a position that was kept once already. By one hash it would be kept again,
    as all of those would be: of 30 members drawn from 246, then from what they lead to, and again, 12 % would be such
    (and of 10⁷ they would fill the front of the table, where an insertion then takes a second); it is 4.6 %.
    """
    monkeypatch.setattr(position_table, "SLACK", 16)
    _, earlier = after_line(chess.BLACK, 3)
    members = set(map(tuple, earlier.halves.tolist()))
    shares = []
    for seed in range(60):
        _, sample = after_line(chess.BLACK, 7, seed=seed, cap=30)
        shares.append(np.mean([tuple(half) in members for half in sample.halves.tolist()]))
    assert 0.02 < np.mean(shares) < 0.08


@pytest.mark.parametrize("cap", [300, 10_000_000])
def test_the_set_is_the_same_on_any_number_of_threads_in_any_batch_and_with_any_table(
    cap: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, plain = after_line(chess.BLACK, seed=5, cap=cap)
    for threads, buffer, slack in [(1, 700, 16), (2, 700, 16), (3, 700, 16), (4, 1 << 16, 1 << 18), (7, 700, 16)]:
        monkeypatch.setattr(position_step, "PART", 4)
        monkeypatch.setattr(position_set, "PART", 4)
        monkeypatch.setattr(position_table, "BUFFER", buffer)
        monkeypatch.setattr(position_table, "SLACK", slack)
        _, other = after_line(chess.BLACK, seed=5, cap=cap, threads=threads)
        assert other.capped_by == plain.capped_by
        assert other.successors == plain.successors
        assert (other._positions == plain._positions).all()
        assert (other.sample(50, seed=1) == plain.sample(50, seed=1)).all()


@pytest.mark.parametrize("cap", [300, 5000, 10**18])  # memory is for the set, not for the cap
@pytest.mark.parametrize("threads", [1, 3])
def test_a_streamed_set_is_the_same_in_slices_of_any_size(
    cap: int, threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(position_step, "PART", 4)
    monkeypatch.setattr(position_table, "SLACK", 16)
    _, plain = after_line(chess.BLACK, seed=5, cap=cap)
    for slice_size in (100, 999, 6000):
        monkeypatch.setattr(position_step, "SLICE", slice_size)
        _, streamed = after_line(chess.BLACK, seed=5, cap=cap, threads=threads, stream=True)
        assert streamed.capped_by == plain.capped_by
        assert (streamed._positions == plain._positions).all()


@pytest.mark.parametrize("stream", [False, True])
def test_only_a_deadline_that_is_passed_leaves_a_sample(stream: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(position_table, "BUFFER", 400)
    found = []
    for seconds in (math.inf, -1.0):
        game, known = after_line(chess.BLACK, 6, stream=stream)
        game.push(chess.Move.from_uci(LINE[6]))
        known.observe(game.view(chess.BLACK), deadline=time.monotonic() + seconds)
        found.append(known)
    exact, late = found
    assert (exact.size, exact.capped_by) == (18947, None)
    assert (late.capped_by, late.sampled) == ("time", True)
    assert 0 < late.size < exact.size and set(halves(late)) < set(halves(exact))
    assert 0 < late.held <= late.size / exact.size, "of two sources with a common successor, one is enough to find it"


def weighed_line(plies: int) -> tuple[Referee, PositionSet]:
    return after_line(chess.BLACK, plies, weigher=Filter(Policy.packaged()))


def test_short_of_time_the_likeliest_are_followed_and_a_tenth_of_any(monkeypatch: pytest.MonkeyPatch) -> None:
    game, before = weighed_line(6)
    _, exact = weighed_line(6)
    assert (before.size, before.held) == (2365, 1.0)
    monkeypatch.setattr(position_set, "_LEAST_FOLLOWED", 500)
    chosen = before._followed_by(time.monotonic())
    assert len(chosen) == 500
    ranks = np.argsort(np.argsort(-before.weights, kind="stable"))[chosen]
    assert set(range(450)) <= set(ranks.tolist()), "the 450 likeliest"
    assert np.mean(np.sort(ranks)[450:]) > 1000, "and fifty from everywhere"
    held = float(before.weights[chosen].sum())
    sources = set(halves(before))
    game.push(chess.Move.from_uci(LINE[6]))
    exact.observe(game.view(chess.BLACK), deadline=math.inf)
    # Late by no more than the least step, so that all 500 are treated.
    before.observe(game.view(chess.BLACK), deadline=time.monotonic() - 1)
    assert (before.capped_by, before.sampled) == ("time", True)
    assert before.held == pytest.approx(held) and 500 / len(sources) < held < 1.0
    assert set(halves(before)) < set(halves(exact))
    assert before.weights.sum() == pytest.approx(1.0)
    assert (exact.capped_by, exact.held) == (None, 1.0)


def test_short_of_room_the_likeliest_are_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(position_set, "_ANY", 0.0)
    game, exact = weighed_line(6)
    game.push(chess.Move.from_uci(LINE[6]))
    sources = dict(zip(halves(exact), exact.weights.tolist(), strict=True))
    exact.observe(game.view(chess.BLACK))
    kept: dict[bool, float] = {}
    for weighed in (True, False):
        _, small = after_line(
            chess.BLACK, 6, cap=exact.size // 4, weigher=Filter(Policy.packaged()) if weighed else None
        )
        assert len(sources) <= exact.size // 4 and small.held == 1.0, "the cap cuts at the next move first"
        small.observe(game.view(chess.BLACK))
        assert (small.capped_by, small.sampled) == ("cap", True) and small.size <= exact.size // 4
        assert set(halves(small)) < set(halves(exact))
        kept[weighed] = float(exact.weights[exact.indices(np.array(list(small.rows(np.arange(small.size)))))].sum())
    assert kept[True] > 2 * kept[False] > 0.0


def test_without_a_deadline_no_clock_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    def never() -> float:
        raise AssertionError("a clock was read")

    for name in ("monotonic", "perf_counter", "time", "process_time"):
        monkeypatch.setattr(time, name, never)
    monkeypatch.setattr(position_table, "BUFFER", 400)
    _, known = after_line(chess.BLACK, cap=200)
    assert known.capped_by == "cap"
    assert known.sample(5).shape == (5, 9)


@pytest.mark.parametrize("cap", [1, 20])
def test_a_sample_that_dies_out_is_mended_into_positions_that_look_right(cap: int) -> None:
    recoveries = 0
    for seed, fen in enumerate(STARTS.values()):
        rng = random.Random(100 * cap + seed)
        game = Referee(fen, PAPER)
        known = {color: PositionSet(game.view(color), game.position, cap=cap, seed=seed) for color in chess.COLORS}
        for _ in range(60):
            game.push(choose(game, rng, spice=0.3))
            for color, one in known.items():
                one.observe(game.view(color))
            if game.outcome is not None:
                break
            for color, one in known.items():
                view = game.view(color)
                assert 1 <= one.size <= cap
                assert one.sampled or one.recoveries == 0
                for row in one.rows(np.arange(one.size)):
                    key = int(vision.observation_key(row, 0 if color else 1, TABLES))
                    assert key == view.key(), (game.position.fen(), color)
                    for side in (6, 7):
                        assert int(row[5] & row[side]).bit_count() == 1
                        assert int(row[side]).bit_count() <= 16
                    assert int(row[0]) & 0xFF000000000000FF == 0
        recoveries += sum(one.recoveries for one in known.values())
    assert recoveries > 0


def test_sampling_is_uniform_without_replacement_and_leaves_out_what_is_excluded() -> None:
    _, known = after_line(chess.BLACK, 1)
    assert known.size == 20
    counts = dict.fromkeys(halves(known), 0)
    for seed in range(2000):
        drawn = [tuple(row) for row in known.sample(5, seed=seed).tolist()]
        assert len(set(drawn)) == 5
        for row in drawn:
            counts[row] += 1
    # 2000 draws of 5 from 20: mean 500, standard deviation sqrt(2000 * 1/4 * 3/4) < 20; five of them either side.
    assert all(400 < count < 600 for count in counts.values())
    first = known.sample(8, seed=1)
    others = known.sample(100, seed=1, exclude_rows=first)
    assert len(others) == 12
    assert {tuple(row) for row in others.tolist()}.isdisjoint({tuple(row) for row in first.tolist()})
    stranger = Referee("4k3/8/8/8/8/8/8/4K3 w - - 0 1").position.row
    assert len(known.sample(100, exclude_rows=[stranger])) == 20
    assert known.sample(0).shape == (0, 9)


@pytest.mark.parametrize("threads", [1, 4])
@pytest.mark.parametrize("cap", [5000, *(pytest.param(cap, marks=pytest.mark.slow) for cap in (100_000, 300))])
def test_the_table_holds_a_set_through_growing_and_cutting(
    cap: int, threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each thread inserts all entries, so that several claim one slot at the same time."""
    monkeypatch.setattr(position_table, "SLACK", 16)
    monkeypatch.setattr(position_table, "LEAST_SIZE", 2500)
    rng = np.random.default_rng(cap)
    entries = rng.integers(1, 1 << 63, size=(20_000, 2), dtype=np.uint64)
    entries[10_000:] = entries[rng.integers(0, 10_000, size=10_000)]
    key = np.uint64(99)
    table, given = position_table.PositionTable(key, cap, 100, threads=threads), set[tuple[int, ...]]()
    for start in range(0, 20_000, 500):
        while table.scarce:
            table.make_room()
        part = entries[start : start + 500].copy()
        given.update(map(tuple, part.tolist()))
        share(partial(table.insert, part, len(part)), threads, threads)
        assert len(table) <= len(given)
    assert table.cut == (cap < 10_000)
    # The entries with the smallest hashes, in the order of the hashes.
    distinct = np.unique(entries, axis=0)
    order = np.argsort(np.array([kernels.half_hash(*half, key) for half in distinct], dtype=np.uint64))
    assert table.finish().tolist() == distinct[order[: table.cap]].tolist()
