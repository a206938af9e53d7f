"""Sequence form: one player's treeplex, realization plans, and the payoff A plus B of a two-player zero-sum game.

Source: Koller, Megiddo & von Stengel (STOC 1994); Zhang & Sandholm (NeurIPS 2021), §2 and Appendix C, where a game
carries a second matrix B beside its payoffs A. B has entries in the top row (alternate values, gifts, folded-in outside
nodes) and in the first column (information term) only.

Letters: ``I`` infosets, ``S`` sequences of one player; ``S0``, ``S1`` of players 0 and 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from klss._kernels import treeplex as kernels
from klss.errors import GameError

if TYPE_CHECKING:
    from klss.game import Game

__all__ = ["SequenceForm", "Treeplex", "behaviour", "realization", "sequence_form", "uniform_behaviour"]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

# A plan's infosets that carry less than this are taken as not reached: HiGHS's vertices are exact to about 1e-14.
_REACHED = 1e-12


@dataclass(frozen=True, eq=False)
class Treeplex:
    """One player's infosets and sequences.

    Sequence 0 is the empty one; the sequences of an infoset are contiguous, in the order of its actions; infosets stand
    in the order of their sequences and after their parents, so that ``parent_sequence[i] < first_sequence[i]`` and
    ``first_sequence[i + 1] == first_sequence[i] + action_count[i]``.

    Parameters
    ----------
    parent_sequence : int64[I]
        The sequence that leads to each infoset.
    first_sequence : int64[I]
        The sequence of each infoset's first action.
    action_count : int64[I]
        The number of actions, at least 1.

    Raises
    ------
    GameError
        When the order above does not hold.
    """

    parent_sequence: Ints
    first_sequence: Ints
    action_count: Ints

    def __post_init__(self) -> None:
        for name in ("parent_sequence", "first_sequence", "action_count"):
            object.__setattr__(self, name, np.ascontiguousarray(getattr(self, name), dtype=np.int64))
        count = self.action_count
        if not (self.parent_sequence.shape == self.first_sequence.shape == count.shape and count.ndim == 1):
            raise GameError(
                f"treeplex: got arrays of shapes {self.parent_sequence.shape}, "
                f"{self.first_sequence.shape}, {count.shape}; expected one length"
            )
        if count.size:
            ends = np.cumsum(count) + 1
            if count.min() < 1 or self.first_sequence[0] != 1 or not np.array_equal(self.first_sequence[1:], ends[:-1]):
                raise GameError(
                    "treeplex: first_sequence is not 1 plus the running sum of action_count (>= 1); "
                    "number the sequences in infoset order"
                )
            if self.parent_sequence.min() < 0 or not (self.parent_sequence < self.first_sequence).all():
                raise GameError(
                    "treeplex: a parent sequence does not come before its infoset's sequences; order the "
                    "infosets parents first"
                )

    @property
    def infoset_count(self) -> int:
        """Number of infosets."""
        return int(self.action_count.size)

    @cached_property
    def sequence_count(self) -> int:
        """Number of sequences, the empty one included."""
        return int(self.action_count.sum()) + 1

    @cached_property
    def infoset_of_sequence(self) -> Ints:
        """int64[S]: the infoset at which each sequence's last action is taken; -1 for the empty sequence."""
        return np.concatenate([[-1], np.repeat(np.arange(self.infoset_count), self.action_count)]).astype(np.int64)

    @cached_property
    def parent_of_sequence(self) -> Ints:
        """int64[S]: each sequence's prefix one own action shorter; -1 for the empty sequence."""
        return np.concatenate([[-1], np.repeat(self.parent_sequence, self.action_count)]).astype(np.int64)


