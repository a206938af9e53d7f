"""Reconnaissance Blind Chess as :mod:`klss.search` sees it, on the worlds of :mod:`klss.synoptic`.

A node is a *world*: a true position, and what both players hold possible there. Senses and requests are actions alike:
a turn is two plies of one player. Who acts has a few of them, the likeliest by the network's policy at her set; what a
node is worth is the network's value of that set. So a look is worth what its answers leave of the set, and a man that
stands to be taken is in danger as far as the opponent may know of it.

A root is of the second order, (x, J): a position that may be the true one, with what the opponent may hold possible
there; a particle of :mod:`klss.synoptic.particles`. Equal ones are one root, which weighs as many as they are. (Two
with one J and different x there are not: in x the enemy's men differ, and the enemy knows her own.)

Decided here:

- Nodes of one infoset have the actions that were found at the first of them; sets there are equal but for what was
  cut.
- Where who acts surely wins by her set, the node is not looked into: its value is exact.
- The estimate of a root, which the alternate value is taken from, is the network's value of J where player 0 passes:
  the network values sets of who acts, and at a root the opponent does not.
- Of a root's J only x is a node. What else she holds possible shows in values of her sets, not in her infosets.
"""

from __future__ import annotations

import chess
import numpy as np

from blindchess.synoptic.synopsis import SENSE
from blindchess.synoptic.worlds import PASS, BlindBelief, BlindModel, sense_action
from darkchess.board.kernels import board
from klss.arrays import Floats, Int8s, Int32s, Keys, States, Words
from klss.search import TERMINAL, Expansion, Past
from klss.synoptic.bandit import policies
from klss.synoptic.model import Network, Worlds
from klss.synoptic.playouts import Headsets, inferred

__all__ = ["NestedBelief", "NestedBlind", "mixed", "observed_notice", "observed_request", "observed_sense"]

_STAGE = 9
_HEADSETS = Headsets()
_WINDOWS: Words = np.array(
    [
        sum(
            1 << chess.square(file, rank)
            for file in range(max(0, square % 8 - 1), min(7, square % 8 + 1) + 1)
            for rank in range(max(0, square // 8 - 1), min(7, square // 8 + 1) + 1)
        )
        for square in chess.SQUARES
    ],
    dtype=np.uint64,
)
"""The squares around each."""
WAITED = np.uint64(1)
"""What is observed of the other player's sense."""


def mixed(words: Words) -> Words:
    """:func:`klss.hashing.mix64` of arrays."""
    with np.errstate(over="ignore"):
        words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))


def _hashed(columns: Words) -> Keys:
    """A key of each row of uint64[n, k]."""
    found: Words = np.full(columns.shape[0], 0x9E3779B97F4A7C15, dtype=np.uint64)
    for k in range(columns.shape[1]):
        found = mixed(found ^ mixed(columns[:, k] ^ np.uint64(k + 1)))
    return found


def observed_sense(states: States, area: Words) -> Keys:
    """What who looks sees in ``area`` (uint64[n], sets of squares) of the states: a key each."""
    seen = states[:, : board.META] & area[:, None]
    return _hashed(np.concatenate([seen, area[:, None]], axis=1))


def _own(states: States, black: bool) -> Words:
    """The men of one colour: uint64[n, 8]."""
    men = states[:, board.BLACK if black else board.WHITE]
    own: Words = states[:, : board.META] & men[:, None]
    return own


def observed_request(after: States, black: bool, captured: Words) -> Keys:
    """What ``black`` (or White), who made a request, is told: her men tell what was played; ``captured``: the square on
    which it took a man, a set of one or none.
    """
    return _hashed(np.concatenate([_own(after, black), captured[:, None]], axis=1))


def observed_notice(after: States, black: bool) -> Keys:
    """What ``black`` (or White) is told of the other one's request: her men tell which was taken."""
    return _hashed(_own(after, black))


