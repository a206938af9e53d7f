"""Networks by name: those of a package, none, or a file's."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import BinaryIO, cast

import numpy as np

from klss.networks.residual import NetworkError, ResidualNetwork
from klss.support.arrays import Float32s, Words
from klss.synoptic.model import Network

__all__ = ["EvenNetwork", "network_named"]


@dataclass(frozen=True)
class EvenNetwork:
    """Every action is as good as another, every set worth 0, whoever acts."""

    headsets: Sequence[str]
    actions: int

    def infer(self, synopses: Words, policy: str, value: str) -> tuple[Float32s, Float32s]:
        """See :class:`klss.synoptic.model.Network`."""
        count = synopses.shape[0]
        return np.zeros((count, self.actions), dtype=np.float32), np.zeros(count, dtype=np.float32)


def network_named(
    name: str, package: str, packaged: Mapping[str, str], headsets: Sequence[str], planes: int, actions: int
) -> Network:
    """A network.

    Parameters
    ----------
    name
        A key of ``packaged``; ``even``, every choice alike; or a file's path.
    package
        In whose folder ``data`` the files named in ``packaged`` are.
    headsets
        That the even one answers to.
    planes, actions
        That it has to have, beside the headsets ``all`` and ``top``.

    Raises
    ------
    NetworkError
        It cannot be read, or is for something else. One line.
    """
    if name == "even":
        return EvenNetwork(headsets, actions)
    # A known name is a file of the package, any other a path.
    if name in packaged:
        with resources.files(package).joinpath("data", packaged[name]).open("rb") as file:
            found = ResidualNetwork.read(cast(BinaryIO, file))
    else:
        try:
            found = ResidualNetwork.load(name)
        except ValueError as error:  # a NetworkError, or no path at all
            near = difflib.get_close_matches(name, (*packaged, "even"), n=1)
            hint = f"did you mean {near[0]}?" if near else f"known by name: {', '.join(packaged)}, even"
            raise NetworkError(f"{error}; {hint}") from None
    # A sound network may still be another game's: its planes and actions have to be this one's.
    if (found.planes, found.actions) != (planes, actions):
        raise NetworkError(
            f"{name}: bad network: got one of {found.planes} planes and {found.actions} actions, expected {planes} and "
            f"{actions}"
        )
    if lacking := {"all", "top"} - set(found.headsets):
        raise NetworkError(f"{name}: bad network: got none of the headset {min(lacking)}, expected all and top")
    return found
