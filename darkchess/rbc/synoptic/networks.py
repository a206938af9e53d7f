"""The networks that read synopses, by name: those of the package, or that of a file.

A file is a convolutional network (:mod:`klss.support.inference`), which ``experiments`` trains and writes. A plane of a
synopsis is a board of 8 × 8 bits.

Source: G. Clark 2021, *Deep Synoptic Monte Carlo Planning in Reconnaissance Blind Chess*, on a smaller scale: 32
channels and 3 residual blocks instead of the paper's 128 and 10. Batch norm is part of the weights: training folds it
in. Auxiliary heads (near wins and losses, pieces on the board) are used in training only.
"""

from __future__ import annotations

from functools import lru_cache
from importlib import resources
from pathlib import Path

from darkchess.rbc.synoptic._kernels.members import ACTIONS
from darkchess.rbc.synoptic._kernels.synopsis import PLANES
from klss.support.arrays import Float32s, Words
from klss.support.inference import MOST_BYTES, Network, NetworkError
from klss.support.text import meant
from klss.synoptic.model import CHUNK

PACKAGED = {"packaged": "network.onnx", "rl": "network-rl.onnx"}
"""Files of the networks that come with the package."""


class SynopsisNetwork:
    """Policy and value of synopses, a :class:`klss.synoptic.model.Network`.

    Parameters
    ----------
    content
        Of an .onnx file with the input ``planes`` [CHUNK, PLANES, 8, 8] and the outputs ``logits`` [CHUNK, ACTIONS] and
        ``values`` [CHUNK, 1] in [−1, 1].
    """

    def __init__(self, content: bytes) -> None:
        ends = {"logits": (CHUNK, ACTIONS), "values": (CHUNK, 1)}
        self._network = Network(content, {"planes": (CHUNK, PLANES, 8, 8)}, ends)

    def infer(self, synopses: Words) -> tuple[Float32s, Float32s]:
        """Return logits and values. Several threads may call this at once."""
        logits, values = self._network.run_bits(synopses)
        return logits, values[:, 0]


@lru_cache(maxsize=4)
def network_of(name: str) -> SynopsisNetwork:
    """Return a network by its name in :data:`PACKAGED`, or the path of its file.

    Raises
    ------
    NetworkError
        It cannot be read, or is for another game. The message is one line.
    """
    # A known name is a file of the package, any other a path.
    if name in PACKAGED:
        return SynopsisNetwork(resources.files("darkchess.rbc.synoptic").joinpath("data", PACKAGED[name]).read_bytes())
    try:
        with Path(name).open("rb") as file:
            return SynopsisNetwork(file.read(MOST_BYTES + 1))
    except (OSError, ValueError) as error:  # a NetworkError, or no path at all
        reason = error.strerror if isinstance(error, OSError) else error
        raise NetworkError(f"{name}: {reason}; {meant(name, PACKAGED)}") from None
