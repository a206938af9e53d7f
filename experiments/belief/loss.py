"""``python -m experiments.belief loss RUN_DIR…``: the loss of moves at the true position, with each belief.

Games of finished matches that were not used for learning are replayed. At some of a player's turns every arm searches
from scratch with the same nodes, and its mixture is judged at the true position, which it does not know: the value of
the best move there less that of the mixture, by Stockfish at depth 9 (tanh of a sixth of a pawn; a king that can be
taken is lost). This is a proxy: in the dark the best move on the true board may be a bad one, and only games measure
strength. But it is the same for all arms, and takes only minutes.

Turns without a real choice are left out: fewer than :data:`LEAST` positions, a king to take, a single move. Filters
have no time limit. Written to ``results/belief_loss.json``; rows of finished games are kept under ``--kept``, so that
the command can be resumed.
"""

from __future__ import annotations

import argparse
import json
import sys
import zlib
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import chess
import numpy as np

from darkchess.board.move import decode
from darkchess.board.position import Position
from darkchess.errors import DarkchessError
from darkchess.evaluation.evaluator import BuiltinEvaluator
from darkchess.fog.analysis.analyst import Analyst
from darkchess.fog.belief.policy import Policy
from darkchess.fog.game.contest import king_capture
from darkchess.fog.game.record import GameRecord, read_pgn
from darkchess.fog.game.referee import Referee
from darkchess.fog.players.configuration import CONFIGURATIONS, Configuration
from experiments.commands import finished
from experiments.players.oracle import KlussOracle, ToldOracle, true_state
from experiments.players.specs import configuration
from experiments.series.processes import processes
from experiments.series.runner import RESULTS, RUNS, positive
from experiments.series.summary import match_folders
from klss.support.arrays import Floats
from klss.support.whole_file import write_whole
from klss.table.limits import Limit
from klss_app.progress import ProgressLine
from uci_bridge.errors import StockfishMissing
from uci_bridge.match.documents import head, write_document
from uci_bridge.match.match import MatchError
from uci_bridge.stockfish.evaluator import StockfishEvaluator, find_stockfish, stockfish_version

__all__ = ["ARMS", "LEAST", "losses", "main", "summary"]

ARMS = {
    "uniform": "kluss-value,value_beta=0",
    "value": "kluss-value",
    "filter": "kluss",
    "filter, not drawn": "kluss,sample_by_weight=false",
    "filter alone": "kluss,value_beta=0",
    "filter, less even": "kluss,uniform_mix=0.05",
    "oracle .1": "kluss-oracle,prior=0.1",
    "oracle .4": "kluss-oracle,prior=0.4",
}
"""The last two arms are given the truth: they bound the gain of a better belief."""

LEAST, MOST = 20, 1_000_000
DEPTH = 9
COLUMNS = ["match", "game", "ply", "positions", "best", *ARMS]
_ROUND = 5