class NestedBlind:
    """See the module, and :class:`klss.search.Model`. A state is uint64[3]: the number of its world, and a key of all
    that each player observed and did on the way there.

    Parameters
    ----------
    color
        Of player 0.
    network
    senses, requests
        Most actions of an infoset.
    most
        Members of a set.
    """

    state_width = 3

    def __init__(self, color: chess.Color, network: Network, *, senses: int = 6, requests: int = 8, most: int = 128):
        self.most = most
        self._black = color == chess.BLACK
        self._game = BlindModel(color)
        self._network = network
        self._widths = (senses, requests)
        self._worlds = self._game.alone(np.zeros((0, 10), dtype=np.uint64), most)
        self._room = 0
        self._count = 0
        self._actions: dict[int, Int32s] = {}

    # ------------------------------------------------------------------------------------------------ worlds
    def added(self, worlds: Worlds, keys: Keys) -> States:
        """States of some worlds: ``keys`` (uint64[n, 2]) are what each player observed and did."""
        count = len(worlds)
        needed = self._count + count
        if needed > self._room:
            self._room = max(2 * needed, 1024)
            room = self._game.alone(np.zeros((self._room, self._worlds.states.shape[1]), dtype=np.uint64), self.most)
            room.put(np.arange(self._count), self._worlds.take(np.arange(self._count)))
            self._worlds = room
        numbers = np.arange(self._count, needed)
        self._worlds.put(numbers, worlds)
        self._count = needed
        return np.concatenate([numbers.astype(np.uint64)[:, None], keys], axis=1)

    def keep(self, states: States) -> None:
        """Forget all worlds but those of ``states``, which are renumbered in place."""
        kept, numbers = np.unique(states[:, 0].astype(np.int64), return_inverse=True)
        self._worlds, self._room, self._count = self._worlds.take(kept), kept.shape[0], kept.shape[0]
        states[:, 0] = numbers.astype(np.uint64)
        known = set(states[:, 1:].ravel().tolist())
        self._actions = {key: actions for key, actions in self._actions.items() if key in known}

    def _taken(self, states: States) -> Worlds:
        return self._worlds.take(states[:, 0].astype(np.int64))

    def actions(self, key: int) -> Int32s:
        """The actions at an infoset that was met, by its key."""
        return self._actions[key]

    def _valued(self, worlds: Worlds, keys: Keys) -> tuple[Int8s, Floats]:
        """Who acts in each world, TERMINAL also where that is decided; and what it is worth to player 0. The actions at
        each infoset are found on the way.
        """
        movers = self._game.acting(worlds.states)
        values = np.where(movers == TERMINAL, self._game.results(worlds.states), 0.0)
        going = np.flatnonzero(movers != TERMINAL)
        if not going.shape[0]:
            return movers, values
        looks = self._game.look(worlds.take(going))
        seats = movers[going]
        logits, found = inferred(self._network, looks.synopses, _HEADSETS, seats)
        shares = policies(logits, looks)
        worth = np.where(looks.forced != 0, looks.forced, found) * np.where(seats == 0, 1.0, -1.0)
        values[going] = np.clip(worth, -1.0, 1.0)
        for i, at in enumerate(going.tolist()):
            key = int(keys[at, seats[i]])
            if key in self._actions:
                continue
            choices = slice(int(looks.offsets[i]), int(looks.offsets[i + 1]))
            width = self._widths[int(worlds.states[at, _STAGE]) & 1 != SENSE]
            likeliest = np.argsort(-shares[choices], kind="stable")[:width]
            self._actions[key] = np.sort(looks.actions[choices][likeliest])
        movers[going[looks.forced != 0]] = TERMINAL
        return movers, values

    # ------------------------------------------------------------------------------------------------ the search's
    def expand(self, states: States, past: Past | None = None) -> Expansion:
        """See :class:`klss.search.Model`."""
        parents = self._taken(states)
        seats = self._game.acting(parents.states)
        lists = [self._actions[int(row[1 + seat])] for row, seat in zip(states, seats.tolist(), strict=True)]
        offsets = np.concatenate([[0], np.cumsum([len(one) for one in lists])]).astype(np.int64)
        actions = np.concatenate(lists).astype(np.int32)
        sources = np.repeat(np.arange(len(states)), np.diff(offsets))
        worlds, seats, keys = parents.take(sources), seats[sources], states[sources, 1:]
        before = worlds.states.copy()
        # Player 0's set is cut alike at the nodes of one infoset of hers.
        drawn = mixed(keys[:, 0] ^ actions.astype(np.uint64))
        self._game.advance(worlds, actions, drawn, np.full((2, sources.shape[0]), self.most))
        observations = self._observations(before, worlds.states, seats, actions)
        did = np.where(seats[:, None] == np.arange(2), actions[:, None].astype(np.uint64) + np.uint64(2), np.uint64(1))
        keys = mixed(keys ^ mixed(observations ^ mixed(did)))
        movers, values = self._valued(worlds, keys)
        return Expansion(
            offsets=offsets,
            states=self.added(worlds, keys),
            actions=actions,
            movers=movers,
            probabilities=np.ones(sources.shape[0]),
            observations=observations,
            values=values,
            interest=np.where(seats == 1, -values, values),
            ceilings=np.full(sources.shape[0], np.inf),
        )

    def _observations(self, before: States, after: States, seats: Int8s, actions: Int32s) -> Keys:
        found: Words = np.full((before.shape[0], 2), WAITED, dtype=np.uint64)
        senses = before[:, _STAGE] & np.uint64(1) == np.uint64(SENSE)
        for seat in (0, 1):
            black = self._black != (seat == 1)
            looked = np.flatnonzero(senses & (seats == seat))
            squares = actions[looked] // 65
            found[looked, seat] = observed_sense(before[looked], _WINDOWS[squares ^ 56 if black else squares])
            played = np.flatnonzero(~senses & (seats == seat))
            theirs = board.WHITE if black else board.BLACK
            captured = before[played, theirs] & ~after[played, theirs]
            found[played, seat] = observed_request(after[played], black, captured)
            found[played, 1 - seat] = observed_notice(after[played], not black)
        return found

    def movers(self, states: States) -> Int8s:
        """See :class:`klss.search.Model`."""
        return self._game.acting(self._taken(states).states)

    def values(self, states: States) -> Floats:
        """See :class:`klss.search.Model`, and the module: of roots, of J where player 0 passes."""
        worlds = self._taken(states)
        self._valued(worlds, states[:, 1:])
        keys, most = np.zeros(len(states), dtype=np.uint64), np.full((2, len(states)), self.most)
        if (worlds.states[:, _STAGE] & np.uint64(1) == np.uint64(SENSE)).any():
            self._game.advance(worlds, np.full(len(states), sense_action(chess.B2), dtype=np.int32), keys, most)
        self._game.advance(worlds, np.full(len(states), PASS, dtype=np.int32), keys, most)
        looks = self._game.look(worlds)
        _, found = inferred(self._network, looks.synopses, _HEADSETS, np.ones(len(states), dtype=np.int8))
        return np.asarray(-np.clip(np.where(looks.forced != 0, looks.forced, found), -1.0, 1.0), dtype=np.float64)

    def identities(self, states: States) -> States:
        """The position and the opponent's set."""
        return self.identities_of(self._taken(states))

    @staticmethod
    def identities_of(worlds: Worlds) -> States:
        """As :meth:`identities`, of worlds: uint64[n, 11]."""
        sets = worlds.sets[1]
        each = mixed(sets.members[:, :, 0] ^ mixed(sets.members[:, :, 1] ^ np.uint64(7)))
        counted = np.arange(each.shape[1]) < sets.counts[:, None]
        with np.errstate(over="ignore"):
            sums = np.where(counted, each, np.uint64(0)).sum(axis=1, dtype=np.uint64)
        return np.concatenate([worlds.states, sums[:, None]], axis=1)


