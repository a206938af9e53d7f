"""A network that reads synopses: logits of the actions, and the value of the set for the player that acts.

The file is a convolutional network of fixed batch (:mod:`klss.support.inference`); ``experiments`` trains and writes
it. A plane of a synopsis is a board of 8 × 8 bits.

Source: G. Clark 2021, *Deep Synoptic Monte Carlo Planning in Reconnaissance Blind Chess*, on a smaller scale: 32
channels and 3 residual blocks instead of the paper's 128 and 10. Batch norm is part of the weights: training folds it
in. Auxiliary heads (near wins and losses, pieces on the board) are used in training only.
"""

from __future__ import annotations

from klss.support.arrays import Float32s, Words
from klss.support.inference import Network

CHUNK = 8
"""Synopses that are computed together."""


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
        ends = {"logits": (CHUNK, actions), "values": (CHUNK, 1)}
        self._network = Network(content, {"planes": (CHUNK, planes, 8, 8)}, ends)

    def infer(self, synopses: Words) -> tuple[Float32s, Float32s]:
        """Return logits and values, as :class:`~klss.synoptic.model.Network` says. Several threads may call this at
        once.
        """
        logits, values = self._network.run_bits(synopses)
        return logits, values[:, 0]
