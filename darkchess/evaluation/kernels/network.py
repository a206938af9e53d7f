"""A small network over the features, for what depends on several of them at once and a tapered sum can't express.

Input: the sparse features, with separate columns for the side to move and for the other side (2·FEATURES columns). Two
hidden layers of rectified units; the second one has its own weights for each stage of the game. Output: pawns, added to
the tapered sum. Trained by ``experiments/learn/evaluation.py``.

Source of the idea: a sparse first layer in 16-bit integers that sums the rows of the active features (Y. Nasu 2018,
NNUE). Integers make the sums exact, in any order. *Deviation*: nothing is updated incrementally; the features are
computed anyway, and a sum of some sixty short rows takes less than a tenth of a microsecond.

:func:`forward` is made of vector instructions, because numba would keep the running sum over rows in memory instead of
registers (twice the time). So the network does not run interpreted.
"""

from __future__ import annotations

from typing import Any

import numpy as np
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


STEP, LINEAR_STEP = 2.0**-11, 2.0**-16
"""Steps of the weights of the first layer (16 bits: a unit's sum stops at ±16) and of ``linear`` (32 bits, pawns)."""


def integers(packed: Any) -> tuple[Any, Any]:
    """Return the first layer of ``packed`` weights in steps, its biases last (int16[2·FEATURES + 1, FIRST]), and
    ``linear`` (int32[FEATURES, 2]).
    """
    first = np.append(packed[_FIRST:_SECOND_BIAS], packed[_FIRST_BIAS:_FIRST]).reshape(-1, FIRST) / STEP
    linear = packed[:_FIRST_BIAS].reshape(FEATURES, 2) / LINEAR_STEP
    return np.rint(first.clip(-(2**15), 2**15 - 1)).astype(np.int16), np.rint(linear).astype(np.int32)


_FLOAT, _WORD, _SHORT = ir.FloatType(), ir.IntType(64), ir.IntType(16)
_PLACE = ir.IntType(32)
_SHORTS, _PAIR = ir.VectorType(_SHORT, FIRST), ir.VectorType(_PLACE, 2)
_WIDE, _NARROW = (ir.VectorType(_FLOAT, width) for width in (FIRST, SECOND))


def _vector(builder: Any, start: Any, at: Any, kind: Any) -> Any:
    """Load the vector that begins at number ``at`` of an array, with the alignment of a single number."""
    loaded = builder.load(builder.bitcast(builder.gep(start, [at]), kind.as_pointer()))
    loaded.align = 2 if kind == _SHORTS else 4
    return loaded


def _all(builder: Any, number: Any, kind: Any) -> Any:
    """Return a vector with ``number`` in each place."""
    undefined = ir.Constant(kind, ir.Undefined)
    one = builder.insert_element(undefined, number, _PLACE(0))
    return builder.shuffle_vector(one, undefined, ir.Constant(ir.VectorType(_PLACE, kind.count), [0] * kind.count))


def _sum(add: Any, parts: list[Any]) -> Any:
    """Return the sum of two or four vectors, in pairs, so that additions do not wait for one another."""
    return add(*(parts if len(parts) == 2 else [_sum(add, parts[:2]), _sum(add, parts[2:])]))


def _rectified(builder: Any, vector: Any) -> Any:
    zero = ir.Constant(vector.type, [0] * vector.type.count)
    above = builder.icmp_signed if vector.type == _SHORTS else builder.fcmp_ordered
    return builder.select(above(">", vector, zero), vector, zero)


