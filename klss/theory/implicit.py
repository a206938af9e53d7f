"""Games that are too large to list: both players' infosets are stored, payoffs are recomputed in every pass.

A game is six compiled functions (:class:`Rules`). Its state is a *world*, an integer that holds what decides how the
game goes on, and a *private part* for each player, an integer of what that player alone knows and that changes
nothing but its own choices and observations: a hand of cards, the cells that it has found taken. Given the world, the
two private parts don't depend on each other; so a walk meets each world once, with the lists of both players'
sequences there, instead of once for each pair of them. In dark hex that is a hundredth of the histories.

The passes are compiled for each game with its rules inlined (:mod:`klss.theory._kernels.implicit`). First-order
methods run as on a sequence form and meet the same utilities.

Source: the lists are those of public-tree CFR (Johanson, Waugh, Bowling & Zinkevich, IJCAI 2011), with worlds
instead of public states. A pass leaves out what the opponent plays with probability 0, which changes no utility.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property
from types import FunctionType
from typing import Any, NamedTuple

import numpy as np

from klss.errors import GameError
from klss.support import threads
from klss.support.arrays import Floats, Ints
from klss.support.kernel import kernel
from klss.support.memory import check_memory
from klss.theory._kernels import implicit as passes
from klss.theory._kernels import regrets
from klss.theory.first_order import FirstOrder
from klss.theory.treeplex import Treeplex

_PIECES = 16
"""Pieces of a pass, whatever the number of threads; one for games of fewer histories than the next constant."""

_SMALL = 20_000

_NODES = 2_000_000
"""Nodes between two checks for interrupts while infosets are listed."""

_SEQUENCE_BYTES = 60
"""Bytes of a sequence and its share of an infoset while infosets are listed."""


_RUN_BYTES = 120
"""Bytes of a sequence in a first-order method: regrets, plans, averages, the best plans and work arrays."""


class Rules(NamedTuple):
    """A game in functions compiled by :func:`klss.support.kernel.kernel`; ``p`` are the game's parameters, int64[…].

    Worlds, private parts, events and keys are int64, events at most :attr:`ImplicitGame.events`. The first world is 0.
    """

    mover: Any
    """(p, world) -> 0, 1, CHANCE or TERMINAL (:mod:`klss.theory.movers`)."""
    actions: Any
    """(p, world, private) -> number of the mover's actions at an infoset, or of chance's outcomes (events 0, 1, …)."""
    act: Any
    """(p, world, private, action) -> (event, private): what the mover's action does to the world, and its new private
    part. Event −1: the world stays, and the same player moves on."""
    child: Any
    """(p, world, event) -> world."""
    observe: Any
    """(p, world, private) -> key: what the mover has learned since its last choice (at first: since the beginning);
    a single action is none. What it knew and did before is kept."""
    payoff: Any
    """(p, world, private of player 0, private of player 1) -> float: player 0's payoff at a terminal times the
    probability of all of chance's choices, hands included."""


@dataclass(frozen=True, eq=False)
class ImplicitGame:
    """A game by its rules."""

    name: str
    rules: Rules
    parameters: Ints  # int64[…]
    events: int  # numbers of events are below it
    histories: float  # about how many; inf: it is never listed
    hands: tuple[int, int] = (1, 1)  # each player's private part is one of 0 … hands − 1 at first
    dense: bool = False  # whether payoffs depend on the private parts


class Tree(NamedTuple):
    """One player's infosets while they are listed, and to find them again."""

    head: Any  # int32[S]: the last infoset right after each sequence; −1 for none
    following: Any  # int32[I]: the one listed before it after the same sequence; −1 for none
    key: Ints  # int64[I]: what was observed between
    parent_sequence: Ints  # int64[I], and so on: as in Treeplex
    first_sequence: Ints
    action_count: Ints
    used: Ints  # int64[2]: numbers of infosets and sequences


