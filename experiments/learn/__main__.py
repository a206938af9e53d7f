"""``python -m experiments.learn data|positions|train|selfplay``: what the packaged weights are learned by."""

from __future__ import annotations

import argparse
import dataclasses
import re
import sys
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from darkchess.errors import FenError
from darkchess.fog.belief import tower as of_fog
from darkchess.rbc.belief import tower as of_blind
from darkchess.rbc.game.referee import Referee
from experiments.commands import finished
from experiments.learn import evaluation, policy, selfplay
from experiments.learn.blind import BLIND, DSMCP
from experiments.learn.export import write_network, write_scores
from experiments.learn.fog import FOG
from experiments.learn.planning import Planning
from experiments.learn.positions import make_positions
from experiments.learn.shards import TRAIN, TrainingError, load, make, where
from experiments.learn.trainer import Plan, train
from experiments.learn.weighing import Weighing, repeated
from klss_app.flag_types import count, positive, share
from klss_app.progress import ProgressLine
from uci_bridge.errors import UciBridgeError
from uci_bridge.match.documents import head, write_document

SOURCES = {"fog": FOG, "rbc": BLIND, "dsmcp": DSMCP, "policy": policy.POLICY}
"""What is made of finished games, by the names that the commands take."""
_BLOCKS = {"fog": of_fog.BLOCKS, "rbc": of_blind.BLOCKS}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one of the commands; return the exit code."""
    parser = _parser()
    parsed = parser.parse_args(arguments)
    if parsed.what == "selfplay":
        try:
            Referee(parsed.fen)
        except FenError as error:
            parser.error(f"--fen: {error}")

    def work() -> None:
        with closing(ProgressLine(parsed.what)) as line:
            said = parsed.work(parsed, line.tell)
        print(said)

    return finished(work, OSError, TrainingError, UciBridgeError)


def _data(parsed: argparse.Namespace, tell: Callable[[str], None]) -> str:
    return f"{parsed.out}: {make(SOURCES[parsed.game], parsed.matches, parsed.out, tell)} decisions"


def _positions(parsed: argparse.Namespace, tell: Callable[[str], None]) -> str:
    total = make_positions(parsed.kind, parsed.out, parsed.seed, parsed.minutes, tell, parsed.pieces)
    return f"{parsed.out}: {total} positions"


def _selfplay(parsed: argparse.Namespace, tell: Callable[[str], None]) -> str:
    names = [field.name for field in dataclasses.fields(selfplay.Schedule)]
    schedule = selfplay.Schedule(**{name: getattr(parsed, name) for name in names})
    selfplay.generations(parsed.out, schedule, parsed.generations, tell)
    return f"{selfplay.network_path(parsed.out, parsed.generations - 1)}: the last generation"


def _train(parsed: argparse.Namespace, tell: Callable[[str], None]) -> str:
    """Train, write the weights, and the figures beside them."""
    paths = sorted(parsed.data.glob("*.npz"))
    chosen: dict[str, Any] = {"game": parsed.model, "epochs": parsed.epochs, "seed": parsed.seed}
    about = head("learn", "numpy", "jax") | {"configuration": chosen}
    path = parsed.out / ("weights.npz" if parsed.model in ("evaluation", "policy") else "network.onnx")
    if parsed.model == "evaluation":
        weights, figures = evaluation.tune(load(paths, evaluation.VALUED), parsed.epochs, parsed.seed, parsed.out, tell)
        weights.write(path)
    elif parsed.model == "policy":
        held = load(paths, SOURCES["policy"].columns)
        learned, figures = policy.learn(held, parsed.epochs, parsed.seed, parsed.out, about, tell)
        learned.save(path)
    else:
        held = load(paths, SOURCES[parsed.model].columns)
        study: Any = Planning(held) if parsed.model == "dsmcp" else Weighing(held, _BLOCKS[parsed.model])
        study = dataclasses.replace(study, channels=parsed.channels or study.channels)
        trained = len(where(held, TRAIN) if parsed.model == "dsmcp" else repeated(held))
        chosen |= {"channels": study.channels, "decisions": len(held["game"])}
        plan = Plan(max(1, trained // study.batch), epochs=parsed.epochs, seed=parsed.seed)
        found, epochs = train(study, plan, parsed.out / "checkpoint.npz", chosen, tell)
        columns = ["epoch", "loss", "validation_loss", "seconds"]
        figures = {"epochs": {"columns": columns, "rows": epochs}, "tested": study.tested(found)}
        if parsed.model == "dsmcp":
            write_network(path, study.for_play(found), about | figures)
        else:
            write_scores(path, found, about | figures)
    write_document(parsed.out / "figures.json", about | figures)
    return f"{path}; figures.json beside it has what it is worth on test games"


def _labelled(text: str) -> tuple[str, Path]:
    label, _, path = text.partition("=")
    if not re.fullmatch(r"[a-z0-9]+", label) or not path:
        raise argparse.ArgumentTypeError(f"got {text!r}, expected LABEL=PATH, the label of lower-case letters, digits")
    return label, Path(path)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m experiments.learn", description="learn the packaged weights")
    commands = parser.add_subparsers(dest="what", required=True)

    def command(name: str, work: Callable[..., str], about: str) -> Callable[..., Any]:
        found = commands.add_parser(name, help=about)
        found.set_defaults(work=work)
        return found.add_argument

    add = command("data", _data, "make decisions out of finished games")
    add("game", choices=SOURCES)
    told = "; ".join(f"{name}: of {source.expected}" for name, source in SOURCES.items())
    add("matches", nargs="+", type=_labelled, metavar="LABEL=PATH", help=told)
    add("--out", type=Path, required=True, metavar="DATA", help="where the shards go")
    add = command("positions", _positions, "make positions with Stockfish's values")
    add("kind", choices=("played", "searched", "endings"), help="see experiments/learn/positions.py")
    add("--out", type=Path, required=True, metavar="DATA", help="where the shards go")
    add("--minutes", type=positive, default=30.0, metavar="M", help="(default %(default)g)")
    add("--pieces", type=int, default=0, metavar="N", help="of endings: most a side beside king and pawns")
    add("--seed", type=int, default=1, metavar="N", help="(default %(default)s)")
    add = command("train", _train, "learn from data, and write DIR/network.onnx or DIR/weights.npz")
    add("model", choices=(*SOURCES, "evaluation"))
    add("data", type=Path, metavar="DATA", help="shards that 'data' or 'positions' wrote")
    add("--out", type=Path, required=True, metavar="DIR", help="of checkpoint, weights and figures")
    add("--epochs", type=count, default=4, metavar="N", help="(default %(default)s)")
    add("--channels", type=count, metavar="C", help="of the convolutions (default 32)")
    add("--seed", type=int, default=0, metavar="N", help="of all that is random (default %(default)s)")
    add = command("selfplay", _selfplay, "a player of blind chess learns from its own games, from random weights")
    kept = selfplay.Schedule()
    add("--out", type=Path, required=True, metavar="DIR", help="where all of it is kept")
    add("--generations", type=count, default=7, metavar="N", help="until there are so many (default %(default)s)")
    flags: tuple[tuple[str, Callable[[str], Any], str], ...] = (
        ("games", count, "of a generation"), ("nodes", count, "of a question"),
        ("particles", count, "sets of the opponent that are kept"),
        ("epochs", count, "of a generation's training"), ("seed", int, "of all that is random"),
        ("noise", share, "share of Dirichlet noise in the policy at the root"),
    )  # fmt: skip
    for name, kind, about in flags:
        add(f"--{name}", type=kind, default=getattr(kept, name), metavar="N", help=f"{about} (default %(default)s)")
    add("--fen", metavar="FEN", help="where games start, known to both")
    return parser


if __name__ == "__main__":
    sys.exit(main())
