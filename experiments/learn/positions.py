"""Positions with Stockfish's values, that the built-in evaluation is tuned to and measured on.

``played`` plays Fog of War games with Stockfish's values of all moves. Temperature and rate of blunders are drawn for
each game, so that positions are quiet and wild, level and decided. It keeps some children of each position, and of
positions a few random plies away from it: leaves of a search trunk are like that, most of them one odd move from a
sensible position. Their values come from a search of depth 1 at the parent, some ten thousand per second.

``searched`` searches a sample of them one by one, with 1000 nodes some hundreds per second. ``endings`` makes positions
with few or no pieces besides kings and pawns, which games rarely reach, and searches them in the same way.

``around`` gives positions of games of Fog of War and near them, which the evaluation values itself.

The packaged positions, on which the evaluator is measured (``evaluation_positions.npz``), are from games of another
seed.

Only positions that Stockfish values itself are kept: none where the king can be taken, and none where every move loses
it.
"""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import count
from pathlib import Path

import chess
import numpy as np

from darkchess.board.kernels.board import IDENTITY, META
from darkchess.board.kernels.moves import count_moves, make_all
from darkchess.board.kernels.orthodox import ASK, classify
from darkchess.board.kernels.tables import TABLES
from darkchess.board.position import Position
from darkchess.fog.game.record import GameRecord
from darkchess.fog.game.referee import Referee
from experiments.learn.evaluation import VALUED
from experiments.learn.fog import games_of
from experiments.learn.shards import Row, Source, keep, load
from klss.support.arrays import Bools, Floats, Ints, Words
from uci_bridge.child_processes import engine_environment
from uci_bridge.stockfish.evaluator import StockfishEvaluator, find_stockfish, orthodox_fens, score_of

_TOGETHER = 5000
"""Positions per run of Stockfish."""

_GAMES_AT_ONCE = 96
_CHILDREN_KEPT = 24
_MAX_PLIES = 180

_STRAYS, _NEAR = 2, 16
"""Positions a random ply or two away from each position of a game of Fog of War, and children kept of each."""


def children_of(rows: Words) -> tuple[Ints, Words]:
    """All children of each of ``rows`` (uint64[n, 9]): offsets int64[n + 1] and children uint64[m, 9]."""
    offsets = np.empty(rows.shape[0] + 1, dtype=np.int64)
    count_moves(rows, TABLES, offsets)
    children = np.empty((offsets[-1], 9), dtype=np.uint64)
    make_all(rows, TABLES, offsets, children)
    return offsets, children


def _askable(rows: Words) -> Bools:
    codes = np.empty(rows.shape[0], dtype=np.int8)
    classify(rows, TABLES, codes)
    return np.asarray(codes == ASK)


def _once(rows: Words) -> Ints:
    """Places in ``rows`` (uint64[n, 9]) of each position's first one: counters don't distinguish positions."""
    identity = rows.copy()
    identity[:, META] &= IDENTITY
    return np.asarray(np.sort(np.unique(identity, axis=0, return_index=True)[1]))


def _stray(row: Words, plies: int, rng: np.random.Generator) -> Words:
    """The position after some random plies; the last one in which both kings are on the board."""
    for _ in range(plies):
        _, children = children_of(row[None])
        children = children[_askable(children)]
        if not len(children):
            break
        row = children[rng.integers(len(children))]
    return row


def play(engine: StockfishEvaluator, time_s: float, seed: int, tell: Callable[[str], None]) -> tuple[Words, Floats]:
    """Play games for ``time_s`` seconds; return positions uint64[n, 9], and their values for the side to move
    float32[n].
    """
    # A game starts some random plies from the usual position, with its own temperature and rate of blunders, so that
    # there are positions from good and from bad play.
    rng = np.random.default_rng(seed)

    def new_game() -> tuple[Words, int, float, float]:
        row = _stray(np.array(Position.start().row), int(rng.integers(0, 11)), rng)
        return row, 0, float(rng.choice([0.02, 0.05, 0.1, 0.2])), float(rng.choice([0.02, 0.08, 0.2]))

    games = [new_game() for _ in range(_GAMES_AT_ONCE)]
    found: list[tuple[Words, Floats]] = []
    end = time.monotonic() + time_s
    total = 0
    while time.monotonic() < end:
        # Children of the positions of all games, and of positions some random plies away, valued in one batch.
        strays = [_stray(game[0], int(rng.integers(1, 4)), rng) for game in games]
        parents = np.concatenate([np.array([game[0] for game in games]), np.array(strays)])
        offsets, children = children_of(parents)
        values = engine.child_values(parents, offsets, children)
        good = _askable(children) & np.repeat(_askable(parents), np.diff(offsets))
        # Only a few children of each are kept, so that no position dominates the data.
        for k in range(len(parents)):
            places = np.arange(offsets[k], offsets[k + 1])[good[offsets[k] : offsets[k + 1]]]
            places = rng.permutation(places)[:_CHILDREN_KEPT]
            found.append((children[places], values[places].astype(np.float32)))
            total += len(places)
        # Every game continues by one move: softmax of the values, or a blunder. It ends if it is over, long or decided.
        for k, (_, ply, temperature, blunder) in enumerate(games):
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
            games[k] = new_game() if over else (row, ply + 1, temperature, blunder)
        tell(f"{total} positions")
    rows, scores = (np.concatenate(column) for column in zip(*found))
    unique = _once(rows)
    return rows[unique], scores[unique]


