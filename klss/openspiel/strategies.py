"""Policies of OpenSpiel as strategies by names, and the other way."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyspiel

from klss.errors import GameError
from klss.openspiel.enumeration import state_at
from klss.openspiel.games import silenced
from klss.theory.game import Game, Named


def asked(policy: Any, game: Game, spiel: Any, player: int, *, led: bool = False) -> Named:
    """Return what a ``pyspiel.Policy``, or a ``Policy`` in Python, plays at the infosets of ``player``, with ``led``
    only at those to which its own moves lead; ``game`` is :func:`klss.openspiel.load` of ``spiel``. Raises GameError:
    the policy is of another game.
    """
    observations, found = game.observations[player], dict[str, dict[str, float]]()
    tree = game.treeplex(player)
    plays = np.ones(tree.sequence_count, dtype=np.bool_)  # whether it plays all actions of a sequence, parents first
    wrong = GameError(f"policy: got one that does not know the infosets of player {player}, expected one of this game")
    for i, infoset in enumerate(observations.turn_infosets.tolist()):
        here = slice(tree.first_sequence[i], tree.first_sequence[i] + tree.action_count[i])
        if led and not plays[tree.parent_sequence[i]]:
            plays[here] = False
            continue
        state = state_at(spiel, int(game.nodes_of(player, infoset)[0]), game.parent, game.action)
        try:
            with silenced():
                played = policy.action_probabilities(state)
        except (KeyError, pyspiel.SpielError):
            raise wrong from None
        if played:
            names = zip(state.legal_actions(), observations.action_names[infoset], strict=True)
            named = {name: float(played.get(action, 0.0)) for action, name in names}
            found[str(observations.keys[infoset])] = named
            plays[here] = [probability > 0.0 for probability in named.values()]
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