@intrinsic
def _forward_vectors(
    typingctx: Any, index: Any, count: Any, n: Any, at_stage: Any, first: Any, linear: Any, model: Any, units: Any
) -> Any:
    arrays = {0: (index, types.int32), 1: (count, types.int32), 4: (first, types.int16), 5: (linear, types.int32)}
    arrays |= {6: (model, types.float32), 7: (units, types.float32)}

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        indices, counts, rows, pairs, weights, out = [
            context.make_array(signature.args[i])(context, builder, args[i]).data for i in arrays
        ]
        adds = ir.FunctionType(_SHORTS, [_SHORTS, _SHORTS])
        saturating = cgutils.get_or_insert_function(builder.module, adds, f"llvm.sadd.sat.v{FIRST}i16")

        def add(one: Any, other: Any) -> Any:
            return builder.call(saturating, [one, other])

        # Running sums in registers: the first layer's units, from their biases, and the two sums of ``linear``.
        sums = cgutils.alloca_once_value(builder, _vector(builder, rows, _WORD(2 * FEATURES * FIRST), _SHORTS))
        tapered = cgutils.alloca_once_value(builder, ir.Constant(_PAIR, [0, 0]))
        # Four features at a time; the list is padded with features of count 0.
        with cgutils.for_range_slice(builder, _WORD(0), args[2], _WORD(4), _WORD) as (start, _):
            products, both = [], []
            for step in range(4):
                at = builder.add(start, _WORD(step))
                feature = builder.sext(builder.load(builder.gep(indices, [at])), _WORD)
                number = builder.load(builder.gep(counts, [at]))
                pair = _vector(builder, pairs, builder.mul(feature, _WORD(2)), _PAIR)
                both.append(builder.mul(pair, _all(builder, number, _PAIR)))
                # The other side's features (negative counts) have their own rows, with the count's absolute value.
                theirs = builder.icmp_signed("<", number, _PLACE(0))
                column = builder.add(feature, builder.select(theirs, _WORD(FEATURES), _WORD(0)))
                times = builder.trunc(builder.select(theirs, builder.neg(number), number), _SHORT)
                row = _vector(builder, rows, builder.mul(column, _WORD(FIRST)), _SHORTS)
                products.append(builder.mul(row, _all(builder, times, _SHORTS)))
            builder.store(add(builder.load(sums), _sum(add, products)), sums)
            builder.store(builder.add(builder.load(tapered), _sum(builder.add, both)), tapered)
        # The units go through memory, from where each is loaded into all places of a vector.
        hidden = builder.sitofp(_rectified(builder, builder.load(sums)), _WIDE)
        hidden = builder.fmul(hidden, ir.Constant(_WIDE, [STEP] * FIRST))
        builder.store(hidden, builder.bitcast(out, _WIDE.as_pointer())).align = 4

        # The stage's second layer, in four running sums: each rectified unit times its row; then the output.
        def of_stage(start: int, size: int) -> Any:
            return builder.add(_WORD(start), builder.mul(args[3], _WORD(size)))

        second = of_stage(_SECOND, FIRST * SECOND)
        four = [_vector(builder, weights, of_stage(_SECOND_BIAS, SECOND), _NARROW)]
        four += [ir.Constant(_NARROW, [0.0] * SECOND)] * 3
        for j in range(FIRST):
            unit = _all(builder, builder.load(builder.gep(out, [_WORD(j)])), _NARROW)
            row = _vector(builder, weights, builder.add(second, _WORD(j * SECOND)), _NARROW)
            four[j % 4] = builder.fadd(four[j % 4], builder.fmul(unit, row))
        parts = _rectified(builder, _sum(builder.fadd, four))
        parts = builder.fmul(parts, _vector(builder, weights, of_stage(_LAST, SECOND), _NARROW))
        while parts.type.count > 1:
            half = parts.type.count // 2
            halves = [ir.Constant(ir.VectorType(_PLACE, half), list(range(i, i + half))) for i in (0, half)]
            parts = _sum(builder.fadd, [builder.shuffle_vector(parts, parts, places) for places in halves])
        output = builder.extract_element(parts, _PLACE(0))
        ends = [builder.extract_element(builder.load(tapered), _PLACE(i)) for i in range(2)]
        pawns = [builder.fmul(builder.sitofp(end, _FLOAT), _FLOAT(LINEAR_STEP)) for end in ends]
        return context.make_tuple(builder, signature.return_type, [output, *pawns])

    # The loads above do not check types and layout, so the compiler must.
    for array, dtype in arrays.values():
        if array.dtype != dtype or array.layout != "C":
            raise TypingError(f"forward: got an {array}, expected {dtype} in one piece")
    given = (index, count, types.int64, types.int64, first, linear, model, units)
    return types.UniTuple(types.float32, 3)(*given), codegen


# numba supplies the typing context; to a type checker this is a call like any other.
_compiled: Any = _forward_vectors


@kernel(allocates=False, forceinline=True)
def forward(index: Any, count: Any, n: int, at_stage: int, first: Any, linear: Any, model: Any, units: Any) -> Any:
    """Return the network's output (float32, pawns) for ``n`` features at a :func:`stage <.features.stage>` of the game,
    and the two sums of ``linear``, middlegame and endgame; leave the rectified units of the first layer in ``units``
    (float32[FIRST]).

    ``first`` and ``linear`` are those of :func:`integers`, ``model`` holds the packed weights, float32[PACKED_SIZE];
    ``index`` and ``count`` (int32) need room for three more.
    """
    for i in range(n, n + 3):
        index[i] = 0
        count[i] = 0
    return _compiled(index, count, n, at_stage, first, linear, model, units)
