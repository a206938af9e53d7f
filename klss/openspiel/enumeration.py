"""OpenSpiel games as :class:`klss.theory.game.Game`, with every history.

Any two-player zero-sum game; simultaneous ones are converted to turns by OpenSpiel. Both players' infosets are read at
every decision node, and an infoset's name also says whether it is the player's turn.

Deviations: in some games OpenSpiel's names of the waiting player's infosets are inexact (a name lacks information that
an earlier one has). If that breaks perfect recall, what a player learns while waiting counts as learned at that
player's next turn; if a wait in one branch and none in another still break it, waits are no observations at all. If a
game has observations but no information states, an infoset is the whole history of a player's observations and actions;
with ``recall="history"`` it is the history of the information states and actions, also where these forget something.
"""

from __future__ import annotations

import random
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from hashlib import blake2b
from typing import Any, Literal, NoReturn

import numpy as np
import pyspiel

from klss.errors import MAX_NODES, GameError, TooLargeError
from klss.openspiel.games import spiel_game
from klss.openspiel.observations import Sight, acted, history_name, told
from klss.openspiel.suits import Suits
from klss.support.arrays import Bools, Int32s
from klss.support.memory import check_memory
from klss.support.text import printable
from klss.theory._kernels import tree as kernels
from klss.theory.game import Game, assemble
from klss.theory.movers import CHANCE, TERMINAL

_WAIT = "[waits] "
"""Prefix of the names of infosets at which the player waits."""

_LONG = 200
"""Characters from which on a text is known by 128 bits of its hash, which two texts share with a probability of less
than 10⁻²⁰ among 10⁸ of them.
"""

_CHANCE = int(pyspiel.PlayerId.CHANCE)

_LOOK = 100
"""Nodes between two checks of the memory."""

_WALKS_AT = 1000
"""Nodes before the tree's size is estimated: games that break a law mostly do so earlier, and small trees end."""

_WALKS = 100
"""Random walks from which it is estimated: some milliseconds for most games."""

_HOPELESS = 1000
"""Estimated nodes for each node allowed from which on a tree is refused."""

_ARRAYS_BYTES = 45
"""Bytes for each node of the arrays that are made from the lists at the end (measured: 33 to 42)."""


def load(
    game: str | Any,
    *,
    max_nodes: int = MAX_NODES,
    max_bytes: int | None = None,
    recall: Literal["names", "history"] = "names",
    alike: bool = False,
    on_progress: Callable[[int], None] | None = None,
) -> Game:
    """Flatten a game.

    Parameters
    ----------
    game : str or pyspiel.Game
        An OpenSpiel game string such as ``"leduc_poker"`` or ``"liars_dice(dice_sides=4)"``.
    max_nodes : int
        Most nodes.
    max_bytes : int, optional
        Most bytes of this process.
    recall : "names" | "history"
        What names an infoset: OpenSpiel's information state, or all of the player's so far with its actions, so that
        players forget nothing.
    alike : bool
        List one of all deals that differ by suits alone, where these do not matter (:mod:`klss.openspiel.suits`): the
        game is smaller and has the same equilibria, and each infoset stands for all that it is alike.
    on_progress : callable, optional
        Called with the number of nodes every 100.

    Returns
    -------
    Game
        Infoset keys are OpenSpiel's information states, or histories of them; action names are OpenSpiel's.

    Raises
    ------
    GameError
        An unknown game, or one that is not a zero-sum game of two players, or breaks a law.
    TooLargeError
        More than ``max_nodes`` nodes or ``max_bytes``, as soon as that is certain; the message says how far it got.
    """
    spiel, name = spiel_game(game)
    sight = Sight(spiel, 0)
    by_history = not sight.by_turn or recall == "history"
    suits = Suits.of(spiel) if alike and not by_history else None
    found = _Flattening(sight, name, max_nodes, max_bytes, by_history, suits, on_progress).run()
    if suits is None:
        return found
    mine, yours = (replace(observations, alike=suits.alike) for observations in found.observations)
    return replace(found, observations=(mine, yours))


