"""``python -m experiments.rbc_weighting data|train|rank|games``: weights of positions, learned, ranked, played.

``train`` trains arms and writes the shown one's weights; ``rank`` measures all and writes
``results/rbc_weighting.json``; what was trained is not trained again. ``games`` is a series of matches.
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
from darkchess.rbc.belief.siamese import BLOCKS
from experiments.commands import finished
from experiments.rbc_weighting import data, games
from experiments.rbc_weighting.data import DRAWN, KINDS, TEST, TRAIN, VALIDATE
from experiments.rbc_weighting.learning import ARMS, INPUTS, SHOWN, SMALL, load, thinned, without
from experiments.rbc_weighting.networks import Arm, TrainingError
from experiments.rbc_weighting.ranking import Judge, bars, marginals, reliability
from experiments.rbc_weighting.training import Decisions, scores_on, train
from experiments.series.runner import RESULTS, positive
from klss.networks.towers import Towers
from klss.support.arrays import Bools, Floats, Ints
from klss_app.progress import ProgressLine
from uci_bridge.match.documents import commit, head, today, write_document

__all__ = ["main"]

_FEW = 1_500
"""Decisions of each part that the convolutional pair, too slow for more, is fitted and measured on."""

PACKAGED = Path(darkchess.rbc.__file__).parent / "belief" / "data" / "siamese.npz"
"""Where the package keeps the weights."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Do one of them; the exit code."""
    given = sys.argv[1:] if arguments is None else list(arguments)
    if given[:1] == ["data"]:
        return data.main(given[1:])
    if given[:1] == ["games"]:
        return games.main(given[1:])
    parsed = _parser().parse_args(given)
    return finished(partial(_learned, parsed), OSError, TrainingError)


def _learned(parsed: argparse.Namespace) -> None:
    """Train; and, to rank, measure and write what was found."""
    parsed.out.mkdir(parents=True, exist_ok=True)
    with closing(ProgressLine("rbc_weighting")) as line:
        line.tell("reading", at_once=True)
        held, about = load(parsed.data, most=parsed.shards)
        arms = _arms(parsed.arms, parsed.epochs)
        trained = {arm.name: _trained(arm, held, about, parsed.out, line) for arm in arms}
        if parsed.what == "train":
            if parsed.package is not None:
                parsed.package.parent.mkdir(parents=True, exist_ok=True)
                parsed.package.write_bytes((parsed.out / f"{SHOWN}.npz").read_bytes())
            return
        document = _ranked(arms, trained, held, about, line)
    write_document(parsed.results / "rbc_weighting.json", document)
    for row in document["rankings"]:
        print(f"{row['ranking']:14} {row['n>=2']}")
    print(document["bars"])


def _arms(names: Sequence[str], epochs: int | None) -> list[Arm]:
    found = [ARMS[name] for name in names if name != "without"]
    if "without" in names:
        found += [without(kind) for kind in KINDS]
    return found if epochs is None else [dataclasses.replace(arm, epochs=epochs) for arm in found]


def _of(arm: Arm, held: Decisions) -> Decisions:
    """What an arm is trained on."""
    if arm.name == SHOWN:
        return held
    return dataclasses.replace(held, part=thinned(held.part, {TRAIN: SMALL}))


