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

import json
from collections.abc import Sequence
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
from experiments.learning import shards
from experiments.learning.fit import TrainingError
from experiments.learning.kinds import Kind
from experiments.learning.shards import shard_path
from klss.support.archive import Archive, read_arrays
from klss.support.arrays import Ints
from klss.support.whole_file import written_whole
from klss.table.arbiter import Arbiter
from klss.table.contest import Resignation
from klss.table.limits import Limit, TimeControl
from uci_bridge.reconchess.bots import foreign

__all__ = ["BLOCK", "DRAWN", "FORMAT", "KINDS", "SCHEDULE", "block_of", "decisions", "main"]

DRAWN = 127
"""Members drawn beside the truth."""
BLOCK = 40
"""Games of a shard."""
FORMAT = 1
MOST = 200_000
"""Possible positions: a game ends where a recording player's set is cut to so many."""
CHEAP = 100
"""Nodes of a call of a player who only records."""

_PLAYED = (
    "rbc-expect,belief=value,value_beta=2,uniform_mix=0.2,bit_value=0.01,unaware=0.2,exposed=1,strangers=0,boards=512,"
    "threads=1"
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
    """An ``rbc-expect`` who keeps the decisions that it was asked for."""

    def __init__(
        self,
        thinking: Expectation,
        referee: Referee,  # of the game: the truth is written beside what it knows, and nothing else is done with it
        nodes: int,  # of each of its calls, whatever its limit says
        enemy: str,  # the opponent's kind
        opening: int,  # how many of its first requests are drawn at random
        seed: Sequence[int],  # of all that is drawn
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
    nodes = kind.drawn_nodes(generator)
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


_COLUMNS: dict[str, tuple[npt.DTypeLike, tuple[int, ...]]] = {
    "size": (np.int64, ()), "count": (np.int16, ()), "game": (np.int32, ()), "enemy": (np.int8, ()),
    "halves": (np.uint64, (1 + DRAWN, 2)), "own": (np.uint64, (9,)), "numbers": (np.float16, (NUMBERS,)),
}  # fmt: skip
_ARCHIVE = Archive(
    "decisions of experiments.rbc_weighting", "decisions", FORMAT, "make them anew", TrainingError, 1 << 30, 1 << 28
)


def block_of(out: Path, seed: int, first: int, block: int) -> int:
    """Play a block of games if its shard is not there; how many decisions that holds."""
    path = shard_path(out, first)
    about = {"seed": seed, "games": [first, first + block], "kinds": list(KINDS)}
    try:
        data = read_arrays(path, names=["about", "size"])
        if json.loads(bytes(data["about"]).decode()) == {"format": FORMAT, **about}:
            return int(data["size"].shape[0])
    except ValueError:
        pass
    rows = [row for game in range(first, first + block) for row in decisions(game, seed)]
    arrays = {
        name: np.array([row[name] for row in rows], dtype=kind).reshape(-1, *shape)
        for name, (kind, shape) in _COLUMNS.items()
    }
    with written_whole(path) as file:
        _ARCHIVE.write(file, arrays, about)
    return len(rows)


def main(arguments: Sequence[str] | None = None) -> int:
    """Play and write; the exit code."""
    about = "play games, to learn weights of positions from"
    return shards.main("rbc_weighting", about, block_of, arguments, decisions=300_000, block=BLOCK, seed=18)