@cache
def _walk(rules: Rules) -> Any:
    """Return :func:`klss.theory._kernels.implicit.walk` compiled for a game; its code is kept with the game's own."""
    names = vars(passes) | rules._asdict()
    home = getattr(rules.child, "py_func", rules.child)
    for template in (passes.enter, passes.walk):
        function = FunctionType(template.__code__, names, template.__name__)
        names[template.__name__] = kernel(function, home=home)
    return names["walk"]


class _Scratch:
    """The arrays of one walk, begun."""

    def __init__(self, game: ImplicitGame, rows: int, depth: int) -> None:
        self.lists = np.zeros((2, 3, rows), np.int64)
        self.masses = np.ones((2, rows))
        self.frames = np.zeros((depth, passes.FRAME), np.int64)
        self.ends = np.zeros((depth, game.events), np.int64)
        self.state = np.zeros(3, np.int64)
        self.hands = game.hands

    def begin(self) -> None:
        first = self.frames[0]
        first[:] = 0
        first[passes.EVENT] = -1
        for i, hands in enumerate(self.hands):
            first[passes.HIGH + i] = first[passes.TOP + i] = hands
            self.lists[i, passes.SEQUENCE, :hands] = 0
            self.lists[i, passes.PRIVATE, :hands] = np.arange(hands)
            self.masses[i, :hands] = 1.0
        self.state[:2] = 0, np.iinfo(np.int64).max


class _Product:
    """The payoffs as an operator on plans: ``@`` is one pass."""

    nnz = 0  # none is stored

    def __init__(self, form: ImplicitForm, player: int) -> None:
        self._form, self._player = form, player

    def __matmul__(self, plan: Floats) -> Floats:
        return self._form.utilities(self._player, plan)


class ImplicitForm:
    """An implicit game with both players' infosets; it stands for a :class:`klss.theory.sequence_form.SequenceForm` in
    best responses and first-order methods.

    Raises
    ------
    GameError
        One infoset has different numbers of actions.
    TooLargeError
        The infosets take more than ``max_bytes`` of this process.
    """

    def __init__(
        self, game: ImplicitGame, *, max_bytes: int | None = None, on_progress: Callable[[int], None] | None = None
    ) -> None:
        self.implicit, self.game = game, None
        scratch = _Scratch(game, max(1 << 12, *game.hands), 64)
        scratch.begin()
        trees = [_tree(1 << 10, 1 << 12) for _ in range(2)]
        code, walk, nothing = passes.PAUSED, _walk(game.rules), np.zeros(1)
        while code != passes.DONE:
            scratch.state[1] = _NODES
            code = walk(game.parameters, game.dense, tuple(trees), -1, 0, 1, nothing, nothing, scratch.lists,
                        scratch.masses, scratch.frames, scratch.ends, scratch.state)  # fmt: skip
            if code == passes.UNEQUAL:
                raise GameError(f"one infoset, one action set: game {game.name!r} breaks it")
            # Whatever is full is doubled, and the walk goes on where it was.
            if code == passes.LISTS_FULL:
                scratch.lists, scratch.masses = (_wider(each) for each in (scratch.lists, scratch.masses))
            elif code == passes.TOO_DEEP:
                scratch.frames, scratch.ends = _wider(scratch.frames, 0), _wider(scratch.ends, 0)
            elif code == passes.TREE_FULL:
                sequences = sum(tree.head.size for tree in trees)
                check_memory(f"game {game.name!r}: its infosets", 2 * _SEQUENCE_BYTES * sequences, max_bytes)
                trees = [_enlarged(tree) for tree in trees]
            if on_progress is not None:
                on_progress(int(scratch.state[2]))
        self.node_count = int(scratch.state[2])
        """Number of histories; those of hands that exclude each other too."""
        self._rows, self._depth = scratch.lists.shape[2], scratch.frames.shape[0]
        self._trees = tuple(_trimmed(tree) for tree in trees)
        self._free: list[_Scratch] = []

    @cached_property
    def treeplexes(self) -> tuple[Treeplex, Treeplex]:
        """Both players' treeplexes."""
        first, second = (Treeplex(t.parent_sequence, t.first_sequence, t.action_count) for t in self._trees)
        return first, second

    def treeplex(self, player: int) -> Treeplex:
        """Return a player's treeplex."""
        return self.treeplexes[player]

    @property
    def payoff(self) -> _Product:
        """``payoff @ y``: the utilities of player 0's sequences."""
        return _Product(self, 0)

    @property
    def payoff_transposed(self) -> _Product:
        """``payoff_transposed @ x``: player 0's payoffs of player 1's sequences."""
        return _Product(self, 1)

    def value(self, x: Floats, y: Floats) -> float:
        """Return player 0's expected payoff of the plans ``x`` float64[S0] and ``y`` float64[S1]."""
        return float(x @ (self.payoff @ y))

    def utilities(self, player: int, plan: Floats) -> Floats:
        """Return player 0's payoff of each sequence of ``player`` (float64[S]) against the other's ``plan``."""
        utility = np.zeros(self.treeplexes[player].sequence_count)
        pieces = 1 if self.node_count < _SMALL else _PIECES
        walk, game = _walk(self.implicit.rules), self.implicit

        def pass_over(piece: int) -> None:
            try:
                scratch = self._free.pop()
            except IndexError:
                scratch = _Scratch(game, self._rows, self._depth)
            scratch.begin()
            code = walk(game.parameters, game.dense, self._trees, player, piece, pieces, plan, utility, scratch.lists,
                        scratch.masses, scratch.frames, scratch.ends, scratch.state)  # fmt: skip
            assert code == passes.DONE, "the walk that listed the infosets met longer lists"
            self._free.append(scratch)

        threads.share(pass_over, pieces, threads.usual())
        return utility


