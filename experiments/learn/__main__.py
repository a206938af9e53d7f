"""``python -m experiments.learn NAME``: makes a shipped file of weights anew, from the games that it is learned from to
the file; :data:`RECIPES` says how. What is there in ``--out`` is not made again, so a stopped command goes on.
"""

from __future__ import annotations

import argparse
import dataclasses
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from darkchess.fog.belief import tower as of_fog
from darkchess.rbc.belief import tower as of_blind
from experiments.commands import RUNS, finished
from experiments.learn import evaluation, policy, selfplay, siamese
from experiments.learn.blind import BLIND, DSMCP, SIAMESE
from experiments.learn.fog import FOG
from experiments.learn.planning import Planning
from experiments.learn.positions import AROUND, make_positions
from experiments.learn.shards import Arrays, Source, TrainingError, digest, load, make
from experiments.learn.trainer import EPOCH, Plan, train
from experiments.learn.weighing import Weighing
from experiments.series import SERIES, played
from klss.support.configuration_text import ConfigurationError
from klss_app.flag_types import count, seed, share, whole
from klss_app.progress import ProgressLine
from uci_bridge.errors import UciBridgeError
from uci_bridge.match.documents import head, write_document
from uci_bridge.match.files import MatchError

Learned = tuple[Callable[[Path, Mapping[str, Any]], None], dict[str, Any]]
"""What writes a file of weights at a path, with its history; and figures."""


@dataclass(frozen=True)
class Recipe:
    """How a file of weights is made."""

    file: str  # the shipped one
    hours: float  # of two idle cores, estimated from matches and trainings that were made before
    learn: Callable[[Arrays, argparse.Namespace, Callable[[str], None]], Learned]  # from the data that it is made of
    source: Source | None = None  # of decisions of the games of the series of the same name
    epochs: int = 4
    lacks: str = "nothing"  # what the shipped one learned from besides, which can't be made again here


def _taught(study_of: Callable[..., Any], **settings: Any) -> Callable[..., Learned]:
    def learn(held: Arrays, parsed: argparse.Namespace, tell: Callable[[str], None]) -> Learned:
        study = study_of(held, **settings)
        found, rows = train(study, Plan(parsed.epochs, parsed.seed), parsed.out / "checkpoint.npz", tell)
        epochs = {"columns": EPOCH, "rows": rows}
        return partial(study.write, found), {"epochs": epochs, "tested": study.tested(found)}

    return learn


def _of_own_games(held: Arrays, parsed: argparse.Namespace, tell: Callable[[str], None]) -> Learned:
    games = max(1, round(parsed.share * SCHEDULE.games))
    schedule = dataclasses.replace(SCHEDULE, games=games, epochs=parsed.epochs, seed=SCHEDULE.seed + parsed.seed)
    return selfplay.generations(parsed.out, schedule, GENERATIONS, tell)


RECIPES = {
    "evaluation": Recipe("darkchess/evaluation/data/evaluation_weights.npz", 4.3, evaluation.tune, AROUND, epochs=6),
    "policy": Recipe("darkchess/fog/belief/data/policy.npz", 0.7, policy.learn, policy.POLICY, epochs=40),
    "fog": Recipe(
        "darkchess/fog/belief/data/tower.onnx", 3, _taught(Weighing, blocks=of_fog.BLOCKS, channels=64), FOG,
        lacks="432 games of people (20,122 of 93,235 decisions: --matches people=FILE.pgn), and a player that is gone",
    ),
    "rbc": Recipe(
        "darkchess/rbc/belief/data/tower.onnx", 4, _taught(Weighing, blocks=of_blind.BLOCKS), BLIND,
        lacks="StrangeFish2 and earlier states of the player (--matches strange=DIR): 61,166 of 297,072 decisions",
    ),
    "siamese": Recipe("darkchess/rbc/belief/data/siamese-anchor.onnx", 1, siamese.learn, SIAMESE, epochs=5),
    "dsmcp": Recipe("darkchess/rbc/synoptic/data/network.onnx", 9, _taught(Planning), DSMCP, epochs=2),
    "rl": Recipe("darkchess/rbc/synoptic/data/network-rl.onnx", 1, _of_own_games, epochs=selfplay.Schedule.epochs),
}  # fmt: skip
"""The recipes by name."""

