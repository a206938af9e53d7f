"""Exact reduction of symmetric games: sequences that no payoff distinguishes become one.

Source: Grohe, Kersting, Mladenov & Selman (ESA 2014), "Dimension reduction via colour refinement". All sequences start
with one colour. A sequence's next colour depends on its last one, its infoset's, those of the infosets after it, and
each payoff with the opponent's sequence there. Once no colour is split any more, averaging a plan over each colour
gives a plan again, and an equilibrium gives an equilibrium. So x = E x', where x' is a plan of the smaller treeplex,
which has one infoset for each colour. Each row of E has one entry: 1 over the number of ways in which the sequence's
colours can be played.

This finds the symmetries of suits of cards and of boards without being given them; most other games have none. Games in
which some behaviour is given (node locking) become smaller in the same form, :func:`locked`.

Deviation: colours are hashes of 64 bits, and payoffs are compared to 40 binary digits. An error of either would show in
the exploitability of the restored solution, which is recomputed in the whole game.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from klss.support.arrays import Floats, Ints, Keys
from klss.theory.best_response import exploitability
from klss.theory.equilibrium import Solution
from klss.theory.sequence_form import SequenceForm
from klss.theory.treeplex import Treeplex, realization

_DIGITS = 2.0**40
"""Payoffs are compared to 40 binary digits, because equal ones may differ in rounding (sums in different orders)."""

_WORTH = 0.9
"""Largest share of the sequences in a folded game. With more left, folding does not pay: the folded program's entries
are no longer ones and zeros.
"""

_ROUNDS = 50
"""Most rounds of refinement; a chain of n moves would take n. Games of cards, dice and boards take at most ten."""

# The constants of SplitMix64: its increment, then shift and factor of each mixing step.
_ODD = np.uint64(0x9E3779B97F4A7C15)
_STEPS = (
    (np.uint64(30), np.uint64(0xBF58476D1CE4E5B9)),
    (np.uint64(27), np.uint64(0x94D049BB133111EB)),
)


@dataclass(frozen=True, eq=False)
class Smaller:
    """A game with fewer sequences, and the way back to the whole one: a plan of that is E x', where x' is one of the
    smaller game and each row of E has one entry.
    """

    form: SequenceForm
    whole: SequenceForm
    expansions: tuple[Any, ...]  # csr float64[S, S'] each: E; empty if the game is not smaller
    measured: bool = True  # whether deviations in all of the whole game count in the exploitability of its solutions

    def restored(self, solution: Solution) -> Solution:
        """Return a solution of the smaller game as one of the whole game."""
        if not self.expansions:
            return solution
        x, y = (matrix @ plan for matrix, plan in zip(self.expansions, (solution.x, solution.y), strict=True))
        gap = exploitability(self.whole, x, y) if self.measured else solution.exploitability
        return replace(solution, x=x, y=y, exploitability=gap, game=self.whole.game)


def fold(form: SequenceForm) -> Smaller:
    """Return ``form`` with one sequence for each colour, or unchanged if that saves little."""
    colours = _refined(form)
    if colours is None:
        return Smaller(form, form, ())
    (t0, e0), (t1, e1) = (_one_each(*each) for each in zip(form.treeplexes, colours, strict=True))
    return Smaller(_shrunk(form, (t0, t1), (e0, e1)), form, (e0, e1))


def locked(form: SequenceForm, given: tuple[Floats, Floats]) -> Smaller:
    """Return the game of the infosets that are free where the behaviour at others is given.

    A given infoset is no choice: the plan of its sequences is their parent's times a number, so that they leave the
    sequence form, and each row of E is the product of the given probabilities since the last free action. Only
    deviations at free infosets count in the exploitability of its solutions. ``given`` (float64[S0], float64[S1]) is
    each sequence's probability at its infoset (:func:`klss.theory.policies.behaviour_of`); NaN where one is free.
    """
    (t0, e0), (t1, e1) = (_without(treeplex, each) for treeplex, each in zip(form.treeplexes, given, strict=True))
    return Smaller(_shrunk(form, (t0, t1), (e0, e1)), form, (e0, e1), measured=False)


def _shrunk(form: SequenceForm, treeplexes: tuple[Treeplex, Treeplex], expansions: tuple[Any, Any]) -> SequenceForm:
    """Return the form on smaller treeplexes: its payoffs are E0ᵀ A E1 and E0ᵀ B E1."""
    a, b = (sparse.csr_array(expansions[0].T @ matrix @ expansions[1]) for matrix in (form.a, form.b))
    return SequenceForm(treeplexes, a, b, form.unit, form.least)


def _refined(form: SequenceForm) -> list[Keys] | None:
    """Return both players' final colours, uint64[S] each; None as soon as they are too many."""
    payoff = form.payoff.tocoo()
    mantissa, exponent = np.frexp(payoff.data)
    values = _mixed(np.round(mantissa * _DIGITS).astype(np.int64).view(np.uint64), exponent.astype(np.uint64))
    places = payoff.row, payoff.col
    # Refinement only splits colours, so an unchanged number of them means that they are final.
    colours, count = [np.zeros(treeplex.sequence_count, np.uint64) for treeplex in form.treeplexes], 0
    for _ in range(_ROUNDS):
        before = count
        colours = [
            _told_apart(treeplex, colours[i], places[i], _mixed(colours[1 - i][places[1 - i]], values))
            for i, treeplex in enumerate(form.treeplexes)
        ]
        count = sum(np.unique(each).size for each in colours)
        if count > _WORTH * sum(form.a.shape):
            return None
        if count == before:
            return colours
    return None


