"""Who beats whom among generations: ``python -m experiments.rbc_learn ladder --run DIR``.

Each generation, as ``dsmcp`` with its network, against the one two before it and against players that never learn; the
last against the third. What was played is kept and gone on with; ``results/rbc_ladder.json`` has the curve with its
intervals.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from experiments.commands import finished
from experiments.rbc_learn.selfplay import network_path
from experiments.series.blind import EXPECTED, keep, played
from experiments.series.runner import RESULTS, RUNS, positive
from klss.table.limits import TimeControl

__all__ = ["main", "pairings"]

OTHERS = ("rbc-random", "rbc-attacker", "trout")
"""Players that never learn."""
THIRD = 3


def pairings(last: int, step: int) -> Iterator[tuple[int, int | str]]:
    """A generation, and a generation or player that it meets.

    >>> [pair for pair in pairings(4, 2) if not isinstance(pair[1], str)]
    [(2, 0), (4, 2), (4, 3)]
    """
    for generation in range(0, last + 1, step):
        if generation >= 2:
            yield generation, generation - 2
        for name in OTHERS:
            yield generation, name
    if last > THIRD and (last - THIRD) != 2:
        yield last, THIRD


def main(arguments: Sequence[str] | None = None) -> int:
    """Play; the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m experiments.rbc_learn ladder", description="how strong each generation of a run is"
    )
    parser.add_argument("--run", type=Path, required=True, metavar="DIR", help="of selfplay")
    parser.add_argument("--games", type=positive, default=60, metavar="N", help="of a match (default 60)")
    parser.add_argument("--nodes", type=positive, default=120, metavar="N", help="a question (default 120)")
    parser.add_argument("--step", type=positive, default=2, metavar="N", help="every Nth generation (default 2)")
    parser.add_argument("--workers", type=positive, default=1, metavar="W", help="games at a time")
    parser.add_argument("--runs", type=Path, default=RUNS, help="where matches are kept")
    parser.add_argument("--results", type=Path, default=RESULTS, help="where rbc_ladder.json is kept")
    parsed = parser.parse_args(arguments)
    last = len(sorted(parsed.run.glob("gen-???.npz"))) - 1
    if last < 0:
        print(f"python -m experiments.rbc_learn ladder: no generations in {parsed.run}", file=sys.stderr)
        return 2

    def text(player: int | str) -> str:
        if isinstance(player, str):
            return f"{player},cap=20000" if player.startswith("rbc") else player
        return f"dsmcp,network={network_path(parsed.run, player).resolve()},cap=100000"

    def play() -> None:
        for generation, other in pairings(last, parsed.step):
            name = f"gen-{generation:03}-{other if isinstance(other, str) else f'gen-{other:03}'}"
            folder = parsed.runs / "rbc_ladder" / parsed.run.name
            budget = TimeControl(nodes=parsed.nodes)
            found = played(name, (text(generation), text(other)), parsed.games, budget, parsed.workers, folder)
            # Where a network lies on this machine is nobody else's business.
            found |= {"a": f"generation {generation}", "b": other if isinstance(other, str) else f"generation {other}"}
            keep(parsed.results / "rbc_ladder.json", found)

    return finished(play, *EXPECTED)
