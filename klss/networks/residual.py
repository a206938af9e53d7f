"""A residual network that reads synopses: logits of the actions, and the value of the position. numpy and numba only.

A synopsis is a number of bit planes over a grid of h × w ≤ 64 cells. The trunk is a convolution of 3 × 3 and residual
blocks of two such convolutions. After it come *headsets*: one for each known kind of player, one for the best of them
and one for all. Each has a policy (a residual block, then logits for each cell, and a dense layer for the pass) and a
value (a dense layer, and the hyperbolic tangent). One policy and one value are computed at a time.

Actions are numbered cell · kinds + kind; the pass is the last.

Source: G. Clark 2021, *Deep Synoptic Monte Carlo Planning in Reconnaissance Blind Chess*, on a smaller scale: 32
channels and 3 blocks instead of the paper's 128 and 10. Other differences:

* Batch norm is part of the weights here: training folds it in.
* Auxiliary heads (near wins and losses, pieces on the board) are used in training only.
* The dense layers read four planes that a convolution of 1 × 1 makes from the channels.

Speed: convolutions use Winograd's F(4 × 4, 3 × 3), with a quarter of the multiplications, on a chunk of synopses that
stays in a core's cache. That takes less than half the time of copying each cell's neighbours for one matrix product.
Planes that are the same in all synopses are not precomputed, because they are only a tenth of the first convolution.

A chunk always has :data:`CHUNK` rows, empty ones if necessary, and every matrix product has that many rows on the left.
OpenBLAS computes all of 8 rows in the same way on every processor, but not of 12 or 32 (its code for Haswell and Zen
rounds the last rows of a larger block differently), and never uses a second thread for so few. So on one machine the
result for a synopsis is the same to the last bit, whatever else is in its batch and however many threads there are. On
another processor OpenBLAS has other code, and the last bits differ.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from klss.errors import KlssError
from klss.networks._kernels.winograd import cells_of, planes_of, tiles_of
from klss.networks.weights import as_float32, check_arrays, check_names, shape_of, write_half
from klss.support.archive import Archive
from klss.support.arrays import Float32s, Words
from klss.support.threads import both

CHUNK = 8
"""Synopses that are computed together: the rows of every matrix product. OpenBLAS computes 8 (or 4) rows alike."""

READ = 4
"""Number of planes that a dense layer reads."""
DENSE = 256
"""Number of units of a value's dense layer."""
PASS_DENSE = 64
"""Number of units of a pass's dense layer."""

_MOST_CELLS = 64
"""Largest grid: a plane is one uint64, with a bit for each cell."""


class NetworkError(KlssError, ValueError):
    """The arrays are not those of a network."""


_ARCHIVE = Archive("a network that reads synopses", "network", 1, "train it anew", NetworkError, 1 << 22, 1 << 22)


def trunk_shapes(planes: int, channels: int, blocks: int) -> dict[str, tuple[int, ...]]:
    """Return names and shapes of the trunk's arrays: ``conv0`` and, for each block, ``block0a`` and ``block0b``."""
    shapes: dict[str, tuple[int, ...]] = {"conv0": (3, 3, planes, channels), "conv0_bias": (channels,)}
    for i in range(blocks):
        for half in "ab":
            shapes |= {f"block{i}{half}": (3, 3, channels, channels), f"block{i}{half}_bias": (channels,)}
    return shapes


def headset_shapes(channels: int, cells: int, kinds: int) -> dict[str, tuple[int, ...]]:
    """Return names and shapes of a headset's arrays, which a file has with the headset's name: ``top/value``."""
    return {
        "policy_a": (3, 3, channels, channels), "policy_a_bias": (channels,),
        "policy_b": (3, 3, channels, channels), "policy_b_bias": (channels,),
        "policy": (channels, kinds), "policy_bias": (kinds,),
        "pass_planes": (channels, READ), "pass_planes_bias": (READ,),
        "pass_dense": (cells * READ, PASS_DENSE), "pass_dense_bias": (PASS_DENSE,),
        "pass": (PASS_DENSE,), "pass_bias": (1,),
        "value_planes": (channels, READ), "value_planes_bias": (READ,),
        "value_dense": (cells * READ, DENSE), "value_dense_bias": (DENSE,),
        "value": (DENSE,), "value_bias": (1,),
    }  # fmt: skip


