"""`klss solve` against OpenSpiel's own sequence-form program, same games, same process.

Both sides: from a loaded game to the value, traversal included, imports and compiling not; best of three in a warm
process. Run as ``python -m experiments.openspiel_speed [--out FILE]``; needs the extra ``experiments`` (cvxpy and ecos
are OpenSpiel's).
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pyspiel

from klss import openspiel
from klss.equilibrium import solve
from klss.errors import INSTALL_EXTRAS
from klss.sequence_form import sequence_form
from uci_bridge.match.documents import head, write_document

__all__ = ["compare", "main"]

GAMES = ("kuhn_poker", "leduc_poker", "liars_dice(dice_sides=4)")
REPEATS = 3


def _timed(function: Callable[[], float]) -> tuple[float, list[float]]:
    value = function()
    times = []
    for _ in range(REPEATS):
        begin = time.perf_counter()
        value = function()
        times.append(time.perf_counter() - begin)
    return value, times


def compare(name: str) -> dict[str, Any]:
    """One game: both values, all times in seconds, and the ratio of the best ones."""
    from open_spiel.python.algorithms import sequence_form_lp

    game = pyspiel.load_game(name)
    ours, our_times = _timed(lambda: solve(sequence_form(openspiel.load(game))).value)
    theirs, their_times = _timed(lambda: float(sequence_form_lp.solve_zero_sum_game(game)[0]))
    return {
        "game": name,
        "klss_s": our_times,
        "openspiel_s": their_times,
        "ratio": min(their_times) / min(our_times),
        "value": ours,
        "difference": abs(ours - theirs),
    }


def main() -> int:
    """Run the comparison and print or write it; the exit code."""
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
    if out is not None:
        about = head("openspiel_speed", "open_spiel", "highspy", "cvxpy", "ecos", "numpy", "scipy")
        write_document(out, about | {"repeats": REPEATS, "games": rows})
    return 0


if __name__ == "__main__":
    sys.exit(main())
