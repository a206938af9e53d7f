"""Trained weights as the files that the players read: the only place that knows their form."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from klss.networks.residual import ResidualNetwork
from klss.networks.towers import Towers
from klss.support.whole_file import written_whole


def write_scores(path: Path, weights: Mapping[str, Any], about: Mapping[str, Any]) -> None:
    """Write the weights of :mod:`experiments.learn.weighing`."""
    with written_whole(path) as file:
        Towers({name: np.asarray(array) for name, array in weights.items()}, 1.0, about).write(file)


def write_network(path: Path, arrays: Mapping[str, Any], about: Mapping[str, Any]) -> None:
    """Write the network of :mod:`experiments.learn.planning`, its batch norm folded into the convolutions."""
    with written_whole(path) as file:
        ResidualNetwork(arrays, (8, 8), about).write(file)
