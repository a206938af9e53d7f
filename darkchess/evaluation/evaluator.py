"""The base class :class:`Evaluator`, and the built-in evaluator, which needs no other program.

A value is tanh(pawns/6) for the side to move, in [−1, 1] (Zhang & Sandholm 2021, §6: τ = 6 pawns); exactly +1 if that
side can take the king. The value of a side without a move depends on the ruleset, so the caller sets it.

Positions are the rows of :mod:`darkchess.board.kernels.board`: uint64[n, 9].
"""

from __future__ import annotations

import json
import math
import os
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from typing import BinaryIO, cast

import numpy as np
import numpy.typing as npt

from darkchess.board.kernels.board import WIDTH
from darkchess.board.kernels.tables import TABLES
from darkchess.evaluation.kernels.evaluation import WON, Knowledge, evaluate_many
from darkchess.evaluation.kernels.minimax import DEEPEST, minimax_many
from darkchess.evaluation.kernels.network import OFFSETS, PACKED_SIZE, STEP, integers
from darkchess.evaluation.kernels.pawn_ending import pawn_ending_table
from darkchess.evaluation.registry import EvaluatorChoice
from klss.search import Budget
from klss.support.archive import read_arrays
from klss.support.arrays import Floats, Ints, Words
from klss.support.threads import at_hand, share

PAWNS_SCALE = 6.0
"""Score, in pawns, whose value is tanh(1) = 0.76."""

_WORTH = np.array([1.0, 3.2, 3.3, 5.0, 9.5, 100.0])
"""Rough worth of pawn, knight, bishop, rook, queen and king, in pawns: it decides which captures the quiescence search
looks at, and in what order.
"""
_WORTH.setflags(write=False)

_PIECE = 32
"""Fewest positions that a thread values at a time; waking another thread costs about ten positions."""

_SLICE_NODES = 1000
"""Nodes of a perfect-information search between two readings of the clock: some hundredths of a second."""

_FIRST_NODES_A_SECOND = 30_000.0
"""Nodes a second of that search until it is measured: those of a slow, busy machine, so that the first slice is not too
long.
"""


class Evaluator(ABC):
    """Base of every evaluator: values of positions, in batches.

    A subclass must define :meth:`values`; all other methods have defaults that suit any evaluator. Players use it when
    it is named as ``module:Class`` (:mod:`darkchess.evaluation.registry`).

    ``deadline``, in all methods that take one: a moment of :func:`time.monotonic`, after which the evaluator must use a
    quick method; None: no deadline. An evaluator that takes milliseconds may ignore it.

    Examples
    --------
    Material alone, with everything else by default:

    >>> class Material(Evaluator):
    ...     def values(self, rows, *, deadline=None):
    ...         pieces = np.bitwise_count(rows[:, 6]).astype(float) - np.bitwise_count(rows[:, 7])
    ...         return np.where(rows[:, 8] & np.uint64(1) == 0, pieces, -pieces) / 16.0
    >>> row = np.zeros((1, 9), dtype=np.uint64)
    >>> row[0, 6], row[0, 7] = 0b111, 0b1
    >>> Material.make(EvaluatorChoice()).values(row).tolist()
    [0.125]
    """

    reentrant = False
    """Whether several threads may call it at once. Only then does a search use them, and a player ponder."""

    # ---------------------------------------------------------------------------------- methods of the class
    @classmethod
    def make(cls, choice: EvaluatorChoice, *, threads: int = 1, no_move_value: float = -1.0) -> Evaluator:
        """Return an evaluator for a caller's choice.

        Parameters
        ----------
        choice
            See :class:`darkchess.evaluation.registry.EvaluatorChoice`.
        threads
            Most threads that may share a batch.
        no_move_value
            Value of a side without any move, by the ruleset: −1 or 0.

        Raises
        ------
        EvaluatorError
            Something that it needs is missing.
        """
        return cls()

    @classmethod
    def label(cls, choice: EvaluatorChoice) -> str:
        """Return the evaluator's name for people to read; by default the name that was chosen."""
        return choice.name

    @classmethod
    def check(cls, choice: EvaluatorChoice) -> None:
        """Raise :class:`darkchess.errors.EvaluatorError` if something that it needs is missing; by default never."""
        return

    @classmethod
    def versions(cls, choice: EvaluatorChoice) -> dict[str, str | None]:
        """Return the programs that it runs and their versions, to be noted in results; by default none."""
        return {}

    # ------------------------------------------------------------------------------- methods of an evaluator
    @abstractmethod
    def values(self, rows: Words, *, deadline: float | None = None) -> Floats:
        """Return the value of each of ``rows`` (uint64[n, 9]) for its side to move: float64[n] in [−1, 1], exactly +1
        if that side can take the king.
        """

    def child_values(
        self, rows: Words, move_offsets: Ints, child_rows: Words, *, deadline: float | None = None
    ) -> Floats:
        """Return the values of the children of a whole expansion, each for its *own* side to move: float64[m]. By
        default those of :meth:`values`, without regard to the parents.

        Parameters
        ----------
        rows : uint64[n, 9]
            The parents.
        move_offsets : int64[n + 1]
        child_rows : uint64[m, 9]
            ``child_rows[move_offsets[i]:move_offsets[i + 1]]`` are positions one move after ``rows[i]``.
        deadline
            See the class.
        """
        return self.values(child_rows, deadline=deadline)

    def search_values(
        self,
        rows: Words,
        move_offsets: Ints,
        child_rows: Words,
        depth: int,
        budget: Budget,
        no_move_value: float,
        *,
        deadline: float | None = None,
    ) -> tuple[Floats | None, int]:
        """Return values of children as :meth:`child_values` does, by a perfect-information search of ``depth`` plies
        below each. By default there is no such search, and players keep the values that they have.

        Parameters
        ----------
        rows, move_offsets, child_rows, deadline
            As for :meth:`child_values`.
        depth : int
            1 or more.
        budget : Budget
            The budget of the whole call; one in nodes reads no clock.
        no_move_value : float
            Value of a side without any move, by the ruleset: −1 or 0.

        Returns
        -------
        (float64[m] or None, int)
            The values, or None unless all children have one (the budget ran out, or there is no such search); and the
            number of nodes visited, as the evaluator counts them.
        """
        return None, 0

    def new_game(self) -> None:
        """Forget the state of earlier games; by default there is none."""
        return

    def close(self) -> None:
        """Free its resources (by default none); the evaluator is not used afterwards."""
        return


