"""A network that reads synopses: logits of the actions, and the value of the set for the player that acts.

The file is a convolutional network of fixed batch (:mod:`klss.support.inference`); ``experiments`` trains and writes
it. A plane of a synopsis is a board of 8 × 8 bits.

Source: G. Clark 2021, *Deep Synoptic Monte Carlo Planning in Reconnaissance Blind Chess*, on a smaller scale: 32
channels and 3 residual blocks instead of the paper's 128 and 10. Batch norm is part of the weights: training folds it
in. Auxiliary heads (near wins and losses, pieces on the board) are used in training only.
"""

from __future__ import annotations

import numpy as np

from klss.support.arrays import Float32s, Words
from klss.support.inference import Network

CHUNK = 8
"""Synopses that are computed together. The batch is fixed and filled up with zeros: then on one machine the result for
a synopsis is the same to the last bit, whatever else is asked and however many threads there are.
"""


class SynopsisNetwork:
    """Policy and value of synopses.

    Parameters
    ----------
    content
        Of an .onnx file with the input ``planes`` [CHUNK, planes, 8, 8] and the outputs ``logits`` [CHUNK, actions] and
        ``values`` [CHUNK, 1] in [−1, 1].
    planes, actions
        Sizes.

    Raises
    ------
    klss.support.inference.NetworkError
        The file has something else; one line.
    """

    def __init__(self, content: bytes, planes: int, actions: int) -> None:
        self._shape, self._actions = (CHUNK, planes, 8, 8), actions
        self._network = Network(content, {"planes": self._shape}, {"logits": (CHUNK, actions), "values": (CHUNK, 1)})

    def infer(self, synopses: Words) -> tuple[Float32s, Float32s]:
        """Return logits and values, as :class:`~klss.synoptic.model.Network` says. Several threads may call this at
        once.
        """
        count = synopses.shape[0]
        logits = np.empty((count, self._actions), dtype=np.float32)
        values = np.empty(count, dtype=np.float32)
        octets = np.ascontiguousarray(synopses, dtype="<u8").view(np.uint8).reshape(count, self._shape[1], 8)
        for start in range(0, count, CHUNK):
            planes = np.zeros(self._shape, dtype=np.float32)
            rows = slice(start, min(start + CHUNK, count))
            size = rows.stop - start
            planes[:size] = np.unpackbits(octets[rows], axis=2, bitorder="little").reshape(size, *self._shape[1:])
            found, worth = self._network.run(planes=planes)
            logits[rows], values[rows] = found[:size], worth[:size, 0]
        return logits, values