def _told_apart(treeplex: Treeplex, colours: Keys, place: Ints, payoffs: Keys) -> Keys:
    """Return the next colours of one player's sequences; ``payoffs`` are hashes of payoffs at sequences ``place``."""
    infosets = _infoset_colours(treeplex, colours)
    around = np.zeros_like(colours)  # sums of hashes, so that the order does not matter
    np.add.at(around, place, payoffs)
    np.add.at(around, treeplex.parent_sequence, infosets)
    return _mixed(_mixed(colours, around), np.concatenate([[np.uint64(0)], infosets[treeplex.infoset_of_sequence[1:]]]))


def _infoset_colours(treeplex: Treeplex, colours: Keys) -> Keys:
    """Return the infosets' colours, from those of their sequences and of their parent sequence: uint64[I]."""
    if not treeplex.infoset_count:
        return np.zeros(0, np.uint64)
    actions = np.add.reduceat(_mixed(colours, colours), treeplex.first_sequence)
    return _mixed(actions, colours[treeplex.parent_sequence])


def _mixed(first: Keys, second: Keys) -> Keys:
    """Return a hash of each pair, by the last steps of SplitMix64 (Steele, Lea & Flood 2014)."""
    mixed = first * _ODD + second + _ODD
    for shift, factor in _STEPS:
        mixed = (mixed ^ (mixed >> shift)) * factor
    return mixed ^ (mixed >> np.uint64(31))


def _one_each(treeplex: Treeplex, colours: Keys) -> tuple[Treeplex, Any]:
    """Return the treeplex with one infoset for each colour, with one sequence for each of its colours, and E."""
    # Keep the first infoset of each colour, and the first of its sequences of each colour. Number them in the old
    # order, so that parents still come first.
    _, firsts, kind = np.unique(_infoset_colours(treeplex, colours), return_index=True, return_inverse=True)
    stays = np.zeros(treeplex.infoset_count, bool)
    stays[firsts] = True
    candidates = np.flatnonzero(np.concatenate([[True], stays[treeplex.infoset_of_sequence[1:]]]))
    names, which = np.unique(colours[candidates], return_index=True)
    kept = candidates[np.sort(which)]
    number = np.argsort(np.argsort(which))[np.searchsorted(names, colours)]
    # How many sequences of one infoset share a colour: all sequences of the colour over the infosets that have it.
    infosets = np.bincount(kind, minlength=firsts.size)
    alike = np.bincount(number).astype(np.float64)
    alike[1:] /= infosets[kind[treeplex.infoset_of_sequence[kept[1:]]]]
    sizes = np.bincount(treeplex.infoset_of_sequence[kept[1:]], minlength=treeplex.infoset_count)[stays]
    left = Treeplex(number[treeplex.parent_sequence[stays]], 1 + np.cumsum(sizes) - sizes, sizes)
    ways = realization(treeplex, 1.0 / alike[number])
    shape = (treeplex.sequence_count, kept.size)
    return left, sparse.csr_array((ways, number, np.arange(number.size + 1)), shape=shape)


def _without(treeplex: Treeplex, given: Floats) -> tuple[Treeplex, sparse.csr_array]:
    """Return the treeplex of the free infosets, and E."""
    # Parents come first. A given sequence inherits its parent's place in the smaller treeplex, with its weight; a free
    # one gets a place of its own.
    free = np.isnan(given[treeplex.first_sequence]) if treeplex.infoset_count else np.zeros(0, bool)
    weight = np.ones(treeplex.sequence_count)
    target = np.zeros(treeplex.sequence_count, np.int64)  # in the smaller treeplex
    parents, count = [], 1
    for i, (parent, first, size) in enumerate(zip(*(part.tolist() for part in treeplex.arrays), strict=True)):
        here = slice(first, first + size)
        if free[i]:
            weight[here], target[here] = weight[parent], np.arange(count, count + size)
            parents.append(target[parent])
            count += size
        else:
            weight[here], target[here] = weight[parent] * given[here], target[parent]
    sizes = treeplex.action_count[free]
    left = Treeplex(np.array(parents, np.int64), 1 + np.cumsum(sizes) - sizes, sizes)
    return left, sparse.csr_array((weight, (np.arange(weight.size), target)), shape=(weight.size, count))
