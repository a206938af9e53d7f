"""A game of OpenSpiel as :mod:`klss.search` sees it: children in batches, observations of both players, values.

A state of the search is one uint64, the number of a ``pyspiel.State`` that the model keeps. A child's value is the mean
of a few random playouts, or that of the user's function, divided by the game's largest payoff.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import pyspiel

from klss.openspiel.games import largest_payoff
from klss.openspiel.observations import NOTHING, Look, Place, Sight, history_key, key_of
from klss.search.model import Expansion, Model, Past
from klss.support.arrays import Floats, Int8s, Ints, Keys, States
from klss.theory.movers import TERMINAL

_PLAYOUTS, _PLIES = 4, 60
"""Most playouts for a state's value, and most plies of these together (but always one playout). A single playout is
mostly noise, which a search would take for a difference between actions.
"""

_LOOK = 64
"""States that are valued between two checks of the clock."""

_TRIED = 5
"""Random games from which the length of a playout is estimated."""

Values = Callable[[Sequence[Any]], Sequence[float]]
"""Estimated payoffs for the game's first player of a batch of ``pyspiel.State``, none of them terminal."""


class OpenSpielModel(Sight, Model):
    """The model of ``game``, a ``pyspiel.Game`` of :func:`klss.openspiel.games.spiel_game`, with ``player`` (0 or 1) as
    the searching player, player 0 of the search. ``seed`` is that of the playouts, ``values`` a function that values
    states instead.
    """

    state_width = 1

    def __init__(self, game: Any, player: int, *, seed: int = 0, values: Values | None = None) -> None:
        super().__init__(game, player)
        self._values = values if values is not None else Playouts(game, seed)
        self._unit = (1.0 if player == 0 else -1.0) / largest_payoff(game)
        # When the present answer is due, of :func:`time.monotonic`: later states get the value 0. Set by the owner.
        self.deadline: float | None = None
        self._places: dict[int, Place] = {}
        self._next = 0

    @property
    def root(self) -> States:
        """The start of the game as a state of the search: uint64[1, 1]."""
        return np.array([[self.hold(self.start)]], dtype=np.uint64)

    def hold(self, place: Place) -> int:
        """Keep a place; return its number."""
        number, self._next = self._next, self._next + 1
        self._places[number] = place
        return number

    def place(self, number: int) -> Place:
        """Return the place of a number."""
        return self._places[number]

    def keep(self, numbers: Iterable[int]) -> None:
        """Drop all places but these."""
        self._places = {number: self._places[number] for number in numbers}

    # ------------------------------------------------------------------------------------------------ the search's
    def expand(self, states: States, past: Past | None = None) -> Expansion:
        offsets, actions, probabilities = [0], list[int](), list[float]()
        children, signs = list[Place](), list[float]()
        for number in states[:, 0].tolist():
            place = self._places[number]
            codes, shares = self.edges(place)
            children += [self.child(place, code) for code in codes]
            actions += codes
            probabilities += shares or [1.0] * len(codes)
            signs += [-1.0 if place.mover == 1 else 1.0] * len(codes)
            offsets.append(len(actions))
        values = self._worth(children)
        return Expansion(
            offsets=np.array(offsets, dtype=np.int64),
            states=np.array([self.hold(child) for child in children], dtype=np.uint64).reshape(-1, 1),
            actions=np.array(actions, dtype=np.int32),
            movers=np.array([child.mover for child in children], dtype=np.int8),
            probabilities=np.array(probabilities),
            observations=np.array([_keys(child) for child in children], dtype=np.uint64).reshape(-1, 2),
            values=values,
            interest=np.array(signs) * values,  # best for the mover first
            ceilings=np.full(len(values), np.inf),
        )

    def movers(self, states: States) -> Int8s:
        return np.array([self._places[number].mover for number in states[:, 0].tolist()], dtype=np.int8)

    def values(self, states: States) -> Floats:
        return self._worth([self._places[number] for number in states[:, 0].tolist()])

    def _worth(self, places: Sequence[Place]) -> Floats:
        """Return values for the searching player in [−1, 1], float64[n]: exact at terminals, 0 at nature's nodes (which
        are always expanded), estimates elsewhere.
        """
        values = np.zeros(len(places))
        movers = np.array([place.mover for place in places], dtype=np.int64)
        for at in np.flatnonzero(movers == TERMINAL).tolist():
            values[at] = places[at].state.returns()[0]
        asked = np.flatnonzero(movers >= 0)
        for begin in range(0, len(asked), _LOOK):
            if self.deadline is not None and time.monotonic() > self.deadline:
                break
            some = asked[begin : begin + _LOOK]
            values[some] = self._values([places[at].state for at in some.tolist()])
        return np.asarray(values * self._unit)

    def groups(self, states: States) -> Ints:
        """Group by the opponent's information."""
        numbers = dict[Look, int]()
        known = [self._places[number].known[1] for number in states[:, 0].tolist()]
        return np.array([numbers.setdefault(each, len(numbers)) for each in known], dtype=np.int64)

    def identities(self, states: States) -> Keys:
        """No two histories count as one state: no text of a game is known to include all that matters later."""
        found = [history_key(self._places[number].state) for number in states[:, 0].tolist()]
        return np.array(found, dtype=np.uint64).reshape(-1, 2)


def _keys(place: Place) -> list[int]:
    """Return the keys of what both players observe on reaching a place."""
    return [NOTHING if look is None else key_of(look.text, look.actions) for look in place.shown]


class Playouts:
    """Payoffs of random playouts by OpenSpiel's random bots, with a random stream of this object's own."""

    def __init__(self, game: Any, seed: int) -> None:
        draw = np.random.default_rng([seed, 0]).integers(0, 2**31 - 1, size=3)
        self._bots = [pyspiel.make_uniform_random_bot(each, int(draw[each])) for each in (0, 1)]
        self._seed = int(draw[2])
        plies = 0
        for _ in range(_TRIED):
            state = game.new_initial_state()
            self._finish(state)
            plies += len(state.history())
        self._count = max(1, min(_PLAYOUTS, _PLIES * _TRIED // max(1, plies)))

    def returns(self, state: Any) -> list[float]:
        """Return both players' payoffs of a playout from a state, which is not changed."""
        return self._finish(state.clone())

    def _finish(self, state: Any) -> list[float]:
        self._seed = (self._seed + 1) & 0x7FFFFFFF  # a new seed for nature's moves
        return list(pyspiel.evaluate_bots(state, self._bots, self._seed))

    def __call__(self, states: Sequence[Any]) -> Sequence[float]:
        count = self._count
        return [sum(self.returns(state)[0] for _ in range(count)) / count for state in states]