class ResidualNetwork:
    """A network's weights, and inference with them.

    Parameters
    ----------
    arrays
        float32 arrays with the names and shapes of :func:`trunk_shapes` and :func:`headset_shapes`. Filters are
        [3, 3, from, to]; the inputs of a dense layer are numbered cell · READ + plane.
    grid
        Height and width.
    history
        Origin of the weights: data, seeds, losses; JSON.

    Attributes
    ----------
    planes, channels, blocks, kinds
        Sizes.
    headsets
        Names, in the order of the arrays.

    Raises
    ------
    NetworkError
        An array is missing, has another shape, or has a number that is not finite.
    """

    def __init__(self, arrays: Mapping[str, npt.ArrayLike], grid: tuple[int, int], history: Mapping[str, Any]) -> None:
        # Read each size from an array that has it in its shape.
        held = as_float32(arrays)
        height, width = grid
        if not (height > 0 and width > 0 and height * width <= _MOST_CELLS):
            raise NetworkError(f"bad network: got a grid of {height} × {width}, expected at most {_MOST_CELLS} cells")
        self.headsets = tuple(dict.fromkeys(name.partition("/")[0] for name in held if "/" in name))
        if not self.headsets:
            raise NetworkError("bad network: got no headset, expected one or more")
        self.blocks = 0
        while f"block{self.blocks}a" in held:
            self.blocks += 1
        *_, self.planes, self.channels = shape_of(_ARCHIVE, held, "conv0", 4)
        self.kinds = shape_of(_ARCHIVE, held, f"{self.headsets[0]}/policy", 2)[1]
        # Exactly the arrays that these sizes need must be there, with their shapes.
        heads = headset_shapes(self.channels, height * width, self.kinds)
        wanted = trunk_shapes(self.planes, self.channels, self.blocks)
        wanted |= {f"{headset}/{name}": shape for headset in self.headsets for name, shape in heads.items()}
        check_names(_ARCHIVE, held, wanted, "a network's")
        check_arrays(_ARCHIVE, held, wanted)
        for name, shape in wanted.items():
            if 0 in shape:
                raise NetworkError(f"bad network: got {name} of shape {shape}, expected numbers in it")
        self.grid = (height, width)
        self.actions = height * width * self.kinds + 1
        self.history = dict(history)
        self.arrays = held
        # Prepare the weights for multiplication: transform filters for Winograd's tiles, join a headset's products.
        self._layers = {name: _Layer.of(held, name) for name in held if held[name].ndim == 4}
        self._heads = {headset: _Heads.of(held, headset) for headset in self.headsets}
        self._spare: list[_Workspace] = []

    def infer(
        self, synopses: Words, policy: str = "top", value: str = "all", threads: int = 1
    ) -> tuple[Float32s, Float32s]:
        """Return logits and values of synopses. Several threads may call this at once.

        Parameters
        ----------
        synopses
            uint64[n, planes]: bit y · w + x of a plane is the cell in row y and column x.
        policy, value
            The headsets to use.
        threads
            1 or 2; the answers are the same.

        Returns
        -------
        logits
            float32[n, actions].
        values
            float32[n] in [−1, 1].

        Raises
        ------
        ValueError
            There is no such headset, or the synopses have another shape.
        """
        synopses = np.ascontiguousarray(synopses)
        if synopses.dtype != np.uint64 or synopses.ndim != 2 or synopses.shape[1] != self.planes:
            raise ValueError(
                f"bad synopses: got {synopses.dtype} of shape {synopses.shape}, expected uint64[n, {self.planes}]"
            )
        for headset in (policy, value):
            if headset not in self._heads:
                raise ValueError(f"bad headset: got {headset!r}, expected one of {', '.join(self.headsets)}")
        # Chunks of equal size are dealt to the threads in turn; each thread writes its own rows.
        logits = np.empty((synopses.shape[0], self.actions), dtype=np.float32)
        values = np.empty(synopses.shape[0], dtype=np.float32)
        starts = range(0, synopses.shape[0], CHUNK)

        def share(part: int) -> None:
            # A workspace is large, so keep it for the next call; two threads never use the same one.
            try:
                workspace = self._spare.pop()
            except IndexError:
                workspace = _Workspace.of(self.grid, self.planes, self.channels)
            for start in starts[part::threads]:
                self._chunk(synopses, start, policy, value, workspace, logits, values)
            self._spare.append(workspace)

        both(share, threads if len(starts) > 1 else 1)
        return logits, values

    def _chunk(
        self, synopses: Words, start: int, policy: str, value: str, work: _Workspace, logits: Float32s, values: Float32s
    ) -> None:
        height, width = self.grid
        rows = min(CHUNK, synopses.shape[0] - start)
        planes_of(synopses, start, height, width, work.planes)
        # The trunk, in place: a convolution, then blocks of two convolutions, whose result is added to their input.
        trunk, inner = work.trunk, work.inner
        self._convolve("conv0", work.planes, trunk, work)
        for i in range(self.blocks):
            self._convolve(f"block{i}a", trunk, inner, work)
            self._convolve(f"block{i}b", inner, trunk, work, residual=True)
        # The value first, because the policy's block overwrites the trunk.
        heads = self._heads[value]
        cells = trunk[1 : height + 1, 1 : width + 1]
        values[start : start + rows] = np.tanh(heads.won(cells @ heads.value + heads.value_bias))[:rows]
        heads = self._heads[policy]
        self._convolve(f"{policy}/policy_a", trunk, inner, work)
        self._convolve(f"{policy}/policy_b", inner, trunk, work, residual=True)
        # One product gives the logits of each cell and the planes that the pass reads; its first axes are the cells.
        found = cells @ heads.policy + heads.policy_bias
        out = logits[start : start + rows]
        out[:, :-1].reshape(rows, height * width, self.kinds)[:] = (
            found[..., : self.kinds].reshape(height * width, CHUNK, self.kinds).transpose(1, 0, 2)[:rows]
        )
        out[:, -1] = heads.last(found[..., self.kinds :])[:rows]

    def _convolve(self, name: str, grid: Float32s, out: Float32s, work: _Workspace, *, residual: bool = False) -> None:
        """Write into ``out`` the ReLU of a convolution of ``grid``, with ``residual`` of its sum with ``out``."""
        # To tiles: 36 numbers for each 4 × 4 cells of the result.
        layer = self._layers[name]
        inputs, outputs = layer.filters.shape[1:]
        *sizes, size = work.tiles_shape
        tiles = work.before[: math.prod(sizes) * size * inputs]
        tiles_of(
            grid.reshape(*grid.shape[:2], -1),
            work.half[: 6 * grid.shape[1] * size * inputs].reshape(6, grid.shape[1], -1),
            tiles.reshape(*sizes, -1),
        )
        # Products of CHUNK rows (see the module) for each of these numbers and each tile; then back to cells.
        np.matmul(
            tiles.reshape(36, -1, CHUNK, inputs), layer.filters[:, None], out=work.after.reshape(36, -1, CHUNK, outputs)
        )
        cells_of(
            work.after.reshape(*sizes, -1),
            work.half[: 24 * size * outputs].reshape(4, 6, -1),
            layer.bias,
            residual,
            *self.grid,
            out.reshape(*out.shape[:2], -1),
        )

    def write(self, file: str | os.PathLike[str] | BinaryIO) -> None:
        """Write the network as npz, in half precision, with its history."""
        write_half(_ARCHIVE, file, self.arrays, {"grid": list(self.grid), "history": self.history})

    @staticmethod
    def load(path: str | os.PathLike[str]) -> ResidualNetwork:
        """:meth:`read` a file.

        Raises
        ------
        NetworkError
            The file can't be read, is larger than 4 MiB or has no network; one line that begins with the path.
        """
        return _ARCHIVE.load(path, ResidualNetwork.read)

    @staticmethod
    def read(file: BinaryIO) -> ResidualNetwork:
        """Read a file of :meth:`write`; nothing in the file is executed.

        Raises
        ------
        NetworkError
            The file has other contents; one line.
        """
        arrays, about = _ARCHIVE.read(file)
        try:
            height, width = (int(size) for size in about["grid"])
            history = dict(about["history"])
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise NetworkError(f"expected {_ARCHIVE.what} (npz): bad grid or history: {error}") from None
        return ResidualNetwork(arrays, (height, width), history)


