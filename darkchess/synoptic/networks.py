"""The networks by name."""

from __future__ import annotations

from functools import lru_cache

from darkchess.synoptic.synopsis import PLANES
from darkchess.synoptic.worlds import ACTIONS
from klss.synoptic.model import Network
from klss.synoptic.named import network_named

__all__ = ["HEADSETS", "network_of"]

HEADSETS = ("all", "top")
"""Kinds of players that a network knows: all, and the best."""

PACKAGED = {"packaged": "network.npz"}
"""Files of the networks that come with the package."""


@lru_cache(maxsize=4)
def network_of(name: str) -> Network:
    """A network by its name, or of a file.

    Raises
    ------
    NetworkError
        It cannot be read, or is for something else. One line.
    """
    return network_named(name, "darkchess.synoptic", PACKAGED, HEADSETS, PLANES, ACTIONS)
