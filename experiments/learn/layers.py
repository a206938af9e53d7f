"""The layers of networks. A network is defined once, as a function of one of two kinds of them: :class:`Jax` computes
in training, :class:`Graph` writes the .onnx file that :mod:`klss.support.inference` runs in play. Both need the extra
``belief``.

Planes are [b, 8, 8, p] in JAX, [b, p, 8, 8] in files; rows are [b, n]. Weights by name: filters [3, 3, from, to], those
of single cells [from, to], dense layers [from, to], each with its ``_bias`` [to].
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from darkchess.weighting.network import LEAST_SHARE
from experiments.learn.trainer import jax
from klss.support.whole_file import written_whole

_OPERATORS, _FORMAT = 17, 8
"""Versions of ONNX's operators and of its files: those that every onnxruntime of pyproject.toml reads."""

EPSILON = 1e-5
"""Added to each variance, so that no division is by 0."""


class Jax:
    """Layers in training, with weights by name; those that are missing are drawn, float32. ``statistics`` gets the mean
    and variance of each normed convolution's channels.
    """

    def __init__(self, weights: dict[str, Any], seed: int = 0) -> None:
        self.weights, self.statistics = weights, dict[str, tuple[Any, Any]]()
        self._generator = np.random.default_rng(seed)

    def conv(
        self, planes: Any, name: str, to: int, *, size: int = 3, inputs: float = 0, by: float = 1.0,
        biased: bool = True, scale: float = 0.0, halved: bool = False,
    ) -> Any:  # fmt: skip
        """A convolution of 3 × 3, padded with zeros, or of 1 × 1; of planes (grids, indices) only those are given that
        are not 0 everywhere. Its weights are at first ``by`` times as large as usual, for so many ``inputs`` that are
        not 0 (0: all). With a ``scale`` it is normed by its batch. ``halved``: the file holds it in half precision,
        since it is large.
        """
        planes, used = planes if isinstance(planes, tuple) else (planes, slice(None))
        if name not in self.weights:
            shape = (*(3, 3)[: size - 1], planes.shape[-1], to)
            deviation = by * math.sqrt(2 / (inputs or math.prod(shape[:-1])))
            self.weights[name] = (self._generator.normal(size=shape) * deviation).astype(np.float32)
            if scale:
                self.weights[f"{name}_scale"] = np.full(to, scale, dtype=np.float32)
        filters = self.weights[name][..., used, :]
        if size == 3:
            layout = ("NHWC", "HWIO", "NHWC")
            found = jax.lax.conv_general_dilated(planes, filters, (1, 1), "SAME", dimension_numbers=layout)
        else:
            found = planes @ filters
        if scale:
            mean, variance = self.statistics[name] = found.mean(axis=(0, 1, 2)), found.var(axis=(0, 1, 2))
            found = (found - mean) * self.weights[f"{name}_scale"] / jax.numpy.sqrt(variance + EPSILON)
        return found + self.bias(f"{name}_bias", to) if biased else found

    def dense(self, rows: Any, name: str, to: int, **settings: Any) -> Any:
        """A dense layer; see :meth:`conv`."""
        return self.conv(rows, name, to, size=1, **settings)

    def bias(self, name: str, *shape: int) -> Any:
        """Numbers to add, 0 at the start: [n], or of planes [8, 8, p]."""
        return self.weights.setdefault(name, np.zeros(shape, dtype=np.float32))

    def mixed(self, shares: Any, name: str) -> Any:
        """The sum over the first axis of [b, s, n], weighted for each number: [b, n]."""
        return (shares * self.bias(name, *shares.shape[1:])).sum(axis=1)

    def rows(self, planes: Any) -> Any:
        """Planes as rows, cell by cell: cell · planes + plane."""
        return planes.reshape(len(planes), -1)

    def stacked(self, planes: Any) -> Any:
        """Planes as rows, plane by plane."""
        return planes.transpose(0, 3, 1, 2).reshape(len(planes), -1)

    def everywhere(self, rows: Any) -> Any:
        """Rows as planes, the same at each cell."""
        return rows[:, None, None]

    def concat(self, first: Any, second: Any) -> Any:
        return jax.numpy.concatenate([first, second], axis=1)

    def add(self, first: Any, second: Any) -> Any:
        return first + second

    def log(self, value: Any) -> Any:
        return jax.numpy.log(value + LEAST_SHARE)

    def __getattr__(self, name: str) -> Any:
        return getattr(jax.nn, name)


