"""Decisions to learn weights from: ``python -m experiments.rbc_weighting data --out DIR`` plays games against a mixture
of opponents, and writes what the Siamese learns from for each question at which a recording player held two positions
or more possible: before its sense, and before its move.

A *decision* is: the truth, members drawn uniformly from the others, how many were possible in all (so that a softmax
over the drawn ones can be corrected by ln n), the observation's numbers (:mod:`darkchess.rbc.belief.siamese`), the
viewer's own half (so that positions can be valued), and what kind of player moved the pieces that are guessed.

Players who record are all ``rbc-expect``; of two such both record. Half of the games begin with requests drawn at
random, up to two for each of those, so that games differ.

A shard holds :data:`BLOCK` games, ``games-00040.npz``; one that is there and whole is not made again, so that the
command goes on where it was stopped, to the same shards (but for games against Trout, whose engine is another program).
"""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
import time
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import chess
import numpy as np
import numpy.typing as npt

from darkchess.board.position import Position
from darkchess.evaluation.evaluator import BuiltinEvaluator
from darkchess.rbc.belief.position_set import PositionSet
from darkchess.rbc.belief.siamese import NUMBERS, Observer
from darkchess.rbc.game.contest import Asked, Look, Player
from darkchess.rbc.game.observation import Moved, Notice, Sensed
from darkchess.rbc.game.referee import Referee
from darkchess.rbc.players.configuration import configuration, make_player
from darkchess.rbc.players.expectation import Expectation, ExpectationPlayer
from experiments.series.runner import amount, positive
from klss.support.archive import read_arrays
from klss.support.arrays import Ints
from klss.support.whole_file import written_whole
from klss.table.arbiter import Arbiter
from klss.table.contest import Resignation
from klss.table.limits import Limit, TimeControl
from klss_app.progress import ProgressLine
from uci_bridge.reconchess.bots import foreign

__all__ = ["BLOCK", "DRAWN", "FORMAT", "KINDS", "Kind", "games", "main", "part_of"]

DRAWN = 127
"""Members drawn beside the truth."""
BLOCK = 40
"""Games of a shard."""
FORMAT = 1
MOST = 200_000
"""Possible positions: a game ends where a recording player's set is cut to so many."""
CHEAP = 100
"""Nodes of a call of a player who only records."""

TRAIN, VALIDATE, TEST = 0, 1, 2
"""Parts of the games."""


def part_of(game: int) -> int:
    """Which part a game belongs to.

    >>> [part_of(game * len(SCHEDULE)) for game in range(10)]
    [0, 0, 0, 1, 2, 0, 0, 0, 0, 2]
    """
    turn = game // len(SCHEDULE)
    return TEST if turn % 5 == 4 else VALIDATE if turn % 10 == 3 else TRAIN


@dataclass(frozen=True)
class Kind:
    """A kind of opponent.

    Attributes
    ----------
    text
        Of the player; see :func:`uci_bridge.players.player_spec`.
    nodes
        The range that the nodes of each call are drawn from, game by game.
    """

    text: str
    nodes: tuple[int, int]


_PLAYED = (
    "rbc-expect,belief=value,value_beta=2,uniform_mix=0.2,bit_value=0.01,unaware=0.2,exposed=1,boards=512,threads=1"
)

KINDS = {
    "expect-100": Kind(f"{_PLAYED},sense=reduction", (CHEAP, CHEAP)),
    "expect-1000": Kind(f"{_PLAYED},sense=value", (1000, 1000)),
    "trout": Kind("trout", (300, 1000)),
    "attacker": Kind("rbc-attacker", (CHEAP, CHEAP)),
    "random": Kind("rbc-random", (CHEAP, CHEAP)),
}
"""The kinds of opponents."""

SCHEDULE = (
    "expect-100", "trout", "expect-1000", "expect-100", "attacker", "expect-1000", "trout", "random", "expect-1000",
    "expect-100",
)  # fmt: skip
"""Whom the games are played against, over and over."""


