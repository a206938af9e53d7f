"""``python -m experiments.belief train|rank|games``: what beliefs learn, and what they are worth."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import darkchess
from experiments.belief import mixture
from experiments.belief.rank import rank
from experiments.belief.train import train
from experiments.series.runner import RESULTS, RUNS, positive
from uci_bridge.match.match import MatchError

__all__ = ["main"]

POLICY = Path(darkchess.__file__).parent / "belief" / "data" / "policy.npz"
"""Where the package keeps it."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Do one of the three; the exit code."""
    parsed = _parser().parse_args(arguments)
    try:
        if parsed.what == "train":
            return train(
                parsed.runs, parsed.results, parsed.out, workers=parsed.workers, games=parsed.games, nodes=parsed.nodes
            )
        if parsed.what == "rank":
            return rank(parsed.runs, parsed.results, workers=parsed.workers, every=parsed.every, games=parsed.games)
    except MatchError as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\ninterrupted; the same command goes on", file=sys.stderr)
        return 130
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m experiments.belief", description="beliefs: learned, ranked, played"
    )
    commands = parser.add_subparsers(dest="what", required=True)
    learn = commands.add_parser("train", help="play what is to be learned from, learn, write the weights")
    learn.add_argument("--out", type=Path, default=POLICY, metavar="FILE", help="the policy (default: the package's)")
    learn.add_argument("--games", type=float, default=1.0, metavar="X", help="times the usual number (default 1)")
    learn.add_argument("--nodes", type=positive, default=mixture.NODES, metavar="N", help="a move (default 4000)")
    look = commands.add_parser("rank", help="how likely the truth is to each belief, in held-out games")
    look.add_argument("--every", type=positive, default=3, metavar="N", help="turns of a player's (default 3)")
    look.add_argument("--games", type=positive, default=100, metavar="N", help="held-out games (default 100)")
    for command in commands.choices.values():
        command.add_argument("--workers", type=positive, default=2, metavar="W", help="games at a time (default 2)")
        command.add_argument("--runs", type=Path, default=RUNS, metavar="DIR", help="of matches (experiments/runs)")
        command.add_argument("--results", type=Path, default=RESULTS, metavar="DIR", help="(experiments/results)")
    return parser


if __name__ == "__main__":
    sys.exit(main())