class Graph:
    """Layers of a file, which grows by a node at a time; values are named by strings."""

    def __init__(self, arrays: Mapping[str, npt.ArrayLike]) -> None:
        import onnx

        self._onnx = onnx
        self._arrays = {name: np.asarray(array, dtype=np.float32) for name, array in arrays.items()}
        self._nodes: list[Any] = []
        self._held: dict[str, Any] = {}

    def _weights(self, name: str, array: npt.NDArray[Any] | None = None, *, halved: bool = False) -> str:
        """Weights by their name: an array of training, or another one."""
        array = self._arrays[name] if array is None else array
        array = np.ascontiguousarray(array.astype(np.float16) if halved else array)
        self._held[name] = self._onnx.numpy_helper.from_array(array, name)
        return self.node("Cast", name, to=self._onnx.TensorProto.FLOAT) if halved else name

    def node(self, operator: str, *inputs: str, output: str | None = None, **attributes: Any) -> str:
        """The output of a new node."""
        name = output or f"{operator}{len(self._nodes)}"
        self._nodes.append(self._onnx.helper.make_node(operator, list(inputs), [name], **attributes))
        return name

    def conv(
        self, planes: str, name: str, to: int, *, size: int = 3, biased: bool = True, halved: bool = False, **_: Any
    ) -> str:
        filters = self._arrays[name]
        filters = filters.transpose(3, 2, 0, 1) if size == 3 else filters.T[:, :, None, None]
        held = [self._weights(name, filters, halved=halved), *([self.bias(f"{name}_bias")] if biased else [])]
        return self.node("Conv", planes, *held, kernel_shape=[size, size], pads=[size // 2] * 4)

    def dense(self, rows: str, name: str, to: int, *, biased: bool = True, halved: bool = False, **_: Any) -> str:
        held = self._weights(name, halved=halved)
        return self.node("Gemm" if biased else "MatMul", rows, held, *([self.bias(f"{name}_bias")] if biased else []))

    def bias(self, name: str, *shape: int) -> str:
        array = self._arrays[name]
        return self._weights(name, array.transpose(2, 0, 1) if array.ndim == 3 else array)

    def mixed(self, shares: str, name: str) -> str:
        weighted = self.node("Mul", shares, self._weights(name))
        return self.node("ReduceSum", weighted, self._weights("axis", np.array([1])), keepdims=0)

    def rows(self, planes: str) -> str:
        return self.stacked(self.node("Transpose", planes, perm=[0, 2, 3, 1]))

    def stacked(self, planes: str) -> str:
        return self.node("Flatten", planes)

    def everywhere(self, rows: str) -> str:
        return self.node("Reshape", rows, self._weights("shape", np.array([0, -1, 1, 1])))

    def concat(self, first: str, second: str) -> str:
        return self.node("Concat", first, second, axis=1)

    def add(self, first: str, second: str) -> str:
        return self.node("Add", first, second)

    def __getattr__(self, name: str) -> Callable[[str], str]:
        return partial(self.node, name.capitalize())

    def log(self, value: str) -> str:
        least = self._weights("least", np.array([LEAST_SHARE], dtype=np.float32))
        return self.node("Log", self.add(value, least))

    def write(
        self, path: Path, inputs: Mapping[str, tuple[int, ...]], outputs: Mapping[str, tuple[str, tuple[int, ...]]],
        history: Mapping[str, Any],
    ) -> None:  # fmt: skip
        """Write the file of these ``inputs`` and ``outputs``, the latter with the values that they are, without layers
        that only training has; and the origin of the weights (JSON): data, seeds, losses.
        """
        helper, kind = self._onnx.helper, self._onnx.TensorProto.FLOAT
        for name, (value, _) in outputs.items():
            self.node("Identity", value, output=name)
        nodes, used = list[Any](), set(outputs)
        for node in reversed(self._nodes):
            if used.intersection(node.output):
                used.update(node.input)
                nodes.insert(0, node)
        held = [array for name, array in self._held.items() if name in used]
        ends = (inputs, {name: shape for name, (_, shape) in outputs.items()})
        told = [[helper.make_tensor_value_info(name, kind, shape) for name, shape in end.items()] for end in ends]
        graph = helper.make_graph(nodes, "network", *told, held)
        opset = [helper.make_opsetid("", _OPERATORS)]
        model = helper.make_model(graph, opset_imports=opset, ir_version=_FORMAT)
        helper.set_model_props(model, {"history": json.dumps(dict(history), allow_nan=False)})
        self._onnx.checker.check_model(model)
        with written_whole(path) as file:
            file.write(model.SerializeToString(deterministic=True))
