"""The networks by name: those of the package, one that knows nothing, or that of a file."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from typing import BinaryIO, cast

import numpy as np

from darkchess.rbc.synoptic._kernels.members import ACTIONS
from darkchess.rbc.synoptic._kernels.summary import PLANES
from klss.networks.residual import NetworkError, ResidualNetwork
from klss.support.arrays import Float32s, Words
from klss.synoptic.model import Network

HEADSETS = ("all", "top", "trout", "attacker", "random", "expect", "siamese")
"""Headsets that a network may have, by the players that they model: all, the best, and some by name."""

PACKAGED = {"packaged": "network.npz", "rl": "network-rl.npz"}
"""Files of the networks that come with the package."""


@dataclass(frozen=True)
class EvenNetwork:
    """A network for which all actions are equally good and every set is worth 0."""

    headsets: tuple[str, ...] = HEADSETS

    def infer(self, synopses: Words, policy: str, value: str) -> tuple[Float32s, Float32s]:
        count = synopses.shape[0]
        return np.zeros((count, ACTIONS), dtype=np.float32), np.zeros(count, dtype=np.float32)


@lru_cache(maxsize=4)
def network_of(name: str) -> Network:
    """Return a network by its name in :data:`PACKAGED`, ``even`` (:class:`EvenNetwork`), or the path of its file.

    Raises
    ------
    NetworkError
        It cannot be read, or is for another game. The message is one line.
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
    # A valid network may still be for another game: its planes and actions must be those of this one.
    if (found.planes, found.actions) != (PLANES, ACTIONS):
        raise NetworkError(
            f"{name}: bad network: got one of {found.planes} planes and {found.actions} actions, expected {PLANES} and "
            f"{ACTIONS}"
        )
    if lacking := {"all", "top"} - set(found.headsets):
        raise NetworkError(f"{name}: bad network: got none of the headset {min(lacking)}, expected all and top")
    return found
