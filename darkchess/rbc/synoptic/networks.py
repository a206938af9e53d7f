"""The networks by name: those of the package, none, or a file's."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from typing import BinaryIO, cast

import numpy as np

from darkchess.rbc.synoptic.synopsis import PLANES
from darkchess.rbc.synoptic.worlds import ACTIONS
from klss.networks.residual import NetworkError, ResidualNetwork
from klss.support.arrays import Float32s, Words
from klss.synoptic.model import Network

__all__ = ["HEADSETS", "EvenNetwork", "network_of"]

HEADSETS = ("all", "top", "trout", "attacker", "random", "expect", "siamese")
"""Kinds of players that a network may know: all, the best, and some by name."""

PACKAGED = {"packaged": "network.npz", "rl": "network-rl.npz"}
"""Files of the networks that come with the package."""


@dataclass(frozen=True)
class EvenNetwork:
    """Every action is as good as another, every set worth 0, whoever acts."""

    headsets: tuple[str, ...] = HEADSETS

    def infer(self, synopses: Words, policy: str, value: str) -> tuple[Float32s, Float32s]:
        """See :class:`klss.synoptic.model.Network`."""
        count = synopses.shape[0]
        return np.zeros((count, ACTIONS), dtype=np.float32), np.zeros(count, dtype=np.float32)


@lru_cache(maxsize=4)
def network_of(name: str) -> Network:
    """A network: of a name of :data:`PACKAGED`; ``even``, every choice alike; or of a file's path.

    Raises
    ------
    NetworkError
        It cannot be read, or is for something else. One line.
    """
    if name == "even":
        return EvenNetwork()
    # A known name is a file of the package, any other a path.
    if name in PACKAGED:
        with resources.files("darkchess.rbc.synoptic").joinpath("data", PACKAGED[name]).open("rb") as file:
            found = ResidualNetwork.read(cast(BinaryIO, file))
    else:
        try:
            found = ResidualNetwork.load(name)
        except ValueError as error:  # a NetworkError, or no path at all
            near = difflib.get_close_matches(name, (*PACKAGED, "even"), n=1)
            hint = f"did you mean {near[0]}?" if near else f"known by name: {', '.join(PACKAGED)}, even"
            raise NetworkError(f"{error}; {hint}") from None
    # A sound network may still be another game's: its planes and actions have to be this one's.
    if (found.planes, found.actions) != (PLANES, ACTIONS):
        raise NetworkError(
            f"{name}: bad network: got one of {found.planes} planes and {found.actions} actions, expected {PLANES} and "
            f"{ACTIONS}"
        )
    if lacking := {"all", "top"} - set(found.headsets):
        raise NetworkError(f"{name}: bad network: got none of the headset {min(lacking)}, expected all and top")
    return found
