"""A tower that reads chess: how the numbers of an observation lie, what the features of a board are, and the weights
that the tower gives to the members of a set.

Reconnaissance Blind Chess's Siamese (:mod:`darkchess.rbc.belief.siamese`) stands on it, with its own observations; the
tower is that of :mod:`klss.networks.towers`, which knows no game.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import BinaryIO, ClassVar, Self, cast

import numpy as np

from darkchess.board.kernels import features as kernels
from darkchess.errors import DarkchessError
from klss.networks.towers import LEAST_SHARE, Float32s, Towers, TowersError, Uint16s
from klss.support.arrays import Floats, Ints, Words

__all__ = ["SHARES", "ChessTowers", "Layout", "ObserverBase", "SiameseError", "shares_of"]

SHARES = ("now", "before", "trace")
"""Blocks of an observation's numbers that also enter the map feature by feature."""


class SiameseError(DarkchessError, ValueError):
    """Weights that cannot be loaded."""


class Layout:
    """Where the numbers of an observation lie, block by block, and what a tower reads of them.

    Parameters
    ----------
    sizes
        Numbers of each block, in order: a multiple of 64 (planes of squares), 6 · 64 for each of :data:`SHARES`, any
        number for the one called ``scalars``.

    Attributes
    ----------
    blocks
        Where each lies.
    numbers
        How many they are together.
    planes
        Planes that the tower reads.
    shapes
        Of what :meth:`grids_of` gives, an observation each.
    """

    def __init__(self, sizes: Mapping[str, int]) -> None:
        ends = np.cumsum(list(sizes.values())).tolist()
        self.blocks = {name: slice(end - size, end) for (name, size), end in zip(sizes.items(), ends, strict=True)}
        self.numbers: int = ends[-1]
        self.planes = (self.numbers - sizes["scalars"] + sizes["now"]) // 64
        self.shapes = ((8, 8, self.planes), (sizes["scalars"],), (len(SHARES), 6 * 64))

    def grids_of(self, numbers: Float32s) -> tuple[Float32s, Float32s, Float32s]:
        """Observations as the tower reads them.

        Parameters
        ----------
        numbers
            float32[n, numbers].

        Returns
        -------
        tuple
            Planes, float32[n, 8, 8, planes]: all blocks but the scalars, and after ``now`` its logarithm, brought to
            about [0, 1]; the scalars, float32[n, s]; the shares, float32[n, 3, 384].
        """
        found = []
        for name, block in self.blocks.items():
            if name == "scalars":
                continue
            found.append(numbers[:, block])
            if name == "now":
                found.append(np.log(numbers[:, block] + LEAST_SHARE) / 7 + 1)
        planes = np.concatenate(found, axis=1).reshape(-1, self.planes, 8, 8).transpose(0, 2, 3, 1)
        shares = np.stack([numbers[:, self.blocks[name]] for name in SHARES], axis=1)
        return np.ascontiguousarray(planes), numbers[:, self.blocks["scalars"]], shares


class ObserverBase:
    """Marginals of a position set now and before, and the trace of surely standing pieces, for an observation.

    Parameters
    ----------
    halves
        uint64[n, 2], the enemy halves that are possible at first.
    """

    def __init__(self, halves: Words) -> None:
        self._before = self._now = shares_of(halves)
        self._size_before = self.size = halves.shape[0]
        self._trace = (self._now == 1).astype(np.float32)

    def _fill(self, layout: Layout, out: Float32s) -> None:
        """Write the blocks ``now``, ``before`` and ``trace`` into ``out`` (float32[layout.numbers])."""
        for name, block in (("now", self._now), ("before", self._before), ("trace", self._trace)):
            out[layout.blocks[name]] = block


class ChessTowers:
    """Learned weights over the members of a set. A game's class names its layout, features and package.

    Parameters
    ----------
    towers
        They take what the layout's :meth:`~Layout.grids_of` gives, and score boards by :attr:`features` features.

    Raises
    ------
    SiameseError
        They take something else.
    """

    layout: ClassVar[Layout]
    features: ClassVar[int]
    most_features: ClassVar[int]
    """Of one board."""
    package: ClassVar[str]
    """Where ``data/siamese.npz`` is."""

    def __init__(self, towers: Towers) -> None:
        if (towers.shapes, towers.features) != (self.layout.shapes, self.features):
            raise SiameseError(
                f"bad weights: got towers for {towers.shapes} and {towers.features} features, "
                f"expected {self.layout.shapes} and {self.features}; train them anew"
            )
        self.towers = towers

    @classmethod
    def packaged(cls) -> Self:
        """With the weights that come with the package; they are read once."""
        return cls(_packaged(cls.package))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """With the weights of a file.

        Raises
        ------
        SiameseError
            It cannot be read, is larger than 8 MiB or holds no such weights. One line.
        """
        try:
            return cls(Towers.load(path))
        except TowersError as error:
            raise SiameseError(str(error)) from None

    @classmethod
    def board_features(cls, halves: Words) -> tuple[Uint16s, Ints]:
        """Features of boards.

        Parameters
        ----------
        halves
            uint64[n, 2], the enemy's (:mod:`darkchess.board.kernels.halves`).

        Returns
        -------
        tuple
            uint16[n, most_features], and int64[n], how many of each row count.
        """
        rows = np.zeros((halves.shape[0], cls.most_features), dtype=np.uint16)
        counts = np.empty(halves.shape[0], dtype=np.int64)
        kernels.feature_rows(halves, np.arange(halves.shape[0]), rows, counts)
        return rows, counts

    def weigh(self, numbers: Float32s, halves: Words, indices: Ints | None = None, *, threads: int = 1) -> Floats:
        """Logarithms of boards' weights, up to a constant; the temperature is in them.

        Parameters
        ----------
        numbers
            float32[layout.numbers], the observation's.
        halves
            uint64[m, 2], the enemy's.
        indices
            int[n], which of them; None: all.
        threads
            1 or 2; the weights are the same.

        Returns
        -------
        float64[n]

        Raises
        ------
        IndexError
            There is no such board.
        """
        size = halves.shape[0]
        chosen = np.arange(size) if indices is None else np.asarray(indices, dtype=np.int64)
        if chosen.size and (chosen.min() < 0 or chosen.max() >= size):
            raise IndexError(f"bad index: got {chosen.min()} … {chosen.max()}, expected 0 … {size - 1}")
        observed = self.towers.observe(*(part[0] for part in self.layout.grids_of(numbers[None])))

        def features(start: int, stop: int, rows: Uint16s, counts: Ints) -> None:
            kernels.feature_rows(halves, chosen[start:stop], rows, counts)

        return self.towers.log_weights(observed, chosen.shape[0], self.most_features, features, threads)


def shares_of(halves: Words) -> Float32s:
    """In which share of the boards each piece stands on each square: float32[384]."""
    counts = np.zeros((6, 64), dtype=np.int64)
    kernels.count_halves(halves, counts)
    shares: Float32s = (counts.reshape(-1) / halves.shape[0]).astype(np.float32)
    return shares


@cache
def _packaged(package: str) -> Towers:
    with resources.files(package).joinpath("data/siamese.npz").open("rb") as file:
        return Towers.read(cast(BinaryIO, file))
