"""Which states of an OpenSpiel game are transpositions: the same from here on, whatever led there.

Two states count as such where the game's own text of the state, both players' observations and the player to move are
equal. That holds in games whose texts leave out nothing that matters for what follows, phantom and dark games among
them; no game says whether it does, so it is tried: random play is looked through for two such states that differ in
what follows, and one pair turns merging off. Where a game has no observations nothing is merged.
"""

from __future__ import annotations

import random
import struct
from collections.abc import Callable
from hashlib import blake2b
from typing import Any

__all__ = ["identifier", "merges", "same_history", "transposition"]

_GAMES, _PLIES = 200, 60
"""Random games that are looked through, and most plies of each; some tenths of a second at the most."""


def transposition(state: Any) -> tuple[int, int]:
    """Equal for transpositions, in a game with observations."""
    player = state.current_player()
    return _key(f"{player}\0{state}\0{state.observation_string(0)}\0{state.observation_string(1)}")


def same_history(state: Any) -> tuple[int, int]:
    """Equal for the same history alone."""
    return _key(state.history_str())


def _key(text: str) -> tuple[int, int]:
    low, high = struct.unpack("<QQ", blake2b(text.encode(), digest_size=16).digest())
    return low, high


def identifier(game: Any) -> Callable[[Any], tuple[int, int]]:
    """What tells the states of ``game`` apart: transpositions where they may be merged, else histories."""
    return transposition if merges(game) else same_history


def merges(game: Any) -> bool:
    """Whether transpositions of ``game`` may be merged: no two of them were found to differ in their actions, in the
    states that follow, or in what is paid there.
    """
    if not game.get_type().provides_observation_string:
        return False
    name = str(game)
    if name not in _found:
        _found[name] = _tried(game)
    return _found[name]


_found: dict[str, bool] = {}
"""What was found of each game of this process."""


def _tried(game: Any) -> bool:
    """See :func:`merges`: random play."""
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
    """Whether two states agree one ply on, after an action drawn by ``rng``."""
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
