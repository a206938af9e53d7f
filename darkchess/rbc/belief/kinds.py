"""The kind of the opponent, and the positions that are likely for each kind: a Bayes filter under several policies.

Each kind has a policy, a softmax over a few features of a move; one of them is what the move loses by the built-in
evaluator. At an enemy turn, the joint weight of a kind and a position is multiplied by the kind's likelihood of the
move. An observation drops positions; the weight that a kind then has left tells how well the kind predicted the
observations. Kinds change with a small probability every turn, so that none is ever ruled out.

Deviations from an exact filter: only the :data:`MOST` likeliest positions are kept, and only the likeliest of these
have their moves valued; if none agrees with an observation, a sample of the set replaces them.
"""

from __future__ import annotations

import numpy as np

from darkchess.board.kernels.board import KING, WIDTH
from darkchess.board.kernels.halves import MOST_SUCCESSORS
from darkchess.board.kernels.tables import TABLES
from darkchess.evaluation.evaluator import BuiltinEvaluator
from darkchess.rbc.belief._kernels import kinds as kernels
from darkchess.rbc.belief._kernels.position_set import keep_moved
from darkchess.rbc.belief.position_set import PositionSet
from darkchess.rbc.game.observation import Moved, Notice, Sensed
from klss.support.arrays import Floats, Ints, Words
from klss.support.greatest import greatest

MOST = 2000
"""Most positions that the filter keeps."""

KINDS = {
    #            nothing  nearer  attack  takes  leaves  pawn  king  develops  loses
    "sensible": (1.6,     0.0,    2.0,    0.2,   -0.1,   -0.1,  0.3,  0.1,     -17.0),
    "rush":     (-1.0,    2.0,    3.0,    0.3,   0.0,    -1.0, -2.5,  0.0,       0.0),
    "idle":     (7.0,     0.0,    0.0,    0.3,   0.0,    0.0,   0.0,  0.0,       0.0),
    "greedy":   (-1.0,    0.0,    0.0,    1.0,   -0.5,   0.0,  -1.0,  0.3,       0.0),
    "random":   (0.0,     0.0,    0.0,    0.0,   0.0,    0.0,   0.0,  0.0,       0.0),
}  # fmt: skip
"""The kinds, and the weight of each feature of a move for them, in nats
(:func:`darkchess.rbc.belief._kernels.kinds.weigh`). The first is a fit to moves of ``rbc-tower`` and of
StrangeFish2, rounded; the others play as their names say.
"""

_VALUED = 64
"""Positions, the likeliest, whose moves are valued: some two thousand values, a few thousandths of a second. The moves
of others count as if all had the same value. With four times as many the true position gets no more weight.
"""

_CARELESS = {"idle": 1.0, "greedy": 0.3, "random": 0.8}
"""Probability that an opponent of a kind overlooks an attack on its king; other kinds overlook as sensible ones do."""

_TRUSTED = 0.3
"""Upper bound of the prior probability that an opponent is not sensible, wherever the player would profit from it. A
piece staked on a careless opponent is lost to a careful one, while expecting strange moves costs little.
"""

_WORTH = np.array([1.0, 3.0, 3.0, 5.0, 9.0, 20.0])
"""Worth of the pieces, in pawns; a king's decides how surely it is captured."""

_CHANGES = 0.02
"""Probability that an opponent becomes one of another kind between two turns."""

_LEAST = 1e-300
"""Smallest divisor, against a division by 0."""


