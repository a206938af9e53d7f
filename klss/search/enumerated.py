"""Any enumerated game (:class:`klss.theory.game.Game`) as a model of the search; tests use it as an oracle.

A state is one uint64, the node's index. The estimate of a node is the mean utility of the terminals below it.
"""

from __future__ import annotations

import numpy as np

from klss.search._kernels.trunk import spread_down
from klss.search.model import Belief, Expansion, Model, Past
from klss.support.arrays import Floats, Int8s, Keys
from klss.theory.game import Game
from klss.theory.movers import CHANCE, TERMINAL


class EnumeratedModel(Model):
    """The model of ``game``; player 0 searches."""

    state_width = 1
    root = np.zeros((1, 1), dtype=np.uint64)
    """The game's first state."""

    def __init__(self, game: Game) -> None:
        """Index the children of every node and estimate every node."""
        self.game = game
        count = game.node_count
        # Sort nodes by parent; a stable sort keeps siblings in the order of their actions.
        self._order = np.argsort(game.parent, kind="stable")[1:]
        self._first = np.searchsorted(game.parent[self._order], np.arange(count + 1))
        self._movers = np.asarray(game.player).astype(np.int8)
        self._keys = np.stack([self._observed(player) for player in (0, 1)], axis=1)
        self._estimates = self._mean_utilities()

    def _observed(self, player: int) -> Keys:
        """Return the key of ``player``'s observation on reaching each node: its infoset's, 0 if that is unchanged."""
        infoset = self.game.infoset[player]
        known = infoset.astype(np.int64)
        spread_down(self.game.parent, len(known), known)  # at nature's nodes: the last infoset above
        before = np.append(-1, known[self.game.parent[1:]])
        return np.where((infoset >= 0) & (known != before), infoset + 1, 0).astype(np.uint64)

    def _mean_utilities(self) -> Floats:
        # Backwards, since parents come first: nature's children by their probabilities, a player's uniformly.
        values = np.where(self._movers == TERMINAL, self.game.utility, 0.0)
        children = np.diff(self._first)
        for node in range(self.game.node_count - 1, 0, -1):
            parent = self.game.parent[node]
            weight = self.game.probability[node] if self._movers[parent] == CHANCE else 1.0 / children[parent]
            values[parent] += weight * values[node]
        return values

    def expand(self, states: Keys, past: Past | None = None) -> Expansion:
        nodes = states[:, 0].astype(np.int64)
        counts = self._first[nodes + 1] - self._first[nodes]
        offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        children = np.concatenate([self._order[:0], *(self._order[self._first[n] : self._first[n + 1]] for n in nodes)])
        game = self.game
        return Expansion(
            offsets=offsets,
            states=children.astype(np.uint64)[:, None],
            actions=game.action[children].astype(np.int32),
            movers=self._movers[children],
            probabilities=np.where(self._movers[game.parent[children]] == CHANCE, game.probability[children], 1.0),
            observations=self._keys[children],
            values=self._estimates[children],
            interest=np.where(self._movers[game.parent[children]] == 1, -1.0, 1.0) * self._estimates[children],
            ceilings=np.full(len(children), np.inf),
        )

    def movers(self, states: Keys) -> Int8s:
        return self._movers[states[:, 0].astype(np.int64)]

    def values(self, states: Keys) -> Floats:
        return self._estimates[states[:, 0].astype(np.int64)]


class EnumeratedBelief(Belief):
    """The nodes of one infoset of player 0 as a belief."""

    def __init__(self, game: Game, infoset: int) -> None:
        """``infoset``: index in player 0's observation tree."""
        self.nodes = np.sort(game.nodes_of(0, infoset)).astype(np.uint64)

    @property
    def size(self) -> int:
        return len(self.nodes)

    def sample(self, count: int, exclude: Keys, seed: int) -> Keys:
        rest = self.nodes[~np.isin(self.nodes, exclude[:, 0])] if len(exclude) else self.nodes
        chosen = np.random.default_rng(seed).permutation(len(rest))[:count]
        return rest[np.sort(chosen)][:, None]
