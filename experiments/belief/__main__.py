"""``python -m experiments.belief train|rank``: what beliefs learn, and what they are worth.

``loss`` is a command too: a study of its own.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import darkchess
from experiments.belief import loss, mixture
from experiments.belief.rank import rank
from experiments.belief.train import train
from experiments.commands import finished
from experiments.series.runner import RESULTS, RUNS, amount, positive
from uci_bridge.match.match import MatchError

__all__ = ["main"]

PACKAGED = Path(darkchess.__file__).parent / "fog" / "belief" / "data"
"""Where the package keeps the weights."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Do one of them; the exit code."""
    what, *rest = sys.argv[1:] if arguments is None else arguments or [""]
    if what == "loss":
        return loss.main(rest)
    parsed = _parser().parse_args(arguments)

    def work() -> int:
        if parsed.what == "train":
            return _train(parsed)
        return rank(parsed.runs, parsed.results, workers=parsed.workers, every=parsed.every, games=parsed.games)

    return finished(work, MatchError)


def _train(parsed: argparse.Namespace) -> int:
    """Play the games and learn the policy."""
    parsed.out.mkdir(parents=True, exist_ok=True)
    folders = mixture.play_all(parsed.runs, workers=parsed.workers, games=parsed.games, nodes=parsed.nodes)
    return train(folders, parsed.results, parsed.out / "policy.npz", nodes=parsed.nodes)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m experiments.belief", description="beliefs: learned, ranked, played"
    )
    commands = parser.add_subparsers(dest="what", required=True)
    learn = commands.add_parser("train", help="play what is to be learned from, learn, write the weights")
    learn.add_argument("--out", type=Path, default=PACKAGED, metavar="DIR", help="of the weights (the package)")
    learn.add_argument("--games", type=amount, default=1.0, metavar="X", help="times the usual number (default 1)")
    learn.add_argument("--nodes", type=positive, default=mixture.NODES, metavar="N", help="a move (default 4000)")
    look = commands.add_parser("rank", help="how likely the truth is to each belief, in held-out games")
    look.add_argument("--every", type=positive, default=3, metavar="N", help="turns of a player's (default 3)")
    look.add_argument("--games", type=positive, default=100, metavar="N", help="held-out games (default 100)")
    shared = dict(commands.choices)
    commands.add_parser("loss", help="what moves lose at the true position, with each belief", add_help=False)
    for command in shared.values():
        command.add_argument("--workers", type=positive, default=2, metavar="W", help="games at a time (default 2)")
        command.add_argument("--runs", type=Path, default=RUNS, metavar="DIR", help="of matches (experiments/runs)")
        command.add_argument("--results", type=Path, default=RESULTS, metavar="DIR", help="(experiments/results)")
    return parser


if __name__ == "__main__":
    sys.exit(main())
