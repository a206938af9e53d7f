"""Networks for play, the only place that knows their form: from the arrays of training to .onnx files, which
:mod:`klss.support.inference` runs. Arrays: filters [3, 3, from, to], dense layers [from, to]. Needs the extra
``belief``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import count, takewhile
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from darkchess.rbc.belief.siamese import CHUNK as BOARDS
from darkchess.rbc.belief.siamese import POINT
from darkchess.weighting.network import LEAST_SHARE
from klss.support.whole_file import written_whole
from klss.synoptic.model import CHUNK

_OPERATORS, _FORMAT = 17, 8
"""Versions of ONNX's operators and of its files: those that every onnxruntime of pyproject.toml reads."""

_CELLS = 64
_KINDS = 65
"""Actions of a cell; one more action is the pass."""
READ = 4
"""Number of planes that a dense layer reads."""
DENSE = 256
"""Number of units of a value's dense layer."""
PASS_DENSE = 64
"""Number of units of a pass's dense layer."""


def trunk_shapes(planes: int, channels: int, blocks: int) -> dict[str, tuple[int, ...]]:
    """Return names and shapes of the trunk's arrays: ``conv0`` and, for each block, ``block0a`` and ``block0b``."""
    shapes: dict[str, tuple[int, ...]] = {"conv0": (3, 3, planes, channels), "conv0_bias": (channels,)}
    for i in range(blocks):
        for half in "ab":
            shapes |= {f"block{i}{half}": (3, 3, channels, channels), f"block{i}{half}_bias": (channels,)}
    return shapes


def headset_shapes(channels: int) -> dict[str, tuple[int, ...]]:
    """Return names and shapes of a headset's arrays, which a network has with the headset's name: ``top/value``."""
    return {
        "policy_a": (3, 3, channels, channels), "policy_a_bias": (channels,),
        "policy_b": (3, 3, channels, channels), "policy_b_bias": (channels,),
        "policy": (channels, _KINDS), "policy_bias": (_KINDS,),
        "pass_planes": (channels, READ), "pass_planes_bias": (READ,),
        "pass_dense": (_CELLS * READ, PASS_DENSE), "pass_dense_bias": (PASS_DENSE,),
        "pass": (PASS_DENSE,), "pass_bias": (1,),
        "value_planes": (channels, READ), "value_planes_bias": (READ,),
        "value_dense": (_CELLS * READ, DENSE), "value_dense_bias": (DENSE,),
        "value": (DENSE,), "value_bias": (1,),
    }  # fmt: skip


def layers(arrays: Mapping[str, Any], name: str, first: int = 0) -> Iterator[str]:
    """The names of the layers that there are, ``name`` with the numbers from ``first`` on in place of {}."""
    return takewhile(arrays.__contains__, (name.format(i) for i in count(first)))


