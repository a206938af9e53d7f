"""Decisions of existing players, to imitate them: ``python -m experiments.rbc_learn data --out DIR`` plays games among
them, and writes their decisions.

For each decision a shard (:mod:`experiments.rbc_learn.data`) has the synopsis of the player's position set, reduced at
random to :data:`DRAWN` members as in a search; the legal actions, and the choice: for a sense, every window that
partitions these members like its own. A player that is not ours, or keeps no set, is *shadowed*: a separate position
set and memory follow its observations.

A player is recorded while its set is exact, up to :data:`MOST` positions; afterwards the game continues unrecorded, so
that the results of recorded decisions are true. Half of the games begin with random requests, up to two for each player
that is deterministic for a seed; these are not recorded, and neither are promotions to pieces other than queens. A look
beyond the edge is recorded as one a square further in, which shows no less.

A shard has :data:`BLOCK` games. A whole shard is not made again, so that a stopped command can be resumed and gives the
same shards (except for games of Trout, whose engine is another program).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import chess
import numpy as np

from darkchess.board.position import Position
from darkchess.evaluation.evaluator import BuiltinEvaluator
from darkchess.rbc.belief.position_set import PositionSet
from darkchess.rbc.belief.senses import partitions
from darkchess.rbc.game.contest import Asked, Look, Player
from darkchess.rbc.game.observation import INNER, Moved, Notice, Sensed
from darkchess.rbc.game.referee import Referee
from darkchess.rbc.players.configuration import configuration
from darkchess.rbc.players.expectation import Expectation, ExpectationPlayer
from darkchess.rbc.players.scripted import AttackerPlayer, RandomPlayer
from darkchess.rbc.synoptic.networks import HEADSETS
from darkchess.rbc.synoptic.synopsis import MOVE, SENSE, Memory, synopsis
from darkchess.rbc.synoptic.worlds import request_action, sense_action
from experiments.rbc_learn import blocks
from experiments.rbc_learn.blocks import shard_path
from experiments.rbc_learn.data import SOON, made_shard
from klss.support.arrays import Ints
from klss.table.arbiter import Arbiter
from klss.table.limits import Limit, TimeControl
from klss.table.outcome import Outcome
from uci_bridge.reconchess.bots import foreign

DRAWN = 128
"""Members of a set from which its synopsis is made."""
MOST = 100_000
"""Largest set of a recorded player."""
BLOCK = 100
"""Games per shard."""


@dataclass(frozen=True)
class Kind:
    """A kind of player."""

    text: str  # see ``uci_bridge.players.player_spec``
    nodes: tuple[int, int]  # the range from which a game's nodes per call are drawn


KINDS = {
    "expect": Kind("rbc-expect,threads=1", (100, 100)),
    "siamese": Kind("rbc-siamese,threads=1", (100, 100)),
    "trout": Kind("trout", (100, 1000)),
    "attacker": Kind("rbc-attacker", (100, 100)),
    "random": Kind("rbc-random", (100, 100)),
}
"""Headset -> the kind of player from which it learns."""

SCHEDULE = (
    ("expect", "expect"), ("expect", "trout"), ("siamese", "siamese"), ("expect", "siamese"), ("siamese", "trout"),
    ("expect", "expect"), ("expect", "attacker"), ("siamese", "expect"), ("trout", "expect"), ("siamese", "random"),
    ("expect", "siamese"), ("siamese", "siamese"), ("trout", "trout"), ("expect", "expect"), ("siamese", "attacker"),
    ("siamese", "trout"), ("expect", "siamese"), ("trout", "attacker"), ("expect", "random"), ("siamese", "expect"),
)  # fmt: skip
"""The pairings, which are repeated."""


def request_actions(known: PositionSet) -> Ints:
    """The actions of a player's requests, with promotions to queens only, in rising order: int64[n]; the last is to
    pass."""
    codes = known.requests().tolist()
    return np.array(sorted({action for code in codes if (action := request_action(code)) is not None}), dtype=np.int64)


def men_of(position: Position, color: chess.Color) -> list[int]:
    """Numbers of pieces of each kind on a board, its own first, as in :data:`~experiments.rbc_learn.data.PIECES`."""
    row = position.row
    sides = (6, 7) if color else (7, 6)
    return [int(row[piece] & row[side]).bit_count() for side in sides for piece in range(6)]


def end_rows(rows: Sequence[dict[str, Any]], outcome: Outcome, color: chess.Color, actions: int) -> None:
    """Set ``result`` and ``soon`` in the decisions of one side of a game, in place. ``action``, the number of the
    side's decisions before, is removed; ``actions`` is the number of all its decisions.
    """
    result = 0 if outcome.winner is None else 1 if outcome.winner == color else -1
    for row in rows:
        soon = actions - row.pop("action") <= SOON and outcome.reason == "king_captured"
        row |= {"result": result, "soon": result if soon else 0}


class Recorder(Player):
    """Plays like another player, and records its decisions."""

    def __init__(
        self,
        player: Player,  # whose answers are given
        kind: str,  # the player's
        referee: Referee,  # of the game; only used to count the pieces of the true position
        nodes: int,  # of each of its calls, in place of the limit
        opening: int,  # number of its first requests that are random
        seed: Sequence[int],  # of all random choices here
    ) -> None:
        self._player, self._referee, self._limit, self._opening = player, referee, Limit(nodes=nodes), opening
        self._headset = HEADSETS.index(kind)
        self._rng = np.random.default_rng(list(seed))
        self._actions = 0
        self.rows: list[dict[str, Any]] = []

    def start(self, color: chess.Color, start: Position) -> None:
        self._color = color
        self._player.start(color, start)
        self._shadow = None if isinstance(self._player, ExpectationPlayer) else PositionSet(color, start, cap=MOST)
        self._memory = Memory(flipped=not color)
        self._recording = True

    @property
    def known(self) -> PositionSet:
        """Its position set, or the shadow's."""
        if self._shadow is not None:
            return self._shadow
        assert isinstance(self._player, ExpectationPlayer)
        return self._player.known

    def notice(self, notice: Notice) -> None:
        self._player.notice(notice)
        if self._recording:
            if self._shadow is not None:
                self._shadow.noticed(notice)
            self._memory.noticed(notice)
            self._check()

    def sensed(self, sensed: Sensed) -> None:
        self._player.sensed(sensed)
        if self._recording and self._shadow is not None:
            self._shadow.sensed(sensed)

    def moved(self, moved: Moved) -> None:
        self._player.moved(moved)
        if self._recording:
            if self._shadow is not None:
                self._shadow.moved(moved)
            self._memory.moved(moved, self._planes)
            self._check()

    def choose_sense(self, limit: Limit) -> Look:
        if self._recording:
            self._cut()
            self._planes = synopsis(self.known.own_row, self._halves, SENSE, self._memory.words)
        answer = self._player.choose_sense(self._limit)
        self._actions += 1
        if self._recording and answer.square is not None:
            rank, file = divmod(answer.square, 8)
            looked = 8 * min(max(rank, 1), 6) + min(max(file, 1), 6)
            classes = partitions(self.known, self._members).classes
            alike = (classes == classes[INNER.index(looked)]).all(axis=1)
            turned = 56 if self.known.flipped else 0
            actions = np.array([sense_action(square ^ turned) for square in INNER], dtype=np.int64)
            self._keep(np.sort(actions), np.sort(actions[alike]))
        return answer

    def choose_move(self, limit: Limit) -> Asked:
        if self._recording:
            self._cut()
            self._planes = synopsis(self.known.own_row, self._halves, MOVE, self._memory.words)
        self._actions += 1
        if self._opening and isinstance(self._player, ExpectationPlayer):
            self._opening -= 1
            requests = self._player.known.own.requests()
            return Asked(requests[int(self._rng.integers(len(requests)))])
        answer = self._player.choose_move(self._limit)
        if self._recording:
            action = request_action(self.known.code(answer.request))
            if action is not None:
                self._keep(request_actions(self.known), np.array([action]))
        return answer

    def end(self, outcome: Outcome) -> None:
        self._player.end(outcome)
        end_rows(self.rows, outcome, self._color, self._actions)

    def close(self) -> None:
        self._player.close()

    def _check(self) -> None:
        self._recording = self.known.capped_by is None

    def _cut(self) -> None:
        self._members = self.known.sample(DRAWN, int(self._rng.integers(1 << 62)))
        self._halves = self.known.halves[self._members]

    def _keep(self, legal: Ints, chosen: Ints) -> None:
        if not np.isin(chosen, legal).all():  # a bot may request an illegal action
            return
        self.rows.append(
            {
                "synopses": self._planes,
                "legal": legal,
                "chosen": chosen,
                "headset": self._headset,
                "pieces": men_of(self._referee.position, self._color),
                "action": self._actions - 1,
            }
        )


