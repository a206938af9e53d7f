"""The networks by name."""

from __future__ import annotations

from functools import lru_cache

from darkchess.rbc.synoptic.synopsis import PLANES
from darkchess.rbc.synoptic.worlds import ACTIONS
from klss.synoptic.model import Network
from klss.synoptic.named import network_named

__all__ = ["HEADSETS", "network_of"]

HEADSETS = ("all", "top", "trout", "attacker", "random", "expect", "siamese")
"""Kinds of players that a network may know: all, the best, and some by name."""

PACKAGED = {"packaged": "network.npz", "rl": "network-rl.npz"}
"""Files of the networks that come with the package."""


@lru_cache(maxsize=4)
def network_of(name: str) -> Network:
    """A network by its name, or of a file.

    Raises
    ------
    NetworkError
        It cannot be read, or is for something else. One line.
    """
    return network_named(name, "darkchess.rbc.synoptic", PACKAGED, HEADSETS, PLANES, ACTIONS)
