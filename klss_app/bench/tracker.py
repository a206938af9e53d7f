"""The position set: consistent successors per second, by one thread and by two.

Lines (``data/bench_lines.json``): games of our own engine, up to an enemy move at which the set has more than a million
positions. The figures count (source, move) pairs over the wall time of the whole update, including merging. One thread
and two are measured alternately, so that a ratio compares runs close in time.
"""

from __future__ import annotations

import copy
import math
import os
from dataclasses import dataclass
from typing import Any

import chess

from darkchess.evaluation.evaluator import BuiltinEvaluator
from darkchess.fog.belief.filter import MOST_VALUED, SECONDS, Filter
from darkchess.fog.belief.policy import Level, Policy
from darkchess.fog.belief.position_set import PositionSet
from darkchess.fog.game.referee import Referee
from darkchess.fog.game.view import View
from klss_app.bench.positions import packaged, parsed_moves
from klss_app.bench.report import Figures, Report, Say, load, rates, spread, stopwatch, threaded

CAP = 30_000_000
"""Cap of the sets; far above all lines, so that no set is a sample."""


@dataclass(frozen=True)
class BenchLine:
    """A line, and the player whose set is followed to the last ply, the enemy's."""

    name: str
    moves: tuple[chess.Move, ...]
    color: chess.Color

    def before(
        self, threads: int, weigher: Filter | None = None, least: float = math.inf, plies: int | None = None
    ) -> tuple[PositionSet, View]:
        """The set before the last of ``plies``, or before the enemy's first ply at which it has ``least`` positions,
        and the next view. A ``weigher``'s weights are uniform there.
        """
        referee = Referee(None)
        known = PositionSet(referee.view(self.color), referee.position, cap=CAP, threads=threads, weigher=weigher)
        moves = self.moves[:plies]
        for move in moves[:-1]:
            if known.size >= least and referee.turn != self.color:
                referee.push(move)
                return known, referee.view(self.color)
            referee.push(move)
            known.observe(referee.view(self.color), allowance=0.0)
        referee.push(moves[-1])
        return known, referee.view(self.color)

    def small(self, most: int) -> int:
        """Plies up to the last enemy move at which the set has at most ``most`` positions."""
        referee = Referee(None)
        known = PositionSet(referee.view(self.color), referee.position)
        found = 2
        for ply, move in enumerate(self.moves, 1):
            if referee.turn != self.color:
                if known.size > most:
                    break
                found = ply
            referee.push(move)
            known.observe(referee.view(self.color))
        return found


def bench_lines() -> list[BenchLine]:
    """The packaged lines, the smaller set first."""
    return [
        BenchLine(entry["name"], parsed_moves(entry["moves"]), entry["color"] == "white")
        for entry in packaged("bench_lines.json")
    ]


def resident_mb() -> float | None:
    """Resident memory of this process in megabytes; None if the system doesn't report it."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6
    except OSError:
        return None


def tracker(*, repetitions: int = 3, say: Say = lambda line: None) -> Report:
    """Figures ``successors_per_s_1t``, ``successors_per_s_2t``, ``successors_per_cpu_s_1t`` (the same per second of
    processor time), ``two_threads_over_one`` (each over all lines and repetitions), ``largest_update_s_1t``,
    ``largest_update_s_2t`` (seconds of the last line's update) and ``resident_mb`` (right after it, of the set, the
    table it came from and all else in the process). Of the weights, all on one thread: ``filter_successors_per_s`` (the
    filter by tables, from 10⁵ sources or more, its own time alone), ``filter_features_successors_per_s`` and
    ``filter_values_s`` (from 500 sources).
    """
    lines = bench_lines()
    samples: list[dict[str, Any]] = []
    memory: list[float | None] = []
    for line in lines:
        known, view = line.before(threads=2)
        samples += _updates(line.name, known, view, repetitions, say)
        # As in a game, only the set itself is in memory when memory is measured.
        known.observe(view)
        memory.append(resident_mb())
        say(f"{line.name}: {memory[-1] or 0.0:,.0f} MB resident after the update")
        del known
    figures = rates(samples, "successors")
    for threads in (1, 2):
        largest = [s["seconds"] for s in samples if (s["threads"], s["line"]) == (threads, lines[-1].name)]
        figures[f"largest_update_s_{threads}t"] = spread(largest, "s")
    pairs = zip(samples[::2], samples[1::2])
    figures["two_threads_over_one"] = spread([one["seconds"] / two["seconds"] for one, two in pairs], "times")
    figures |= _weights(lines[0], repetitions, say)
    figures["resident_mb"] = spread([mb for mb in memory[-1:] if mb is not None], "MB")
    return Report(figures, None, samples)


def _updates(line: str, known: PositionSet, view: View, repetitions: int, say: Say) -> list[dict[str, Any]]:
    """Samples of the update of ``known`` by ``view``, by one thread and by two in turn."""
    samples: list[dict[str, Any]] = []
    for repetition in range(-1, repetitions):  # the first one warms up
        for threads in (1, 2):
            one = copy.deepcopy(known)
            one._threads = threads
            watch = stopwatch()
            one.observe(view)
            seconds, cpu = watch()
            assert one.capped_by is None, "the bench's lines stay below their cap"
            if repetition >= 0:
                samples.append({
                    "line": line, "repetition": repetition, "threads": threads, "sources": known.size,
                    "positions": one.size, "successors": one.successors, "seconds": seconds, "cpu_seconds": cpu,
                    "load": load(),
                })  # fmt: skip
                say(
                    f"{line}, {threaded(threads)}: {known.size:,} → {one.size:,} positions, "
                    f"{one.successors / seconds / 1e6:.1f} million successors/s, {seconds:.2f} s"
                )
            del one  # two large sets at once would not be a game's memory
    return samples


_LEVELS: tuple[tuple[Level, str, int], ...] = (
    ("tables", "filter_successors_per_s", 100_000),
    ("features", "filter_features_successors_per_s", 100_000),
    ("values", "filter_values_s", 0),
)
"""Kind of filter, its figure, and its least number of source positions."""


def _weights(line: BenchLine, repetitions: int, say: Say) -> Figures:
    """The figures of the weights, on the first line."""
    figures: Figures = {}
    for level, name, least in _LEVELS:
        weigher = Filter(Policy.packaged(), BuiltinEvaluator() if level == "values" else None)
        where: dict[str, Any] = {"least": least} if least else {"plies": line.small(MOST_VALUED)}
        known, view = line.before(1, weigher, **where)
        plain, _ = line.before(1, None, **where)
        found: list[float] = []
        for repetition in range(-1, repetitions):
            # The filter's own time is the difference between updates with it and without.
            seconds = []
            for positions in (copy.deepcopy(plain), copy.deepcopy(known)):
                watch = stopwatch()
                positions.observe(view, allowance=known.size * SECONDS[level])
                seconds.append(watch()[0])
            extra = max(seconds[1] - seconds[0], 1e-9)
            assert positions.weigher is not None
            if repetition >= 0 and positions.weigher.level == level:
                found.append(extra * MOST_VALUED / known.size if level == "values" else positions.successors / extra)
                say(f"{line.name}, filter by {level}: {known.size:,} sources, {extra:.3f} s")
        figures[name] = spread(found, "s" if level == "values" else "successors/s")
    return figures