class NestedBelief:
    """Particles as the search's belief; see :class:`klss.search.Belief`.

    Parameters
    ----------
    belief
        All that player 0 holds possible.
    particles
        Worlds of which each true state is one of ``belief``.
    model
    key
        Of all that she observed and did.
    seed
        Of the cut of her set, the same in all roots but for their true state.
    """

    capped_by = None

    def __init__(self, belief: BlindBelief, particles: Worlds, model: NestedBlind, key: int, seed: int) -> None:
        identities = model.identities_of(particles)
        _, first, counts = np.unique(identities, axis=0, return_index=True, return_counts=True)
        order = np.argsort(first)
        worlds = particles.take(first[order])
        mine, own = worlds.sets[0], belief.member(worlds.states)
        cut = belief.members(model.most, seed)
        mine.members[:, : cut.shape[0]] = cut
        mine.counts[:] = cut.shape[0]
        mine.memories[:] = belief.memory()
        lacking = np.flatnonzero(~(cut[None] == own[:, None]).all(axis=2).any(axis=1))
        mine.members[lacking, 0] = own[lacking]
        self._identities = identities[first[order]]
        keys = np.stack([np.full(len(worlds), key, dtype=np.uint64), _hashed(self._identities)], axis=1)
        self.states = model.added(worlds, keys)
        self._model = model
        self._weights = {
            bytes(row): float(count) for row, count in zip(self._identities, counts[order].tolist(), strict=True)
        }

    @property
    def size(self) -> int:
        """See :class:`klss.search.Belief`."""
        return int(self.states.shape[0])

    def sample(self, count: int, exclude: States, seed: int) -> States:
        """See :class:`klss.search.Belief`: those of most particles first, then at random."""
        excluded = {bytes(row) for row in self._model.identities(exclude)} if len(exclude) else set()
        left = [i for i, row in enumerate(self._identities) if bytes(row) not in excluded]
        shuffled = np.random.default_rng(seed).permutation(np.array(left, dtype=np.int64))
        weights = np.array([self._weights[bytes(self._identities[i])] for i in shuffled])
        chosen: States = self.states[shuffled[np.argsort(-weights, kind="stable")[:count]]]
        return chosen

    def draw(self, count: int, exclude: States, seed: int, even: float) -> States:
        """As :meth:`sample`."""
        return self.sample(count, exclude, seed)

    def inclusion(self, states: States) -> Floats:
        """See :class:`klss.search.Belief`."""
        return np.ones(len(states))

    def log_weights(self, states: States) -> Floats:
        """How many particles each is; one that is none counts half of one."""
        return np.log([self._weights.get(bytes(row), 0.5) for row in self._model.identities(states)])

    def information(self, actions: Int32s) -> Floats:
        """Nothing is charged for: the network values sets."""
        return np.full(len(actions), np.inf)
