"""Array types for signatures, one name for each dtype or meaning; docstrings give the shapes."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Bools = npt.NDArray[np.bool_]
Int8s = npt.NDArray[np.int8]
Int16s = npt.NDArray[np.int16]
Int32s = npt.NDArray[np.int32]
Ints = npt.NDArray[np.int64]
"""Indices and counts."""
Float32s = npt.NDArray[np.float32]
Floats = npt.NDArray[np.float64]
Keys = npt.NDArray[np.uint64]
"""Hashes."""
States = npt.NDArray[np.uint64]
"""Rows that only a game interprets, [n, w]."""
Words = npt.NDArray[np.uint64]
"""Packed bits: bitboards, positions."""
