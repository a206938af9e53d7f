"""How fast what stands on positions of Reconnaissance Blind Chess is: the position set, and what is made of it.

``tracker``: successors a second, and the partitions by all senses. ``synopsis``: what a network sees of a set.
"""

from __future__ import annotations

import random
import time
from typing import Any

import chess
import numpy as np

from blindchess.belief.position_set import PositionSet
from blindchess.belief.senses import partitions
from blindchess.game.observation import Notice
from blindchess.game.referee import Referee
from blindchess.synoptic.forced import forced_win
from blindchess.synoptic.synopsis import MEMORY, SENSE, synopses
from klss_app.bench.report import Report, Say, spread

__all__ = ["synopsis", "tracker"]

_LEAST = 1_000_000
"""Sources of an update that is timed."""

_CAP = 30_000_000
_SAMPLE = 2000

_SET = 128
"""Members of a set in a search's playout."""

_BATCH = 256
_FEW = 10_000
"""Positions that such sets are drawn from."""


def tracker(*, repetitions: int = 3, say: Say = lambda line: None) -> Report:
    """Figures ``successors_per_s_1t`` and ``_2t`` (from 10⁶ sources or more, over the wall time of the whole update),
    ``successors_per_cpu_s_1t``, ``partitions_s`` (all 36 senses of 2,000 positions) and ``partitions_cpu_s``.
    """
    samples: list[dict[str, Any]] = []
    for repetition in range(-1, repetitions):  # the first one warms up
        for threads in (1, 2):
            known = _large(threads)
            sources = known.size
            began, began_cpu = time.perf_counter(), time.process_time()
            known.noticed(Notice(None))
            seconds, cpu = time.perf_counter() - began, time.process_time() - began_cpu
            if repetition >= 0:
                samples.append({
                    "threads": threads, "sources": sources, "positions": known.size, "successors": known.successors,
                    "seconds": seconds, "cpu_seconds": cpu,
                })  # fmt: skip
                say(
                    f"{threads} thread{'s' * (threads - 1)}: {sources:,} → {known.size:,} positions, "
                    f"{known.successors / seconds / 1e6:.1f} million successors/s, {seconds:.2f} s"
                )
    known = _large(1)
    chosen = known.sample(_SAMPLE, 0)
    walls, cpus = [], []
    for repetition in range(-1, 20 * repetitions):
        began, began_cpu = time.perf_counter(), time.process_time()
        found = partitions(known, chosen)
        found.left_over(np.full(_SAMPLE, 1.0 / _SAMPLE))
        if repetition >= 0:
            walls.append(time.perf_counter() - began)
            cpus.append(time.process_time() - began_cpu)
    figures: dict[str, dict[str, Any] | None] = {}
    for threads in (1, 2):
        mine = [one for one in samples if one["threads"] == threads]
        figures[f"successors_per_s_{threads}t"] = spread(
            [one["successors"] / one["seconds"] for one in mine], "successors/s"
        )
    figures["successors_per_cpu_s_1t"] = spread(
        [one["successors"] / one["cpu_seconds"] for one in samples if one["threads"] == 1],
        "successors/s of processor time",
    )
    figures["partitions_s"] = spread(walls, "s")
    figures["partitions_cpu_s"] = spread(cpus, "s")
    say(f"partitions by 36 senses of {_SAMPLE:,} positions: {np.median(walls) * 1e3:.2f} ms")
    return Report(figures, None, samples)


def synopsis(*, repetitions: int = 3, say: Say = lambda line: None) -> Report:
    """Figures ``synopsis_s`` and ``synopsis_cpu_s`` (one of a batch of 256 sets of 128 positions) and ``forced_win_s``
    (of one such set before the sense, one call at a time).
    """
    known = _large(1, _FEW)
    sets = [known.halves[known.sample(_SET, seed)] for seed in range(_BATCH)]
    halves, offsets = np.concatenate(sets), _SET * np.arange(_BATCH + 1)
    rows, stages = np.tile(known.own_row, (_BATCH, 1)), np.arange(_BATCH) % 2
    memories = np.zeros((_BATCH, MEMORY), dtype=np.uint64)
    walls, cpus, forced = [], [], []
    for repetition in range(-1, 20 * repetitions):  # the first one warms up
        began, began_cpu = time.perf_counter(), time.process_time()
        synopses(rows, halves, offsets, stages, memories)
        seconds, cpu = time.perf_counter() - began, time.process_time() - began_cpu
        began = time.perf_counter()
        for members in sets:
            forced_win(rows[0], members, SENSE)
        if repetition >= 0:
            walls.append(seconds / _BATCH)
            cpus.append(cpu / _BATCH)
            forced.append((time.perf_counter() - began) / _BATCH)
    say(f"the synopsis of {_SET} positions: {np.median(walls) * 1e6:.1f} µs, a batch of {_BATCH} sets at a time")
    say(f"whether a sense wins for sure: {np.median(forced) * 1e6:.1f} µs")
    figures: dict[str, dict[str, Any] | None] = {
        "synopsis_s": spread(walls, "s"),
        "synopsis_cpu_s": spread(cpus, "s"),
        "forced_win_s": spread(forced, "s"),
    }
    return Report(figures, None, [])


def _large(threads: int, least: int = _LEAST) -> PositionSet:
    """White's set of at least so many positions before a turn of Black: nobody looks, and quiet men move."""
    rng = random.Random(5)
    game = Referee()
    known = PositionSet(chess.WHITE, game.position, cap=_CAP, threads=threads)
    while known.size < least or game.turn == chess.WHITE:
        if game.turn == chess.WHITE:
            known.noticed(game.notice)
            quiet = [move for move in game.requests() if chess.square_rank(move.to_square) < 4]
            known.moved(game.move(rng.choice(quiet)))
        else:
            quiet = [move for move in game.requests() if chess.square_rank(move.to_square) > 3]
            game.move(rng.choice(quiet))
    return known