@dataclass(frozen=True, eq=False)
class _Layer:
    """A convolution's weights, prepared for Winograd's tiles."""

    filters: Float32s  # [36, from, to], a matrix for each of a tile's numbers
    bias: Float32s  # [CHUNK · to], repeated for each synopsis of a chunk

    @staticmethod
    def of(held: Mapping[str, Float32s], name: str) -> _Layer:
        filters = np.einsum("ai,bj,ijcd->abcd", _FILTER, _FILTER, held[name].astype(np.float64))
        return _Layer(
            np.ascontiguousarray(filters.reshape(36, *held[name].shape[2:]), dtype=np.float32),
            np.tile(held[f"{name}_bias"], CHUNK),
        )


_FILTER = np.array(
    [
        [1 / 4, 0, 0],
        [-1 / 6, -1 / 6, -1 / 6],
        [-1 / 6, 1 / 6, -1 / 6],
        [1 / 24, 1 / 12, 1 / 6],
        [1 / 24, -1 / 12, 1 / 6],
        [0, 0, 1],
    ]
)
"""Winograd's transform of a filter (the source's G); those of tiles and cells are in the kernels."""


@dataclass(frozen=True, eq=False)
class _Dense:
    """Two dense layers, the first in blocks of :data:`PASS_DENSE` units, the second to one number."""

    first: Float32s
    first_bias: Float32s
    last: Float32s
    last_bias: np.float32

    @staticmethod
    def of(held: Mapping[str, Float32s], headset: str, name: str) -> _Dense:
        first = held[f"{headset}/{name}_dense"]
        blocks = first.reshape(first.shape[0], -1, PASS_DENSE).transpose(1, 0, 2)
        bias = held[f"{headset}/{name}_dense_bias"].reshape(-1, 1, PASS_DENSE)
        last = held[f"{headset}/{name}"].reshape(-1, 1, PASS_DENSE)
        return _Dense(np.ascontiguousarray(blocks), bias, last, held[f"{headset}/{name}_bias"][0])

    def __call__(self, read: Float32s) -> Float32s:
        """Return float32[CHUNK] from planes float32[h, w, CHUNK, READ]."""
        flat = np.maximum(read, 0).transpose(2, 0, 1, 3).reshape(CHUNK, -1)
        units = np.maximum(flat @ self.first + self.first_bias, 0)
        # Products and sums instead of a matrix-vector product, in which OpenBLAS treats some rows differently.
        return np.asarray((units * self.last).sum(axis=2).sum(axis=0) + self.last_bias)


