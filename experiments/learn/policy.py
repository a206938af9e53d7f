"""The policy of moves (:mod:`darkchess.fog.belief.policy`): a softmax over all legal moves, by maximum likelihood.

Each level is learned separately, with a Gaussian prior on its entries. The problem is convex except for the uniform
share, which is fixed.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from darkchess.board.kernels.board import KING, WHITE
from darkchess.board.kernels.moves import make
from darkchess.board.kernels.tables import TABLES
from darkchess.board.move import encode
from darkchess.evaluation.evaluator import BuiltinEvaluator
from darkchess.fog.belief.policy import ENTRIES, LEVELS, Level, Policy, below, described, flip_below
from darkchess.fog.game.record import GameRecord
from darkchess.fog.game.referee import Referee
from experiments.commands import shown
from experiments.learn.fog import games_of
from experiments.learn.shards import TEST, Arrays, Columns, Row, Source, where
from experiments.learn.trainer import Plan, Study, jax, train
from klss.support.arrays import Ints

EVEN = 0.01
"""The share of the probability that is uniform over all moves."""
PRIOR = 1.0
"""Weight of half the square of each entry (Gaussian prior), in units of observed moves."""
WIDTH = 96
"""Most legal moves; a turn with more is left out."""
_GROUPS = Policy.packaged().stages["values"].groups

CHOSEN: Columns = {
    # the features of each legal move, and the value of the position after it, for the mover
    "moves": (np.int16, (WIDTH, _GROUPS)), "values": (np.float32, (WIDTH,)),
    "count": (np.int16, ()), "chosen": (np.int16, ()),  # the number of legal moves, and the one that was played
}  # fmt: skip


def decisions(game: tuple[GameRecord, int], generator: np.random.Generator) -> Iterator[Row]:
    """All moves of a game that its players chose, none of its first plies, so many of which were random."""
    record, opening = game
    referee, evaluator = Referee(record.fen), BuiltinEvaluator()
    for ply, move in enumerate(record.moves):
        row = below(referee.position.row)
        codes, features = described(row)
        count = len(codes)
        if opening <= ply and count <= WIDTH:
            children = np.empty((count, 9), dtype=np.uint64)
            for k in range(count):
                make(row, codes[k], TABLES, children[k])
            alive = (children[:, KING] & children[:, WHITE]) != 0
            values, moves = np.ones(WIDTH), np.zeros((WIDTH, _GROUPS), dtype=np.int16)
            values[:count][alive] = -evaluator.values(children[alive])
            moves[:count] = features
            chosen = np.flatnonzero(codes == encode(move) ^ flip_below(referee.position.row))
            yield {"moves": moves, "values": values, "count": count, "chosen": int(chosen[0])}
        referee.push(move)


POLICY = Source(CHOSEN, games_of, decisions)


@dataclass(frozen=True, eq=False)
class Choosing(Study):
    """What is learned: one level."""

    held: Arrays  # moves (:data:`CHOSEN`)
    level: Level
    batch: int = 256

    def first(self, seed: int) -> dict[str, Any]:
        return {"entries": np.zeros(ENTRIES[self.level], np.float32), "slope": np.zeros((), np.float32)}

    def batch_of(self, some: Ints) -> dict[str, Any]:
        return {name: self.held[name][some] for name in CHOSEN}

    def loss(self, weights: Any, batch: Any) -> Any:
        """The mean surprise at the chosen moves, and the prior's share."""
        prior = PRIOR / 2 * (weights["entries"] ** 2).sum() / max(1, len(self.rows))
        chosen = batch["chosen"][:, None].astype(int)
        return prior - jax.numpy.log(jax.numpy.take_along_axis(self.chances(weights, batch), chosen, axis=1)).mean()

    def chances(self, weights: Any, batch: Any) -> Any:
        """The moves' probabilities: [b, WIDTH], in place of none the uniform part of one."""
        jnp = jax.numpy
        groups = Policy.packaged().stages[self.level].groups
        scores = weights["entries"][batch["moves"][:, :, :groups]].sum(axis=2)
        if self.level == "values":
            scores = scores + weights["slope"] * batch["values"]
        scores = jnp.where(jnp.arange(WIDTH) < batch["count"][:, None], scores, -jnp.inf)
        return (1 - EVEN) * jax.nn.softmax(scores, axis=1) + EVEN / batch["count"][:, None]


def learn(held: Arrays, parsed: Namespace, tell: Callable[[str], None]) -> tuple[Callable[..., None], dict[str, Any]]:
    """See :class:`experiments.learn.__main__.Recipe`: what writes the policy; by level its mean surprise at moves of
    test games, in nats, and how many of them it holds likeliest, beside the packaged one's.
    """
    entries: dict[Level, Any] = {}
    tested = where(held, TEST)
    rows: list[list[Any]] = []
    for level in LEVELS:
        study = Choosing(held, level)
        plan = Plan(parsed.epochs, parsed.seed, rate=0.05, decay=0.0)
        weights, _ = train(study, plan, parsed.out / f"{level}.checkpoint.npz", tell)
        entries[level], slope = weights["entries"].astype(np.float64), float(weights["slope"])
        stage, program = Policy.packaged().stages[level], jax.jit(study.chances)
        packaged = {"entries": np.log(stage.multipliers).astype(np.float32), "slope": np.float32(stage.slope)}
        for name, each in (("learned", weights), ("packaged", packaged)) if len(tested) else ():
            found = np.concatenate([program(each, batch) for batch in study.batches(TEST)])
            chosen = held["chosen"][tested[: len(found)]].astype(int)
            figures = -np.log(found[np.arange(len(found)), chosen]).mean(), (found.argmax(axis=1) == chosen).mean()
            rows.append([level, name, len(found), *(round(float(figure), 4) for figure in figures)])
    policy = Policy.from_entries(entries, slope, EVEN, {})
    table = shown(("level", "policy", "moves", "surprise", "top-1"), rows)
    return lambda path, history: replace(policy, history=history).save(path), {"tested": table}
