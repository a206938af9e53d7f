"""Scores of possible positions by a network, which reads the numbers of an observation once.

The numbers lie in blocks: planes of squares, from the viewer's side of the board, and at the end the scalars. Which
blocks there are, each game says in its module ``tower``.

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
from typing import ClassVar, Self

import numpy as np
import numpy.typing as npt

from darkchess.weighting._kernels.features import score_halves
from darkchess.weighting.enemy_features import FEATURES, MOST_FEATURES, SQUARES
from klss.support.arrays import Float32s, Floats, Ints, Words
from klss.support.inference import Network

LEAST_SHARE = np.float32(1e-3)
"""Number added to a share before its logarithm is taken, so that the logarithm of 0 is finite."""

_INPUTS = ("planes", "scalars", "shares")


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
    """

    def __init__(self, sizes: Mapping[str, int], twice: tuple[str, ...], shares: tuple[str, ...]) -> None:
        ends = np.cumsum(list(sizes.values())).tolist()
        self._places = {name: slice(end - size, end) for (name, size), end in zip(sizes.items(), ends, strict=True)}
        self._twice, self.shares = twice, shares
        self.names = tuple(sizes)  # of the blocks, in order
        self.count: int = ends[-1]  # number of numbers of an observation
        # number of planes that the network reads; and the shapes of the arrays of :meth:`grids`, for one observation
        self.planes = (self.count - sizes["scalars"] + sum(sizes[name] for name in twice)) // 64
        self.shapes = ((8, 8, self.planes), (sizes["scalars"],), (len(shares), SQUARES))

    def __getitem__(self, name: str) -> slice:
        """Return the place of a block in the numbers."""
        return self._places[name]

    def filled(self, blocks: Mapping[str, npt.ArrayLike]) -> Float32s:
        """Return the numbers of an observation with these blocks, the others 0: float32[count]."""
        out = np.zeros(self.count, dtype=np.float32)
        for name, block in blocks.items():
            out[self[name]] = block
        return out

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
    """A network that scores positions by an observation; a subclass says by which numbers.

    Parameters
    ----------
    content
        Of an .onnx file with the inputs of :meth:`Blocks.grids` for one observation, and the output ``map``
        [1, FEATURES]: a number for each feature of a position.
    """

    blocks: ClassVar[Blocks]
    package: ClassVar[str]
    """The package whose file ``data/tower.onnx`` has the weights."""

    def __init__(self, content: bytes) -> None:
        inputs = {name: (1, *shape) for name, shape in zip(_INPUTS, self.blocks.shapes, strict=True)}
        self._network = Network(content, inputs, {"map": (1, FEATURES)})

    @classmethod
    @cache
    def packaged(cls) -> Self:
        """Return the one with the packaged weights, which are read once."""
        return cls(resources.files(cls.package).joinpath("data/tower.onnx").read_bytes())

    def map_of(self, numbers: Float32s) -> Float32s:
        """Return the logit map of an observation (float32[count]): float32[FEATURES]."""
        (found,) = self._network.run(**dict(zip(_INPUTS, self.blocks.grids(numbers[None]), strict=True)))
        return found.reshape(-1)

    def scores(self, numbers: Float32s, halves: Words, chosen: Ints) -> Floats:
        """Return what is added to the logarithms of positions' weights: for each the sum over its features of the
        observation's map.

        Parameters
        ----------
        numbers
            float32[count], of the observation.
        halves
            uint64[n, 2], the enemy's of all positions.
        chosen
            int64[m], which of them.

        Returns
        -------
        float64[m]
        """
        found = np.empty(chosen.shape[0], dtype=np.float64)
        score_halves(halves, chosen, self.map_of(numbers), np.empty(MOST_FEATURES, dtype=np.uint16), found)
        return found
