"""Scores of possible positions by a network (:mod:`klss.networks.towers`), which reads the numbers of an observation.

The numbers lie in blocks: planes of squares, from the viewer's side of the board, and at the end the scalars. Which
blocks there are, each game says in its module ``siamese``.

Source: T. Bertram, J. Fürnkranz, M. Müller, *Neural Network-based Information Set Weighting for Playing Reconnaissance
Blind Chess* (2023): anchors are observations, boards near their anchor are likely. Training:
:mod:`experiments.learn.weighing`; docs/dsmcp.md.

Deviations from the source: the history is not the last twenty turns, but what an exact set keeps of them (marginals now
and before, and where enemies certainly stood); the opponent's name is not used; only the observation is read by
convolutions; a *logit map*, linear in the pieces of a board, replaces the second network and the distance: millions of
boards a second instead of hundreds; rights and double steps are part of a board; the loss is a softmax over the truth
and other members instead of triplets.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import BinaryIO, ClassVar, Self, cast

import numpy as np

from darkchess.weighting._kernels.features import feature_rows
from darkchess.weighting.enemy_features import FEATURES, MOST_FEATURES, SQUARES
from klss.networks.towers import LEAST_SHARE, Towers, Uint16s
from klss.support.arrays import Float32s, Floats, Ints, Words


class Blocks:
    """The blocks of an observation's numbers.

    Parameters
    ----------
    sizes
        The size of each block, in order: multiples of 64, and at the end the number of ``scalars``, of which the last
        two are about king- and queenside.
    twice
        Blocks that the network reads as they are and as their logarithms.
    shares
        Blocks of piece × square that also enter the logit map feature by feature.

    Attributes
    ----------
    names
        Of the blocks, in order.
    count
        Number of numbers of an observation.
    planes
        Number of planes that the network reads.
    shapes
        Shapes of the arrays of :meth:`grids`, for one observation.
    """

    def __init__(self, sizes: Mapping[str, int], twice: tuple[str, ...], shares: tuple[str, ...]) -> None:
        ends = np.cumsum(list(sizes.values())).tolist()
        self._places = {name: slice(end - size, end) for (name, size), end in zip(sizes.items(), ends, strict=True)}
        self._twice, self.shares = twice, shares
        self.names = tuple(sizes)
        self.count: int = ends[-1]
        self.planes = (self.count - sizes["scalars"] + sum(sizes[name] for name in twice)) // 64
        self.shapes = ((8, 8, self.planes), (sizes["scalars"],), (len(shares), SQUARES))

    def __getitem__(self, name: str) -> slice:
        """Return the place of a block in the numbers."""
        return self._places[name]

    def grids(self, numbers: Float32s) -> tuple[Float32s, Float32s, Float32s]:
        """Return observations in the form that the network reads.

        Parameters
        ----------
        numbers
            float32[n, count].

        Returns
        -------
        tuple
            Planes, float32[n, 8, 8, planes]: all blocks but the scalars, and after those that are read twice their
            logarithms, scaled to about [0, 1]; the scalars, float32[n, s]; the shares, float32[n, k, SQUARES].
        """
        found = []
        for name in self.names[:-1]:
            found.append(numbers[:, self[name]])
            if name in self._twice:
                found.append(np.log(numbers[:, self[name]] + LEAST_SHARE) / 7 + 1)
        planes = np.concatenate(found, axis=1).reshape(-1, self.planes, 8, 8).transpose(0, 2, 3, 1)
        shares = np.stack([numbers[:, self[name]] for name in self.shares], axis=1)
        return np.ascontiguousarray(planes), numbers[:, self["scalars"]], shares


class LearnedScores:
    """A tower that scores positions by an observation; a subclass says by which numbers."""

    blocks: ClassVar[Blocks]
    package: ClassVar[str]
    """The package whose file ``data/siamese.npz`` has the weights."""

    def __init__(self, towers: Towers) -> None:
        assert (towers.shapes, towers.features) == (self.blocks.shapes, FEATURES), "weights of something else"
        self.towers = towers

    @classmethod
    @cache
    def packaged(cls) -> Self:
        """Return the one with the packaged weights, which are read once."""
        with resources.files(cls.package).joinpath("data/siamese.npz").open("rb") as file:
            return cls(Towers.read(cast(BinaryIO, file)))

    def map_of(self, numbers: Float32s) -> Float32s:
        """Return the logit map of an observation (float32[count]): float32[FEATURES]."""
        return self.towers.observe(*(part[0] for part in self.blocks.grids(numbers[None])))

    def scores(self, logits: Float32s, halves: Words, chosen: Ints) -> Floats:
        """Return what is added to the logarithms of positions' weights.

        Parameters
        ----------
        logits
            Of :meth:`map_of`.
        halves
            uint64[n, 2], the enemy's of all positions.
        chosen
            int64[m], which of them.

        Returns
        -------
        float64[m]
        """

        def features(start: int, stop: int, rows: Uint16s, counts: Ints) -> None:
            feature_rows(halves, chosen[start:stop], rows, counts)

        return self.towers.log_weights(logits, chosen.shape[0], MOST_FEATURES, features)
