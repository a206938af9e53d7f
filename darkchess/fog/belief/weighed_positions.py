"""A store of positions with weights: look-ups, draws, and the information that a move would bring."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from darkchess.board.kernels import board, position_table
from darkchess.board.kernels.attacks import in_check
from darkchess.board.kernels.halves import decode_halves
from darkchess.board.kernels.tables import TABLES
from darkchess.board.position_step import key_of
from darkchess.board.position_store import PositionStore
from darkchess.board.position_table import HASHES, smallest
from darkchess.fog.belief._kernels.position_set import EP_CAPTORS, observation_keys
from darkchess.fog.belief.filter import Filter, find
from darkchess.fog.belief.view_masks import ViewMasks
from klss.support.arrays import Float32s, Floats, Ints, Words
from klss.support.drawing import draw
from klss.support.greatest import greatest

_LEAST_THREAT = 0.1
"""Least share of all draws for positions in which the player's king is attacked, if there are any. Drawn by weight
alone, none of them might become a root, and then nothing would keep the player from leaving the king attacked.
"""

_LOOKED_AT = 20_000
"""Most positions in which an attack on the king is looked for, the likeliest ones: this takes a few milliseconds."""


class WeighedPositions(PositionStore):
    """Positions, each with the probability that it is the true one. Draws depend only on the set, the weights and the
    seed. The position set below keeps the fields up to date.
    """

    _shown: ViewMasks  # what the current view says
    _ordered = True  # False after an own capture, which changes the halves and so their hashes
    weigher: Filter | None  # updates the weights; None: all positions weigh the same
    _weights: Floats  # empty without a weigher
    numbers: Float32s | None = None
    _corrected: Floats | None = None  # the weights corrected by the numbers; None: not computed yet

    def _decode(self, indices: Ints, out: Words) -> None:
        shown = self._shown
        decode_halves(
            self._positions,
            indices,
            shown.own_row,
            self.flipped,
            shown.masks[EP_CAPTORS],
            np.uint64(shown.ep_meta),
            out,
        )

    def _has_own_half(self, row: Words, index: int) -> bool:
        row[board.META] &= board.IDENTITY
        return bool((self.rows(index)[0] == row).all())

    @property
    def filter_weights(self) -> Floats:
        """The filter's own weights, before learned ones correct them: float64[size], summing to 1; uniform without a
        weigher.
        """
        return self._weights if self.weigher is not None else np.full(self.size, 1.0 / self.size)

    @property
    def weights(self) -> Floats:
        """Probability of each position, in the order of :meth:`rows`: float64[size], summing to 1; uniform without a
        weigher. They are the filter's, corrected from the player's first turn on if the filter has learned weights.
        """
        tower = self.weigher.tower if self.weigher is not None else None
        if tower is None or self.numbers is None:
            return self.filter_weights
        if self._corrected is None:
            self._corrected = tower.corrected(self.numbers, self._positions, self._weights)
        return self._corrected

    def indices(self, rows: npt.ArrayLike) -> Ints:
        """Return the indices of positions in the order of :meth:`rows`: int64[n], −1 for one that is not in the set.

        Parameters
        ----------
        rows
            uint64[n, 9].
        """
        halves = self._halves_of(rows)
        # Without the order of hashes, each half is searched for linearly.
        if not self._ordered:
            return np.array([position_table.rank(self._positions, *half) for half in halves], dtype=np.int64)
        return find(halves, self._positions, self._key)

    def sample(self, count: int, seed: int = 0, exclude_rows: npt.ArrayLike | None = None) -> Words:
        """Draw positions uniformly without replacement: those with the smallest hash under a key from ``seed``.

        Parameters
        ----------
        count
            How many, or all if the set has fewer.
        seed
            A number.
        exclude_rows
            uint64[m, 9], positions that are not to be drawn.

        Returns
        -------
        uint64[n, 9]
            As :meth:`rows` gives them, in the order of the hash.
        """
        excluded = set() if exclude_rows is None else {tuple(half) for half in self._halves_of(exclude_rows).tolist()}
        # Select more, so that ``count`` are left even if all excluded positions are among them. Each kind of draw has a
        # constant of its own, so that equal seeds give different keys.
        indices = smallest(self._positions, count + len(excluded), key_of(seed ^ 0x5A3D))
        if excluded:
            halves = self._positions[indices].tolist()
            indices = indices[[i for i, half in enumerate(halves) if tuple(half) not in excluded]]
        return self.rows(indices[:count])

    def draw(
        self,
        count: int,
        seed: int,
        exclude_rows: npt.ArrayLike | None = None,
        *,
        uniform_mix: float = 0.0,
    ) -> tuple[Words, Floats]:
        """Draw positions by weight, one after another without replacement (:mod:`klss.support.drawing`). Those in which
        the player's king is attacked are drawn more often than by weight, since a mistake there ends the game.

        Parameters
        ----------
        count, seed, exclude_rows
            As for :meth:`sample`.
        uniform_mix
            Share of all weight, from 0 to 1, that is first spread evenly over all positions.

        Returns
        -------
        uint64[n, 9], float64[n]
            Rows as :meth:`rows` gives them, and the probability with which each was drawn.
        """
        # The probability that each position is drawn by.
        likely = (1.0 - uniform_mix) * self.weights + uniform_mix / self.size
        # Raise positions with an attacked king to their least share; the returned probabilities include this, so that
        # the caller can correct for it.
        checked = self._in_check()
        threat = float(likely[checked].sum())
        if 0.0 < threat < _LEAST_THREAT:
            raised = likely[checked] * (_LEAST_THREAT / threat)
            likely *= (1.0 - _LEAST_THREAT) / (1.0 - threat)
            likely[checked] = raised
        if exclude_rows is not None:
            excluded = self.indices(exclude_rows)
            likely[excluded[excluded >= 0]] = 0.0
        chosen, inclusion = self._drawn(likely, count, key_of(seed ^ 0xD4A3))
        return self.rows(chosen), inclusion

    def information(self, moves: npt.ArrayLike, limit: int = 2048) -> Floats:
        """Return the entropy, in bits, of the observation right after each of the player's moves: H(a) of paper D.3.

        Parameters
        ----------
        moves
            int[m], codes of the player's legal moves (:mod:`darkchess.board.move`).
        limit
            Most positions to look at. The true position is taken to be uniform over the set, or over a sample of this
            size (:meth:`sample`).

        Returns
        -------
        float64[m]
            Bits.
        """
        codes = np.atleast_1d(np.asarray(moves, dtype=np.int64))
        indices = smallest(self._positions, limit, key_of(0x1F0))
        keys = np.empty((codes.shape[0], indices.shape[0]), dtype=np.uint64)
        observation_keys(self._positions, indices, self._shown.own_row, self.flipped, codes, TABLES, keys)
        # Positions with the same key look the same after the move, so the entropy is that of the classes of equal keys.
        bits = np.zeros(codes.shape[0])
        for i, row in enumerate(keys):
            shares = np.unique(row, return_counts=True)[1] / row.shape[0]
            bits[i] = -(shares * np.log2(shares)).sum()
        return np.maximum(bits, 0.0)

    def _in_check(self) -> Ints:
        """Indices of the positions, of the likeliest :data:`_LOOKED_AT`, in which the viewer's king is attacked."""
        among = greatest(self.weights, _LOOKED_AT)
        checked = np.empty(len(among), dtype=np.bool_)
        in_check(self.rows(among), int(self.flipped), TABLES, checked)
        return among[checked]

    def _drawn(self, weights: Floats, count: int, key: np.uint64) -> tuple[Ints, Floats]:
        """Indices drawn by weight, none of weight 0, and the probability of each: int64[n], float64[n]."""
        hashes, indices = np.empty(self.size, dtype=np.uint64), np.empty(self.size, dtype=np.int64)
        position_table.select(self._positions, key, np.uint64(HASHES), indices, hashes)
        found = draw(weights, hashes, count)
        chosen = found.indices[weights[found.indices] > 0.0]
        return chosen, found.inclusion(weights[chosen])

    def _halves_of(self, rows: npt.ArrayLike) -> Words:
        wanted = np.asarray(rows, dtype=np.uint64).reshape(-1, board.WIDTH)
        return np.array([self._encode(row) for row in wanted], dtype=np.uint64).reshape(-1, 2)