def around(game: tuple[GameRecord, int], generator: np.random.Generator) -> Iterator[Row]:
    """Positions of a game and near it, once each and not valued yet: as a search of its turns meets them."""
    record, _ = game
    referee, found = Referee(record.fen), list[Words]()
    for move in record.moves:
        here = np.array(referee.position.row)
        parents = np.array([here, *(_stray(here, int(generator.integers(1, 3)), generator) for _ in range(_STRAYS))])
        offsets, children = children_of(parents)
        for first, end in zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True):
            found.append(children[generator.permutation(np.arange(first, end))[:_NEAR]])
        referee.push(move)
    rows = np.concatenate([np.zeros((0, 9), np.uint64), *found])
    rows = rows[_once(rows)]
    for row in rows[_askable(rows)]:
        yield {"rows": row, "values": 0.0}  # which nobody reads


AROUND = Source(VALUED, games_of, around)
"""What the evaluation learns from itself."""


def deep_values(rows: Words, limit: str) -> Floats:
    """Stockfish's values of ``rows`` for their sides to move, by one search each with ``limit`` (``nodes 1000``):
    float64[n], NaN if it gave none.
    """
    # All questions are written ahead, since Stockfish ends a search before it begins the next. The end of its input
    # stops the search that runs then, so one more is asked for.
    asked = b"".join(b"position fen %b\ngo %b\n" % (fen, limit.encode()) for fen in orthodox_fens(rows))
    asked = b"setoption name Hash value 4\n" + asked + b"position startpos\ngo depth 1\n"
    done = subprocess.run([find_stockfish()], input=asked, stdout=subprocess.PIPE, check=True, env=engine_environment())
    answers = done.stdout.split(b"bestmove")[: len(rows)]
    return np.array([score_of(answer) for answer in answers])


def ending(rng: np.random.Generator, pieces: int) -> Words:
    """A random position with up to ``pieces`` pieces per side besides king and pawns, with similar sides: uint64[9]. It
    may be illegal in chess.
    """
    board = chess.Board(None)
    board.turn = bool(rng.integers(2))

    def put(piece: chess.PieceType, side: chess.Color, square: int) -> None:
        if board.piece_at(square) is None:
            board.set_piece_at(square, chess.Piece(piece, side))

    pawns = int(rng.integers(1, 8))
    others = int(rng.integers(pieces + 1))
    for side, more in ((chess.WHITE, 0), (chess.BLACK, int(rng.integers(-1, 2)))):
        for _ in range(pawns + more):
            rank = int(rng.choice(6, p=[0.36, 0.24, 0.18, 0.12, 0.06, 0.04])) + 1
            put(chess.PAWN, side, chess.square(int(rng.integers(8)), rank if side else 7 - rank))
        for _ in range(min(pieces, max(0, others + more * int(rng.integers(2))))):
            put(int(rng.choice([chess.KNIGHT, chess.BISHOP, chess.ROOK, chess.QUEEN], p=[0.28, 0.28, 0.34, 0.1])), side,
                int(rng.integers(64)))  # fmt: skip
    for side in chess.COLORS:
        free = [square for square in chess.SQUARES if board.piece_at(square) is None]
        put(chess.KING, side, int(rng.choice(free)))
    return np.array(Position.from_fen(board.fen()).row)


def make_positions(what: str, out: Path, seed: int, minutes: float, tell: Callable[[str], None], most: int = 0) -> None:
    """Write shards of ``what`` positions until ``minutes`` are over, with at ``most`` so many pieces a side of endings.
    Of shards that are there none is made again, and ``searched`` takes those that were ``played``.
    """
    rng = np.random.default_rng(seed)
    if what == "played":
        with closing(StockfishEvaluator(silence_s=20.0)) as engine:
            rows, values = play(engine, 60.0 * minutes, seed, tell)
        # Neighbours, most of one game, get one number.
        keep(out / f"played-{seed}-00000.npz", {"rows": rows, "values": values, "game": np.arange(len(rows)) // 1000})
        return
    if what == "searched":
        sample = rng.permutation(load(sorted(out.glob("played-*.npz")), VALUED)["rows"])
        batches = (sample[at : at + _TOGETHER] for at in range(0, len(sample), _TOGETHER))
    else:
        made = (np.array([ending(rng, most) for _ in range(_TOGETHER)]) for _ in count())
        batches = (rows[_askable(rows)] for rows in made)
    end = time.monotonic() + 60.0 * minutes
    for number, batch in enumerate(batches):
        path = out / f"{what}-{seed}-{number:05}.npz"
        if not path.exists():
            found = deep_values(batch, "nodes 1000" if what == "searched" else "nodes 3000")
            good = ~np.isnan(found)
            values = found[good].astype(np.float32)
            keep(path, {"rows": batch[good], "values": values, "game": np.full(len(values), number)})
            tell(path.name)
        if time.monotonic() > end:
            break
