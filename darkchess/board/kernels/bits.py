"""Sixty-four-bit sets of squares: a1 is bit 0, h8 is bit 63.

Inside numba, ``uint64 + 1`` and ``1 << square`` become *signed* integers, and square 63 is then negative. So masks are
built with :func:`bit` only and compared with ``!= 0``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numba import types
from numba.core import cgutils
from numba.core.imputils import RefType, iternext_impl
from numba.extending import intrinsic, lower_builtin, models, overload, register_model

from klss.support.kernel import kernel

NOT_FILE_A, NOT_FILE_H = np.uint64(0xFEFEFEFEFEFEFEFE), np.uint64(0x7F7F7F7F7F7F7F7F)
"""The squares that can move left, and right: those on the edge would reappear on the opposite file."""


def _instruction(emit: Callable[[Any, Any], Any]) -> Any:
    """Return a function of a set (uint64) that is one machine instruction, and gives an int64."""

    @intrinsic
    def instruction(typingctx: Any, mask: Any) -> Any:
        return types.int64(types.uint64), lambda context, builder, signature, args: emit(builder, args[0])

    return instruction


_count = _instruction(lambda builder, mask: builder.ctpop(mask))
_scan_up = _instruction(lambda builder, mask: builder.cttz(mask, cgutils.true_bit))
_scan_down = _instruction(lambda builder, mask: builder.ctlz(mask, cgutils.true_bit))


class _Squares(types.SimpleIteratorType):  # type: ignore[misc, name-defined]
    """Type of the iterator over a set, which has the squares that are left in a variable of its own."""

    def __init__(self) -> None:
        super().__init__("squares", types.int64)


@register_model(_Squares)
class _SquaresModel(models.StructModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, [("left", types.CPointer(types.uint64))])


@intrinsic
def _begin(typingctx: Any, mask: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        iterator = context.make_helper(builder, signature.return_type)
        iterator.left = cgutils.alloca_once_value(builder, args[0])
        return iterator._getvalue()

    return _Squares()(types.uint64), codegen


@lower_builtin("getiter", _Squares)
def _itself(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    return args[0]


@lower_builtin("iternext", _Squares)
@iternext_impl(RefType.UNTRACKED)
def _next(context: Any, builder: Any, signature: Any, args: Any, result: Any) -> None:
    place = context.make_helper(builder, signature.args[0], value=args[0]).left
    left = builder.load(place)
    there = builder.icmp_unsigned("!=", left, left.type(0))
    result.set_valid(there)
    with builder.if_then(there):
        result.yield_(builder.cttz(left, cgutils.true_bit))
        builder.store(builder.and_(left, builder.sub(left, left.type(1))), place)


_each: Any = _begin  # numba supplies the typing context; to a type checker it is a call like any other


def popcount(mask: Any) -> int:
    """Return the number of squares in ``mask`` (uint64)."""
    return int(mask).bit_count()


def lowest(mask: Any) -> int:
    """Return the lowest square of ``mask`` (uint64, not empty)."""
    value = int(mask)
    return (value & -value).bit_length() - 1


def highest(mask: Any) -> int:
    """Return the highest square of ``mask`` (uint64, not empty)."""
    return int(mask).bit_length() - 1


def squares(mask: Any) -> Iterator[int]:
    """Yield the squares of ``mask`` (uint64), lowest first."""
    while mask:
        yield lowest(mask)
        mask = without_lowest(mask)


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


@overload(squares, inline="always")
def _squares(mask):  # type: ignore[no-untyped-def]
    return lambda mask: _each(np.uint64(mask))


@kernel(inline="always")
def bit(square: int) -> Any:
    """Return the set (uint64) of ``square`` (0–63) alone."""
    return np.uint64(1) << np.uint64(square)


@kernel(inline="always")
def without_lowest(mask: Any) -> Any:
    """Return ``mask`` (uint64) without its lowest square."""
    return mask & (mask - np.uint64(1))


@kernel(inline="always")
def beside(mask: Any) -> Any:
    """Return the squares left and right of ``mask`` (uint64)."""
    return ((mask & NOT_FILE_A) >> np.uint64(1)) | ((mask & NOT_FILE_H) << np.uint64(1))
