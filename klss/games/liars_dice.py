"""Liar's dice with any number of dice and sides, by the rules of OpenSpiel's ``liars_dice``: a bid is a number of dice
and a face, each higher than the last; the highest face is wild; who says "liar" wins if the dice don't bear it out.

The world is the last bid, who is to move and whether the game is over; a private part is the player's roll.
"""

from __future__ import annotations

import itertools
from collections import Counter
from math import factorial, prod
from typing import Any

import numpy as np

from klss.support.kernel import kernel
from klss.theory.implicit import ImplicitGame, Rules
from klss.theory.movers import TERMINAL

_MOST_SIDES = 30
"""Most sides of all dice of a player; twice as many are the bids."""

_SIDES, _BIDS, _ROLLS = range(3)
"""Parameters; after them for each roll the number of ways to roll it, and its dice that bear out each face."""


@kernel
def mover(p: Any, world: int) -> Any:
    """World: 4 · (last bid + 1) + 2 · player to move + 1 if somebody said "liar"."""
    return TERMINAL if world & 1 else (world >> 1) & 1


@kernel
def actions(p: Any, world: int, private: int) -> Any:
    """Every higher bid, then "liar" if there is a bid."""
    last = world >> 2
    return p[_BIDS] - last + (1 if last > 0 else 0)


@kernel
def act(p: Any, world: int, private: int, action: int) -> Any:
    """The event is the bid, or the number of bids for "liar"."""
    return (world >> 2) + action, private


@kernel
def child(p: Any, world: int, event: int) -> Any:
    """The other player is to move."""
    return world ^ 3 if event == p[_BIDS] else 4 * (event + 1) + (world & 2 ^ 2)


@kernel
def observe(p: Any, world: int, private: int) -> Any:
    """The roll and the last bid."""
    return private * (p[_BIDS] + 1) + (world >> 2)


@kernel
def payoff(p: Any, world: int, first: int, second: int) -> Any:
    """1 for the winner, weighted by the rolls; the player to move is the one who bid."""
    bid, sides, rolls = (world >> 2) - 1, p[_SIDES], 3
    mine, yours = rolls + first * (sides + 1), rolls + second * (sides + 1)
    face = 1 + bid % sides
    borne_out = p[mine + face] + p[yours + face] > bid // sides
    won = 1.0 if borne_out == ((world >> 1) & 1 == 0) else -1.0
    return won * (p[mine] * p[yours]) / (p[_ROLLS] * p[_ROLLS])


def liars_dice(numdice: int = 1, dice_sides: int = 6) -> ImplicitGame:
    """Return the game with ``numdice`` dice a player. Raises ValueError: it has no dice, or so many bids that no memory
    holds its infosets, of which there are more than 2 ** bids.
    """
    if not 0 < numdice * dice_sides <= _MOST_SIDES:
        raise ValueError(f"numdice * dice_sides: got {numdice * dice_sides}, expected 1 to {_MOST_SIDES}")
    rolls = list(itertools.combinations_with_replacement(range(1, dice_sides + 1), numdice))
    rows = []
    for roll in rolls:
        counts = Counter(roll)
        ways = factorial(numdice) // prod(factorial(each) for each in counts.values())
        wild = counts[dice_sides]
        rows += [ways, *(counts[face] + wild for face in range(1, dice_sides)), wild]
    bids = 2 * numdice * dice_sides
    p = np.array([dice_sides, bids, dice_sides**numdice, *rows], np.int64)
    rules = Rules(mover, actions, act, child, observe, payoff)
    name = f"liars_dice(dice_sides={dice_sides},numdice={numdice})"
    about = float(len(rolls)) ** 2 * 2.0 ** (bids + 1)
    return ImplicitGame(name, rules, p, bids + 1, about, (len(rolls), len(rolls)), dense=True)
