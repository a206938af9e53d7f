"""The Resolve gadget of a subgame as a game of its own, and back: what the search's Resolve is compared with.

Source: MaxmarginToResolve of Appendix E (Zhang & Sandholm, NeurIPS 2021). Deviations: B's top row is scaled by 1/N, its
first column (the information term) is not. Exit pays 0 and the alternate value is subtracted on Play, as in the
pseudocode (§3 pays it on Exit: the same game up to a constant).
"""

from __future__ import annotations

import numpy as np

from klss.paper.subgame import Subgame
from klss.theory.game import Game, Observations
from klss.theory.movers import CHANCE, TERMINAL


def maxmargin_to_resolve(subgame: Subgame) -> Subgame:
    """The Resolve gadget of a Maxmargin one: a root chance node, uniform; per I0 a node of player 1 with Exit (a
    terminal) and Play (the chance node below which the copies hang).
    """
    game, count = subgame.game, subgame.roots.size
    chance_nodes = np.flatnonzero(game.parent == 0)
    group = np.cumsum(np.bincount(chance_nodes, minlength=game.node_count)) - 1
    place = np.arange(game.node_count) + 2 * (group + 1)  # an owner's node and its Exit come before each chance node
    place[0] = 0
    total = game.node_count + 2 * count
    choice, leave = place[chance_nodes] - 2, place[chance_nodes] - 1
    parent, player, action = (np.empty(total, np.int64) for _ in range(3))
    probability, utility = np.ones(total), np.zeros(total)
    infoset = np.full((2, total), -1, np.int64)
    parent[place] = place[game.parent]
    player[place], action[place], probability[place], utility[place] = (
        game.player,
        game.action,
        game.probability,
        game.utility,
    )
    parent[0], player[0], action[0] = -1, CHANCE, -1
    parent[choice], player[choice], action[choice], probability[choice] = 0, 1, np.arange(count), 1.0 / count
    parent[leave], player[leave], action[leave] = choice, TERMINAL, 0
    parent[place[chance_nodes]], action[place[chance_nodes]] = choice, 1
    old = game.observations[1]
    # Player 1's gadget root becomes one infoset (Exit, Play) per I0.
    counts = np.concatenate([np.full(count, 2), old.action_count[1:]])
    first = 1 + np.cumsum(counts) - counts
    from_root = old.parent_infoset[1:] == 0
    inner = np.where(from_root, 0, old.parent_infoset[1:] - 1 + count)
    offset = old.parent_point[1:] - old.first_point[old.parent_infoset[1:]]
    play = first[np.where(from_root, offset, 0)] + 1
    observed = Observations(
        parent_point=np.concatenate([np.zeros(count, np.int64), np.where(from_root, play, first[inner] + offset)]),
        action_count=counts,
        turn=np.concatenate([np.ones(count, bool), old.turn[1:]]),
        synthetic=np.concatenate([np.ones(count, bool), old.synthetic[1:]]),
        keys=(*(("gadget", name) for name in old.action_names[0]), *old.keys[1:]),
        action_names=(("Exit", "Play"),) * count + old.action_names[1:],
    )
    infoset[0, place], infoset[1, place] = (
        game.infoset[0],
        np.where(game.infoset[1] > 0, game.infoset[1] - 1 + count, -1),
    )
    infoset[0, 0] = infoset[1, 0] = -1
    infoset[0, choice], infoset[1, choice] = 0, np.arange(count)
    b = np.zeros(observed.point_count)
    b[2 : 2 + 2 * count : 2] = game.b[1][1 : 1 + count] / count
    b[1 + 2 * count :] = game.b[1][1 + count :] / count
    made = Game(parent, player, action, probability, utility, infoset, (game.observations[0], observed), (game.b[0], b))
    origin = (subgame.origin[0], np.concatenate([np.full(count, -1), subgame.origin[1][1:]]))
    return Subgame(made, subgame.infoset, origin, subgame.roots, subgame.scale)
