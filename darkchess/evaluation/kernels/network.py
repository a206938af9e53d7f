"""A small network over the features, for what depends on several of them at once and a tapered sum can't express.

Input: the sparse features, with separate columns for the side to move and for the other side (2·FEATURES columns). Two
hidden layers of rectified units; the second one has its own weights for each stage of the game. Output: pawns, added to
the tapered sum. Trained by ``experiments/learn/evaluation.py``.

Source of the idea: a sparse first layer that sums the rows of the active features (Y. Nasu 2018, NNUE). *Deviation*:
nothing is updated incrementally; the features are computed anyway, and a sum of some sixty short rows takes a
fraction of a microsecond.

:func:`forward` is made of vector instructions, because numba would keep the running sum over rows in memory instead of
registers (twice the time). So the network does not run interpreted.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.errors import TypingError
from numba.extending import intrinsic

from darkchess.evaluation.kernels.features import FEATURES, STAGES
from klss.support.kernel import kernel

FIRST = 64
"""Units of the first hidden layer."""

SECOND = 16
"""Units of the second hidden layer."""

UNITS = FIRST + SECOND

_FIRST_BIAS = 2 * FEATURES
_FIRST = _FIRST_BIAS + FIRST
_SECOND_BIAS = _FIRST + 2 * FEATURES * FIRST
_SECOND = _SECOND_BIAS + STAGES * SECOND
_LAST = _SECOND + STAGES * FIRST * SECOND
PACKED_SIZE = _LAST + STAGES * SECOND

OFFSETS: dict[str, tuple[int, tuple[int, ...]]] = {
    "linear": (0, (FEATURES, 2)),
    "first_bias": (_FIRST_BIAS, (FIRST,)),
    "first": (_FIRST, (2 * FEATURES, FIRST)),
    "second_bias": (_SECOND_BIAS, (STAGES, SECOND)),
    "second": (_SECOND, (STAGES, FIRST, SECOND)),
    "last": (_LAST, (STAGES, SECOND)),
}
"""Start of each array of the weights in the packed one (float32), and its shape."""


_FLOAT, _WORD = ir.FloatType(), ir.IntType(64)
_PLACE = ir.IntType(32)
_PAIR, _WIDE, _NARROW = (ir.VectorType(_FLOAT, width) for width in (2, FIRST, SECOND))


def _vector(builder: Any, start: Any, at: Any, kind: Any) -> Any:
    """Load the vector that begins at float ``at`` of an array, with the alignment of a single float."""
    loaded = builder.load(builder.bitcast(builder.gep(start, [at]), kind.as_pointer()))
    loaded.align = 4
    return loaded


def _keep(builder: Any, vector: Any, start: Any, at: Any) -> None:
    stored = builder.store(vector, builder.bitcast(builder.gep(start, [at]), vector.type.as_pointer()))
    stored.align = 4


def _times(builder: Any, number: Any, vector: Any) -> Any:
    """Return ``number`` times each entry of ``vector``."""
    undefined = ir.Constant(vector.type, ir.Undefined)
    one = builder.insert_element(undefined, number, _PLACE(0))
    zeros = ir.Constant(ir.VectorType(_PLACE, vector.type.count), [0] * vector.type.count)
    return builder.fmul(builder.shuffle_vector(one, undefined, zeros), vector)


def _rectified(builder: Any, value: Any, zero: Any) -> Any:
    return builder.select(builder.fcmp_ordered(">", value, zero), value, zero)


@intrinsic
def _forward_vectors(typingctx: Any, index: Any, count: Any, n: Any, at_stage: Any, model: Any, units: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        # Running sums in registers: the first layer's units, from their biases, and the two sums of ``linear``.
        starts = [context.make_array(signature.args[i])(context, builder, args[i]).data for i in (0, 1, 4, 5)]
        indices, counts, weights, out = starts
        first = cgutils.alloca_once_value(builder, _vector(builder, weights, _WORD(_FIRST_BIAS), _WIDE))
        tapered = cgutils.alloca_once_value(builder, ir.Constant(_PAIR, [0.0, 0.0]))
        # Four features at a time, so that additions do not wait for one another; the list is padded with features of
        # count 0.
        with cgutils.for_range_slice(builder, _WORD(0), args[2], _WORD(4), _WORD) as (start, _):
            products = []
            for step in range(4):
                at = builder.add(start, _WORD(step))
                feature = builder.sext(builder.load(builder.gep(indices, [at])), _WORD)
                number = builder.load(builder.gep(counts, [at]))
                signed = builder.sitofp(number, _FLOAT)
                pair = _vector(builder, weights, builder.mul(feature, _WORD(2)), _PAIR)
                builder.store(builder.fadd(builder.load(tapered), _times(builder, signed, pair)), tapered)
                # The other side's features (negative counts) have their own rows, with the count's absolute value.
                theirs = builder.icmp_signed("<", number, _PLACE(0))
                column = builder.add(feature, builder.select(theirs, _WORD(FEATURES), _WORD(0)))
                row = builder.add(_WORD(_FIRST), builder.mul(column, _WORD(FIRST)))
                times = builder.select(theirs, builder.fneg(signed), signed)
                products.append(_times(builder, times, _vector(builder, weights, row, _WIDE)))
            four = builder.fadd(builder.fadd(*products[:2]), builder.fadd(*products[2:]))
            builder.store(builder.fadd(builder.load(first), four), first)
        _keep(builder, builder.load(first), out, _WORD(0))

        # The stage's second layer: each rectified unit times its row; then the output, added unit by unit.
        def of_stage(start: int, size: int) -> Any:
            return builder.add(_WORD(start), builder.mul(args[3], _WORD(size)))

        rows = of_stage(_SECOND, FIRST * SECOND)
        second = _vector(builder, weights, of_stage(_SECOND_BIAS, SECOND), _NARROW)
        for j in range(FIRST):
            unit = _rectified(builder, builder.load(builder.gep(out, [_WORD(j)])), _FLOAT(0.0))
            row = _vector(builder, weights, builder.add(rows, _WORD(j * SECOND)), _NARROW)
            second = builder.fadd(second, _times(builder, unit, row))
        _keep(builder, second, out, _WORD(FIRST))
        rectified = _rectified(builder, second, ir.Constant(_NARROW, [0.0] * SECOND))
        parts = builder.fmul(rectified, _vector(builder, weights, of_stage(_LAST, SECOND), _NARROW))
        output = _FLOAT(0.0)
        for k in range(SECOND):
            output = builder.fadd(output, builder.extract_element(parts, _PLACE(k)))
        sums = [builder.extract_element(builder.load(tapered), _PLACE(i)) for i in range(2)]
        return context.make_tuple(builder, signature.return_type, [output, *sums])

    # The loads above do not check types and layout, so the compiler must.
    for array, dtype in ((index, types.int32), (count, types.int32), (model, types.float32), (units, types.float32)):
        if array.dtype != dtype or array.layout != "C":
            raise TypingError(f"forward: got an {array}, expected {dtype} in one piece")
    return types.UniTuple(types.float32, 3)(index, count, types.int64, types.int64, model, units), codegen


# numba supplies the typing context; to a type checker this is a call like any other.
_compiled: Any = _forward_vectors


@kernel(allocates=False)
def forward(index: Any, count: Any, n: int, at_stage: int, model: Any, units: Any) -> Any:
    """Return the network's output (float32, pawns) for ``n`` features at a :func:`stage <.features.stage>` of the game,
    and the two sums of ``linear``, middlegame and endgame; leave the hidden units, not yet rectified, in ``units``
    (float32[UNITS]).

    ``model`` holds the packed weights, float32[PACKED_SIZE]; ``index`` and ``count`` (int32) need room for three more.
    """
    for i in range(n, n + 3):
        index[i] = 0
        count[i] = 0
    return _compiled(index, count, n, at_stage, model, units)
