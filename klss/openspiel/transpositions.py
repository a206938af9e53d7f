"""Transpositions of an OpenSpiel game: states with the same continuation and different histories.

Two states count as transpositions if the game's text of the state, both players' observations and the player to move
are equal. That is right for games whose texts include everything that matters later, such as phantom and dark games. No
game declares this, so it is tested: random play is searched for two such states that differ in what follows, and one
such pair turns merging off. If a game has no observations, nothing is merged.
"""

from __future__ import annotations

import random
import struct
from collections.abc import Callable
from hashlib import blake2b
from typing import Any

__all__ = ["identifier", "merges", "same_history", "transposition"]

_GAMES, _PLIES = 200, 60
"""Random games that are tested, and most plies of each; some tenths of a second at the most."""


def transposition(state: Any) -> tuple[int, int]:
    """Return a key that is equal for transpositions, in a game with observations."""
    player = state.current_player()
    return _key(f"{player}\0{state}\0{state.observation_string(0)}\0{state.observation_string(1)}")


def same_history(state: Any) -> tuple[int, int]:
    """Return a key that is equal only for the same history."""
    return _key(state.history_str())


def _key(text: str) -> tuple[int, int]:
    low, high = struct.unpack("<QQ", blake2b(text.encode(), digest_size=16).digest())
    return low, high


def identifier(game: Any) -> Callable[[Any], tuple[int, int]]:
    """Return the function that gives the keys of states: :func:`transposition` if they may be merged, otherwise
    :func:`same_history`.
    """
    return transposition if merges(game) else same_history


def merges(game: Any) -> bool:
    """Whether transpositions of ``game`` may be merged: the test found no two of them with different actions, next
    states or payoffs.
    """
    if not game.get_type().provides_observation_string:
        return False
    name = str(game)
    if name not in _found:
        _found[name] = _tried(game)
    return _found[name]


_found: dict[str, bool] = {}
"""Results of :func:`_tried` for the games of this process."""


def _tried(game: Any) -> bool:
    """Test by random play; see :func:`merges`."""
    rng, known = random.Random(0), dict[tuple[int, int], Any]()
    for _ in range(_GAMES):
        state = game.new_initial_state()
        for _ in range(_PLIES):
            actions = state.legal_actions()
            if not actions:
                break
            if not state.is_chance_node():
                same = known.setdefault(transposition(state), state.clone())
                if same.history() != state.history() and not _alike(same, state, rng):
                    return False
            state.apply_action(rng.choice(actions))
    return True


def _alike(one: Any, other: Any, rng: random.Random) -> bool:
    """Whether two states agree in their actions, and one ply later after an action drawn by ``rng``."""
    actions = one.legal_actions()
    if actions != other.legal_actions():
        return False
    action = rng.choice(actions)
    after, others = one.child(action), other.child(action)
    if after.is_terminal() or others.is_terminal():
        return bool(after.returns() == others.returns() and after.is_terminal() == others.is_terminal())
    if after.is_chance_node() or others.is_chance_node():
        return bool(after.is_chance_node() == others.is_chance_node())
    return transposition(after) == transposition(others)
