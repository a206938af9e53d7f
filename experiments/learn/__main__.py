"""``python -m experiments.learn NAME``: makes a shipped file of weights anew, from the games that it is learned from to
the file; :data:`RECIPES` says how. What is there in ``--out`` is not made again, so a stopped command goes on.
"""

from __future__ import annotations

import argparse
import dataclasses
import re
import sys
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from darkchess.fog.belief import tower as of_fog
from darkchess.rbc.belief import tower as of_blind
from experiments.commands import RUNS, finished
from experiments.learn import evaluation, policy, selfplay
from experiments.learn.blind import BLIND, DSMCP, SIAMESE
from experiments.learn.export import write_network, write_points, write_scores
from experiments.learn.fog import FOG
from experiments.learn.planning import Planning
from experiments.learn.positions import make_positions
from experiments.learn.shards import TRAIN, Arrays, Source, TrainingError, digest, load, make, where
from experiments.learn.siamese import PATIENCE, Siamese
from experiments.learn.trainer import Plan, train
from experiments.learn.weighing import Weighing, repeated
from experiments.series import SERIES, played
from klss.support.configuration_text import ConfigurationError
from klss_app.flag_types import count, seed, share
from klss_app.progress import ProgressLine
from uci_bridge.errors import UciBridgeError
from uci_bridge.match.documents import head, write_document
from uci_bridge.match.files import MatchError

EPOCH = ["epoch", "loss", "validation_loss", "seconds"]
"""Columns of a training's rows."""
Written = Callable[[Path, dict[str, Any]], None]
"""Writes a file of weights at a path, with its history."""


@dataclass(frozen=True)
class Recipe:
    """How a file of weights is made."""

    file: str  # the shipped one
    hours: float  # of two idle cores, estimated from matches and trainings that were made before
    # ``(held, parsed, tell)`` learns from decisions or positions; returns what writes the weights, and its figures
    learn: Callable[[Arrays, argparse.Namespace, Callable[[str], None]], tuple[Written, dict[str, Any]]]
    source: Source | None = None  # of decisions of the games of the series of the same name; None: positions
    epochs: int = 4
    lacks: str = "nothing"  # what the shipped one learned from besides, which can't be made again here


def _weighed(blocks: Any, channels: int) -> Any:
    def learn(held: Arrays, parsed: argparse.Namespace, tell: Callable[[str], None]) -> tuple[Written, dict[str, Any]]:
        study = Weighing(held, blocks, channels=channels)
        found, figures = _trained(study, len(repeated(held)), parsed, tell)
        return lambda path, history: write_scores(path, found, history), figures

    return learn


def _planned(held: Arrays, parsed: argparse.Namespace, tell: Callable[[str], None]) -> tuple[Written, dict[str, Any]]:
    study = Planning(held)
    found, figures = _trained(study, len(where(held, TRAIN)), parsed, tell)
    return lambda path, history: write_network(path, study.for_play(found), history), figures


