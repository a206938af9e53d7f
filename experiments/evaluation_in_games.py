"""What the terms of the built-in evaluation buy in games: ``python -m experiments.evaluation_in_games``.

The models of :mod:`experiments.tune_evaluation`, fitted again: the start by hand, the tapered sum, the sum without one
block of its terms at a time, and the packaged weights (sum and network). Each plays ``klss2021`` with a node budget
against the next better one: blocks against the whole sum, the start by hand against the sum, the packaged weights
against the sum. Both sides search equally many nodes, so that a slow term costs nothing here; what a value costs stands
in ``results/tune_evaluation.json`` beside the error of each.

The first run needs ``--positions``, a file of :mod:`experiments.evaluation_positions`. Games are kept in ``--runs`` as
they end; the same command goes on where it stopped. ``results/evaluation_in_games.json`` is written at the end of every
run.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any

import chess
import numpy as np

from darkchess.evaluation.evaluator import BuiltinEvaluator, Weights, packaged_weights
from darkchess.evaluation.kernels.features import FEATURE_BLOCKS
from darkchess.fog.players.configuration import configuration, make_player
from experiments.evaluation_positions import held_out
from experiments.tune_evaluation import by_hand, train
from klss.support.archive import read_arrays
from klss.support.seeds import game_seed, opening_seed, player_seed
from klss.table.arbiter import Arbiter
from klss.table.limits import TimeControl
from uci_bridge.kits.fog import FOG
from uci_bridge.match.documents import head, write_document
from uci_bridge.match.openings import RandomOpenings
from uci_bridge.match.statistics import elo_of_match
from uci_bridge.match.task import sides

__all__ = ["games_left", "main", "matches", "summary"]

RESULT = Path(__file__).resolve().parent / "results" / "evaluation_in_games.json"
OPENING_PLIES = 4
_SHARE = 16
"""Every sixteenth position is enough for the tapered sum."""


def matches() -> dict[str, tuple[str, str]]:
    """Name of each match, and its two models: A, which lacks something or is newer, and B."""
    blocks = [name for name in FEATURE_BLOCKS if name != "piece on square"]
    return {"network": ("packaged", "sum"), "by hand": ("by hand", "sum")} | {
        f"without {name}": (f"without {name}", "sum") for name in blocks
    }


def fit(positions: Path, folder: Path, epochs: int, seed: int) -> None:
    """Write all weights that are not there yet into ``folder``."""
    names = ["by hand", "sum", "packaged", *(name for name in matches() if name.startswith("without"))]
    missing = [name for name in names if not _file(folder, name).exists()]
    if not missing:
        return
    folder.mkdir(parents=True, exist_ok=True)
    by_hand().write(_file(folder, "by hand"))
    packaged_weights().write(_file(folder, "packaged"))
    many = read_arrays(positions)
    mine = np.flatnonzero(~held_out(many["games"]))[::_SHARE]
    rows, values = many["rows"][mine], many["values"][mine].astype(np.float64)
    for name in missing:
        if name in ("by hand", "packaged"):
            continue
        print(f"fitting {name} to {len(rows):,} positions", file=sys.stderr, flush=True)
        without, weights = None, by_hand()
        if name != "sum":
            first, size = FEATURE_BLOCKS[name.removeprefix("without ")]
            without = slice(first, first + size)
            weights.part("linear")[without] = 0.0
        for turn in range(2):
            rate = 0.01 / (1 + turn)
            weights = train(weights, rows, values, epochs=epochs, rate=rate, seed=seed + turn, without=without)
        weights.write(_file(folder, name))


def _file(folder: Path, name: str) -> Path:
    return folder / f"{name.replace(' ', '_')}.npz"


@cache
def _evaluator(path: str) -> BuiltinEvaluator:
    return BuiltinEvaluator(Weights.read(Path(path)))


def play(folder: Path, name: str, game: int, nodes: int, seed: int) -> dict[str, Any]:
    """One game of a match: ``match``, ``game``, ``result`` (1, 0.5 or 0, for A), ``plies``, ``reason``."""
    models = dict(zip("ab", matches()[name], strict=True))
    pair, mine = game // 2, game_seed(seed, game)
    opening = RandomOpenings(OPENING_PLIES).opening(pair, opening_seed(seed, pair))
    referee = FOG.referee(FOG.setup(opening.fen), opening.moves)
    chosen = configuration("klss2021,threads=1")
    players = {
        color: make_player(
            chosen, _evaluator(str(_file(folder, models[side]))), seed=player_seed(mine, chess.COLOR_NAMES[color])
        )
        for color, side in sides(game).items()
    }
    Arbiter(referee, players, dict.fromkeys(chess.COLORS, TimeControl(nodes=nodes))).play()
    outcome = referee.outcome
    assert outcome is not None
    result = 0.5 if outcome.winner is None else float(sides(game)[outcome.winner] == "a")
    return {"match": name, "game": game, "result": result, "plies": referee.ply, "reason": outcome.reason}


def games_left(done: list[dict[str, Any]], games: int) -> Iterator[tuple[str, int]]:
    """Match and number of each game that is not among ``done``, pair by pair through all matches."""
    known = {(row["match"], row["game"]) for row in done}
    for pair in range(-(-games // 2)):
        for name in matches():
            for game in (2 * pair, 2 * pair + 1):
                if game < games and (name, game) not in known:
                    yield name, game


def summary(done: list[dict[str, Any]]) -> dict[str, Any]:
    """Score, Elo interval and games of each match that has games; all of A."""
    found: dict[str, Any] = {}
    for name, (a, b) in matches().items():
        rows = sorted((row for row in done if row["match"] == name), key=lambda row: int(row["game"]))
        if not rows:
            continue
        halves: dict[int, list[float]] = {}
        for row in rows:
            halves.setdefault(row["game"] // 2, []).append(row["result"])
        pairs = [0] * 5
        for results in halves.values():
            if len(results) == 2:
                pairs[int(2 * sum(results))] += 1
        score = sum(row["result"] for row in rows)
        found[name] = {
            "a": a, "b": b, "games": len(rows), "score": score, "share": round(score / len(rows), 4), "pairs": pairs,
            **dataclasses.asdict(elo_of_match(score, len(rows), pairs)),
        }  # fmt: skip
    return found


def main(argv: list[str] | None = None) -> int:
    """Run the command; returns the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--positions", type=Path, help="positions with values, of experiments.evaluation_positions")
    parser.add_argument("--runs", type=Path, default=Path("experiments/runs/evaluation_in_games"))
    parser.add_argument("--games", type=int, default=100, help="a match")
    parser.add_argument("--nodes", type=int, default=1000, help="a move")
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--out", type=Path, default=RESULT)
    chosen = parser.parse_args(argv)
    if chosen.positions is not None:
        fit(chosen.positions, chosen.runs, chosen.epochs, chosen.seed)
    elif not _file(chosen.runs, "sum").exists():
        print("--positions: expected the file that the models are fitted to; none is in --runs yet", file=sys.stderr)
        return 2
    log = chosen.runs / f"games-{chosen.nodes}-{chosen.seed}.jsonl"
    text = log.read_text(encoding="utf-8") if log.exists() else ""
    done = [json.loads(line) for line in text[: text.rfind("\n") + 1].splitlines()]
    log.write_text("".join(json.dumps(row, allow_nan=False) + "\n" for row in done), encoding="utf-8")
    with ProcessPoolExecutor(chosen.workers) as pool, open(log, "a", encoding="utf-8") as file:
        running = [
            pool.submit(play, chosen.runs, name, game, chosen.nodes, chosen.seed)
            for name, game in games_left(done, chosen.games)
        ]
        try:
            for number, future in enumerate(running, 1):
                row = future.result()
                done.append(row)
                file.write(json.dumps(row, allow_nan=False) + "\n")
                file.flush()
                if number % 24 == 0:
                    print(f"{number} of {len(running)} games", file=sys.stderr, flush=True)
        except KeyboardInterrupt:
            pool.shutdown(cancel_futures=True)
            print(f"stopped after {len(done)} games; the same command goes on", file=sys.stderr)
    document = {
        **head("evaluation_in_games", "numpy", "numba", "highspy"),
        "configuration": {"player": "klss2021", "nodes": chosen.nodes, "opening plies": OPENING_PLIES},
        "seed": chosen.seed,
        "matches": summary(done),
        "samples": [
            [row["match"], row["game"], row["result"], row["plies"], row["reason"]]
            for row in sorted(done, key=lambda row: (row["match"], row["game"]))
        ],
    }
    write_document(chosen.out, document)
    for name, row in document["matches"].items():
        print(f"{name:<28} {row['score']:g}/{row['games']}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
