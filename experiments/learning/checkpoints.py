"""Checkpoints of a training, written by rename: trees of arrays, and the state of the training."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from experiments.learning.fit import TrainingError
from klss.support.archive import Archive
from klss.support.whole_file import written_whole

Trees = dict[str, dict[str, npt.NDArray[Any]]]

_ARCHIVE = Archive("a training of experiments", "training", 1, "begin anew", TrainingError, 1 << 28, 1 << 26)


def keep(path: Path, trees: Mapping[str, Mapping[str, Any]], about: Mapping[str, Any]) -> None:
    """Write trees of arrays and ``about`` (JSON), whole or not at all."""
    arrays = {f"{tree}/{name}": np.asarray(array) for tree, held in trees.items() for name, array in held.items()}
    with written_whole(path) as file:
        _ARCHIVE.write(file, arrays, about, packed=False)


def kept(path: Path) -> tuple[Trees, dict[str, Any]]:
    """The content written by :func:`keep`. Raises TrainingError: there is no such file, or it is something else; the
    message begins with the path.
    """
    arrays, about = _ARCHIVE.load(path, _ARCHIVE.read)
    trees: Trees = {}
    for key, array in arrays.items():
        tree, _, name = key.partition("/")
        trees.setdefault(tree, {})[name] = array
    return trees, about
