"""Policies of OpenSpiel as strategies by names, and the other way."""

from __future__ import annotations

from typing import Any

import pyspiel

from klss.errors import GameError
from klss.openspiel.enumeration import state_at
from klss.openspiel.games import silenced
from klss.theory.game import Game, Named


def asked(policy: Any, game: Game, spiel: Any, player: int) -> Named:
    """Return what a ``pyspiel.Policy``, or a ``Policy`` in Python, plays at the infosets of ``player``; ``game`` is
    :func:`klss.openspiel.load` of ``spiel``. Raises GameError: it is of another game.
    """
    observations, found = game.observations[player], dict[str, dict[str, float]]()
    wrong = GameError(f"policy: got one that does not know the infosets of player {player}, expected one of this game")
    for infoset in observations.turn_infosets.tolist():
        state = state_at(spiel, int(game.nodes_of(player, infoset)[0]), game.parent, game.action)
        try:
            with silenced():
                played = policy.action_probabilities(state)
        except (KeyError, pyspiel.SpielError):
            raise wrong from None
        if played:
            names = zip(state.legal_actions(), observations.action_names[infoset], strict=True)
            found[str(observations.keys[infoset])] = {name: float(played.get(action, 0.0)) for action, name in names}
    if not found and observations.turn_infosets.size:
        raise wrong
    return found


def tabular(spiel: Any, strategies: tuple[Named, Named]) -> Any:
    """Return both players' strategies as a ``TabularPolicy`` of ``spiel``. Raises GameError: infosets are histories."""
    from open_spiel.python.policy import tabular_policy_from_callable

    def played(state: Any) -> dict[int, float]:
        named = strategies[state.current_player()][state.information_state_string()]
        return {action: float(named[state.action_to_string(action)]) for action in state.legal_actions()}

    try:
        return tabular_policy_from_callable(spiel, played)
    except KeyError:
        raise GameError("policy: got infosets that are histories, expected OpenSpiel's information states") from None