@dataclass(frozen=True)
class Weights:
    """Weights of the built-in evaluation, in pawns: those of a tapered sum, and of a network added to it."""

    packed: npt.NDArray[np.float32]  # [PACKED_SIZE]: the arrays of ``kernels.network.OFFSETS``, one after the other

    def __post_init__(self) -> None:
        assert self.packed.shape == (PACKED_SIZE,)

    def part(self, name: str) -> npt.NDArray[np.float32]:
        """Return a view of one array of the weights, by its name in ``OFFSETS``."""
        start, shape = OFFSETS[name]
        return self.packed[start : start + math.prod(shape)].reshape(shape)

    @staticmethod
    def read(file: str | os.PathLike[str] | BinaryIO) -> Weights:
        """Read what :meth:`write` wrote; ValueError if the file holds something else."""
        return Weights(np.ascontiguousarray(read_arrays(file, PACKED_SIZE, ["packed"])["packed"], dtype=np.float32))

    def write(self, file: str | os.PathLike[str], history: Mapping[str, object] | None = None) -> None:
        """Write the weights as npz, in half precision, those of the first layer in the steps in which they are played,
        with the ``history`` of how they were made (JSON).
        """
        kept = Weights(self.packed.copy())
        for name in ("first", "first_bias"):
            kept.part(name)[:] = np.rint(kept.part(name) / STEP) * STEP
        said = np.frombuffer(json.dumps(dict(history or {}), allow_nan=False).encode(), dtype=np.uint8)
        np.savez_compressed(file, packed=kept.packed.astype(np.float16), history=said)


@lru_cache(maxsize=1)
def packaged_weights() -> Weights:
    """Return the packaged weights, which :mod:`experiments.learn.evaluation` makes."""
    with resources.files("darkchess.evaluation").joinpath("data/evaluation_weights.npz").open("rb") as file:
        return Weights.read(cast(BinaryIO, file))


