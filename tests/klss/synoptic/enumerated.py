"""Any enumerated game (:class:`klss.theory.game.Game`) as a game to plan in: the oracle of the laws.

A state is one uint64, a node at which a player moves, or that is over; a member of a set is one too. Nature is drawn by
the key. A synopsis is one word: the infoset of who acts, and which player that is.
"""

from __future__ import annotations

import numpy as np

from klss.support.arrays import Bools, Floats, Int8s, Int32s, Ints, Keys, States, Words
from klss.support.hashing import mix64
from klss.synoptic.model import Belief, Looks, Sets, Worlds
from klss.theory.game import Game
from klss.theory.movers import CHANCE, TERMINAL


class EnumeratedPlanning:
    """The model of ``game``; ``planner`` is the player of seat 0."""

    def __init__(self, game: Game, planner: int = 0) -> None:
        self.game = game
        self.planner = planner
        self.action_count = int(max(one.action_count.max() for one in game.observations))
        order = np.argsort(game.parent, kind="stable")[1:]
        first = np.searchsorted(game.parent[order], np.arange(game.node_count + 1))
        self._children = [order[first[node] : first[node + 1]] for node in range(game.node_count)]

    def player(self, seat: int) -> int:
        """Of a seat."""
        return self.planner if seat == 0 else 1 - self.planner

    def dealt(self, key: int = 0) -> int:
        """A node at which somebody moves, reached from the root by nature's draws."""
        return self._settled(0, np.uint64(key))

    def worlds(self, nodes: Ints, most: int) -> Worlds:
        """Worlds in which both seats know what their infosets tell."""
        worlds = self.alone(nodes.astype(np.uint64)[:, None], most)
        for seat, sets in enumerate(worlds.sets):
            for i, node in enumerate(nodes.tolist()):
                every = self.game.nodes_of(self.player(seat), int(self.game.infoset[self.player(seat), node]))
                self._keep(sets, i, every.tolist(), node, most, np.uint64(i))
        return worlds

    def alone(self, states: States, most: int) -> Worlds:
        count = states.shape[0]

        def sets() -> Sets:
            members: Words = np.zeros((count, most, 1), dtype=np.uint64)
            members[:, 0] = states
            return Sets(members, np.ones(count, dtype=np.int64), np.zeros((count, 1), dtype=np.uint64))

        return Worlds(states.copy(), (sets(), sets()))

    def acting(self, states: States) -> Int8s:
        players = self.game.player[states[:, 0].astype(np.int64)]
        return np.where(players == TERMINAL, TERMINAL, players ^ self.planner).astype(np.int8)

    def results(self, states: States) -> Floats:
        return self.game.utility[states[:, 0].astype(np.int64)] * (1 - 2 * self.planner)

    def advance(self, worlds: Worlds, actions: Int32s, keys: Keys, most: Ints) -> None:
        game = self.game
        for i in range(len(worlds)):
            node = int(worlds.states[i, 0])
            mover = int(game.player[node])
            after = self._settled(int(self._children[node][actions[i]]), keys[i])
            worlds.states[i, 0] = after
            if game.player[after] == TERMINAL:
                continue
            for seat, sets in enumerate(worlds.sets):
                player = self.player(seat)
                wanted = game.infoset[player, after]
                found: list[int] = []
                for member in sets.members[i, : sets.counts[i], 0].astype(np.int64).tolist():
                    children = self._children[member]
                    led = [children[actions[i]]] if player == mover else children
                    for child in led:
                        found += [one for one in self._reached(int(child)) if game.infoset[player, one] == wanted]
                self._keep(sets, i, found, after, int(most[seat, i]), keys[i])

    def after(self, states: States, actions: Int32s, keys: Keys) -> States:
        nodes = [
            self._settled(int(self._children[node][action]), key)
            for node, action, key in zip(states[:, 0].astype(np.int64), actions, keys, strict=True)
        ]
        return np.array(nodes, dtype=np.uint64)[:, None]

    def look(self, worlds: Worlds) -> Looks:
        nodes = worlds.states[:, 0].astype(np.int64)
        players = self.game.player[nodes]
        infosets = self.game.infoset[players, nodes]
        keys, counts = [], []
        for i, player in enumerate(players.tolist()):
            sets = worlds.sets[player ^ self.planner]
            key = mix64(np.uint64(player + 1))
            total = np.uint64(0)
            with np.errstate(over="ignore"):
                for member in sets.members[i, : sets.counts[i], 0]:
                    total += mix64(member ^ key)
            keys.append(mix64(total))
            counts.append(int(self.game.observations[player].action_count[infosets[i]]))
        offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        actions = np.concatenate([np.arange(count) for count in counts]).astype(np.int32)
        return Looks(
            (infosets * 2 + players).astype(np.uint64)[:, None], np.array(keys, dtype=np.uint64), offsets, actions,
            np.arange(offsets[-1] + 1), actions, np.zeros(len(worlds), dtype=np.int8),
        )  # fmt: skip

    def _settled(self, node: int, key: np.uint64) -> int:
        """The node that nature's draws under a key lead to, where somebody moves or all is over."""
        rng = np.random.default_rng(int(key))
        while self.game.player[node] == CHANCE:
            children = self._children[node]
            node = int(rng.choice(children, p=self.game.probability[children]))
        return node

    def _reached(self, node: int) -> list[int]:
        """Every node that nature's draws may lead to."""
        if self.game.player[node] != CHANCE:
            return [node]
        return [found for child in self._children[node] for found in self._reached(int(child))]

    @staticmethod
    def _keep(sets: Sets, i: int, found: list[int], true: int, most: int, key: np.uint64) -> None:
        rng = np.random.default_rng(int(key))
        others = sorted(set(found) - {true})
        if len(others) > most - 1:
            others = rng.choice(others, most - 1, replace=False).tolist()
        sets.members[i, : len(others) + 1, 0] = [true, *others]
        sets.counts[i] = len(others) + 1


class EnumeratedBelief:
    """An infoset of the planner; see :class:`klss.synoptic.model.Belief`."""

    def __init__(self, nodes: Ints, game: Game) -> None:
        self.nodes = nodes
        self._game = game

    @property
    def size(self) -> int:
        return int(self.nodes.shape[0])

    def contains(self, states: States) -> Bools:
        return np.isin(states[:, 0].astype(np.int64), self.nodes)

    def sample(self, count: int, seed: int) -> States:
        drawn = np.random.default_rng(seed).permutation(self.nodes)[:count]
        return drawn.astype(np.uint64)[:, None]

    members = sample

    def member(self, states: States) -> States:
        return states

    def memory(self) -> Words:
        return np.zeros(1, dtype=np.uint64)

    def before(self, later: Belief) -> EnumeratedBelief | None:
        assert isinstance(later, EnumeratedBelief)
        reached = set(later.nodes.tolist())
        kept = np.array([node for node in self.nodes.tolist() if self._leads(node, reached)], dtype=np.int64)
        return None if kept.shape == self.nodes.shape else EnumeratedBelief(kept, self._game)

    def _leads(self, node: int, reached: set[int]) -> bool:
        for one in reached:
            before = int(self._game.parent[one])
            while before >= 0 and self._game.player[before] == CHANCE:
                before = int(self._game.parent[before])
            if before == node:
                return True
        return False
