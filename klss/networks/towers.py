"""A tower: the probabilities of many states under one observation, from learned weights. numpy and numba only.

The tower runs once for each observation. Its inputs are planes over a grid (the information about each cell) and a few
scalars. Convolutions of 3 × 3 with residual connections give a *logit map*: a number for each feature that a state may
have. A feature is a kind of thing on a cell (number kind · cells + cell), or one of a few others. To each feature the
map also adds its *shares* (for example how often it was found) and their logarithms, times a weight.

A state's score is the sum of the map over its features; a softmax of scores / temperature is the belief.

Source: the Siamese networks of Reconnaissance Blind Chess, of whose two towers this is one. The module is independent
of a game: planes, features and deviations from the source are in :mod:`darkchess.weighting.network`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from klss.errors import KlssError
from klss.networks._kernels.towers import score_states
from klss.networks.weights import as_float32, check_arrays, check_names, shape_of, write_half
from klss.support.archive import Archive
from klss.support.arrays import Float32s, Floats, Ints

Uint16s = npt.NDArray[np.uint16]

LEAST_SHARE = np.float32(1e-3)
"""Number added to a share before its logarithm is taken, so that the logarithm of 0 is finite."""

_NAMES = {"scalars", "kinds", "pooled", "dense", "others", "map_bias", "shares"}
_CHUNK = 1 << 14
"""States that are scored together; few enough that their features fit into a core's cache."""


class TowersError(KlssError, ValueError):
    """The arrays are not weights of a tower."""


_ARCHIVE = Archive("weights of a tower", "weights", 2, "train them anew", TowersError, 1 << 23, 1 << 24)