def played(game: int, seed: int) -> list[dict[str, Any]]:
    """Play a game; return its decisions, one side's after the other's."""
    generator = np.random.default_rng([seed, game])
    kinds = SCHEDULE[game % len(SCHEDULE)]
    colors = (chess.WHITE, chess.BLACK) if generator.integers(2) else (chess.BLACK, chess.WHITE)
    openings = generator.integers(0, 3, 2) * int(generator.integers(2))
    referee = Referee()
    recorders = {}
    for place, (color, name) in enumerate(zip(colors, kinds, strict=True)):
        kind = KINDS[name]
        nodes, own_seed = int(generator.integers(kind.nodes[0], kind.nodes[1] + 1)), int(generator.integers(1 << 31))
        player = player_of(kind, own_seed, nodes)
        recorders[color] = Recorder(player, name, referee, nodes, int(openings[place]), [seed, game, place])
    arbiter = Arbiter(referee, recorders, {color: TimeControl(nodes=100) for color in chess.COLORS})
    try:
        arbiter.play()
    finally:
        for recorder in recorders.values():
            recorder.close()
    return [row | {"game": game} for color in chess.COLORS for row in recorders[color].rows]


def player_of(kind: Kind, seed: int, nodes: int) -> Player:
    """A player of this kind; ``nodes`` per call are for players that don't follow the limits that they are given."""
    bot = foreign(kind.text)
    if bot is not None:
        return bot.make(seed, nodes, None, None)
    chosen = configuration(kind.text)
    if isinstance(chosen.thinking, Expectation):
        return ExpectationPlayer(BuiltinEvaluator(), chosen.thinking, seed=seed, cap=MOST)
    return AttackerPlayer(seed=seed) if chosen.player == "attacker" else RandomPlayer(seed=seed)


def block_of(out: Path, seed: int, first: int, block: int) -> int:
    """Play a block of games unless its shard exists; return its number of decisions."""
    path = shard_path(out, first)
    about = {
        "seed": seed,
        "games": [first, first + block],
        "kinds": {name: [kind.text, *kind.nodes] for name, kind in KINDS.items()},
        "schedule": [list(pair) for pair in SCHEDULE],
    }
    return made_shard(path, about, lambda: [row for game in range(first, first + block) for row in played(game, seed)])


def main(arguments: Sequence[str] | None = None) -> int:
    """Play and write; return the exit code."""
    return blocks.main(block_of, arguments, block=BLOCK)
