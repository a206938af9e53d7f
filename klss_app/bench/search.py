"""The engine within a move's time: nodes and depth at the start and in three middlegames, and its signature.

The player to move knows each position by its views alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import SupportsFloat

from darkchess.evaluation.evaluator import Evaluator
from darkchess.fog.players.named_fog_players import Configuration, make_player
from klss.play.limits import Limit
from klss.support.text import Document, counted
from klss_app.bench.positions import bench_positions, seated
from klss_app.bench.report import Figures, Report, Say, load, spread, thread_numbers
from klss_app.bench.signature import signature


def search(
    chosen: Configuration,
    evaluators: Callable[[int], dict[str, Evaluator | None]],
    *,
    seconds: float = 5.0,
    repetitions: int = 3,
    seed: int = 0,
    say: Say = lambda line: None,
) -> Report:
    """Nodes and depth of a search of ``seconds`` at each position, for each evaluator by its name (None: not
    installed); ``evaluators`` makes them for a number of threads.

    The figures ``nodes_NAME_Nt``, for each number N of threads, are over all positions and repetitions, so that their
    minimum is that of the slowest position. ``nodes_NAME`` has the player's own number of threads.
    """
    figures: Figures = {}
    rows = list[Document]()
    crc = signature(chosen, seed=seed, say=say)  # also warms up
    for threads in thread_numbers(chosen.thread_count):
        for name, evaluator in evaluators(threads).items():
            if evaluator is None:
                figures[f"nodes_{name}"] = None
                continue
            numbers: dict[str, list[float]] = {"nodes": [], "depth": [], "gap": []}
            for position, game in bench_positions():
                for repetition in range(repetitions):
                    some = replace(chosen, threads=threads)
                    player = seated(make_player(some, evaluator, seed=seed + repetition), game)
                    found = player.answer("move", Limit(time_s=seconds)).diagnostics
                    labels = {"position": position, "evaluator": name, "repetition": repetition, "threads": threads}
                    rows.append({**labels, "load": load(), **found})
                    for figure, values in numbers.items():
                        number = found[figure]
                        assert isinstance(number, SupportsFloat)
                        values.append(float(number))
                    say(
                        f"{position}, {name}, {counted(threads, 'thread')}: {found['nodes']} nodes, depth "
                        f"{found['depth']}, {found['iterations']} iterations, {found['positions']} positions, gap "
                        f"{found['gap']:.1e}, {found['seconds']:.2f} s"
                    )
            for figure, unit in (("nodes", f"nodes per {seconds:g} s"), ("depth", "plies"), ("gap", "utility")):
                figures[f"{figure}_{name}_{threads}t"] = figures[f"{figure}_{name}"] = spread(numbers[figure], unit)
    return Report(figures, crc, rows)
