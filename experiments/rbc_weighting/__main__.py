"""``python -m experiments.rbc_weighting data|train|rank``: weights of positions, learned and measured.

``train`` learns and writes weights, ``rank`` measures them beside rankings that nothing was learned for and writes
``results/rbc_weighting.json``; what was trained is not trained again.
"""

from __future__ import annotations

import argparse
import dataclasses
import sys
from collections.abc import Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import darkchess.rbc
from experiments.commands import finished
from experiments.learning.fit import TrainingError
from experiments.learning.split import TEST, VALIDATE
from experiments.rbc_weighting import data
from experiments.rbc_weighting.data import KINDS
from experiments.rbc_weighting.decisions import Decisions, load
from experiments.rbc_weighting.networks import Settings
from experiments.rbc_weighting.ranking import Judge, marginals, reliability
from experiments.rbc_weighting.training import NAME, scores_on, train
from experiments.series.runner import RESULTS, positive
from klss.networks.towers import Towers
from klss.support.arrays import Floats, Ints
from klss_app.progress import ProgressLine
from uci_bridge.match.documents import commit, head, today, write_document

__all__ = ["main"]

PACKAGED = Path(darkchess.rbc.__file__).parent / "belief" / "data" / "siamese.npz"
"""Where the package keeps the weights."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Do one of them; the exit code."""
    given = sys.argv[1:] if arguments is None else list(arguments)
    if given[:1] == ["data"]:
        return data.main(given[1:])
    parsed = _parser().parse_args(given)
    return finished(partial(_learned, parsed), OSError, TrainingError)


def _learned(parsed: argparse.Namespace) -> None:
    """Train; and, to rank, measure and write what was found."""
    parsed.out.mkdir(parents=True, exist_ok=True)
    settings = dataclasses.replace(Settings(), epochs=parsed.epochs)
    with closing(ProgressLine("rbc_weighting")) as line:
        line.tell("reading", at_once=True)
        held, about = load(parsed.data, most=parsed.shards)
        weights, said = train(settings, held, parsed.out, line.tell)
        said = {"configuration": dataclasses.asdict(settings), **said}
        path = parsed.out / f"{NAME}.npz"
        with open(path, "wb") as file:
            history = {"data": about, "commit": commit(), "created": today(), "arm": said["configuration"], **said}
            Towers(weights, said["temperature"], history).write(file)
        if parsed.what == "train":
            if parsed.package is not None:
                parsed.package.parent.mkdir(parents=True, exist_ok=True)
                parsed.package.write_bytes(path.read_bytes())
            return
        line.tell("on held-out games", at_once=True)
        document = head("rbc_weighting", "numpy", "numba", "jax") | {"data": about, "arms": {NAME: said}}
        document |= _ranked(weights, held)
    write_document(parsed.results / "rbc_weighting.json", document)
    for row in document["rankings"]:
        print(f"{row['ranking']:14} {row['n>=2']}")


def _ranked(weights: dict[str, Any], held: Decisions) -> dict[str, Any]:
    """What each ranking says of the truth, in all and by opponent."""
    validate, test = held.where(held.part == VALIDATE), held.where(held.part == TEST)
    judge = Judge(held, validate, test)

    def on_both(scores: Any) -> tuple[Floats, Floats]:
        return scores(validate), scores(test)

    def values(chosen: Ints) -> Floats:
        return -held.values[chosen].astype(np.float64)

    def learned(chosen: Ints) -> Floats:
        return scores_on(weights, held, chosen).astype(np.float64)

    terms = {"marginals": on_both(partial(marginals, held)), "value": on_both(values), NAME: on_both(learned)}
    rankings = {"uniform": [], **{name: [term] for name, term in terms.items()}}
    rankings[f"{NAME}+value"] = [terms[NAME], terms["value"]]
    rows = {
        name: judge.row(name, [each[0] for each in parts], [each[1] for each in parts])
        for name, parts in rankings.items()
    }
    logits = {name: row.pop("logits") for name, row in rows.items()}
    enemy = held.enemy[test]
    return {
        "rankings": list(rows.values()),
        "shown": NAME,
        "by_opponent": {
            kind: {name: judge.measured(logits[name], enemy == kind) for name in ("marginals", NAME)}
            for kind in KINDS
            if (enemy == kind).any()
        },
        "reliability": {name: reliability(logits[name], held.count[test], held.size[test]) for name in terms},
    }


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m experiments.rbc_weighting", description="weights of positions in Reconnaissance Blind Chess"
    )
    commands = parser.add_subparsers(dest="what", required=True)
    commands.add_parser("data", help="play what is to be learned from", add_help=False)
    learn = commands.add_parser("train", help="learn, and write the weights")
    learn.add_argument(
        "--package", type=Path, metavar="FILE", help=f"write the weights there (the package: {PACKAGED.name})"
    )
    look = commands.add_parser("rank", help="how likely the truth is to each ranking, in held-out games")
    look.add_argument("--results", type=Path, default=RESULTS, metavar="DIR", help="(experiments/results)")
    for command in (learn, look):
        add = command.add_argument
        add("data", type=Path, metavar="DATA", help="shards that 'data' wrote")
        add("--out", type=Path, required=True, metavar="DIR", help="of checkpoint and weights")
        add("--epochs", type=positive, default=Settings().epochs, metavar="N", help="at most (default %(default)s)")
        add("--shards", type=positive, metavar="N", help="only the first so many (default all)")
    return parser


if __name__ == "__main__":
    sys.exit(main())