class Recorder(ExpectationPlayer):
    """An ``rbc-expect`` who keeps the decisions that it was asked for.

    Parameters
    ----------
    referee
        Of the game: the truth is written beside what it knows, and nothing else is done with it.
    nodes
        Of each of its calls, whatever its limit says.
    enemy
        The opponent's kind.
    opening
        How many of its first requests are drawn at random.
    seed
        Of all that is drawn.
    """

    def __init__(
        self, thinking: Expectation, referee: Referee, nodes: int, enemy: str, opening: int, seed: Sequence[int]
    ) -> None:
        self._rng = np.random.default_rng(list(seed))
        super().__init__(BuiltinEvaluator(), thinking, seed=int(self._rng.integers(1 << 31)), cap=MOST)
        self._referee, self._nodes, self._enemy, self._opening = referee, Limit(nodes=nodes), enemy, opening
        self.rows: list[dict[str, Any]] = []

    def start(self, color: chess.Color, start: Position) -> None:
        """See :class:`darkchess.rbc.game.contest.Player`."""
        super().start(color, start)
        self._watching = Observer(self.known)

    def notice(self, notice: Notice) -> None:
        """See :class:`darkchess.rbc.game.contest.Player`."""
        super().notice(notice)
        self._watching.noticed(notice, self.known)

    def sensed(self, sensed: Sensed) -> None:
        """See :class:`darkchess.rbc.game.contest.Player`."""
        super().sensed(sensed)
        self._watching.sensed(sensed, self.known)

    def moved(self, moved: Moved) -> None:
        """See :class:`darkchess.rbc.game.contest.Player`."""
        super().moved(moved)
        self._watching.moved(moved, self.known)

    def choose_sense(self, limit: Limit) -> Look:
        """See :class:`darkchess.rbc.game.contest.Player`."""
        if self.known.capped_by is not None:
            raise Resignation
        self._keep()
        return super().choose_sense(self._nodes)

    def choose_move(self, limit: Limit) -> Asked:
        """See :class:`darkchess.rbc.game.contest.Player`."""
        self._keep()
        if self._opening:
            self._opening -= 1
            requests = self.known.own.requests()
            return Asked(requests[int(self._rng.integers(len(requests)))])
        return super().choose_move(self._nodes)

    def _keep(self) -> None:
        known = self.known
        if known.size < 2:
            return
        chosen = drawn_beside(truth_index(known, self._referee), known.size, self._rng)
        halves = np.zeros((1 + DRAWN, 2), dtype=np.uint64)
        halves[: chosen.shape[0]] = known.halves[chosen]
        self.rows.append(
            {
                "size": known.size,
                "count": chosen.shape[0],
                "halves": halves,
                "own": known.own_row,
                "numbers": self._watching.numbers.astype(np.float16),
                "enemy": list(KINDS).index(self._enemy),
            }
        )


def truth_index(known: PositionSet, referee: Referee) -> int:
    """Where the true position, the viewer to move, stands in the set."""
    half = PositionSet(known.own.color, referee.position).halves[0]
    found = np.flatnonzero((known.halves == half).all(axis=1))
    if not found.size:
        raise ValueError(f"bad set: got {known.size} positions at turn {referee.ply} and not the true one, expected it")
    return int(found[0])


def drawn_beside(truth: int, size: int, generator: np.random.Generator) -> Ints:
    """The truth's index, then those of up to :data:`DRAWN` others, drawn without replacement."""
    if size - 1 <= DRAWN:
        others = np.arange(size - 1)
    else:
        others = generator.choice(size - 1, DRAWN, replace=False, shuffle=False)
    return np.concatenate([[truth], others + (others >= truth)]).astype(np.int64)