@dataclass
class _Infosets:
    """One player's infosets, in the order of their first nodes, by OpenSpiel's text of the player's information."""

    name: str  # of the game
    player: int
    turns: array[int] = field(default_factory=lambda: array("b"))
    actions: list[list[int]] = field(default_factory=list)
    _seen: tuple[dict[str | bytes, int], dict[str | bytes, int]] = field(default_factory=lambda: ({}, {}))
    _alike: dict[tuple[int, ...], list[int]] = field(default_factory=dict)  # one list for all that are equal

    def at(self, text: str, turn: bool, legal: list[int]) -> int:
        """Return the infoset of a node; infosets at which the player waits differ from those at which it acts."""
        key = text if len(text) < _LONG else blake2b(text.encode(), digest_size=16).digest()
        j = self._seen[turn].get(key)
        if j is None:
            j = self._seen[turn][key] = len(self.turns)
            self.turns.append(turn)
            self.actions.append(self._alike.setdefault(tuple(legal), legal) if turn else [])
        elif turn and self.actions[j] != legal:
            raise GameError(
                f"one infoset, one action set: game {self.name!r}, player {self.player}, infoset "
                f"{printable(text, 60)!r} has actions {self.actions[j][:20]} and {legal[:20]}"
            )
        return j


class _Read(Sequence[Any]):
    """Keys or names that are read when they are asked for: most are never asked for, and would fill memory."""

    def __init__(self, size: int, read: Callable[[int], tuple[Any, ...]], part: int) -> None:
        self._size, self._read, self._part = size, read, part

    def __len__(self) -> int:
        return self._size

    def __getitem__(self, at: Any) -> Any:
        if isinstance(at, slice):
            return tuple(self[j] for j in range(*at.indices(self._size)))
        return self._read(range(self._size)[at])[self._part]


