"""Leduc poker with any number of ranks, two suits each, by the rules of OpenSpiel's ``leduc_poker``: antes of 1, two
rounds of bets of 2 and 4 with at most two raises each, a public card between them; a pair wins, then the higher card.

Suits are left out, as in OpenSpiel's ``suit_isomorphism=True``. The world is the bets and the public card; a private
part is the player's rank.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from klss.support.kernel import kernel
from klss.theory.implicit import ImplicitGame, Rules
from klss.theory.movers import CHANCE, TERMINAL

_FOLD, _CALL, _RAISE = range(3)
"""Events of a player."""

_TURN, _CALLED, _RAISES, _ROUND, _DEAL, _OVER, _FOLDED, _MINE, _YOURS, _CARD = 0, 1, 2, 4, 5, 6, 7, 8, 14, 20
"""Bits of the world: the player to move; whether a call or a check ends the round; its raises (2 bits); the round;
whether the public card is to be dealt; whether the game is over; whether somebody folded; the stakes of each player (6
bits; antes not counted); the public rank.
"""


@kernel
def mover(p: Any, world: int) -> Any:
    """Nature deals the public card after the first round."""
    return TERMINAL if world >> _OVER & 1 else CHANCE if world >> _DEAL & 1 else world & 1


@kernel
def _behind(world: int) -> Any:
    """What the player to move has to pay for a call."""
    mine, yours = world >> _MINE & 63, world >> _YOURS & 63
    return yours - mine if world & 1 == 0 else mine - yours


@kernel
def actions(p: Any, world: int, private: int) -> Any:
    """Fold if there is a bet, call or check, raise if two have not raised."""
    if world >> _DEAL & 1:
        return p[0]
    return 1 + (_behind(world) > 0) + (world >> _RAISES & 3 < 2)


@kernel
def act(p: Any, world: int, private: int, action: int) -> Any:
    """The event is the action's kind."""
    return action + (0 if _behind(world) > 0 else 1), private


@kernel
def child(p: Any, world: int, event: int) -> Any:
    """Bets, the end of a round, or the public card."""
    if world >> _DEAL & 1:  # the second round begins, with player 0
        return (world & (63 << _MINE | 63 << _YOURS)) | 1 << _ROUND | event << _CARD
    if event == _FOLD:
        return world | 1 << _OVER | 1 << _FOLDED
    paid = _behind(world) + (2 + 2 * (world >> _ROUND & 1) if event == _RAISE else 0)
    after = world + (paid << (_MINE if world & 1 == 0 else _YOURS))
    if event == _CALL and world >> _CALLED & 1:
        return after | 1 << (_OVER if world >> _ROUND & 1 else _DEAL)
    return (after | 1 << _CALLED) ^ 1 if event == _CALL else ((after | 1 << _CALLED) + (1 << _RAISES)) ^ 1


@kernel
def observe(p: Any, world: int, private: int) -> Any:
    """The rank, the bets and the public card."""
    return world << 8 | private


@kernel
def payoff(p: Any, world: int, first: int, second: int) -> Any:
    """The other's stake for the winner, times the probability of the cards."""
    ranks, card = p[0], world >> _CARD
    mine, yours = 1.0 + (world >> _MINE & 63), 1.0 + (world >> _YOURS & 63)
    cards = 2.0 * ranks
    share = 2.0 * (2 - (first == second)) / (cards * (cards - 1.0))
    if world >> _ROUND & 1:
        share *= (2 - (first == card) - (second == card)) / (cards - 2.0)
    if world >> _FOLDED & 1:
        return share * (yours if world & 1 else -mine)
    if first == second:
        return 0.0
    wins = first == card or (second != card and first > second)
    return share * (yours if wins else -mine)


def leduc_poker(ranks: int) -> ImplicitGame:
    """Return the game with ``ranks`` ranks. Raises ValueError: it is not from 2 to 256, which :func:`observe` tells
    apart.
    """
    if not 2 <= ranks <= 256:
        raise ValueError(f"ranks: got {ranks}, expected 2 to 256")
    rules = Rules(mover, actions, act, child, observe, payoff)
    name, events = f"leduc_poker(ranks={ranks})", max(3, ranks)
    return ImplicitGame(name, rules, np.array([ranks]), events, math.inf, (ranks, ranks), dense=True)
