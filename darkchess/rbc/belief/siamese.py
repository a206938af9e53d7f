"""Weights of possible boards by a pair of networks: one makes a point of 512 numbers of what the player was told, the
other one of a board. The nearer the two points are, the likelier the board is.

Source: T. Bertram, J. Fürnkranz, M. Müller, *Neural Network-based Information Set Weighting for Playing Reconnaissance
Blind Chess* (the journal's version of 2023). Two encoders of convolutions (3 × 3, ELU), a residual network that both
share, one of 1 × 1, a dense layer with tanh; Euclidean distances d; the weights are the softmin of d / T.

Deviations: 24 channels and 5 + 5 layers where the source has 64, then 128, and 5 + 10, since two busy cores learn and
run this one; four planes before the dense layer and no instance norm, where the published code has one plane; the files
hold large layers in half precision. :mod:`experiments.learn.siamese` has the deviations of the training, and
:mod:`darkchess.rbc.belief.anchors` those of what is read.
"""

from __future__ import annotations

from functools import cache
from importlib import resources

import numpy as np

from darkchess.rbc.belief.anchors import ANCHOR, BOARD
from klss.support.arrays import Float32s, Floats, Words
from klss.support.inference import Network

POINT = 512
"""Numbers of a point."""

CHUNK = 16
"""Boards that are computed together."""


class Siamese:
    """The pair.

    Parameters
    ----------
    anchor, board
        Contents of .onnx files with the input ``planes`` [1, ANCHOR, 8, 8] or [CHUNK, BOARD, 8, 8], and the output
        ``points`` [1, POINT] or [CHUNK, POINT].

    Raises
    ------
    klss.support.inference.NetworkError
        A file has something else; one line.
    """

    def __init__(self, anchor: bytes, board: bytes) -> None:
        self._anchors = Network(anchor, {"planes": (1, ANCHOR, 8, 8)}, {"points": (1, POINT)})
        self._boards = Network(board, {"planes": (CHUNK, BOARD, 8, 8)}, {"points": (CHUNK, POINT)})

    @classmethod
    @cache
    def packaged(cls) -> Siamese:
        """Return the one with the packaged weights, which are read once."""
        data = resources.files("darkchess.rbc.belief").joinpath("data")
        return cls(*(data.joinpath(f"siamese-{name}.onnx").read_bytes() for name in ("anchor", "board")))

    def points(self, boards: Words) -> Float32s:
        """Return the points of boards (uint64[n, BOARD]): float32[n, POINT]."""
        return self._boards.run_bits(boards)[0]

    def distances(self, anchor: Words, boards: Words) -> Floats:
        """Return the distances between an anchor's point (uint64[ANCHOR]) and those of boards (uint64[n, BOARD]):
        float64[n].
        """
        (point,) = self._anchors.run_bits(anchor[None])
        return np.asarray(np.linalg.norm(self.points(boards) - point, axis=1), dtype=np.float64)


def softmin(distances: Floats, temperature: float) -> Floats:
    """Return weights that fall exponentially with the distances: float64[n], summing to 1."""
    weights = np.exp((distances.min() - distances) / temperature)
    return np.asarray(weights / weights.sum())