class BuiltinEvaluator(Evaluator):
    """Tapered evaluation with quiescence search, compiled; defined on every Fog of War position, legal in chess or not.

    Parameters
    ----------
    weights
        The weights; the packaged ones by default.
    threads
        Most threads that share a batch. The values are the same.

    Examples
    --------
    The side to move can take the king (black king on h8, white rook on h1):

    >>> row = np.zeros((1, 9), dtype=np.uint64)
    >>> row[0, 3] = 1 << 7
    >>> row[0, 5] = (1 << 4) | (1 << 63)
    >>> row[0, 6], row[0, 7] = (1 << 7) | (1 << 4), 1 << 63
    >>> BuiltinEvaluator().values(row).tolist()
    [1.0]
    """

    reentrant = True

    def __init__(self, weights: Weights | None = None, *, threads: int = 1) -> None:
        chosen = packaged_weights() if weights is None else weights
        self._knowledge = Knowledge(TABLES, _WORTH, chosen.packed, *integers(chosen.packed), pawn_ending_table())
        self._threads = threads
        self._nodes_a_second = _FIRST_NODES_A_SECOND

    @classmethod
    def make(cls, choice: EvaluatorChoice, *, threads: int = 1, no_move_value: float = -1.0) -> BuiltinEvaluator:
        return cls(threads=threads)

    @classmethod
    def label(cls, choice: EvaluatorChoice) -> str:
        return "built-in evaluator"

    def values(self, rows: Words, *, deadline: float | None = None) -> Floats:
        """See :meth:`Evaluator.values`; a batch takes milliseconds."""
        scores, _ = self.search(rows)
        return np.asarray(np.tanh(scores / PAWNS_SCALE))

    def search(self, rows: Words, *, leaves: bool = False) -> tuple[Floats, Words]:
        """Return scores in pawns (float64[n]; ±1000 if a king falls) and, with ``leaves``, the positions whose static
        evaluations they are (uint64[n, 9]; else empty).
        """
        rows = np.ascontiguousarray(rows)
        scores = np.empty(rows.shape[0], dtype=np.float64)
        found = np.zeros((rows.shape[0] if leaves else 0, WIDTH), dtype=np.uint64)
        threads = at_hand(self._threads)
        size = max(_PIECE, -(-rows.shape[0] // (4 * threads if threads > 1 else 1)))

        def evaluate(piece: int) -> None:
            part = slice(piece * size, (piece + 1) * size)
            evaluate_many(rows[part], self._knowledge, scores[part], found[part])

        share(evaluate, -(-rows.shape[0] // size), threads)
        return scores, found

    def search_values(
        self,
        rows: Words,
        move_offsets: Ints,
        child_rows: Words,
        depth: int,
        budget: Budget,
        no_move_value: float,
        *,
        deadline: float | None = None,
    ) -> tuple[Floats | None, int]:
        """See :meth:`Evaluator.search_values`: alpha-beta, with a quiescence search at each leaf, without regard to the
        parents. A depth of 0 gives :meth:`values`, except for a side without a move.
        """
        assert 0 <= depth <= DEEPEST
        rows = np.ascontiguousarray(child_rows)
        scores = np.empty(rows.shape[0], dtype=np.float64)
        progress = np.zeros(2, dtype=np.int64)
        no_move = WON * no_move_value
        visited = 0
        while progress[0] < rows.shape[0]:
            # Nodes of this slice: after ``soft`` the kernel begins no further child, after ``hard`` it gives up the
            # current one. By a clock, ``hard`` is what the time left allows at the rate measured so far.
            soft = hard = min(budget.nodes_left(visited), 1e15)
            left = budget.left()
            if hard < 1 or left <= 0.0:
                return None, visited
            if budget.seconds is not None:
                soft, hard = _SLICE_NODES, min(hard, max(_SLICE_NODES, left * self._nodes_a_second))
            given_up = minimax_many(rows, depth, no_move, int(soft), int(hard), self._knowledge, scores, progress)
            # Count the nodes, update the rate (half old, half new), and decide if another slice is worth its time.
            visited += int(progress[1])
            if budget.seconds is not None and progress[1] >= _SLICE_NODES // 2:
                speed = float(progress[1]) / max(1e-6, left - budget.left())
                self._nodes_a_second += 0.5 * (speed - self._nodes_a_second)
            if given_up and budget.left() <= 0.5 * left:
                return None, visited
            if given_up and budget.nodes is not None and budget.nodes_left(visited) < 1:
                return None, visited
        return np.asarray(np.tanh(scores / PAWNS_SCALE)), visited