class ImplicitRun(FirstOrder):
    """A first-order method on an :class:`ImplicitForm`."""

    form: Any

    def run(self, times: int) -> None:
        """Run ``times`` more iterations."""
        rule, after = self._rule, self._done[0] + times
        while self._done[0] < after:
            # An interrupt may have come before the step of player 1, whose average then has one plan less: go on there.
            first, second = self._learned
            player = int(first.total[0] > second.total[0])
            utility = self.form.utilities(player, self._learned[1 - player].plan)
            regrets.step(self._done, player, rule.discount, rule.rule, rule.power, self._sides[player], utility,
                         self._learned[player])  # fmt: skip

    @classmethod
    def takes_bytes(cls, form: Any) -> int:
        """Return about how much memory a run takes."""
        return int(_RUN_BYTES * sum(treeplex.sequence_count for treeplex in form.treeplexes))

    def _rows(self) -> tuple[Any, ...]:
        """Payoffs are in no rows."""
        return ()

    def _fingerprint(self) -> str:
        digest = hashlib.sha256(f"{self.form.implicit.name} {super()._fingerprint()}".encode())
        digest.update(self.form.implicit.parameters.tobytes())
        return digest.hexdigest()[:16]


def _tree(infosets: int, sequences: int) -> Tree:
    head, following = np.full(sequences, -1, np.int32), np.zeros(infosets, np.int32)
    key, parent, first, count = (np.zeros(infosets, np.int64) for _ in range(4))
    return Tree(head, following, key, parent, first, count, np.array([0, 1]))


def _wider(array: Any, axis: int = -1) -> Any:
    """Return an array twice as long; the system gives no memory to the new part before it is used."""
    shape = list(array.shape)
    shape[axis] *= 2
    wider = np.zeros(shape, array.dtype)
    wider[tuple(map(slice, array.shape))] = array
    return wider


def _enlarged(tree: Tree) -> Tree:
    return Tree._make([*map(_wider, tree[:-1]), tree.used])


def _trimmed(tree: Tree) -> Tree:
    infosets, sequences = tree.used.tolist()
    return Tree._make([tree.head[:sequences], *(each[:infosets] for each in tree[1:-1]), tree.used])
