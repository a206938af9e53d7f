"""Learn the policy of moves (:mod:`darkchess.fog.belief.policy`): a softmax over all legal moves, by maximum
likelihood.

Each level is fitted separately: L-BFGS on the likelihood of the played moves, with a Gaussian prior on the entries. The
problem is convex except for the uniform share, which is fixed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import minimize

from darkchess.board.kernels.board import KING, WHITE
from darkchess.board.kernels.moves import MAX_MOVES, make
from darkchess.board.kernels.tables import TABLES
from darkchess.board.move import encode
from darkchess.evaluation.evaluator import BuiltinEvaluator
from darkchess.fog.belief.policy import ENTRIES, LEVELS, Level, Policy, below, described, flip_below
from darkchess.fog.game.referee import Referee
from experiments.belief.mixture import Played, held_out
from klss.support.arrays import Bools, Floats, Ints
from klss.support.kernel import kernel

__all__ = ["EVEN", "Decisions", "decisions", "fitted", "likelihoods"]

EVEN = 0.01
"""The share of the probability that is uniform over all moves."""

PRIOR = 1.0
"""Weight of half the square of each entry (Gaussian prior), in units of observed moves."""


@dataclass(frozen=True)
class Decisions:
    """Moves that were chosen.

    Attributes
    ----------
    index
        int16[m, GROUPS]: features of each legal move of each decision.
    offsets
        int64[n + 1]: start of each decision's moves.
    chosen
        int64[n]: index of the played move among all moves.
    values
        float64[m]: value of the position after each move, for the mover.
    held_out
        bool[n].
    players
        str[n]: the mover.
    """

    index: Any
    offsets: Ints
    chosen: Ints
    values: Floats
    held_out: Bools
    players: Any

    def __len__(self) -> int:
        return len(self.chosen)

    def of(self, wanted: Bools) -> Decisions:
        """The decisions that are ``wanted`` (bool[n])."""
        kept = np.flatnonzero(wanted)
        counts = np.diff(self.offsets)[kept]
        offsets = np.concatenate([[0], np.cumsum(counts)])
        moves = np.arange(offsets[-1]) + np.repeat(self.offsets[kept] - offsets[:-1], counts)
        return Decisions(
            self.index[moves],
            offsets,
            self.chosen[kept] - self.offsets[kept] + offsets[:-1],
            self.values[moves],
            self.held_out[kept],
            self.players[kept],
        )


def decisions(games: Iterable[Played], progress: Callable[[int], None]) -> Decisions:
    """All moves of ``games`` that players chose; ``progress`` gets their number so far."""
    evaluator = BuiltinEvaluator()
    children = np.empty((MAX_MOVES, 9), dtype=np.uint64)
    indices, values, chosen, held, players = [], [], [], [], []
    offsets = [0]
    for game in games:
        referee = Referee(game.record.fen)
        for ply, move in enumerate(game.record.moves):
            row = referee.position.row
            if ply >= game.opening:
                mine = below(row)
                codes, index = described(mine)
                count = len(codes)
                at = np.flatnonzero(codes == encode(move) ^ flip_below(row))
                for k in range(count):
                    make(mine, codes[k], TABLES, children[k])
                alive = (children[:count, KING] & children[:count, WHITE]) != 0
                worth = np.ones(count)
                worth[alive] = -evaluator.values(children[:count][alive])
                indices.append(index)
                values.append(worth)
                chosen.append(offsets[-1] + int(at[0]))
                offsets.append(offsets[-1] + count)
                held.append(held_out(game))
                players.append(game.white if referee.turn else game.black)
            referee.push(move)
        progress(len(chosen))
    return Decisions(
        np.concatenate(indices),
        np.array(offsets),
        np.array(chosen),
        np.concatenate(values),
        np.array(held),
        np.array(players),
    )


@kernel
def _surprise(
    index: Any, offsets: Any, chosen: Any, values: Any, groups: int, entries: Any, slope: float, even: float,
    gradient: Any, each: Any,
) -> Any:  # fmt: skip
    """Negative log-likelihood of all decisions; adds its gradient to ``gradient`` (float64[entries + 1], the slope's
    last) and writes each decision's into ``each``.
    """
    total = 0.0
    exponent = np.empty(512, dtype=np.float64)
    for d in range(offsets.shape[0] - 1):
        start, count = offsets[d], offsets[d + 1] - offsets[d]
        top = -np.inf
        for k in range(count):
            found = slope * values[start + k]
            for group in range(groups):
                found += entries[index[start + k, group]]
            exponent[k] = found
            top = max(top, found)
        whole = 0.0
        for k in range(count):
            exponent[k] = np.exp(exponent[k] - top)
            whole += exponent[k]
        share = exponent[chosen[d] - start] / whole
        likely = (1.0 - even) * share + even / count
        each[d] = -np.log(likely)
        total += each[d]
        pull = (1.0 - even) * share / likely
        for k in range(count):
            error = pull * (exponent[k] / whole - (1.0 if start + k == chosen[d] else 0.0))
            gradient[entries.shape[0]] += error * values[start + k]
            for group in range(groups):
                gradient[index[start + k, group]] += error
    return total


def _groups(level: Level) -> int:
    return (
        Policy.from_entries({name: np.zeros(ENTRIES[name]) for name in LEVELS[1:]}, 0.0, EVEN, {}).stages[level].groups
    )


def fitted(level: Level, found: Decisions, progress: Callable[[float], None]) -> tuple[Floats, float]:
    """The entries and the slope with the largest likelihood of ``found``; ``progress`` gets the loss per move."""
    size, groups = ENTRIES[level], _groups(level)
    each = np.empty(len(found))

    def loss(x: Floats) -> tuple[float, Floats]:
        gradient = np.zeros(size + 1)
        slope = float(x[size]) if level == "values" else 0.0
        total = _surprise(
            found.index, found.offsets, found.chosen, found.values, groups, x[:size], slope, EVEN, gradient, each
        )
        gradient[:size] += PRIOR * x[:size]
        gradient[size] = gradient[size] if level == "values" else 0.0
        value = (float(total) + PRIOR / 2 * float((x[:size] ** 2).sum())) / len(found)
        progress(value)
        return value, gradient / len(found)

    result = minimize(loss, np.zeros(size + 1), jac=True, method="L-BFGS-B", options={"maxiter": 150})
    return np.asarray(result.x[:size]), float(result.x[size])


def likelihoods(level: Level, entries: Floats, slope: float, found: Decisions) -> Floats:
    """Negative log-likelihood of each decision: float64[n]."""
    each = np.empty(len(found))
    gradient = np.zeros(len(entries) + 1)
    _surprise(
        found.index, found.offsets, found.chosen, found.values, _groups(level), entries, slope, EVEN, gradient, each
    )
    return each
