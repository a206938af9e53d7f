"""Decisions to learn weights from: ``python -m experiments.rbc_weighting data --out DIR`` plays games against a mixture
of opponents. It writes a decision for each question at which a recording player's set had two or more positions: before
its sense, and before its move.

A *decision* is: the truth, members drawn uniformly from the others, the size of the set (so that a softmax over the
drawn ones can be corrected by ln n), the observation's numbers (:mod:`darkchess.rbc.belief.siamese`), the viewer's own
half (so that positions can be valued), and the opponent's kind.

All recording players are ``rbc-expect``; in a game of two of them both record. Half of the games begin with random
requests, up to two for each recording player, so that games differ.

A shard has :data:`BLOCK` games, ``games-00040.npz``. A whole shard is not made again, so that a stopped command can be
resumed and gives the same shards (except for games against Trout, whose engine is another program).
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
"""Games per shard."""
FORMAT = 1
MOST = 200_000
"""Cap of a recording player's set; a game ends once a set is cut to it."""
CHEAP = 100
"""Nodes per call of a player whose only task is to record."""

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
"""The opponents of the games, which are repeated."""


class Recorder(ExpectationPlayer):
    """An ``rbc-expect`` that keeps its decisions."""

    def __init__(
        self,
        thinking: Expectation,
        referee: Referee,  # of the game; only used to write the truth beside the player's knowledge
        nodes: int,  # of each of its calls, in place of the limit
        enemy: str,  # the opponent's kind
        opening: int,  # number of its first requests that are random
        seed: Sequence[int],  # of all random choices here
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
    """The index in the set of the true position, with the viewer to move."""
    half = PositionSet(known.own.color, referee.position).halves[0]
    found = np.flatnonzero((known.halves == half).all(axis=1))
    if not found.size:
        raise ValueError(f"bad set: got {known.size} positions at turn {referee.ply} and not the true one, expected it")
    return int(found[0])


def drawn_beside(truth: int, size: int, generator: np.random.Generator) -> Ints:
    """The truth's index, then those of up to :data:`DRAWN` others, which are drawn without replacement."""
    if size - 1 <= DRAWN:
        others = np.arange(size - 1)
    else:
        others = generator.choice(size - 1, DRAWN, replace=False, shuffle=False)
    return np.concatenate([[truth], others + (others >= truth)]).astype(np.int64)


def decisions(game: int, seed: int) -> list[dict[str, Any]]:
    """Play a game; return the recorded decisions, one side's after the other's."""
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
    """Play a block of games unless its shard exists; return its number of decisions."""
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
    """Play and write; return the exit code."""
    about = "play games, to learn weights of positions from"
    return shards.main("rbc_weighting", about, block_of, arguments, decisions=300_000, block=BLOCK, seed=18)
