"""The position set: consistent successors per second, by one thread, by two and by as many as there are cores.

Lines (``data/bench_lines.json``): games of our own engine, up to an enemy move at which the set has more than a million
positions. The figures count (source, move) pairs over the wall time of the whole update, including merging. The numbers
of threads are measured alternately, so that a ratio compares runs close in time.
"""

from __future__ import annotations

import copy
import time
from dataclasses import dataclass

import chess

from darkchess.fog.belief.position_set import PositionSet
from darkchess.fog.game.referee import Referee
from darkchess.fog.game.view import View
from klss.support.text import Document, counted
from klss.support.threads import usual
from klss_app.bench.positions import packaged, parsed_moves
from klss_app.bench.report import Figures, Report, Say, load, spread, thread_numbers

CAP = 30_000_000
"""Cap of the sets; far above all lines, so that no set is a sample."""


@dataclass(frozen=True)
class BenchLine:
    """A line, and the player whose set is followed to the last ply, the enemy's."""

    name: str
    moves: tuple[chess.Move, ...]
    color: chess.Color

    def before(self, threads: int) -> tuple[PositionSet, View]:
        """The set before the last ply, and the view after it."""
        referee = Referee(None)
        known = PositionSet(referee.view(self.color), referee.position, cap=CAP, threads=threads)
        for move in self.moves[:-1]:
            referee.push(move)
            known.observe(referee.view(self.color), allowance=0.0)
        referee.push(self.moves[-1])
        return known, referee.view(self.color)


def bench_lines() -> list[BenchLine]:
    """The packaged lines, the smaller set first."""
    return [
        BenchLine(entry["name"], parsed_moves(entry["moves"]), entry["color"] == "white")
        for entry in packaged("bench_lines.json", list[dict[str, str]])
    ]


def tracker(*, repetitions: int = 3, say: Say = lambda line: None) -> Report:
    """Figures ``successors_per_s_Nt`` for one thread, two and as many as there are cores, and ``two_threads_over_one``,
    each over all lines and repetitions.
    """
    samples = list[Document]()
    numbers = thread_numbers(usual())
    measured: dict[int, list[tuple[float, float]]] = {threads: [] for threads in numbers}  # seconds, and the rate
    for line in bench_lines():
        known, view = line.before(threads=2)
        for repetition in range(-1, repetitions):  # the first one warms up
            for threads in numbers:
                one = copy.deepcopy(known)
                one._threads = threads
                began = time.perf_counter()
                one.observe(view)
                seconds = time.perf_counter() - began
                assert one.capped_by is None, "the bench's lines stay below their cap"
                if repetition >= 0:
                    measured[threads].append((seconds, one.successors / seconds))
                    samples.append({
                        "line": line.name, "repetition": repetition, "threads": threads, "sources": known.size,
                        "positions": one.size, "successors": one.successors, "seconds": seconds, "load": load(),
                    })  # fmt: skip
                    say(
                        f"{line.name}, {counted(threads, 'thread')}: {known.size:,} → {one.size:,} positions, "
                        f"{one.successors / seconds / 1e6:.1f} million successors/s, {seconds:.2f} s"
                    )
                del one  # two large sets at once would not be a game's memory
    figures: Figures = {
        f"successors_per_s_{threads}t": spread([rate for _, rate in found], "successors/s")
        for threads, found in measured.items()
    }
    faster = [one / two for (one, _), (two, _) in zip(measured[1], measured[2])]
    figures["two_threads_over_one"] = spread(faster, "times")
    return Report(figures, None, samples)
