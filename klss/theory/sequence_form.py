"""Sequence form: both players' treeplexes and the payoff A plus B of a two-player zero-sum game.

Source: Koller, Megiddo & von Stengel (STOC 1994); Zhang & Sandholm (NeurIPS 2021), §2 and Appendix C, where a game
has a second matrix B in addition to its payoffs A. B has entries only in the top row (alternate values, gifts,
folded-in outside nodes) and in the first column (information term).

Letters: ``S0``, ``S1`` sequences of players 0 and 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from klss.support.arrays import Floats
from klss.theory.game import Game
from klss.theory.treeplex import Treeplex

_ROUNDING = 2.0**-48
"""A utility, not a whole number, that is this share of the largest may be the rounding of a sum."""


@dataclass(frozen=True, eq=False)
class SequenceForm:
    """A two-player zero-sum game in sequence form; player 0 maximises ``x (a + b) y``."""

    treeplexes: tuple[Treeplex, Treeplex]  # of player 0 and player 1
    a: Any  # csr float64[S0, S1]: chance-weighted utilities of the terminals
    b: Any  # csr float64[S0, S1]: the additional payoff of Appendix C, top row and first column only (not checked)
    unit: float = 1.0  # the largest absolute utility of the game
    least: float = 1.0  # the least absolute utility except 0 and what may be the rounding of the largest
    game: Game | None = None  # the game of this form, with the names of infosets and actions

    @cached_property
    def payoff(self) -> Any:
        """csr float64[S0, S1]: A + B."""
        return sparse.csr_array(self.a + self.b)

    @cached_property
    def payoff_transposed(self) -> Any:
        """csr float64[S1, S0]: the transpose of A + B."""
        return sparse.csr_array(self.payoff.T)

    def value(self, x: Floats, y: Floats) -> float:
        """Return player 0's expected payoff of the plans ``x`` float64[S0] and ``y`` float64[S1]."""
        return float(x @ (self.payoff @ y))


def sequence_form(game: Game) -> SequenceForm:
    """Return the sequence form of ``game``: treeplexes of the infosets at which a player moves, A from the terminals, B
    from the game's B. The time is linear in the tree.
    """
    # A: each terminal with a payoff, at both players' sequences there.
    shape = (game.treeplex(0).sequence_count, game.treeplex(1).sequence_count)
    z = game.terminals[game.utility[game.terminals] != 0.0]
    places = tuple(game.observations[i].sequence_of_point[game.points[i][z]] for i in (0, 1))
    a = sparse.coo_array((game.reach[z] * game.utility[z], places), shape=shape)
    # B: its entries are at points. Several points may belong to one sequence; their entries are summed.
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
    size = np.abs(game.utility)
    unit = float(size.max()) or 1.0
    meant = (size > _ROUNDING * unit) | ((size > 0.0) & (size == np.rint(size)))
    least = float(size.min(where=meant, initial=unit))
    return SequenceForm(
        (game.treeplex(0), game.treeplex(1)), sparse.csr_array(a), sparse.csr_array(b), unit, least, game
    )