def losses(record: GameRecord, every: int, nodes: int, seed: int, stockfish: StockfishEvaluator) -> list[list[Any]]:
    """Rows for every ``every``-th turn of each player in one game: ply, size of the set, value of the best move, and
    each arm's loss, in [0, 2].
    """
    found: list[list[Any]] = []
    referee = Referee(record.fen)
    analysts = {
        color: Analyst(
            referee.view(color), referee.position, referee.ruleset, evaluator=BuiltinEvaluator(), seed=seed,
            configuration=replace(CONFIGURATIONS["klss2021"], cap=MOST, threads=1), belief="filter",
        )
        for color in chess.COLORS
    }  # fmt: skip
    for ply, move in enumerate(record.moves, 1):
        referee.push(move)
        if referee.outcome is not None:
            break
        for color, analyst in analysts.items():
            analyst.observe(referee.view(color))
        mine = analysts[referee.turn]
        if any(analyst.position_set.capped_by for analyst in analysts.values()):
            break
        if (ply // 2 + seed) % every or mine.position_set.size < LEAST:
            continue
        if king_capture(mine.view) is not None or len(mine.view.legal_moves) == 1:
            continue
        worth = _worth(referee.position, mine.view.legal_moves, stockfish)
        best = max(worth.values())
        row: list[Any] = [ply, mine.position_set.size, round(best, _ROUND)]
        for text in ARMS.values():
            _, result = mine.search(Limit(nodes=nodes), _with_truth(text, mine, referee.position))
            values = np.array([worth[decode(int(code))] for code in result.actions])
            row.append(round(best - float(values @ result.probabilities), _ROUND))
        found.append(row)
    return found


def _worth(position: Position, moves: Iterable[chess.Move], stockfish: StockfishEvaluator) -> dict[chess.Move, float]:
    """The value of each move at the true position, for the mover."""
    after = {move: position.after(move) for move in moves}
    rows = np.array([each.row for each in after.values()])
    return dict(zip(after, (-stockfish.values(rows)).tolist(), strict=True))


def _with_truth(text: str, analyst: Analyst, position: Position) -> Configuration:
    """The configuration of an arm; an oracle's search is given the truth."""
    chosen = configuration(text)
    if not isinstance(chosen.search, KlussOracle):
        return chosen
    model = analyst.model
    truth = partial(true_state, model, position, analyst.quiet)
    return replace(chosen, search=ToldOracle(**vars(chosen.search), truth=truth, identities=model.identities))


def summary(rows: Sequence[Sequence[Any]], arms: Sequence[str]) -> dict[str, Any]:
    """Mean loss of each arm, the share of turns with a loss above .25, and the difference of its mean from each of the
    first two arms', with 95 % intervals by game.

    Parameters
    ----------
    rows
        As in :data:`COLUMNS`, possibly with other arms.
    arms
        Their names; the others are compared with the first two.
    """
    first = len(COLUMNS) - len(ARMS)
    lost = np.array([row[first:] for row in rows], dtype=np.float64)
    shown: dict[str, Any] = {}
    for i, arm in enumerate(arms):
        shown[arm] = {
            "loss": round(float(lost[:, i].mean()), 4),
            "above_quarter": round(float(np.mean(lost[:, i] > 0.25)), 4),
            "less": {arms[j]: differing(lost[:, i] - lost[:, j], rows) for j in range(2) if j != i},
        }
    return shown


def _gone_through(parsed: argparse.Namespace, about: Mapping[str, Any]) -> list[list[Any]]:
    """The rows of the games of each match, up to the wanted number, each row with its match and game before it. A
    game's rows are kept in a folder that depends on ``about``, so that other settings don't mix with them.
    """
    shown = json.dumps(about, sort_keys=True, default=str)
    place = parsed.kept / f"{zlib.crc32(shown.encode()):08x}"
    place.mkdir(parents=True, exist_ok=True)
    paths = [
        path for folder in match_folders(parsed.folders) for path in sorted(folder.glob("game-*.pgn"))[: parsed.games]
    ]
    tasks = [(path, place, parsed.every, parsed.nodes) for path in paths]
    rows: list[list[Any]] = []
    with closing(ProgressLine("looking")) as line, ExitStack() as stack:
        each: Iterable[list[list[Any]]] = map(_looked, tasks)
        if parsed.workers > 1:
            each = stack.enter_context(processes(parsed.workers)).map(_looked, tasks)
        for i, found in enumerate(each, 1):
            rows += found
            line.tell(f"{i}/{len(tasks)} games, {len(rows)} turns")
    return rows


def _looked(task: tuple[Path, Path, int, int]) -> list[list[Any]]:
    """In a worker process: compute the rows of one game, and keep them in a file."""
    path, place, every, nodes = task
    file = place / f"{path.parent.name}-{path.stem}.json"
    if file.exists():
        return list(json.loads(file.read_text(encoding="utf-8")))
    game = int(path.stem.removeprefix("game-"))
    record = read_pgn(path.read_text(encoding="utf-8"))[0]
    with StockfishEvaluator(depth=DEPTH, reproducible=True) as stockfish:
        found = losses(record, every, nodes, game, stockfish)
    rows = [[path.parent.name, game, *row] for row in found]
    write_whole(file, json.dumps(rows))
    return rows


def differing(differences: Floats, rows: Sequence[Sequence[Any]]) -> list[float]:
    """Low, mean and high (95 %) of one number per row, by game, since rows of one game are not independent."""
    sums: dict[Any, list[float]] = {}
    mean = float(differences.mean())
    for row, difference in zip(rows, differences.tolist(), strict=True):
        sums.setdefault((row[0], row[1]), []).append(difference - mean)
    error = np.sqrt(sum(sum(each) ** 2 for each in sums.values())) / len(differences)
    return [round(mean + side * 1.96 * float(error), 4) for side in (-1, 0, 1)]


def main(arguments: Sequence[str] | None = None) -> int:
    """Process the remaining games and write the results; return the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m experiments.belief loss", description="what moves lose at the true position, with each belief"
    )
    add = parser.add_argument
    add("folders", nargs="+", type=Path, metavar="RUN_DIR", help="of a match, or one that holds such")
    add("--games", type=positive, default=40, metavar="N", help="of each match (default 40)")
    add("--every", type=positive, default=3, metavar="N", help="turns of a player's (default 3)")
    add("--nodes", type=positive, default=6000, metavar="N", help="of each search (default 6000)")
    add("--workers", type=positive, default=2, metavar="W", help="games at a time (default 2)")
    add("--kept", type=Path, default=RUNS / "belief-loss", metavar="DIR", help="where games go that were looked at")
    add("--results", type=Path, default=RESULTS, metavar="DIR", help="where belief_loss.json goes")
    parsed = parser.parse_args(arguments)
    return finished(lambda: _look(parsed), MatchError, StockfishMissing, OSError, ValueError, DarkchessError)


def _look(parsed: argparse.Namespace) -> int:
    find_stockfish()
    about = {"every": parsed.every, "nodes": parsed.nodes, "depth": DEPTH, "least": LEAST, "arms": ARMS}
    rows = _gone_through(parsed, {**about, "policy": Policy.packaged().history})
    if not rows:
        print(f"no turns in {', '.join(map(str, parsed.folders))}; expected directories of matches", file=sys.stderr)
        return 1
    document: dict[str, Any] = {
        **head("belief_loss", "numpy", "numba"),
        "stockfish": stockfish_version(),
        "configuration": about,
        "games": len({(row[0], row[1]) for row in rows}),
        "turns": len(rows),
        "summary": summary(rows, list(ARMS)),
        "samples": {"columns": COLUMNS, "rows": rows},
    }
    path = parsed.results / "belief_loss.json"
    write_document(path, document)
    for arm, each_told in document["summary"].items():
        print(f"{arm:20} {each_told['loss']:.4f}  above .25: {each_told['above_quarter']:.3f}  {each_told['less']}")
    return 0
