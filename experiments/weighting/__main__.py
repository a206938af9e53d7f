"""``python -m experiments.weighting data|train fog|rbc``: weights of positions, learned from games and written."""

from __future__ import annotations

import argparse
import dataclasses
import re
import sys
from collections.abc import Sequence
from contextlib import closing
from functools import partial
from pathlib import Path

import numpy as np

from experiments.commands import RESULTS, finished, positive
from experiments.learning.fit import TrainingError
from experiments.weighting.blind import BLIND
from experiments.weighting.data import write
from experiments.weighting.decisions import load
from experiments.weighting.fog import FOG
from experiments.weighting.networks import Settings
from experiments.weighting.training import NAME, train
from klss.networks.towers import Towers
from klss_app.progress import ProgressLine
from uci_bridge.match.documents import commit, head, today, write_document

GAMES = {"fog": FOG, "rbc": BLIND}
"""The games, by the names that the commands take."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one of the commands; return the exit code."""
    parsed = _parser().parse_args(arguments)
    return finished(partial(_written if parsed.what == "data" else _learned, parsed), OSError, TrainingError)


def _written(parsed: argparse.Namespace) -> None:
    """Write decisions."""
    with closing(ProgressLine("decisions")) as line:
        total = write(GAMES[parsed.game], parsed.matches, parsed.out, line.tell)
    print(f"{parsed.out}: {total} decisions")


def _learned(parsed: argparse.Namespace) -> None:
    """Train, and write the weights."""
    parsed.out.mkdir(parents=True, exist_ok=True)
    settings = dataclasses.replace(Settings(), channels=parsed.channels, epochs=parsed.epochs)
    blocks = GAMES[parsed.game].siamese.blocks
    with closing(ProgressLine("weighting")) as line:
        line.tell("reading", at_once=True)
        held = load(parsed.data, blocks)
        weights, said = train(settings, blocks, held, parsed.out, line.tell)
        path = parsed.out / f"{NAME}.npz"
        with open(path, "wb") as file:
            labels = dict(zip(*(each.tolist() for each in np.unique(held.label, return_counts=True)), strict=True))
            about = {"data": labels, "commit": commit(), "created": today(), "arm": dataclasses.asdict(settings)}
            Towers(weights, 1.0, about | said).write(file)
    if parsed.package is not None:
        parsed.package.parent.mkdir(parents=True, exist_ok=True)
        parsed.package.write_bytes(path.read_bytes())
    document = head("weighting", "numpy", "jax") | {"game": parsed.game, "tested": said["tested"]}
    write_document(parsed.results / f"weighting_{parsed.game}.json", document)
    print(
        f"{path}: {max(row[2] for row in said['epochs']['rows']):.3f} nats on the validating games; on the test games"
    )
    for label, number, before, after, error in said["tested"]["rows"]:
        print(f"{label:10} {number:7} decisions: filter {before:.3f}, learned {after:.3f} ± {error:.3f} nats")


def _labelled(text: str) -> tuple[str, Path]:
    label, _, path = text.partition("=")
    if not re.fullmatch(r"[a-z0-9]+", label) or not path:
        raise argparse.ArgumentTypeError(
            f"got {text!r}, expected LABEL=PATH, the label of lower-case letters and digits"
        )
    return label, Path(path)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m experiments.weighting", description="learned weights of positions in both games"
    )
    commands = parser.add_subparsers(dest="what", required=True)
    data = commands.add_parser("data", help="make decisions out of games")
    data.add_argument("game", choices=GAMES)
    data.add_argument(
        "matches", nargs="+", type=_labelled, metavar="LABEL=PATH",
        help="; ".join(f"{name}: of {game.expected}" for name, game in GAMES.items()),
    )  # fmt: skip
    data.add_argument("--out", type=Path, required=True, metavar="DATA", help="where the shards go")
    learn = commands.add_parser("train", help="learn, and write the weights")
    learn.add_argument("game", choices=GAMES)
    add = learn.add_argument
    add("data", type=Path, metavar="DATA", help="shards that 'data' wrote")
    add("--out", type=Path, required=True, metavar="DIR", help="of checkpoint and weights")
    add("--package", type=Path, metavar="FILE", help="write the weights there too (a siamese.npz)")
    add("--channels", type=positive, default=Settings().channels, metavar="C", help="(default %(default)s)")
    add("--epochs", type=positive, default=Settings().epochs, metavar="N", help="at most (default %(default)s)")
    add("--results", type=Path, default=RESULTS, metavar="DIR", help="(experiments/results)")
    return parser


if __name__ == "__main__":
    sys.exit(main())
