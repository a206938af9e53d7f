"""`klss solve` beside other solvers, same games, same process.

* Exactly, beside OpenSpiel's own sequence-form program: from a loaded game to the value, including the traversal, but
  not imports and compiling; best of three in a warm process.
* By regret minimisation: seconds to a gap of 10⁻³ beside OpenSpiel's CFR+ (C++), and iterations per second beside
  LiteEFG's CFR+ (C++) if that is installed. The tree is built before; time for measuring the gap counts only for us.

Seconds are processor seconds (:func:`time.process_time`), which other programs don't affect.

Run as ``python -m experiments.openspiel_speed [--out FILE]``; needs the extra ``experiments`` (cvxpy and ecos are
OpenSpiel's).
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pyspiel

import klss
from klss import openspiel
from klss.errors import INSTALL_EXTRAS
from klss.first_order import METHODS, FirstOrder
from klss.first_order import solve as iterate
from klss.sequence_form import sequence_form
from uci_bridge.match.documents import head, write_document

GAMES = ("kuhn_poker", "leduc_poker", "liars_dice(dice_sides=4)")
ITERATED = ("leduc_poker", "liars_dice(dice_sides=4)", "liars_dice(dice_sides=6)")
REPEATS = 3
GAP = 1e-3
ITERATIONS = 100
"""Iterations between two checks of the clock."""
PATIENCE_S = 90.0
"""Most seconds of OpenSpiel's CFR+."""


def _timed(function: Callable[[], float]) -> tuple[float, list[float]]:
    value = function()
    times = []
    for _ in range(REPEATS):
        begin = time.process_time()
        value = function()
        times.append(time.process_time() - begin)
    return value, times


def compare(name: str) -> dict[str, Any]:
    """One game: both values, all times in seconds, and the ratio of the best ones."""
    from open_spiel.python.algorithms import sequence_form_lp

    game = pyspiel.load_game(name)
    ours, our_times = _timed(lambda: klss.solve(openspiel.load(game)).value)
    theirs, their_times = _timed(lambda: float(sequence_form_lp.solve_zero_sum_game(game)[0]))
    return {
        "game": name,
        "klss_s": our_times,
        "openspiel_s": their_times,
        "ratio": min(their_times) / min(our_times),
        "value": ours,
        "difference": abs(ours - theirs),
    }


def first_order(name: str) -> dict[str, Any]:
    """One game by regret minimisation: seconds to the gap, and iterations a second."""
    game, form = pyspiel.load_game(name), sequence_form(openspiel.load(name))
    row: dict[str, Any] = {"game": name, "gap": GAP, "methods": {}}
    for method in METHODS:
        iterate(form, method=method, iterations=2)
        begin = time.process_time()
        found = iterate(form, method=method, gap=GAP)
        seconds = time.process_time() - begin
        row["methods"][method] = {"seconds": seconds, "iterations": found.stats.iterations}
    row["openspiel"] = _openspiel_cfr_plus(game)
    run = FirstOrder(form, "cfr+")
    row["per_second"] = _rate(lambda: run.run(ITERATIONS))
    if find_spec("LiteEFG") is not None:
        row["liteefg_per_second"] = _liteefg_rate(game)
    return row


def _rate(iterations: Callable[[], None]) -> float:
    """Iterations per second, the best of three runs."""
    best = math.inf
    for _ in range(REPEATS + 1):  # the first one warms up
        begin = time.process_time()
        iterations()
        best = min(best, time.process_time() - begin)
    return ITERATIONS / best


def _liteefg_rate(game: Any) -> float:
    import LiteEFG
    from LiteEFG.baselines import CFRplus

    environment, graph = LiteEFG.OpenSpielEnv(game), CFRplus.graph()
    environment.set_graph(graph)

    def iterations() -> None:
        for _ in range(ITERATIONS):
            graph.update_graph(environment)

    return _rate(iterations)


def _openspiel_cfr_plus(game: Any) -> dict[str, Any]:
    """Seconds and iterations to the gap, without the time for measuring it; at most :data:`PATIENCE_S`."""
    solver = pyspiel.CFRPlusSolver(game)
    spent, iterations, look, gap = 0.0, 0, 10, math.inf
    while gap > GAP and spent < PATIENCE_S:
        begin = time.process_time()
        while iterations < look and spent + time.process_time() - begin < PATIENCE_S:
            solver.evaluate_and_update_policy()
            iterations += 1
        spent += time.process_time() - begin
        gap = pyspiel.nash_conv(game, solver.average_policy())
        look = iterations + max(10, iterations // 10)
    return {"seconds": spent, "iterations": iterations, "gap": gap}


def main() -> int:
    """Run the comparison and print or write it; return the exit code."""
    parser = argparse.ArgumentParser(description="klss solve against OpenSpiel's sequence_form_lp")
    parser.add_argument("--out", type=Path)
    out = parser.parse_args().out
    if find_spec("cvxpy") is None or find_spec("ecos") is None:
        print(f"OpenSpiel's program takes cvxpy and ecos; expected them: {INSTALL_EXTRAS}", file=sys.stderr)
        return 2
    rows = []
    for name in GAMES:
        row = compare(name)
        rows.append(row)
        print(
            f"{name:<28} klss {min(row['klss_s']):.4f} s  OpenSpiel {min(row['openspiel_s']):.4f} s  "
            f"ratio {row['ratio']:.1f}  values differ by {row['difference']:.1e}",
            flush=True,
        )
    iterated = []
    for name in ITERATED:
        row = first_order(name)
        iterated.append(row)
        reached = "" if row["openspiel"]["gap"] <= GAP else f" (gap {row['openspiel']['gap']:.1e})"
        print(
            f"{name:<28} to {GAP:g}: "
            + "  ".join(f"{method} {each['seconds']:.4f} s" for method, each in row["methods"].items())
            + f"  OpenSpiel's CFR+ {row['openspiel']['seconds']:.2f} s{reached}; iterations a second: klss "
            f"{row['per_second']:,.0f}  LiteEFG {row.get('liteefg_per_second', math.nan):,.0f}",
            flush=True,
        )
    if out is not None:
        about = head("openspiel_speed", "open_spiel", "highspy", "cvxpy", "ecos", "numpy", "scipy")
        write_document(out, about | {"repeats": REPEATS, "games": rows, "first_order": iterated})
    return 0


if __name__ == "__main__":
    sys.exit(main())
