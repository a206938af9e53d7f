"""Decisions to learn a belief from: ``python -m experiments.belief data RUN_DIR… --out DIR`` replays the games of
matches and writes, for each turn at which a player held two positions or more possible, what the Siamese learns from.

A *decision* is: the truth, members drawn uniformly from the others, how many were possible in all (so that a softmax
over the drawn ones can be corrected by ln n), the observation's numbers (:mod:`darkchess.fog.belief.siamese`), the
drawn positions' values by the built-in evaluator, and whose moves are to be guessed. A game ends where a player's set
passes ``--most``.

Games are split by their pair, and both games of a pair share their opening: pairs 4, 9, 14, … are held out for tests,
pairs 3, 13, 23, … for stopping and for the temperature; all others are trained on.

A shard holds a block of games of one match, ``MATCH-00040.npz``; one that is there and whole is not made again, so that
the command goes on where it was stopped, and goes on with a match that is still played.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import closing
from pathlib import Path
from typing import Any

import chess
import numpy as np
import numpy.typing as npt

from darkchess.errors import DarkchessError
from darkchess.evaluation.evaluator import BuiltinEvaluator
from darkchess.fog.belief.position_set import PositionSet
from darkchess.fog.belief.siamese import NUMBERS, Observer
from darkchess.fog.game.record import GameRecord, read_pgn
from darkchess.fog.game.referee import Referee
from darkchess.fog.game.view import observe
from experiments.games import match_folders
from experiments.series.processes import processes
from experiments.series.runner import positive
from experiments.series.summary import sessions
from klss.support.archive import read_arrays
from klss.support.arrays import Ints
from klss.support.whole_file import written_whole
from klss_app.progress import ProgressLine
from uci_bridge.match.files import read_match
from uci_bridge.match.match import MatchError
from uci_bridge.match.task import sides

__all__ = ["DRAWN", "FORMAT", "decisions", "kind_of", "main", "part_of", "truth_index"]

DRAWN = 128
"""Members drawn beside the truth."""

MOST = 1_000_000
BLOCK = 20
"""Games of a shard."""
FORMAT = 1

TRAIN, VALIDATE, TEST = 0, 1, 2
"""Parts of the games."""


def part_of(pair: int) -> int:
    """Which part a pair's games belong to.

    >>> [part_of(pair) for pair in range(10)]
    [0, 0, 0, 1, 2, 0, 0, 0, 0, 2]
    """
    return TEST if pair % 5 == 4 else VALIDATE if pair % 10 == 3 else TRAIN


def kind_of(name: str) -> str:
    """The configuration of a player, without what was set beside it.

    >>> kind_of("kluss,threads=1")
    'kluss'
    """
    return name.partition(",")[0]


def truth_index(known: PositionSet, referee: Referee) -> int:
    """Where the true position stands in the set; −1 where it is not."""
    view = observe(referee.position, known.view.color)
    half = PositionSet(view, referee.position).halves[0]
    found = np.flatnonzero((known.halves == half).all(axis=1))
    return int(found[0]) if found.size else -1


def drawn_beside(truth: int, size: int, generator: np.random.Generator) -> Ints:
    """The truth's index, then those of up to :data:`DRAWN` others, drawn without replacement."""
    if size - 1 <= DRAWN:
        others = np.arange(size - 1)
    else:
        others = generator.choice(size - 1, DRAWN, replace=False)
    return np.concatenate([[truth], others + (others >= truth)]).astype(np.int64)


def decisions(record: GameRecord, seed: Sequence[int], most: int = MOST) -> Iterator[dict[str, Any]]:
    """The decisions of one game, in its order.

    Parameters
    ----------
    record
        The game.
    seed
        Of the draws.
    most
        The game ends where a set passes this.

    Yields
    ------
    dict
        ``ply``, ``color`` (the viewer's), ``size``, ``count`` (the truth and the drawn ones), ``halves`` (uint64[1 +
        DRAWN, 2], the truth first), ``values`` (float16[1 + DRAWN], for the viewer, in [−1, 1]), ``numbers``
        (float16[NUMBERS]).
    """
    evaluator = BuiltinEvaluator()
    referee = Referee(record.fen)
    known = {color: PositionSet(referee.view(color), referee.position, cap=most) for color in chess.COLORS}
    observers = {color: Observer(positions) for color, positions in known.items()}
    for ply, move in enumerate(record.moves, 1):
        referee.push(move)
        if referee.outcome is not None:
            return
        for color, positions in known.items():
            positions.observe(referee.view(color))
            observers[color].observe(positions)
        if any(positions.sampled for positions in known.values()):
            return
        mine = known[referee.turn]
        if mine.size < 2:
            continue
        chosen = drawn_beside(truth_index(mine, referee), mine.size, np.random.default_rng([*seed, ply]))
        count = chosen.shape[0]
        halves = np.zeros((1 + DRAWN, 2), dtype=np.uint64)
        halves[:count] = mine.halves[chosen]
        values = np.zeros(1 + DRAWN, dtype=np.float16)
        values[:count] = evaluator.values(mine.rows(chosen))
        yield {
            "ply": ply,
            "color": referee.turn,
            "size": mine.size,
            "count": count,
            "halves": halves,
            "values": values,
            "numbers": observers[referee.turn].numbers.astype(np.float16),
        }