def decisions(game: int, seed: int) -> list[dict[str, Any]]:
    """Play a game, and give what was recorded in it, one side after the other."""
    generator = np.random.default_rng([seed, game])
    name = SCHEDULE[game % len(SCHEDULE)]
    kind = KINDS[name]
    nodes = int(generator.integers(kind.nodes[0], kind.nodes[1] + 1))
    openings = generator.integers(0, 3, 2) * int(generator.integers(2))
    color = bool(generator.integers(2))
    referee = Referee()
    cheap = configuration(KINDS["expect-100"].text).thinking
    assert isinstance(cheap, Expectation)
    recorded = Recorder(cheap, referee, CHEAP, name, int(openings[0]), [seed, game, 0])
    recorders = [recorded]
    opponent: Player
    if kind.text.startswith("rbc-expect"):
        thinking = configuration(kind.text).thinking
        assert isinstance(thinking, Expectation)
        opponent = Recorder(thinking, referee, nodes, "expect-100", int(openings[1]), [seed, game, 1])
        recorders.append(opponent)
    elif kind.text.startswith("rbc-"):
        opponent = make_player(configuration(kind.text), BuiltinEvaluator(), seed=int(generator.integers(1 << 31)))
    else:
        bot = foreign(kind.text)
        assert bot is not None
        opponent = bot.make(int(generator.integers(1 << 31)), nodes, None, None)
    arbiter = Arbiter(
        referee, {color: recorded, not color: opponent}, dict.fromkeys(chess.COLORS, TimeControl(nodes=nodes))
    )
    arbiter.play()
    opponent.close()
    return [row | {"game": game} for recorder in recorders for row in recorder.rows]


_TYPES: dict[str, npt.DTypeLike] = {"size": np.int64, "count": np.int16, "game": np.int32, "enemy": np.int8}
_SHAPES: tuple[tuple[str, tuple[int, ...], npt.DTypeLike], ...] = (
    ("halves", (1 + DRAWN, 2), np.uint64),
    ("own", (9,), np.uint64),
    ("numbers", (NUMBERS,), np.float16),
)


def _write(rows: Sequence[dict[str, Any]], about: dict[str, Any], path: Path) -> None:
    arrays: dict[str, npt.NDArray[Any]] = {
        name: np.array([row[name] for row in rows], dtype=kind) for name, kind in _TYPES.items()
    }
    for name, shape, kind in _SHAPES:
        arrays[name] = np.array([row[name] for row in rows], dtype=kind).reshape(-1, *shape)
    with written_whole(path) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        arrays["about"] = np.frombuffer(json.dumps(about).encode(), dtype=np.uint8)
        for name, array in arrays.items():
            with archive.open(name + ".npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, np.ascontiguousarray(array), allow_pickle=False)


def _held(path: Path, about: dict[str, Any]) -> int | None:
    """How many decisions a shard holds; None where there is none, or another one."""
    try:
        data = read_arrays(path, names=["about", "size"])
        return int(data["size"].shape[0]) if json.loads(bytes(data["about"]).decode()) == about else None
    except ValueError:
        return None


def games(out: Path, seed: int, block: int = BLOCK) -> Iterator[tuple[int, int]]:
    """Play block after block without end; yields the games and the decisions of each that is written or was there."""
    first = 0
    while True:
        path = out / f"games-{first:06}.npz"
        about = {"format": FORMAT, "seed": seed, "games": [first, first + block], "kinds": list(KINDS)}
        count = _held(path, about)
        if count is None:
            rows = [row for game in range(first, first + block) for row in decisions(game, seed)]
            _write(rows, about, path)
            count = len(rows)
        first += block
        yield first, count


def main(arguments: Sequence[str] | None = None) -> int:
    """Play and write; the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m experiments.rbc_weighting data", description="play games, to learn weights of positions from"
    )
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="where the shards go")
    parser.add_argument("--decisions", type=positive, default=300_000, metavar="N", help="(default 300,000)")
    parser.add_argument("--minutes", type=amount, default=float("inf"), metavar="M", help="stop after so many")
    parser.add_argument("--block", type=positive, default=BLOCK, metavar="N", help=f"games of a shard ({BLOCK})")
    parser.add_argument("--seed", type=int, default=18, metavar="N", help="of the games (default 18)")
    parsed = parser.parse_args(arguments)
    parsed.out.mkdir(parents=True, exist_ok=True)
    began, total, played = time.monotonic(), 0, 0
    with closing(ProgressLine("decisions")) as line, contextlib.suppress(KeyboardInterrupt):
        for played, count in games(parsed.out, parsed.seed, parsed.block):
            total += count
            line.tell(f"{total} of {parsed.decisions}, {played} games")
            if total >= parsed.decisions or time.monotonic() - began > 60 * parsed.minutes:
                break
    print(f"{parsed.out}: {total} decisions of {played} games", file=sys.stdout)
    return 0