class Kinds:
    """The filter over kinds and positions, beside a position set and updated with it.

    Parameters
    ----------
    known
        The set at the beginning of the game.
    strangers
        Prior probability that an opponent is not sensible.
    """

    def __init__(self, known: PositionSet, strangers: float) -> None:
        # The kinds' priors; the weights of their features; and the own half after the last observation.
        self._before, self._trusted = _even(strangers), _even(min(strangers, _TRUSTED))
        self._habits = np.array(list(KINDS.values()))
        self._evaluator = BuiltinEvaluator()
        self._first = known.first
        self._own, self._passed = known.own_row, np.uint64(known.passed)
        self._halves: Words = known.halves.copy()
        self._weights: Floats = np.tile(self._before, (known.size, 1)) / known.size

    @property
    def shares(self) -> Floats:
        """Probability of each of :data:`KINDS`: float64[k]."""
        return np.asarray(self._weights.sum(axis=0) / self._weights.sum())

    @property
    def kept(self) -> tuple[Words, Floats]:
        """The enemy halves of the positions that the filter keeps (uint64[n, 2]); their probabilities (float64[n])."""
        weights = self._weights.sum(axis=1)
        return self._halves, np.asarray(weights / weights.sum())

    @property
    def careless(self) -> float:
        """Probability that the opponent overlooks an attack on its king, beyond what sensible opponents overlook; with
        a prior of at most :data:`_TRUSTED` for the other kinds.
        """
        # Replace the prior in the posterior: multiply by the new one over the old one.
        shares = self.shares * self._trusted / self._before
        shares /= shares.sum()
        return float(sum(share * _CARELESS.get(kind, 0.0) for kind, share in zip(KINDS, shares, strict=True)))

    def weights(self, known: PositionSet, indices: Ints) -> Floats:
        """Return the weights of members of the set (int64[n]) for each kind: float64[n, k]; a column sums to 1 over all
        members.
        """
        # Look the members up by their hashes; those that the filter does not keep weigh 0.
        keys = _keys(self._halves)
        order = np.argsort(keys, kind="stable")
        wanted = _keys(known.halves[indices])
        places = order[np.minimum(np.searchsorted(keys[order], wanted), len(order) - 1)]
        found = np.where((keys[places] == wanted)[:, None], self._weights[places], 0.0)
        return np.asarray(found / np.maximum(self._weights.sum(axis=0), _LEAST))

    def noticed(self, notice: Notice, known: PositionSet) -> None:
        """Begin the player's turn. This and the next two are called after the set's own update."""
        if self._first:
            self._first = False
            return
        captured = np.uint64(0 if notice.square is None else 1 << known.own.upward(notice.square))
        # First the opponent may change its kind, back to the priors; then it moves as its kind does.
        weights = (1.0 - _CHANGES) * self._weights
        weights += _CHANGES * self._weights.sum(axis=1, keepdims=True) * self._before
        # All moves of the positions, the likeliest positions first, since only their moves are valued; then those moves
        # that agree with the notice.
        order = np.argsort(-weights.sum(axis=1), kind="stable")
        halves, weights = self._halves[order], weights[order]
        offsets, after, taken = self._expanded(halves)
        values = self._values(after, taken, int(offsets[min(_VALUED, len(halves))]))
        out, shares = np.empty_like(after), np.empty((len(after), weights.shape[1]))
        count = kernels.weigh(
            halves, weights, self._own, captured, offsets, after, taken, values, self._habits, _WORTH, TABLES, out,
            shares,
        )  # fmt: skip
        # Merge transpositions, then keep the likeliest positions of each kind.
        _, firsts, places = np.unique(_keys(out[:count]), return_index=True, return_inverse=True)
        columns = [np.bincount(places, column, len(firsts)) for column in shares[:count].T]
        self._hold(out[firsts], np.stack(columns, axis=1), known)

    def _expanded(self, halves: Words) -> tuple[Ints, Words, Words]:
        """Return all moves of the enemy, as :func:`darkchess.rbc.belief._kernels.kinds.expand` writes them."""
        offsets = np.empty(len(halves) + 1, dtype=np.int64)
        after = np.empty((len(halves) * MOST_SUCCESSORS, 2), dtype=np.uint64)
        taken = np.empty(len(after), dtype=np.uint64)
        count = kernels.expand(halves, self._own, self._passed, TABLES, offsets, after, taken)
        return offsets, after[:count], taken[:count]

    def _values(self, after: Words, taken: Words, count: int) -> Floats:
        """Return the values for the enemy of the first ``count`` positions after its moves: float64[count]."""
        rows = np.empty((count, WIDTH), dtype=np.uint64)
        kernels.boards(after[:count], taken[:count], self._own, rows)
        # An evaluator expects both kings; a captured one is worth the game.
        return np.where(taken[:count] & self._own[KING] != 0, 1.0, -self._evaluator.values(rows))

    def sensed(self, sensed: Sensed, known: PositionSet) -> None:
        """Drop the positions that disagree with the result of a sense, as the set did."""
        kept = np.isin(_keys(self._halves), _keys(known.halves))
        self._hold(self._halves[kept], self._weights[kept], known)

    def moved(self, moved: Moved, known: PositionSet) -> None:
        """Drop the positions that disagree with the result of a request."""
        capture = -1 if moved.capture_square is None else known.own.upward(moved.capture_square)
        # The kernel moves one weight with each position: let it be the position's place.
        places = np.arange(len(self._halves), dtype=np.float64)
        kept = keep_moved(
            self._halves, places, self._own, known.code(moved.requested), known.code(moved.taken), capture, TABLES
        )
        self._hold(self._halves[:kept], self._weights[places[:kept].astype(np.int64)], known)

    def _hold(self, halves: Words, weights: Floats, known: PositionSet) -> None:
        """Keep the positions that are likeliest for any kind; if none is left, a sample of the set."""
        if not weights.sum() > 0.0:
            sample = known.sample(MOST, known.fullmove)
            halves = known.halves[sample]
            weights = np.tile(self._before, (len(halves), 1))
        # A position counts as much as it does for the kind that finds it likeliest, so that no kind loses its own.
        weights = weights / weights.sum()
        likely = greatest((weights / np.maximum(weights.sum(axis=0), _LEAST)).max(axis=1), MOST)
        self._halves, self._weights = halves[likely].copy(), weights[likely]
        self._own, self._passed = known.own_row, np.uint64(known.passed)


def _even(strangers: float) -> Floats:
    """Return the priors of the kinds, of which those that are not sensible share ``strangers``: float64[k]."""
    others = len(KINDS) - 1
    return np.array([1.0 - strangers, *[strangers / others] * others])


def _keys(halves: Words) -> Words:
    """Return a hash of each enemy half: uint64[n]; different halves practically never have the same."""
    mixed: Words = halves[:, 0] * np.uint64(0x9E3779B97F4A7C15) ^ (halves[:, 1] * np.uint64(0xD6E8FEB86659FD93))
    return mixed