@dataclass(frozen=True)
class _Flattening:
    """A depth-first walk that collects flat lists."""

    sight: Sight
    name: str
    max_nodes: int
    max_bytes: int | None
    by_history: bool
    suits: Suits | None
    on_progress: Callable[[int], None] | None

    def run(self) -> Game:
        try:
            nodes, labels, infosets = self._walk()
        except pyspiel.SpielError as error:
            reason = " ".join(str(error).split())
            raise GameError(f"game {self.name!r}: OpenSpiel fails in it: {reason[:200]}") from error
        # The names as they are; then waits that keep to the last own action; then none.
        for waits in ("named", "one an action", "none"):
            try:
                return assemble(**nodes, **self._with_waits(waits, nodes, labels, infosets))
            except GameError as error:
                if not str(error).startswith("perfect recall"):
                    raise
                broken = error
        hint = "" if self.by_history else "; with recall='history' (--recall history) it does"
        raise GameError(f"{broken}{hint}")

    def _check_size(self, node: int, state: Any) -> None:
        """Raise if ``node`` nodes are too many or too large, or will surely be; ``state`` is that of the next node."""
        if node >= self.max_nodes:
            self._too_many(f"stopped there at depth {len(state.full_history())}")
        if node == _WALKS_AT and self._hopeless():
            self._too_many(f"random walks find {_HOPELESS:,} times as many")
        check_memory(f"game {self.name!r}: after {node:,} nodes its arrays", node * _ARRAYS_BYTES, self.max_bytes)

    def _too_many(self, how: str) -> NoReturn:
        raise TooLargeError(
            f"game {self.name!r}: more than {self.max_nodes:,} nodes ({how}); expected one that can be enumerated",
            "max_nodes",
        )

    def _hopeless(self) -> bool:
        """Whether random walks estimate far more nodes than allowed.

        The estimate is without bias (Knuth, Mathematics of Computation 29, 1975), so by Markov's inequality a tree that
        fits is refused with a probability of 1/1000 at most.
        """
        rng, nodes, most = random.Random(0), 0.0, float(_HOPELESS * self.max_nodes)
        for _ in range(_WALKS):
            state, weight = self.sight.game.new_initial_state(), 1.0
            while nodes <= most and (actions := state.legal_actions()):
                weight *= len(actions)
                nodes += weight / _WALKS
                state.apply_action(rng.choice(actions))
        return nodes > most

    def _walk(self) -> tuple[dict[str, Any], Int32s, tuple[_Infosets, _Infosets]]:
        """Return the nodes' arrays, their infosets (int32[2, N]; -1 for none), and each player's infosets."""
        # Lists in preorder: each node's parent, place among its children and mover; chance's probability of each edge
        # from a chance node; each terminal's utility; each decision node's infosets.
        parents, places, movers = array("i"), array("i"), array("b")
        shares, utilities, mine, yours = array("d"), array("d"), array("i"), array("i")
        first, second = _Infosets(self.name, 0), _Infosets(self.name, 1)
        # Nodes whose children are not complete, at most one for each ply: the state, the edges left (the next one last;
        # chance's with their probabilities), how many there were, the node, its mover, and with histories both players'
        # on arrival and there.
        branches: list[tuple[Any, list[Any], int, int, int, Any, Any]] = []
        state, parent, place = self.sight.game.new_initial_state(), -1, -1
        past: Any = ("", "")  # with histories: each player's at the last decision node, with its action there
        while True:
            # The next node of the depth-first walk, in preorder.
            node = len(movers)
            if node % _LOOK == 0 or node >= self.max_nodes:
                self._check_size(node, state)
                if self.on_progress is not None:
                    self.on_progress(node)
            parents.append(parent)
            places.append(place)
            who = state.current_player()
            if who >= 0:  # a player's node: both players' infosets, by OpenSpiel's texts
                legal = state.legal_actions()
                if not legal:
                    raise GameError(
                        f"game {self.name!r}: OpenSpiel gives no action at a node that is not the end, at depth "
                        f"{len(state.full_history())}; expected one at least"
                    )
                texts = self._texts(state, who, past)
                forms = texts if self.suits is None else tuple(map(self.suits.form, texts))
                mine.append(first.at(forms[0], who == 0, legal))
                yours.append(second.at(forms[1], who == 1, legal))
                branches.append((state, legal[::-1], len(legal), node, who, past, texts))
            elif who == _CHANCE:  # if it has no outcomes, assemble() raises the error
                who, edges = CHANCE, _deals(state, self.suits)
                if edges:
                    branches.append((state, edges[::-1], len(edges), node, who, past, past))
            else:
                # A terminal: returns must sum to 0 up to rounding.
                won, lost = state.returns()
                if not abs(won + lost) <= 1e-9 * max(1.0, abs(won)):
                    raise GameError(f"zero-sum: game {self.name!r} ends with returns {won:g} and {lost:g}")
                who = TERMINAL
                utilities.append(won)
            movers.append(who)
            # Go on with the next child of the deepest node that has one left; the last child needs no copy.
            if not branches:
                break
            above, left, size, parent, mover, past, texts = branches[-1]
            chosen = left.pop()
            place = size - len(left) - 1
            if mover == CHANCE:
                chosen, share = chosen
                shares.append(share)
            if left:
                state = above.child(chosen)
            else:
                branches.pop()
                state = above
                state.apply_action(chosen)
            if self.by_history and mover >= 0:
                past = tuple(acted(text, chosen) if i == mover else text for i, text in enumerate(texts))
        del first._seen, second._seen  # as large as all that is made of the lists
        above_each, player = np.asarray(parents), np.asarray(movers)
        probability, utility = np.ones(player.size), np.zeros(player.size)
        probability[1:][player[above_each[1:]] == CHANCE] = shares
        utility[player == TERMINAL] = utilities
        labels = np.full((2, player.size), -1, np.int32)
        labels[0, player >= 0], labels[1, player >= 0] = mine, yours
        nodes = {"parent": above_each, "player": player, "action": np.asarray(places)}
        nodes |= {"probability": probability, "utility": utility}
        return nodes, labels, (first, second)

    def _texts(self, state: Any, who: int, past: Any) -> Any:
        if not self.by_history:
            return state.information_state_string(0), state.information_state_string(1)
        # That a player waits is no information, unless a game has observations alone.
        return tuple(
            told(text, self.sight.text(state, i)) if i == who or not self.sight.by_turn else text
            for i, text in enumerate(past)
        )

    def _with_waits(
        self, waits: str, nodes: dict[str, Any], labels: Int32s, infosets: tuple[_Infosets, _Infosets]
    ) -> dict[str, Any]:
        """Return the arguments of :func:`klss.theory.game.assemble` on infosets, with waiting infosets that are as
        ``waits`` says: "named" by OpenSpiel; "one an action", that is one for all that the player meets after an action
        and before its next turn; or "none".
        """
        labels, found = labels if waits == "named" else labels.copy(), []
        for who, (label, named) in enumerate(zip(labels, infosets, strict=True)):
            turns = np.array(named.turns, bool)
            sizes = np.fromiter((max(1, len(each)) for each in named.actions), np.int64, turns.size)
            if waits != "named":
                waiting = label >= 0
                waiting[waiting] = ~turns[label[waiting]]
                label[waiting] = -1
                if waits == "one an action":
                    # The point at which the player waits is that of its last action: number the waits by it.
                    first, points = 1 + np.cumsum(sizes) - sizes, np.empty(label.size, np.int32)
                    tree = (nodes["parent"], nodes["player"], nodes["action"])
                    kernels.arrival_points(*tree, label, first, who, points)
                    label[waiting] = turns.size + points[waiting]
                # Number the infosets that are left in the order of their first nodes.
                kept, at, places = np.unique(label[label >= 0], return_index=True, return_inverse=True)
                order = np.argsort(at)
                label[label >= 0] = np.argsort(order)[places]
                kept = kept[order]
                sizes = np.where(kept < turns.size, sizes[np.minimum(kept, turns.size - 1)], 1)
                turns = kept < turns.size
            some = np.flatnonzero(label >= 0)
            start = np.empty(turns.size, np.int32)
            start[label[some[::-1]]] = some[::-1]  # each infoset's first node

            @cache  # the key and the names of an infoset are read together
            def read(j: int, who: int = who, turns: Bools = turns, start: Int32s = start) -> tuple[str, Any]:
                if waits == "one an action" and not turns[j]:
                    return f"{_WAIT}{j}", ()
                state = state_at(self.sight.game, int(start[j]), nodes["parent"], nodes["action"], self.suits)
                if self.by_history:
                    places = [*self.sight.places(self.sight.start.state, state.history())]
                    text = history_name(filter(None, (each.shown[who] for each in places)), places[-1].known[who].own)
                else:
                    text = state.information_state_string(who)
                if not turns[j]:
                    return _WAIT + text, ()
                return text, tuple([state.action_to_string(who, action) for action in state.legal_actions()])

            found.append((turns, sizes, _Read(turns.size, read, 0), _Read(turns.size, read, 1)))
        turns, sizes, keys, names = zip(*found, strict=True)
        return {"infoset": labels, "turns": turns, "action_count": sizes, "keys": keys, "action_names": names}


def state_at(spiel: Any, node: int, parent: Int32s, action: Int32s, suits: Suits | None = None) -> Any:
    """Return the state of a node; ``suits`` are those by which deals were left out when the game was listed."""
    way = list[int]()
    while node > 0:
        way.append(int(action[node]))
        node = int(parent[node])
    state = spiel.new_initial_state()
    for place in reversed(way):
        chance = state.is_chance_node()
        state.apply_action(_deals(state, suits)[place][0] if chance else state.legal_actions()[place])
    return state


def _deals(state: Any, suits: Suits | None) -> list[tuple[int, float]]:
    return state.chance_outcomes() if suits is None else suits.deals(state)
