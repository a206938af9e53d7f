"""Counterfactual best-response values, worst cases and exploitability, by backward induction over a treeplex.

Source: Zhang & Sandholm (NeurIPS 2021), §2 (best-response value u*). Values here are *not normalised*: they are the
paper's times the opponent's and chance's reach.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from klss.support.arrays import Floats
from klss.theory._kernels import responses
from klss.theory.sequence_form import SequenceForm
from klss.theory.treeplex import Treeplex, realization

ALL = np.zeros(0)
"""An empty array of the opponent's reach, with which the kernel leaves no infoset out."""


@dataclass(frozen=True, eq=False)
class BestResponse:
    """A best response and its values."""

    value: float  # the optimum, from the empty sequence
    # float64[I]: optimal value from each infoset on, counterfactual (as if the player had played to reach it), not
    # normalised
    infoset_value: Floats
    sequence_value: Floats  # float64[S]: the same after each sequence
    plan: Floats  # float64[S]: a realization plan with that value: at each infoset the first optimal action


def best_response(treeplex: Treeplex, utility: Floats, maximize: bool) -> BestResponse:
    """Return a best response of the player of ``treeplex``: player 0, who maximises, or player 1, who does not.

    ``utility`` (float64[S]) is the payoff of each of its sequences against a fixed opponent: ``form.payoff @ y`` for
    player 0, ``form.payoff.T @ x`` for player 1.
    """
    sequence_value = np.array(utility, dtype=np.float64)
    infoset_value = np.empty(treeplex.infoset_count)
    choice = np.empty(treeplex.infoset_count, np.int64)
    responses.best_response(treeplex.arrays, 1.0 if maximize else -1.0, ALL, sequence_value, infoset_value, choice)
    probabilities = np.zeros(treeplex.sequence_count)
    probabilities[choice] = 1.0
    return BestResponse(float(sequence_value[0]), infoset_value, sequence_value, realization(treeplex, probabilities))


def worst_case(form: SequenceForm, player: int, plan: Floats) -> float:
    """Return the payoff (to player 0) of ``plan`` float64[S] of ``player`` against the other's best response."""
    if player == 0:
        return best_response(form.treeplexes[1], form.payoff_transposed @ plan, maximize=False).value
    return best_response(form.treeplexes[0], form.payoff @ plan, maximize=True).value


def exploitability(form: SequenceForm, x: Floats, y: Floats) -> float:
    """Return the saddle gap of the plans ``x`` float64[S0] and ``y`` float64[S1]: max over x' of u(x', y) minus min
    over y' of u(x, y'), the sum of both players' gains by deviating.

    Non-negative up to rounding and 0 exactly at equilibria.
    """
    return worst_case(form, 1, y) - worst_case(form, 0, x)
