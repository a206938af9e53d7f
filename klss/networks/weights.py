"""A network's arrays: conversion, checks and writing, shared by all networks of this package.

Errors are those of the archive (:class:`klss.support.archive.Archive`) in which the network is kept.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from klss.support.archive import Archive
from klss.support.arrays import Float32s


def as_float32(arrays: Mapping[str, npt.ArrayLike]) -> dict[str, Float32s]:
    """Return the arrays as contiguous float32."""
    return {name: np.ascontiguousarray(array, dtype=np.float32) for name, array in arrays.items()}


def shape_of(archive: Archive, held: Mapping[str, Float32s], name: str, axes: int) -> tuple[int, ...]:
    """Return the shape of the array ``name``; refuse it if it is missing or has another number of axes."""
    shape = held[name].shape if name in held else ()
    if len(shape) != axes:
        raise archive.error(f"bad {archive.short}: got {name} of shape {shape}, expected {axes} axes")
    return shape


def check_names(archive: Archive, held: Mapping[str, Float32s], wanted: Iterable[str], whose: str) -> None:
    """Refuse arrays other than those ``wanted``."""
    if odd := sorted(set(held) ^ set(wanted)):
        differ = ", ".join(odd[:4])
        raise archive.error(f"bad {archive.short}: got arrays that differ in {differ}, expected {whose} own")


def check_arrays(archive: Archive, held: Mapping[str, Float32s], wanted: Mapping[str, tuple[int, ...]]) -> None:
    """Refuse an array whose shape is not the ``wanted`` one, or with a number that is not finite."""
    for name, shape in wanted.items():
        if held[name].shape != shape:
            raise archive.error(f"bad {archive.short}: got {name} of shape {held[name].shape}, expected {shape}")
        if not np.isfinite(held[name]).all():
            raise archive.error(f"bad {archive.short}: got {name} with infinite numbers or none, expected finite ones")


def write_half(
    archive: Archive, file: str | os.PathLike[str] | BinaryIO, arrays: Mapping[str, Float32s], about: Mapping[str, Any]
) -> None:
    """Write the arrays as npz, in half precision, with ``about`` as JSON."""
    archive.write(file, {name: array.astype(np.float16) for name, array in arrays.items()}, about)
