"""Positions with Stockfish's values, to tune and to measure the built-in evaluator on: ``python -m
experiments.evaluation_positions generate|label``.

``generate`` plays Fog of War games with Stockfish's values of all moves (temperature and blunders drawn for each game,
so that quiet and wild positions, level and decided ones, come up) and keeps some children of each position met, and of
positions a few random plies away from it: leaves of a search trunk are like that, most of them one odd move from a
sensible position. Their values are those of a search of depth 1 at the parent, some ten thousand a second.

``label`` takes a sample of them and asks for a deep search of each, some hundred a second. Games, not positions, are
split into training and held-out.

Only positions that Stockfish values itself are kept: none where the king can be taken, and none where every move loses
it.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import numpy as np
import numpy.typing as npt

from darkchess.board.kernels.moves import MAX_MOVES, generate, make
from darkchess.board.kernels.orthodox import ASK, classify
from darkchess.board.kernels.tables import TABLES
from darkchess.board.position import Position
from experiments.series.runner import amount, share
from klss.support.archive import read_arrays
from klss.support.arrays import Bools, Floats, Int32s, Ints, Words
from klss.support.kernel import kernel
from uci_bridge.stockfish.evaluator import StockfishEvaluator

__all__ = ["HELD_OUT", "children_of", "held_out", "play"]

HELD_OUT = 5
"""Every fifth game is held out."""

_GAMES_AT_ONCE = 96
_CHILDREN_KEPT = 24
_MAX_PLIES = 180


@kernel
def _expand(rows, tables, offsets, children):  # type: ignore[no-untyped-def]
    moves = np.empty(MAX_MOVES, dtype=np.int32)
    total = 0
    for k in range(rows.shape[0]):
        offsets[k] = total
        count = generate(rows[k], tables, moves)
        for i in range(count):
            make(rows[k], moves[i], tables, children[total])
            total += 1
    offsets[rows.shape[0]] = total


def children_of(rows: Words) -> tuple[Ints, Words]:
    """All children of each of ``rows`` (uint64[n, 9]): offsets int64[n + 1] and children uint64[m, 9]."""
    offsets = np.zeros(rows.shape[0] + 1, dtype=np.int64)
    children = np.empty((rows.shape[0] * 128 + MAX_MOVES, 9), dtype=np.uint64)
    _expand(rows, TABLES, offsets, children)
    return offsets, children[: offsets[-1]].copy()


def held_out(games: Int32s) -> Bools:
    """Which of the positions of ``games`` (int32[n]) are held out: bool[n]."""
    return np.asarray(games % HELD_OUT == 0)


def _askable(rows: Words) -> Bools:
    codes = np.empty(rows.shape[0], dtype=np.int8)
    classify(rows, TABLES, codes)
    return np.asarray(codes == ASK)


def _stray(row: Words, plies: int, rng: np.random.Generator) -> Words:
    """The position after some random plies; the last one in which both kings are on the board."""
    for _ in range(plies):
        _, children = children_of(row[None])
        children = children[_askable(children)]
        if not len(children):
            break
        row = children[rng.integers(len(children))]
    return row


def play(engine: StockfishEvaluator, time_s: float, seed: int) -> tuple[Words, npt.NDArray[np.float32], Int32s]:
    """Play games for ``time_s`` seconds; returns positions uint64[n, 9], their values for the side to move float32[n],
    and the number of the game each is from.
    """
    # A game starts some random plies from the usual position, with a temperature and a rate of blunders of its own, so
    # that positions of good and of bad play are there.
    rng = np.random.default_rng(seed)
    fresh = iter(range(1 << 30))

    def new_game() -> tuple[int, Words, int, float, float]:
        return (
            next(fresh),
            _stray(np.array(Position.start().row), int(rng.integers(0, 11)), rng),
            0,
            float(rng.choice([0.02, 0.05, 0.1, 0.2])),
            float(rng.choice([0.02, 0.08, 0.2])),
        )

    games = [new_game() for _ in range(_GAMES_AT_ONCE)]
    found: list[tuple[Words, npt.NDArray[np.float32], Int32s]] = []
    end = time.monotonic() + time_s
    total = 0
    while time.monotonic() < end:
        # Children of the positions of all games, and of positions some random plies away, valued in one batch.
        strays = [_stray(game[1], int(rng.integers(1, 4)), rng) for game in games]
        parents = np.concatenate([np.array([game[1] for game in games]), np.array(strays)])
        offsets, children = children_of(parents)
        values = engine.child_values(parents, offsets, children)
        keep = _askable(children) & np.repeat(_askable(parents), np.diff(offsets))
        # A few children of each are kept, so that no position has a large part of the data.
        for k in range(len(parents)):
            places = np.arange(offsets[k], offsets[k + 1])[keep[offsets[k] : offsets[k + 1]]]
            places = rng.permutation(places)[:_CHILDREN_KEPT]
            number = games[k % len(games)][0]
            found.append(
                (children[places], values[places].astype(np.float32), np.full(len(places), number, dtype=np.int32))
            )
            total += len(places)
        # Every game goes on by one move: softmax of the values, or a blunder. One that is over, long or decided ends.
        for k, (number, _, ply, temperature, blunder) in enumerate(games):
            first, last = offsets[k], offsets[k + 1]
            if first == last:
                games[k] = new_game()
                continue
            own = -values[first:last]
            if rng.random() < blunder:
                choice = int(rng.integers(last - first))
            else:
                weights = np.exp((own - own.max()) / temperature)
                choice = int(rng.choice(last - first, p=weights / weights.sum()))
            row = children[first + choice]
            over = not _askable(row[None])[0] or ply > _MAX_PLIES or (abs(own[choice]) > 0.97 and rng.random() < 0.15)
            games[k] = new_game() if over else (number, row, ply + 1, temperature, blunder)
        if len(found) % 3840 == 0:
            print(f"{total} positions", file=sys.stderr, flush=True)
    # Each position once; the counters do not make it another one.
    rows, scores, numbers = (np.concatenate(column) for column in zip(*found))
    identity = np.ascontiguousarray(rows[:, :9])
    identity[:, 8] &= np.uint64(0x7FFF)
    _, unique = np.unique(identity.view([("", np.uint64)] * 9).ravel(), return_index=True)
    unique.sort()
    return rows[unique], scores[unique], numbers[unique]


def main(argv: list[str] | None = None) -> int:
    """Run the command; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    commands = parser.add_subparsers(dest="command", required=True)
    sub = commands.add_parser("generate", help="play games, keep positions with values of depth 1")
    sub.add_argument("--minutes", type=amount, default=6.0)
    sub.add_argument("--seed", type=int, default=1)
    sub.add_argument("--out", type=Path, required=True, help="positions.npz to write: rows, values, games")
    sub = commands.add_parser("label", help="value a sample of the positions by a deep search")
    sub.add_argument("--positions", type=Path, required=True)
    sub.add_argument("--minutes", type=amount, default=8.0)
    sub.add_argument("--depth", type=int, default=10)
    sub.add_argument(
        "--held-out", type=share, default=0.25, help="share of the sample that is taken from held-out games"
    )
    sub.add_argument("--seed", type=int, default=2)
    sub.add_argument(
        "--out", type=Path, required=True, help="labels.npz to write: rows, values, shallow (depth 1), games"
    )
    arguments = parser.parse_args(argv)
    if arguments.command == "generate":
        with StockfishEvaluator(silence_s=20.0) as engine:
            rows, values, games = play(engine, 60.0 * arguments.minutes, arguments.seed)
        np.savez(arguments.out, rows=rows, values=values, games=games)
        print(f"{len(rows)} different positions of {len(np.unique(games))} games -> {arguments.out}")
        return 0
    # A random order of the training games' positions, and one of the held-out games', taken at the wanted share.
    data = read_arrays(arguments.positions)
    rng = np.random.default_rng(arguments.seed)
    rows, games, values = data["rows"], data["games"], data["values"]
    rows = rows.copy()
    held = held_out(games)
    order = rng.permutation(len(rows))
    taken: list[Ints] = []
    deep: list[Floats] = []
    # A hundred at a time until the minutes are over, each hundred with a fresh hash table.
    end = time.monotonic() + 60.0 * arguments.minutes
    pools = [order[~held[order]], order[held[order]]]
    at = [0, 0]
    with StockfishEvaluator(silence_s=60.0, depth=arguments.depth) as engine:
        while not taken or time.monotonic() < end:
            which = int(rng.random() < arguments.held_out)
            places = pools[which][at[which] : at[which] + 100]
            at[which] += 100
            engine.new_game()
            taken.append(places)
            deep.append(engine.values(rows[places]))
        # A position without an answer would have a value of another kind.
        if engine.fallbacks:
            print(f"{engine.fallbacks} positions were not answered", file=sys.stderr)
            return 1
    places = np.concatenate(taken)
    np.savez(
        arguments.out,
        rows=rows[places],
        values=np.concatenate(deep),
        shallow=values[places],
        games=games[places],
        depth=arguments.depth,
    )
    print(f"{len(places)} positions at depth {arguments.depth} -> {arguments.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