class Towers:
    """Weights of a tower.

    Parameters
    ----------
    arrays
        float32 arrays by name, on a grid of h × w cells: ``conv0`` [3, 3, planes, c] with ``conv0_bias`` [h, w, c] and
        ``scalars`` [scalars, c]; ``conv1`` [3, 3, c, c] with ``conv1_bias`` [c], and so on; ``kinds`` [c, k], the map's
        k planes; ``pooled`` [c, q] and ``dense`` [h·w·q, m], from which ``others`` [m, o] makes the map's o last
        features; ``map_bias`` [k·h·w + o]; ``shares`` [2s, k·h·w], weights of each share and of its logarithm.
    temperature
        Divisor of the scores, above 0.
    history
        Origin of the weights: players and number of the games, seeds, losses; JSON.

    Raises
    ------
    TowersError
        An array is missing, has another shape, or has a number that is not finite.
    """

    def __init__(self, arrays: Mapping[str, npt.ArrayLike], temperature: float, history: Mapping[str, Any]) -> None:
        if not 0 < temperature < float("inf"):
            raise TowersError(f"bad temperature: got {temperature}, expected a number above 0")
        held = as_float32(arrays)
        depth = 1
        while f"conv{depth}" in held:
            depth += 1
        layers = {f"conv{i}{end}" for i in range(depth) for end in ("", "_bias")}
        check_names(_ARCHIVE, held, _NAMES | layers, "the tower's")
        # Read each size from an array that has it in its shape.
        *_, planes, width = shape_of(_ARCHIVE, held, "conv0", 4)
        height, breadth, _ = shape_of(_ARCHIVE, held, "conv0_bias", 3)
        grid, cells = (height, breadth), height * breadth
        scalars, kinds = shape_of(_ARCHIVE, held, "scalars", 2)[0], shape_of(_ARCHIVE, held, "kinds", 2)[1]
        pooled, (inner, others) = shape_of(_ARCHIVE, held, "pooled", 2)[1], shape_of(_ARCHIVE, held, "others", 2)
        shares = shape_of(_ARCHIVE, held, "shares", 2)[0]
        features = kinds * cells + others
        wanted: dict[str, tuple[int, ...]] = {
            "conv0": (3, 3, planes, width), "conv0_bias": (*grid, width), "scalars": (scalars, width),
            "kinds": (width, kinds), "pooled": (width, pooled), "dense": (cells * pooled, inner),
            "others": (inner, others), "map_bias": (features,), "shares": (shares - shares % 2, kinds * cells),
        }  # fmt: skip
        for i in range(1, depth):
            wanted |= {f"conv{i}": (3, 3, width, width), f"conv{i}_bias": (width,)}
        check_arrays(_ARCHIVE, held, wanted)
        if not 0 < features < 1 << 16:
            raise TowersError(f"bad weights: got {features} features, expected 1 to {(1 << 16) - 1}")
        # shapes of the arguments of ``observe``: planes, scalars, shares
        self.shapes = ((*grid, planes), (scalars,), (shares // 2, kinds * cells))
        self.features = features  # number of features that a state may have
        self.temperature = float(temperature)
        self.history = dict(history)
        self.arrays = held
        self._depth = depth

    def observe(self, planes: npt.ArrayLike, scalars: npt.ArrayLike, shares: npt.ArrayLike) -> Float32s:
        """Run the tower: return the map of an observation, float32[features].

        Parameters
        ----------
        planes
            float32[h, w, planes].
        scalars
            float32[scalars].
        shares
            float32[s, k·h·w], each in [0, 1].
        """
        given = [np.asarray(array, dtype=np.float32) for array in (planes, scalars, shares)]
        if (shapes := tuple(array.shape for array in given)) != self.shapes:
            raise ValueError(f"bad observation: got shapes {shapes}, expected {self.shapes}")
        held, zero = self.arrays, np.float32(0)
        # The trunk: one convolution with a separate bias for each cell, then residual ones.
        inner = _convolved(given[0], held["conv0"]) + held["conv0_bias"] + given[1] @ held["scalars"]
        inner = np.maximum(inner, zero)
        for i in range(1, self._depth):
            inner = inner + np.maximum(_convolved(inner, held[f"conv{i}"]) + held[f"conv{i}_bias"], zero)
        # The map: a plane for each kind, and the few other features from a dense layer over all cells.
        cells = inner.reshape(-1, inner.shape[2])
        dense = np.maximum((cells @ held["pooled"]).reshape(-1) @ held["dense"], zero)
        logits = np.concatenate([(cells @ held["kinds"]).T.reshape(-1), dense @ held["others"]]) + held["map_bias"]
        # Shares bypass the trunk: they are linear inputs of their own features.
        terms = np.stack([given[2], np.log(given[2] + LEAST_SHARE)], axis=1).reshape(held["shares"].shape)
        logits[: held["shares"].shape[1]] += (terms * held["shares"]).sum(axis=0)
        return np.asarray(logits)

    def score(self, rows: Uint16s, counts: Ints, logits: Float32s, out: Float32s) -> None:
        """Write the scores of states, before the temperature. Several threads may call this, each for its own states.

        Parameters
        ----------
        rows
            uint16[n or more, w]: features of each state, in any order.
        counts
            int64[n]: number of features in each row.
        logits
            Of :meth:`observe`.
        out
            float32[n], written.

        Raises
        ------
        ValueError
            Shapes disagree, or there is no such feature.
        """
        count = counts.shape[0]
        if rows.ndim != 2 or rows.shape[0] < count or out.shape != (count,):
            raise ValueError(f"bad shapes: got rows {rows.shape}, counts {counts.shape} and out {out.shape}")
        if count and (counts.min() < 0 or counts.max() > rows.shape[1]):
            raise ValueError(f"bad counts: got {counts.min()} … {counts.max()}, expected 0 … {rows.shape[1]}")
        code = score_states(rows, counts, logits, out)
        if code >= 0:
            raise ValueError(f"bad feature in row {code}: expected numbers below {self.features}")

    def log_weights(
        self,
        logits: Float32s,
        count: int,
        width: int,
        features: Callable[[int, int, Uint16s, Ints], None],
    ) -> Floats:
        """Return the scores of many states divided by the temperature; some thousands are computed at a time.

        Parameters
        ----------
        logits
            Of :meth:`observe`.
        count
            Number of states.
        width
            Most features of a state.
        features
            ``(start, stop, rows, counts)`` writes the features of states ``start … stop − 1`` into the first rows of
            uint16[·, width] and int64[·].

        Returns
        -------
        float64[count]
            Logarithms of weights, up to a constant.
        """
        scores = np.empty(count, dtype=np.float32)
        rows = np.empty((min(_CHUNK, count), width), dtype=np.uint16)
        counts = np.empty(rows.shape[0], dtype=np.int64)
        for start in range(0, count, _CHUNK):
            stop = min(start + _CHUNK, count)
            features(start, stop, rows, counts)
            self.score(rows, counts[: stop - start], logits, scores[start:stop])
        return scores.astype(np.float64) / self.temperature

    def write(self, file: str | os.PathLike[str] | BinaryIO) -> None:
        """Write the weights as npz, in half precision, with their history."""
        write_half(_ARCHIVE, file, self.arrays, {"temperature": self.temperature, "history": self.history})

    @staticmethod
    def read(file: BinaryIO) -> Towers:
        """Read a file of :meth:`write`; nothing in the file is executed.

        Raises
        ------
        TowersError
            The file has other contents; one line.
        """
        arrays, about = _ARCHIVE.read(file)
        try:
            temperature, history = float(about["temperature"]), dict(about["history"])
        except (KeyError, TypeError, ValueError) as error:
            raise TowersError(f"expected {_ARCHIVE.what} (npz): {error}") from None
        return Towers(arrays, temperature, history)


def _convolved(planes: Float32s, filters: Float32s) -> Float32s:
    """Return a convolution of 3 × 3 over [h, w, c], padded with zeros."""
    height, width, _ = planes.shape
    around = np.pad(planes, ((1, 1), (1, 1), (0, 0)))
    near = [around[i : i + height, j : j + width] for i in range(3) for j in range(3)]
    return np.concatenate(near, axis=2) @ filters.reshape(-1, filters.shape[3])