class _Graph:
    """A graph that grows by a node at a time; values are named by strings."""

    def __init__(self, arrays: Mapping[str, npt.ArrayLike]) -> None:
        import onnx

        self._onnx = onnx
        self.arrays = {name: np.asarray(array, dtype=np.float32) for name, array in arrays.items()}
        self._nodes: list[Any] = []
        self._held: dict[str, Any] = {}

    def weights(self, name: str, array: npt.NDArray[Any] | None = None) -> str:
        """Weights by their name: an array of training, or another one."""
        array = self.arrays[name] if array is None else array
        self._held[name] = self._onnx.numpy_helper.from_array(np.ascontiguousarray(array), name)
        return name

    def node(self, operator: str, *inputs: str, output: str | None = None, **attributes: Any) -> str:
        """The output of a new node."""
        name = output or f"{operator}{len(self._nodes)}"
        self._nodes.append(self._onnx.helper.make_node(operator, list(inputs), [name], **attributes))
        return name

    def halved(self, name: str) -> str:
        """Weights of training that the file holds in half precision, since they are many."""
        held = self.weights(f"{name}_half", self.arrays[name].astype(np.float16))
        return self.node("Cast", held, to=self._onnx.TensorProto.FLOAT)

    def relu(self, value: str) -> str:
        return self.node("Relu", value)

    def convolved(self, planes: str, name: str, *, biased: bool = True) -> str:
        """A convolution of 3 × 3, padded with zeros; [from, to] instead of a filter is one of 1 × 1."""
        filters = self.arrays[name]
        filters = filters.transpose(3, 2, 0, 1) if filters.ndim == 4 else filters.T[:, :, None, None]
        size = filters.shape[2]
        return self.node(
            "Conv", planes, self.weights(name, filters), *([self.weights(f"{name}_bias")] if biased else []),
            kernel_shape=[size, size], pads=[size // 2] * 4,
        )  # fmt: skip

    def by_cells(self, planes: str) -> str:
        """Planes as rows of numbers, cell · planes + plane."""
        return self.node("Flatten", self.node("Transpose", planes, perm=[0, 2, 3, 1]))

    def write(
        self,
        path: Path,
        inputs: Mapping[str, tuple[int, ...]],
        outputs: Mapping[str, tuple[int, ...]],
        history: Mapping[str, Any],
    ) -> None:
        """Write the file, with the origin of the weights (JSON): data, seeds, losses."""
        helper = self._onnx.helper
        ends = [
            [helper.make_tensor_value_info(name, self._onnx.TensorProto.FLOAT, shape) for name, shape in end.items()]
            for end in (inputs, outputs)
        ]
        model = helper.make_model(
            helper.make_graph(self._nodes, "network", *ends, list(self._held.values())),
            opset_imports=[helper.make_opsetid("", _OPERATORS)], ir_version=_FORMAT,
        )  # fmt: skip
        helper.set_model_props(model, {"history": json.dumps(dict(history), allow_nan=False)})
        self._onnx.checker.check_model(model)
        with written_whole(path) as file:
            file.write(model.SerializeToString(deterministic=True))


def write_network(path: Path, arrays: Mapping[str, npt.ArrayLike], history: Mapping[str, Any]) -> None:
    """Write the network of :mod:`experiments.learn.planning`, with the policy of the headset ``top`` and the value of
    ``all``, for :class:`~darkchess.rbc.synoptic.networks.SynopsisNetwork`. ``arrays`` are those of :func:`trunk_shapes`
    and, by headset, of :func:`headset_shapes`, batch norm folded into the convolutions.
    """
    graph = _Graph(arrays)

    def block(planes: str, name: str) -> str:
        inner = graph.convolved(graph.relu(graph.convolved(planes, f"{name}a")), f"{name}b")
        return graph.relu(graph.node("Add", planes, inner))

    def dense(planes: str, name: str) -> str:
        read = graph.by_cells(graph.relu(graph.convolved(planes, f"{name}_planes")))
        first = graph.node("Gemm", read, graph.weights(f"{name}_dense"), graph.weights(f"{name}_dense_bias"))
        last = graph.weights(name, graph.arrays[name][:, None])
        return graph.node("Gemm", graph.relu(first), last, graph.weights(f"{name}_bias"))

    trunk = graph.relu(graph.convolved("planes", "conv0"))
    for name in layers(graph.arrays, "block{}a"):
        trunk = block(trunk, name[:-1])
    graph.node("Tanh", dense(trunk, "all/value"), output="values")
    inner = block(trunk, "top/policy_")
    cells = graph.by_cells(graph.convolved(inner, "top/policy"))
    graph.node("Concat", cells, dense(inner, "top/pass"), axis=1, output="logits")
    actions = _CELLS * _KINDS + 1
    planes = graph.arrays["conv0"].shape[2]
    ends = {"logits": (CHUNK, actions), "values": (CHUNK, 1)}
    graph.write(path, {"planes": (CHUNK, planes, 8, 8)}, ends, history)


def write_scores(path: Path, arrays: Mapping[str, npt.ArrayLike], history: Mapping[str, Any]) -> None:
    """Write the weights of :mod:`experiments.learn.weighing`, a network that reads an observation, for
    :class:`~darkchess.weighting.network.LearnedScores`. ``arrays``, on the board's c cells: ``conv0`` with
    ``conv0_bias`` [8, 8, c] and ``scalars`` [scalars, c]; ``conv1`` with ``conv1_bias`` [c], and so on; ``kinds`` [c,
    k], the map's k planes; ``pooled`` [c, q] and ``dense`` [64·q, m], from which ``others`` [m, o] makes the map's o
    last features; ``map_bias`` [64·k + o]; ``shares`` [2s, 64·k], weights of each share and of its logarithm.
    """
    graph = _Graph(arrays)
    held = graph.arrays
    *_, planes, width = held["conv0"].shape
    # The trunk: one convolution with a separate bias for each cell, then residual ones.
    inner = graph.convolved(graph.node("Transpose", "planes", perm=[0, 3, 1, 2]), "conv0", biased=False)
    inner = graph.node("Add", inner, graph.weights("conv0_bias", held["conv0_bias"].transpose(2, 0, 1)))
    everywhere = graph.node("MatMul", "scalars", graph.weights("scalars_weights", held["scalars"]))
    shape = graph.weights("shape", np.array([1, width, 1, 1], dtype=np.int64))
    everywhere = graph.node("Reshape", everywhere, shape)
    inner = graph.relu(graph.node("Add", inner, everywhere))
    for name in layers(held, "conv{}", 1):
        inner = graph.node("Add", inner, graph.relu(graph.convolved(inner, name)))
    # The map: a plane for each kind, and the few other features from a dense layer over all cells.
    pooled = graph.by_cells(graph.convolved(inner, "pooled", biased=False))
    dense = graph.relu(graph.node("MatMul", pooled, graph.weights("dense")))
    others = graph.node("MatMul", dense, graph.weights("others"))
    kinds = graph.node("Flatten", graph.convolved(inner, "kinds", biased=False))
    # Shares bypass the trunk: they are linear inputs of their own features.
    logs = graph.node("Log", graph.node("Add", "shares", graph.weights("least", np.array([LEAST_SHARE]))))
    terms = graph.node(
        "Add",
        graph.node("Mul", "shares", graph.weights("of_shares", held["shares"][0::2])),
        graph.node("Mul", logs, graph.weights("of_logs", held["shares"][1::2])),
    )
    summed = graph.node("ReduceSum", terms, graph.weights("axis", np.array([1], dtype=np.int64)), keepdims=0)
    found = graph.node("Concat", graph.node("Add", kinds, summed), others, axis=1)
    graph.node("Add", found, graph.weights("map_bias"), output="map")
    number, size = held["shares"].shape
    scalars = held["scalars"].shape[0]
    graph.write(
        path,
        {"planes": (1, 8, 8, planes), "scalars": (1, scalars), "shares": (1, number // 2, size)},
        {"map": (1, held["map_bias"].shape[0])},
        history,
    )


def write_points(folder: Path, arrays: Mapping[str, npt.ArrayLike], history: Mapping[str, Any]) -> None:
    """Write the pair of :mod:`experiments.learn.siamese` for :class:`~darkchess.rbc.belief.siamese.Siamese`. The
    ``arrays``, each with its ``_bias``: ``anchor0``, ``anchor1`` … and ``board0``, ``board1`` …, the encoders;
    ``shared0``, ``shared1`` …, the residual trunk; ``read`` [c, r] and ``dense`` [64·r, POINT].
    """
    for name, rows in (("anchor", 1), ("board", BOARDS)):
        graph = _Graph(arrays)
        first = graph.arrays[f"{name}0"].transpose(3, 2, 0, 1)
        graph.arrays["first"] = first
        inner = graph.node(
            "Conv", "planes", graph.halved("first"), graph.weights(f"{name}0_bias"), kernel_shape=[3, 3], pads=[1] * 4
        )
        inner = graph.node("Elu", inner)
        for layer in layers(graph.arrays, name + "{}", 1):
            inner = graph.node("Elu", graph.convolved(inner, layer))
        for layer in layers(graph.arrays, "shared{}"):
            inner = graph.node("Add", inner, graph.node("Elu", graph.convolved(inner, layer)))
        read = graph.by_cells(graph.node("Elu", graph.convolved(inner, "read")))
        points = graph.node("Gemm", read, graph.halved("dense"), graph.weights("dense_bias"))
        graph.node("Tanh", points, output="points")
        ends = {"planes": (rows, first.shape[1], 8, 8)}, {"points": (rows, POINT)}
        graph.write(folder / f"siamese-{name}.onnx", *ends, history)
