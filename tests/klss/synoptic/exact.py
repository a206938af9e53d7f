"""What the laws of planning on synopses share: policies, a network that is exact, a planner led through a game."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from klss.support.arrays import Float32s, Words
from klss.synoptic.planner import Planner
from klss.synoptic.planning import Planning
from klss.theory.game import Game
from klss.theory.movers import CHANCE, TERMINAL
from tests.klss.synoptic.enumerated import EnumeratedBelief, EnumeratedPlanning

Policies = Mapping[tuple[int, int], np.ndarray]
"""Each player's strategy at its infosets."""


def some_policy(game: Game, player: int, seed: int) -> dict[tuple[int, int], np.ndarray]:
    rng = np.random.default_rng(seed)
    turns = game.observations[player]
    return {
        (player, j): rng.dirichlet(np.full(turns.action_count[j], 1.0)) for j in np.flatnonzero(turns.turn).tolist()
    }


def values(game: Game, played: Policies) -> tuple[np.ndarray, np.ndarray]:
    """Every node's expected utility to player 0 and its reach, if this is played. Children come after parents."""
    reach, share = np.ones(game.node_count), np.ones(game.node_count)
    for node in range(1, game.node_count):
        parent = game.parent[node]
        player = int(game.player[parent])
        share[node] = (
            game.probability[node]
            if player == CHANCE
            else played[player, int(game.infoset[player, parent])][game.action[node]]
        )
        reach[node] = reach[parent] * share[node]
    worth = np.where(game.player == TERMINAL, game.utility, 0.0)
    for node in range(game.node_count - 1, 0, -1):
        worth[game.parent[node]] += worth[node] * share[node]
    return worth, reach


class Exact:
    """The network that says what is played, and what a set is then worth."""

    def __init__(self, model: EnumeratedPlanning, played: Policies) -> None:
        game = model.game
        self._played, self._width = played, model.action_count
        worth, reach = values(game, played)
        self._values = {}
        for player in (0, 1):
            for j in np.flatnonzero(game.observations[player].turn).tolist():
                nodes = game.nodes_of(player, j)
                total = reach[nodes].sum()
                mean = (reach[nodes] * worth[nodes]).sum() / total if total > 0 else worth[nodes].mean()
                self._values[player, j] = (1 - 2 * player) * mean

    def infer(self, synopses: Words) -> tuple[Float32s, Float32s]:
        logits = np.zeros((synopses.shape[0], self._width), dtype=np.float32)
        worth = np.zeros(synopses.shape[0], dtype=np.float32)
        for i, word in enumerate(synopses[:, 0].tolist()):
            at = (word % 2, word // 2)
            logits[i, : self._played[at].shape[0]] = np.log(np.maximum(self._played[at], 1e-12))
            worth[i] = self._values[at]
        return logits, worth


class Followed:
    """A planner that is given what happens along one line of a game."""

    def __init__(self, game: Game, planner: int, network: Exact, planning: Planning, seed: int = 0) -> None:
        self.model = EnumeratedPlanning(game, planner)
        self.game, self.planner, self.network, self.planning = game, planner, network, planning
        self.node = self.model.dealt(seed)
        first = self._belief()
        self.filter = Planner(self.model, network, planning, first, seed=seed)
        # What is dealt is hidden: both seats hold possible what their infosets tell.
        worlds = self.model.worlds(
            np.resize(np.random.default_rng(seed).permutation(first.nodes), planning.particles), planning.max_members
        )
        self.filter.particles.put(np.arange(planning.particles), worlds)

    def _belief(self) -> EnumeratedBelief:
        nodes = self.game.nodes_of(self.planner, int(self.game.infoset[self.planner, self.node]))
        return EnumeratedBelief(nodes, self.game)

    def step(self, action: int, key: int = 0) -> bool:
        """One action; False where the game is over."""
        mover = int(self.game.player[self.node])
        children = np.flatnonzero(self.game.parent == self.node)
        node = self.model._settled(int(children[action]), np.uint64(key))
        if self.game.player[node] == TERMINAL:
            return False
        self.node = node
        self.filter.happened(action if mover == self.planner else None, self._belief())
        return True