_TYPES: dict[str, npt.DTypeLike] = {
    "ply": np.int32, "color": np.bool_, "size": np.int64, "count": np.int16, "game": np.int32, "pair": np.int32,
    "enemy": np.int8,
}  # fmt: skip


def _shard(folder: Path, games: Sequence[int], about: dict[str, Any], most: int, path: Path) -> int:
    """Make one shard; how many decisions it holds."""
    rows: list[dict[str, Any]] = []
    for game in games:
        record = read_pgn((folder / f"game-{game:05}.pgn").read_text(encoding="utf-8"))[0]
        who = sides(game)
        for row in decisions(record, [int(about["seed"]) % 2**63, game], most):
            enemy = "ab".index(who[not row["color"]])
            rows.append(row | {"game": game, "pair": game // 2, "enemy": enemy})
    arrays: dict[str, npt.NDArray[Any]] = {
        name: np.array([row[name] for row in rows], dtype=kind) for name, kind in _TYPES.items()
    }
    for name, shape, kind in (
        ("halves", (1 + DRAWN, 2), np.uint64),
        ("values", (1 + DRAWN,), np.float16),
        ("numbers", (NUMBERS,), np.float16),
    ):
        arrays[name] = np.array([row[name] for row in rows], dtype=kind).reshape(-1, *shape)
    text = json.dumps(about | {"games": list(games)})
    with written_whole(path) as file:
        np.savez_compressed(file, about=np.frombuffer(text.encode(), dtype=np.uint8), **arrays)  # type: ignore[arg-type]
    return len(rows)


def _whole(path: Path, games: Sequence[int], about: dict[str, Any]) -> bool:
    """Whether a shard is there and holds these games."""
    try:
        shown = json.loads(bytes(read_arrays(path, names=["about"])["about"]).decode())
    except ValueError:
        return False
    return bool(shown == about | {"games": list(games)})


def _wanted(folders: Sequence[Path], most: int, out: Path) -> tuple[list[tuple[Any, ...]], int]:
    """Shards that are to be made (the arguments of :func:`_shard`), and how many there will be in all."""
    found, total = [], 0
    for folder in folders:
        kept = read_match(folder)
        if kept is None:
            continue
        identity, lines, _ = kept
        about = {
            "format": FORMAT,
            "match": folder.name,
            "players": [identity[side]["name"] for side in "ab"],
            "budgets": [identity["budget"], identity.get("budget_b", identity["budget"])],
            "seed": identity["seed"],
            "commits": sorted({str(session["commit"]) for session in sessions(folder, len(lines))}),
            "most": most,
        }
        done = sorted(line["game"] for line in lines if line["reason"] != "aborted")
        for first in range(0, max(done, default=-1) + 1, BLOCK):
            games = [game for game in done if first <= game < first + BLOCK]
            path = out / f"{folder.name}-{first:05}.npz"
            total += 1
            if games and not _whole(path, games, about):
                found.append((folder, games, about, most, path))
    return found, total


def main(arguments: Sequence[str] | None = None) -> int:
    """Replay and write; the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m experiments.belief data", description="decisions of finished games, to learn a belief from"
    )
    parser.add_argument("folders", nargs="+", type=Path, metavar="RUN_DIR", help="of a match, or one that holds such")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="where the shards go")
    parser.add_argument("--most", type=positive, default=MOST, metavar="N", help="possible positions (default 10⁶)")
    parser.add_argument("--workers", type=positive, default=1, metavar="N", help="processes (default 1)")
    parsed = parser.parse_args(arguments)
    try:
        wanted, total = _wanted(match_folders(parsed.folders), parsed.most, parsed.out)
        parsed.out.mkdir(parents=True, exist_ok=True)
    except (MatchError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    if not total:
        print(f"no games in {', '.join(map(str, parsed.folders))}; expected directories of matches", file=sys.stderr)
        return 1
    made = 0
    with closing(ProgressLine("belief data")) as line:
        line.tell(f"{total - len(wanted)} of {total} shards were there")
        try:
            for number, count in enumerate(_made(wanted, parsed.workers), 1):
                made += count
                line.tell(f"{total - len(wanted) + number} of {total} shards, {made} decisions", at_once=True)
        except (OSError, DarkchessError, IndexError) as error:
            line.close()
            print(f"{error}; expected the games' PGN", file=sys.stderr)
            return 1
    print(f"{parsed.out}: {total} shards, of which {len(wanted)} were made with {made} decisions")
    return 0


def _made(wanted: Sequence[tuple[Any, ...]], workers: int) -> Iterator[int]:
    """Make the shards; how many decisions each holds, in the order in which they are done."""
    if workers == 1:
        for arguments in wanted:
            yield _shard(*arguments)
        return
    with processes(workers) as pool:
        waiting: set[Future[int]] = {pool.submit(_shard, *arguments) for arguments in wanted}
        while waiting:
            done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
            yield from (future.result() for future in done)