def _paired(held: Arrays, parsed: argparse.Namespace, tell: Callable[[str], None]) -> tuple[Written, dict[str, Any]]:
    figures = {}
    for name, study in (("rival", Siamese(held, rival=True)), ("pair", Siamese(held))):
        steps = max(1, len(where(held, TRAIN)) // study.batch)
        plan = Plan(steps, epochs=parsed.epochs, patience=PATIENCE, seed=parsed.seed)
        about = {"game": parsed.name, "decisions": len(held["game"]), "channels": study.channels}
        found, rows = train(study, plan, parsed.out / f"{name}.checkpoint.npz", about, tell, harder=study.harder)
        figures[name] = {"columns": EPOCH, "rows": rows}
    return lambda path, history: write_points(path.parent, found, history), figures


def _trained(study: Any, size: int, parsed: argparse.Namespace, tell: Callable[[str], None]) -> tuple[Any, Any]:
    plan = Plan(max(1, size // study.batch), epochs=parsed.epochs, seed=parsed.seed)
    about = {"game": parsed.name, "decisions": len(study.held["game"]), "channels": study.channels}
    found, rows = train(study, plan, parsed.out / "checkpoint.npz", about, tell)
    return found, {"epochs": {"columns": EPOCH, "rows": rows}, "tested": study.tested(found)}


def _chosen(held: Arrays, parsed: argparse.Namespace, tell: Callable[[str], None]) -> tuple[Written, dict[str, Any]]:
    found, figures = policy.learn(held, parsed.epochs, parsed.seed, parsed.out, tell)
    return lambda path, history: dataclasses.replace(found, history=history).save(path), figures


def _tuned(held: Arrays, parsed: argparse.Namespace, tell: Callable[[str], None]) -> tuple[Written, dict[str, Any]]:
    weights, figures = evaluation.tune(held, parsed.epochs, parsed.seed, parsed.out, tell)
    return weights.write, {"tested": figures}


def _of_own_games(held: Arrays, parsed: argparse.Namespace, tell: Callable[[str], None]) -> Any:
    schedule = dataclasses.replace(SCHEDULE, games=max(1, round(parsed.share * SCHEDULE.games)))
    arrays = selfplay.generations(parsed.out, schedule, GENERATIONS, tell)
    return lambda path, history: write_network(path, arrays, history), {"schedule": dataclasses.asdict(schedule)}


RECIPES = {
    "evaluation": Recipe("darkchess/evaluation/data/evaluation_weights.npz", 4, _tuned, epochs=6),
    "policy": Recipe("darkchess/fog/belief/data/policy.npz", 0.7, _chosen, policy.POLICY, epochs=10),
    "fog": Recipe(
        "darkchess/fog/belief/data/tower.onnx", 3, _weighed(of_fog.BLOCKS, 64), FOG,
        lacks="432 games of people (20,122 of 93,235 decisions: --matches people=FILE.pgn), and a player that is gone",
    ),
    "rbc": Recipe(
        "darkchess/rbc/belief/data/tower.onnx", 4, _weighed(of_blind.BLOCKS, 32), BLIND,
        lacks="StrangeFish2 and earlier states of the player (--matches strange=DIR): 61,166 of 297,072 decisions",
    ),
    "siamese": Recipe("darkchess/rbc/belief/data/siamese-anchor.onnx", 1, _paired, SIAMESE, epochs=5),
    "dsmcp": Recipe("darkchess/rbc/synoptic/data/network.onnx", 9, _planned, DSMCP, epochs=2),
    "rl": Recipe("darkchess/rbc/synoptic/data/network-rl.onnx", 1, _of_own_games),
}  # fmt: skip
"""The recipes by name."""

POSITIONS = (("played", 20.0, 0), ("searched", 60.0, 0), ("endings", 10.0, 0), ("endings", 10.0, 3))
"""What the evaluation is tuned to: the kind, minutes, and most pieces a side of endings."""
GENERATIONS, SCHEDULE = 7, selfplay.Schedule()
"""Of the player that learns from its own games, the generation with random weights included."""


def learned(parsed: argparse.Namespace, tell: Callable[[str], None]) -> Path:
    """Make what is missing of a recipe; return the path of the weights."""
    recipe, data = RECIPES[parsed.name], parsed.out / "data"
    about = head(f"learn {parsed.name}", "numpy", "jax")
    matches, held = list(parsed.matches), {}
    if recipe.source is not None:
        series = SERIES[f"learn_{parsed.name}"]
        for name, pairing in series.matches.items() if parsed.share else ():
            games = max(2, round(parsed.share * (pairing.games or series.games)))
            scaled, folder = dataclasses.replace(pairing, games=games), parsed.out / "matches"
            found = played(series, name, scaled, folder, parsed.workers, scheduler=parsed.scheduler)
            matches.append((name.partition("-")[0], folder / found["name"]))
        make(recipe.source, matches, data, tell)
        held = load(sorted(data.glob("*.npz")), recipe.source.columns)
    elif recipe.learn is _tuned:
        for number, (kind, minutes, pieces) in enumerate(POSITIONS, 1):
            if parsed.share and not any(data.glob(f"{kind}-{number}-*.npz")):
                make_positions(kind, data, number, parsed.share * minutes, tell, pieces)
        held = load(sorted(data.glob("*.npz")), evaluation.VALUED)
    write, figures = recipe.learn(held, parsed, tell)
    labels, numbers = np.unique(held["label"], return_counts=True) if held else ((), ())
    shards = sorted(path for path in parsed.out.rglob("*-*.npz") if "checkpoint" not in path.name)
    history = about | {
        "configuration": {key: getattr(parsed, key) for key in ("name", "seed", "epochs", "share")},
        "data": {"sha256": digest(shards), **{str(label): int(number) for label, number in zip(labels, numbers)}},
        **figures,
    }
    path: Path = parsed.out / Path(recipe.file).name
    write(path, history)
    write_document(parsed.out / "figures.json", history)
    return path


def _labelled(text: str) -> tuple[str, Path]:
    label, _, path = text.partition("=")
    if not re.fullmatch(r"[a-z0-9]+", label) or not path:
        raise argparse.ArgumentTypeError(f"got {text!r}, expected LABEL=PATH, the label of lower-case letters, digits")
    return label, Path(path)


def main(arguments: Sequence[str] | None = None) -> int:
    """Make weights; return the exit code."""
    told = "\n".join(f"  {name:11}{each.hours:4g} hours: {each.file}" for name, each in RECIPES.items())
    parser = argparse.ArgumentParser(
        prog="python -m experiments.learn", description="Make a shipped file of weights anew.",
        epilog=f"names, and the time that two idle cores take:\n{told}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    add = parser.add_argument
    add("name", choices=RECIPES, metavar="NAME", help="one of those below")
    add("--out", type=Path, metavar="DIR", help="of matches, data, checkpoints, weights (experiments/runs/learn/NAME)")
    add("--share", type=share, default=1.0, metavar="S", help="of the games or minutes; 0: only --matches (default 1)")
    more = "finished matches, or a PGN file, besides"
    add("--matches", nargs="+", type=_labelled, default=[], metavar="LABEL=PATH", help=more)
    add("--epochs", type=count, metavar="N", help="passes over the data, instead of the recipe's number")
    add("--seed", type=seed, default=0, metavar="N", help="of the training (default 0)")
    add("--workers", type=count, default=2, metavar="W", help="games at a time (default 2)")
    add("--scheduler", metavar="ADDRESS", help="of a dask cluster that plays the games (tls://HOST:PORT)")
    parsed = parser.parse_args(arguments)
    recipe = RECIPES[parsed.name]
    parsed.epochs, parsed.out = parsed.epochs or recipe.epochs, parsed.out or RUNS / "learn" / parsed.name
    print(
        f"{recipe.file}: about {parsed.share * recipe.hours:.1f} hours of two cores; lacks {recipe.lacks}",
        file=sys.stderr,
    )

    def work() -> None:
        with closing(ProgressLine(parsed.name)) as line:
            path = learned(parsed, line.tell)
        print(f"{path}; figures.json beside it has what it is worth on test games")

    return finished(work, OSError, TrainingError, ConfigurationError, MatchError, UciBridgeError)


if __name__ == "__main__":
    sys.exit(main())