@dataclass(frozen=True, eq=False)
class SequenceForm:
    """A two-player zero-sum game in sequence form; player 0 maximises ``x (a + b) y``.

    Parameters
    ----------
    treeplexes : (Treeplex, Treeplex)
        Of player 0 and player 1.
    a : csr float64[S0, S1]
        Chance-weighted utilities of the terminals.
    b : csr float64[S0, S1]
        The additional payoff of Appendix C: top row and first column only (not checked).
    unit : float
        The size of the game's utilities, which "small" is measured against: the largest absolute one.
    """

    treeplexes: tuple[Treeplex, Treeplex]
    a: Any
    b: Any
    unit: float = 1.0

    def __post_init__(self) -> None:
        shape = (self.treeplexes[0].sequence_count, self.treeplexes[1].sequence_count)
        for name in ("a", "b"):
            matrix = getattr(self, name)
            if matrix.shape != shape:
                raise GameError(
                    f"sequence form: matrix {name} has shape {matrix.shape}, the treeplexes have {shape} sequences"
                )
            object.__setattr__(self, name, sparse.csr_array(matrix, dtype=np.float64))

    @cached_property
    def payoff(self) -> Any:
        """csr float64[S0, S1]: A + B."""
        return sparse.csr_array(self.a + self.b)

    @cached_property
    def payoff_transposed(self) -> Any:
        """csr float64[S1, S0]: the transpose of A + B."""
        return sparse.csr_array(self.payoff.T)

    def value(self, x: Floats, y: Floats) -> float:
        """Player 0's expected payoff of the plans ``x`` float64[S0] and ``y`` float64[S1]."""
        return float(x @ (self.payoff @ y))


def sequence_form(game: Game) -> SequenceForm:
    """The sequence form of ``game``: treeplexes of the infosets at which a player moves, A from the terminals, B from
    the game's own.

    Linear in the tree and vectorised.
    """
    shape = (game.treeplex(0).sequence_count, game.treeplex(1).sequence_count)
    z = game.terminals[game.utility[game.terminals] != 0.0]
    a = sparse.coo_array((game.reach[z] * game.utility[z], (game.sequences(0)[z], game.sequences(1)[z])), shape=shape)
    rows, columns = (np.flatnonzero(game.b[i]) for i in (0, 1))
    b = sparse.coo_array(
        (
            np.concatenate([game.b[0][rows], game.b[1][columns]]),
            (
                np.concatenate([game.observations[0].sequence_of_point[rows], np.zeros(columns.size, np.int64)]),
                np.concatenate([np.zeros(rows.size, np.int64), game.observations[1].sequence_of_point[columns]]),
            ),
        ),
        shape=shape,
    )
    unit = float(np.abs(game.utility).max()) or 1.0
    return SequenceForm((game.treeplex(0), game.treeplex(1)), sparse.csr_array(a), sparse.csr_array(b), unit)


def uniform_behaviour(treeplex: Treeplex) -> Floats:
    """float64[S]: every action of an infoset alike; 1 for the empty sequence."""
    return np.concatenate([[1.0], np.repeat(1.0 / treeplex.action_count, treeplex.action_count)])


def realization(treeplex: Treeplex, probabilities: Floats) -> Floats:
    """The realization plan of a behaviour strategy.

    Parameters
    ----------
    treeplex : Treeplex
    probabilities : float64[S]
        Each sequence's probability at its infoset (entry 0 is not read).

    Returns
    -------
    float64[S]
        Probability of all the player's actions in each sequence; 1 for the empty one.
    """
    plan = np.empty(treeplex.sequence_count)
    plan[0] = 1.0
    weights = np.ascontiguousarray(probabilities, dtype=np.float64)
    kernels.realise(treeplex.parent_sequence, treeplex.first_sequence, treeplex.action_count, weights, plan)
    return plan


def behaviour(treeplex: Treeplex, plan: Floats, fallback: Floats | None = None) -> Floats:
    """The behaviour strategy of a realization plan (or of any non-negative weights of the sequences).

    Parameters
    ----------
    treeplex : Treeplex
    plan : float64[S]
        Negative entries (a solver's rounding) count as 0.
    fallback : float64[S], optional
        Behaviour at infosets that the plan does not reach; uniform when left out.

    Returns
    -------
    float64[S]
        Probabilities that sum to 1 at every infoset; 1 for the empty sequence.
    """
    out = np.empty(treeplex.sequence_count)
    out[0] = 1.0
    other = uniform_behaviour(treeplex) if fallback is None else np.ascontiguousarray(fallback, dtype=np.float64)
    weights = np.ascontiguousarray(plan, dtype=np.float64)
    kernels.normalise(treeplex.first_sequence, treeplex.action_count, weights, other, _REACHED, out)
    return out