@dataclass(frozen=True, eq=False)
class _Heads:
    """A headset's weights, prepared: the policy's logits and the planes of the pass are one product."""

    policy: Float32s
    policy_bias: Float32s
    last: _Dense
    value: Float32s
    value_bias: Float32s
    won: _Dense

    @staticmethod
    def of(held: Mapping[str, Float32s], headset: str) -> _Heads:
        policy = [f"{headset}/policy", f"{headset}/pass_planes"]
        return _Heads(
            np.concatenate([held[name] for name in policy], axis=1),
            np.concatenate([held[f"{name}_bias"] for name in policy]),
            _Dense.of(held, headset, "pass"),
            held[f"{headset}/value_planes"],
            held[f"{headset}/value_planes_bias"],
            _Dense.of(held, headset, "value"),
        )


@dataclass(frozen=True, eq=False)
class _Workspace:
    """Work arrays for a chunk; the margins of the grids stay zero."""

    planes: Float32s  # [h', w', CHUNK, planes]
    trunk: Float32s  # [h', w', CHUNK, channels]
    inner: Float32s  # likewise
    tiles_shape: tuple[int, int, int, int]  # 36, rows and columns of tiles, CHUNK
    before: Float32s  # numbers of tiles, before the product
    after: Float32s  # the same, after the product
    half: Float32s  # intermediate results of the transforms

    @staticmethod
    def of(grid: tuple[int, int], planes: int, channels: int) -> _Workspace:
        down, along = (-(-size // 4) for size in grid)
        cells, most = (4 * down + 2, 4 * along + 2, CHUNK), max(planes, channels)
        return _Workspace(
            np.zeros((*cells, planes), dtype=np.float32),
            np.zeros((*cells, channels), dtype=np.float32),
            np.zeros((*cells, channels), dtype=np.float32),
            (36, down, along, CHUNK),
            np.empty(36 * down * along * CHUNK * most, dtype=np.float32),
            np.empty(36 * down * along * CHUNK * channels, dtype=np.float32),
            np.empty(max(6 * cells[1], 24) * CHUNK * most, dtype=np.float32),
        )
