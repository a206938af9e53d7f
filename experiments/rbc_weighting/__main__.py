"""``python -m experiments.rbc_weighting data|train``: weights of positions, learned from games and written."""

from __future__ import annotations

import argparse
import dataclasses
import sys
from collections.abc import Sequence
from contextlib import closing
from functools import partial
from pathlib import Path

import numpy as np

import darkchess.rbc
from experiments.commands import finished
from experiments.learning.fit import TrainingError
from experiments.rbc_weighting import data
from experiments.rbc_weighting.decisions import load
from experiments.rbc_weighting.networks import Settings
from experiments.rbc_weighting.training import NAME, train
from experiments.series.runner import positive
from klss.networks.towers import Towers
from klss_app.progress import ProgressLine
from uci_bridge.match.documents import commit, today

__all__ = ["main"]

PACKAGED = Path(darkchess.rbc.__file__).parent / "belief" / "data" / "siamese.npz"
"""The package's file of weights."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one of the commands; return the exit code."""
    given = sys.argv[1:] if arguments is None else list(arguments)
    if given[:1] == ["data"]:
        return data.main(given[1:])
    parsed = _parser().parse_args(given)
    return finished(partial(_learned, parsed), OSError, TrainingError)


def _learned(parsed: argparse.Namespace) -> None:
    """Train, and write the weights."""
    parsed.out.mkdir(parents=True, exist_ok=True)
    settings = dataclasses.replace(Settings(), epochs=parsed.epochs)
    with closing(ProgressLine("rbc_weighting")) as line:
        line.tell("reading", at_once=True)
        held = load(parsed.data)
        weights, said = train(settings, held, parsed.out, line.tell)
        path = parsed.out / f"{NAME}.npz"
        with open(path, "wb") as file:
            labels = dict(zip(*(each.tolist() for each in np.unique(held.label, return_counts=True)), strict=True))
            about = {"data": labels, "commit": commit(), "created": today(), "arm": dataclasses.asdict(settings)}
            Towers(weights, 1.0, about | said).write(file)
    if parsed.package is not None:
        parsed.package.parent.mkdir(parents=True, exist_ok=True)
        parsed.package.write_bytes(path.read_bytes())
    print(
        f"{path}: {max(row[2] for row in said['epochs']['rows']):.3f} nats on the validating games; on the test games"
    )
    for label, number, before, after, error in said["tested"]["rows"]:
        print(f"{label:10} {number:7} decisions: filter {before:.3f}, learned {after:.3f} ± {error:.3f} nats")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m experiments.rbc_weighting", description="weights of positions in Reconnaissance Blind Chess"
    )
    commands = parser.add_subparsers(dest="what", required=True)
    commands.add_parser("data", help="make decisions out of matches", add_help=False)
    add = commands.add_parser("train", help="learn, and write the weights").add_argument
    add("data", type=Path, metavar="DATA", help="shards that 'data' wrote")
    add("--out", type=Path, required=True, metavar="DIR", help="of checkpoint and weights")
    add("--package", type=Path, metavar="FILE", help=f"write the weights there too (the package: {PACKAGED.name})")
    add("--epochs", type=positive, default=Settings().epochs, metavar="N", help="at most (default %(default)s)")
    return parser


if __name__ == "__main__":
    sys.exit(main())
