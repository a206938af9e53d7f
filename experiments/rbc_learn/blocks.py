"""Games played for learning, block by block: each block is a file, a shard. A whole shard is not made again, so that a
stopped command can be resumed.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import math
import time
from collections import deque
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import Future
from contextlib import closing
from pathlib import Path

from experiments.commands import amount, finished, positive
from experiments.rbc_learn.processes import processes
from klss_app.progress import ProgressLine
from uci_bridge.errors import UciBridgeError

MakeBlock = Callable[[Path, int, int, int], int]
"""Function that makes a block's shard unless it exists, from the folder, the seed, the block's first game and its
number of games; returns its number of decisions. Worker processes import it by name.
"""


def shard_path(out: Path, first: int) -> Path:
    """The path of the shard of the block that begins with game ``first``."""
    return out / f"games-{first:06}.npz"


def blocks(
    make: MakeBlock, out: Path, seed: int, block: int, workers: int = 1
) -> Generator[tuple[int, int], None, None]:
    """Play blocks without end; yields the number of games so far and each block's decisions."""
    firsts = itertools.count(0, block)
    if workers == 1:
        for first in firsts:
            yield first + block, make(out, seed, first, block)
    waiting: deque[Future[int]] = deque()
    pool = processes(workers)
    try:
        for done in itertools.count(block, block):
            while len(waiting) < workers + 1:
                waiting.append(pool.submit(make, out, seed, next(firsts), block))
            yield done, waiting.popleft().result()
    finally:
        pool.shutdown(cancel_futures=True)


def main(make: MakeBlock, arguments: Sequence[str] | None, *, block: int) -> int:
    """The command ``data``, whose shards have ``block`` games unless it is told otherwise; return the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m experiments.rbc_learn data", description="play games among players, to imitate them"
    )
    add = parser.add_argument
    add("--out", type=Path, required=True, metavar="DIR", help="where the shards go")
    add("--decisions", type=positive, default=1_000_000, metavar="N", help="(default 1,000,000)")
    add("--minutes", type=amount, default=math.inf, metavar="M", help="stop after so many")
    add("--block", type=positive, default=block, metavar="N", help=f"games of a shard ({block})")
    add("--seed", type=int, default=19, metavar="N", help="of the games (default 19)")
    add("--workers", type=positive, default=1, metavar="W", help="processes (default 1)")
    parsed = parser.parse_args(arguments)

    def play() -> None:
        parsed.out.mkdir(parents=True, exist_ok=True)
        began, total, games = time.monotonic(), 0, 0
        going = blocks(make, parsed.out, parsed.seed, parsed.block, parsed.workers)
        with closing(ProgressLine("decisions")) as line, closing(going), contextlib.suppress(KeyboardInterrupt):
            for games, count in going:
                total += count
                line.tell(f"{total} of {parsed.decisions}, {games} games")
                if total >= parsed.decisions or time.monotonic() - began > 60 * parsed.minutes:
                    break
        print(f"{parsed.out}: {total} decisions of {games} games")

    return finished(play, UciBridgeError, OSError)