def _trained(
    arm: Arm, held: Decisions, about: dict[str, Any], folder: Path, line: ProgressLine
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Weights, and what to say of them; from its checkpoint if it is trained."""
    weights, said = train(arm, _of(arm, held), folder, INPUTS, line.tell)
    if arm.model != "convolution":
        history = {"arm": dataclasses.asdict(arm), "data": about, "commit": commit(), "created": today(), **said}
        with open(folder / f"{arm.name}.npz", "wb") as file:
            Towers(weights, said["temperature"], history).write(file)
    return weights, said


def _ranked(
    arms: Sequence[Arm],
    trained: dict[str, tuple[dict[str, Any], dict[str, Any]]],
    held: Decisions,
    about: dict[str, Any],
    line: ProgressLine,
) -> dict[str, Any]:
    validate, test = held.where(held.part == VALIDATE), held.where(held.part == TEST)
    judge = Judge(held, validate, test)
    few = Judge(held, validate[:_FEW], test[:_FEW])
    enemy, phase = held.enemy[test], held.numbers[test, BLOCKS["scalars"].start + 1] > 0
    import jax

    def scores(arm: Arm, *chosen: Ints) -> list[Floats]:
        line.tell(f"{arm.name} on held-out games", at_once=True)
        weights = trained[arm.name][0]
        return [scores_on(jax, arm, weights, held, some, INPUTS).astype(np.float64) for some in chosen]

    terms = {
        "marginals": [marginals(held, validate), marginals(held, test)],
        "value": [-held.values[validate].astype(np.float64), -held.values[test].astype(np.float64)],
    }
    rows = {"uniform": judge.row("uniform", [], [])}
    for name in terms:
        rows[name] = judge.row(name, terms[name][:1], terms[name][1:])
    logits = {}
    for arm in arms:
        if arm.model == "convolution":
            found = scores(arm, validate[:_FEW], test[:_FEW])
            rows[arm.name] = few.row(arm.name, found[:1], found[1:])
            rows[arm.name].pop("logits")
        elif arm.without:
            of_that_kind = enemy == arm.without[0]
            out = np.zeros((len(test), 1 + DRAWN))
            (out[of_that_kind],) = scores(arm, test[of_that_kind])
            logits[arm.name] = out / trained[arm.name][1]["temperature"]
        else:
            terms[arm.name] = scores(arm, validate, test)
            rows[arm.name] = judge.row(arm.name, terms[arm.name][:1], terms[arm.name][1:])
    both = [terms[SHOWN], terms["value"]]
    rows["both"] = judge.row(f"{SHOWN}+value", [each[0] for each in both], [each[1] for each in both])
    logits |= {name: row.pop("logits") for name, row in rows.items() if "logits" in row}
    fresh = _unseen(held, test)
    by_kind = {}
    for kind in KINDS:
        shown = {name: logits[name] for name in ("marginals", SHOWN, "small", f"without-{kind}") if name in logits}
        if (enemy == kind).any():
            by_kind[kind] = {
                name.partition("-")[0]: judge.measured(some, enemy == kind) for name, some in shown.items()
            }
    return {
        **head("rbc_weighting", "numpy", "numba", "jax"),
        "data": about,
        "arms": {arm.name: {"configuration": dataclasses.asdict(arm), **trained[arm.name][1]} for arm in arms},
        "rankings": list(rows.values()),
        "shown": SHOWN,
        "by_opponent": by_kind,
        "unseen": {
            "about": "test decisions whose observation and truth no decision of the training has",
            "share": round(float(fresh.mean()), 4),
            **{name: judge.measured(logits[name], fresh) for name in ("marginals", SHOWN)},
        },
        "by_phase": {
            "sense": judge.measured(logits[SHOWN], ~phase),
            "move": judge.measured(logits[SHOWN], phase),
        },
        "reliability": {
            name: reliability(logits[name], held.count[test], held.size[test]) for name in ("marginals", "value", SHOWN)
        },
        "bars": bars(rows, SHOWN),
    }


def _unseen(held: Decisions, chosen: Ints) -> Bools:
    """Whether no decision of the training has the observation and the truth of each of ``chosen``: bool[n]."""

    def key(index: int) -> bytes:
        return bytes(held.numbers[index].tobytes() + held.rows[index, 0].tobytes())

    known = {hash(key(index)) for index in held.where(held.part == TRAIN)}
    return np.array([hash(key(index)) not in known for index in chosen])


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m experiments.rbc_weighting", description="weights of positions in Reconnaissance Blind Chess"
    )
    commands = parser.add_subparsers(dest="what", required=True)
    commands.add_parser("data", help="play what is to be learned from", add_help=False)
    commands.add_parser("games", help="what weights are worth in games", add_help=False)
    learn = commands.add_parser("train", help="learn, and write the weights")
    learn.add_argument(
        "--package", type=Path, metavar="FILE", help=f"write the weights there (the package: {PACKAGED.name})"
    )
    look = commands.add_parser("rank", help="how likely the truth is to each ranking, in held-out games")
    look.add_argument("--results", type=Path, default=RESULTS, metavar="DIR", help="(experiments/results)")
    for command, arms in ((learn, [SHOWN]), (look, [*ARMS, "without"])):
        command.add_argument("data", type=Path, metavar="DATA", help="shards that 'data' wrote")
        command.add_argument("--out", type=Path, required=True, metavar="DIR", help="of checkpoints and weights")
        command.add_argument(
            "--arms",
            nargs="+",
            choices=[*ARMS, "without"],
            default=arms,
            metavar="ARM",
            help=f"(default {' '.join(arms)})",
        )
        command.add_argument("--epochs", type=positive, metavar="N", help="at most (default: the arm's)")
        command.add_argument("--shards", type=positive, metavar="N", help="only the first so many (default all)")
    return parser


if __name__ == "__main__":
    sys.exit(main())
