"""Conversion of strategies to and from OpenSpiel's ``TabularPolicy``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from klss.errors import GameError
from klss.openspiel.enumeration import load
from klss.openspiel.games import spiel_game
from klss.policies import Named, behaviour_of

if TYPE_CHECKING:
    from open_spiel.python.policy import TabularPolicy


def to_tabular(game: str | Any, players: tuple[Named, Named]) -> TabularPolicy:
    """Return both players' strategies (:meth:`klss.equilibrium.Solution.strategy`) as OpenSpiel's policy; uniform at
    infosets that they do not name.

    Raises
    ------
    GameError
        The game has no information states, which OpenSpiel's policies need; or it does not have an infoset or an action
        that is named, or probabilities do not sum to 1.
    """
    policy, listed = _tabular(game), load(game)
    behaviours = [behaviour_of(listed, player, named) for player, named in enumerate(players)]
    for player, behaviour in enumerate(behaviours):
        observations, treeplex = listed.observations[player], listed.treeplex(player)
        for infoset, first in zip(observations.turn_infosets, treeplex.first_sequence, strict=True):
            row = policy.policy_for_key(str(observations.keys[infoset]))
            row[np.flatnonzero(row)] = behaviour[first : first + np.count_nonzero(row)]
    return policy


def from_tabular(policy: TabularPolicy) -> tuple[Named, Named]:
    """Return both players' strategies of OpenSpiel's policy, by the names of infosets and actions."""
    players: tuple[dict[str, dict[str, float]], dict[str, dict[str, float]]] = ({}, {})
    for state in policy.states:
        player = state.current_player()
        key = state.information_state_string(player)
        row = policy.policy_for_key(key)
        players[player][key] = {state.action_to_string(player, a): float(row[a]) for a in state.legal_actions()}
    return players


def _tabular(game: str | Any) -> TabularPolicy:
    from open_spiel.python.policy import TabularPolicy

    spiel, name = spiel_game(game)
    if not spiel.get_type().provides_information_state_string:
        raise GameError(f"game {name!r} has no information states, expected them: OpenSpiel's policies go by them")
    return TabularPolicy(spiel)
