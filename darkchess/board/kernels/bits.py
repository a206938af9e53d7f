"""Sixty-four-bit sets of squares: a1 is bit 0, h8 is bit 63.

``uint64 + 1`` and ``1 << square`` turn into *signed* integers inside numba (and square 63 then looks negative): build
masks with :func:`bit` only, and compare them with ``!= 0``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload

from klss.support.kernel import kernel

__all__ = ["NOT_FILE_A", "NOT_FILE_H", "beside", "bit", "highest", "lowest", "popcount", "without_lowest"]


NOT_FILE_A, NOT_FILE_H = np.uint64(0xFEFEFEFEFEFEFEFE), np.uint64(0x7F7F7F7F7F7F7F7F)
"""What is left of a set that moves to the left, or to the right: its other squares would come out on the far side."""


@intrinsic
def _ctpop(typingctx: Any, mask: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.ctpop(args[0])

    return types.int64(types.uint64), codegen


@intrinsic
def _cttz(typingctx: Any, mask: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.cttz(args[0], cgutils.true_bit)

    return types.int64(types.uint64), codegen


@intrinsic
def _ctlz(typingctx: Any, mask: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.ctlz(args[0], cgutils.true_bit)

    return types.int64(types.uint64), codegen


# numba supplies the typing context of an intrinsic; to a type checker these are calls like any other.
_count: Any = _ctpop
_scan_up: Any = _cttz
_scan_down: Any = _ctlz


def popcount(mask: Any) -> int:
    """Number of squares in ``mask`` (uint64)."""
    return int(mask).bit_count()


def lowest(mask: Any) -> int:
    """Lowest square of ``mask`` (uint64, not empty)."""
    value = int(mask)
    return (value & -value).bit_length() - 1


def highest(mask: Any) -> int:
    """Highest square of ``mask`` (uint64, not empty)."""
    return int(mask).bit_length() - 1


# The Python bodies above serve interpreted runs; inside kernels each is one machine instruction. (numba wants the same
# parameter names, unannotated.)
@overload(popcount, inline="always")
def _popcount(mask):  # type: ignore[no-untyped-def]
    return lambda mask: _count(np.uint64(mask))


@overload(lowest, inline="always")
def _lowest(mask):  # type: ignore[no-untyped-def]
    return lambda mask: _scan_up(np.uint64(mask))


@overload(highest, inline="always")
def _highest(mask):  # type: ignore[no-untyped-def]
    return lambda mask: np.int64(63) - _scan_down(np.uint64(mask))


@kernel(inline="always")
def bit(square: int) -> Any:
    """The set that holds ``square`` (0–63) only, as uint64."""
    return np.uint64(1) << np.uint64(square)


@kernel(inline="always")
def without_lowest(mask: Any) -> Any:
    """``mask`` (uint64) less its lowest square."""
    return mask & (mask - np.uint64(1))


@kernel(inline="always")
def beside(mask: Any) -> Any:
    """The squares left and right of ``mask`` (uint64)."""
    return ((mask & NOT_FILE_A) >> np.uint64(1)) | ((mask & NOT_FILE_H) << np.uint64(1))
