"""The networks by name: those of the package, or that of a file."""

from __future__ import annotations

from functools import lru_cache
from importlib import resources
from pathlib import Path

from darkchess.rbc.synoptic._kernels.members import ACTIONS
from darkchess.rbc.synoptic._kernels.synopsis import PLANES
from klss.support.inference import MOST_BYTES, NetworkError
from klss.support.text import meant
from klss.synoptic.model import Network
from klss.synoptic.network import SynopsisNetwork

PACKAGED = {"packaged": "network.onnx", "rl": "network-rl.onnx"}
"""Files of the networks that come with the package."""


@lru_cache(maxsize=4)
def network_of(name: str) -> Network:
    """Return a network by its name in :data:`PACKAGED`, or the path of its file.

    Raises
    ------
    NetworkError
        It cannot be read, or is for another game. The message is one line.
    """
    # A known name is a file of the package, any other a path.
    if name in PACKAGED:
        content = resources.files("darkchess.rbc.synoptic").joinpath("data", PACKAGED[name]).read_bytes()
        return SynopsisNetwork(content, PLANES, ACTIONS)
    try:
        with Path(name).open("rb") as file:
            return SynopsisNetwork(file.read(MOST_BYTES + 1), PLANES, ACTIONS)
    except (OSError, ValueError) as error:  # a NetworkError, or no path at all
        reason = error.strerror if isinstance(error, OSError) else error
        raise NetworkError(f"{name}: {reason}; {meant(name, PACKAGED)}") from None