POSITIONS = (("played", 20.0, 0), ("searched", 60.0, 0), ("endings", 10.0, 0), ("endings", 10.0, 3))
"""What the evaluation is tuned to besides: the kind, minutes, and most pieces a side of endings."""
GENERATIONS, SCHEDULE = 7, selfplay.Schedule()
"""Of the player that learns from its own games, the generation with random weights included."""


def learned(parsed: argparse.Namespace, tell: Callable[[str], None]) -> Path:
    """Make what is missing of a recipe; return the path of the weights."""
    recipe, data = RECIPES[parsed.name], parsed.out / "data"
    about = head(f"learn {parsed.name}", "numpy", "jax")
    held: Arrays = {}
    if recipe.source is not None:
        series = SERIES[f"learn_{parsed.name}"]
        for name, pairing in series.matches.items() if parsed.share else ():
            games = max(2, round(parsed.share * (pairing.games or series.games)))
            scaled, folder = dataclasses.replace(pairing, games=games), parsed.out / "matches"
            found = played(series, name, scaled, folder, parsed.workers, scheduler=parsed.scheduler)
            parsed.matches.append((name.partition("-")[0], folder / found["name"]))
        for number, (kind, minutes, pieces) in enumerate(POSITIONS if recipe.learn is evaluation.tune else (), 1):
            done = data / f"{kind}-{number}.done"
            if parsed.share and not done.exists():
                make_positions(kind, data, number, parsed.share * minutes, tell, pieces)
                done.touch()
        if parsed.epochs:
            make(recipe.source, parsed.matches, data, tell)
            held = load(sorted(data.glob("*.npz")), recipe.source.columns)
    write, figures = recipe.learn(held, parsed, tell)
    labels, numbers = np.unique(held["label"], return_counts=True) if held else ((), ())
    shards = sorted(path for path in parsed.out.rglob("*-*.npz") if "checkpoint" not in path.name)
    history = about | {
        "configuration": {key: getattr(parsed, key) for key in ("name", "seed", "epochs", "share")},
        "data": {"sha256": digest(shards), **{str(label): int(number) for label, number in zip(labels, numbers)}},
        **figures,
    }
    path: Path = parsed.out / Path(recipe.file).name
    if parsed.epochs:
        write(path, history)
    write_document(parsed.out / "figures.json", history)
    return path


def _labelled(text: str) -> tuple[str, Path]:
    label, _, path = text.partition("=")
    if not re.fullmatch(r"[a-z0-9]+", label) or label in {kind for kind, *_ in POSITIONS} or not path:
        raise argparse.ArgumentTypeError(f"got {text!r}, expected LABEL=PATH, a new label of small letters and digits")
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
    add("--matches", nargs="+", type=_labelled, default=(), metavar="LABEL=PATH", help=more)
    epochs = "passes over the data, instead of the recipe's number; 0 (siamese): none, the packaged pair is ranked"
    add("--epochs", type=whole(0), metavar="N", help=epochs)
    add("--seed", type=seed, default=0, metavar="N", help="of the training (default 0)")
    add("--workers", type=count, default=2, metavar="W", help="games at a time (default 2)")
    add("--scheduler", metavar="ADDRESS", help="of a dask cluster that plays the games (tls://HOST:PORT)")
    parsed = parser.parse_args(arguments)
    recipe = RECIPES[parsed.name]
    if parsed.epochs == 0 and recipe.learn is not siamese.learn:
        parser.error("--epochs: got 0, expected 1 or more; only siamese ranks its packaged weights so")
    if parsed.matches and recipe.source is None:
        parser.error(f"--matches: got some, expected none: {parsed.name} learns from its own games alone")
    parsed.epochs, parsed.matches = recipe.epochs if parsed.epochs is None else parsed.epochs, list(parsed.matches)
    parsed.out = parsed.out or RUNS / "learn" / parsed.name
    print(
        f"{recipe.file}: about {parsed.share * recipe.hours:.1f} hours of two cores; lacks {recipe.lacks}",
        file=sys.stderr,
    )

    def work() -> None:
        with closing(ProgressLine(parsed.name)) as line:
            path = learned(parsed, line.tell)
        print(f"{parsed.out}: figures.json has what {path.name} is worth on test games")

    return finished(work, OSError, TrainingError, ConfigurationError, MatchError, UciBridgeError)


if __name__ == "__main__":
    sys.exit(main())
