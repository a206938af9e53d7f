"""A few plies of dark chess from a position that both players know, enumerated: small enough to be solved exactly, so
that a mixed strategy at one turn can be compared with the best one.

The tree is a :class:`klss.theory.game.Game` of histories: an infoset is all that a player has observed and done since
the start; nothing is sampled, no transpositions are merged. A king that can be taken is taken, which ends the game;
having no move ends it too (ruleset ``paper``). Games undecided after the last ply have the value 0 (``"draw"``), or
that of the built-in evaluator (``"evaluator"``). They are too short for draws by repetition. They are solved as
sequence-form programs (:mod:`klss.theory.equilibrium`); of the search only its batches of children are used.

*The loss of a mixture* at a turn: the game's value, less its value for a player that has to play that mixture there and
plays optimally everywhere else. An equilibrium strategy has no loss anywhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import chess
import numpy as np
import numpy.typing as npt

from darkchess.board.move import encode
from darkchess.board.position import Position
from darkchess.evaluation.evaluator import BuiltinEvaluator
from darkchess.fog.game.rules import PAPER
from darkchess.fog.players.model import DarkChess
from klss.errors import SolverError
from klss.search.model import Expansion
from klss.support.arrays import Floats, Ints
from klss.theory.equilibrium import solve
from klss.theory.game import Game, GameBuilder
from klss.theory.movers import TERMINAL
from klss.theory.sequence_form import SequenceForm, sequence_form

Leaves = Literal["draw", "evaluator"]

_SUM = 1.0 - 1e-13
"""Sum of a fixed mixture's probabilities, which are lower bounds in the program: by rounding, a sum above 1 could be
infeasible."""


@dataclass(frozen=True, eq=False)
class Bounded:
    """An enumerated game."""

    game: Game  # player 0 is the one whose mixture is judged
    # codes of the moves that were really played (``darkchess.board.move``) -> key of player 0's infoset
    knowledge: dict[tuple[int, ...], int]

    @cached_property
    def form(self) -> SequenceForm:
        """Its sequence form."""
        return sequence_form(self.game)

    @cached_property
    def value(self) -> float:
        """The game's value for player 0."""
        return _value(self.form)

    def turn(self, moves: list[chess.Move]) -> Turn:
        """Player 0's turn after ``moves`` from the start."""
        infoset = self.game.observations[0].index[self.knowledge[tuple(encode(move) for move in moves)]]
        return Turn(self, infoset)


@dataclass(frozen=True, eq=False)
class Turn:
    """A turn of player 0: an infoset at which it moves."""

    bounded: Bounded
    infoset: int

    @property
    def actions(self) -> tuple[int, ...]:
        """Ints of the moves."""
        return tuple(int(name) for name in self.bounded.game.observations[0].action_names[self.infoset])

    def value_of(self, mixture: Floats) -> float:
        """The game's value if player 0 plays ``mixture`` here: float64[n] in the order of :attr:`actions`, sum 1."""
        form = self.bounded.form
        treeplex = form.treeplexes[0]
        here = int(self.bounded.game.observations[0].treeplex_infoset[self.infoset])
        floor = np.zeros(treeplex.sequence_count)
        first = int(treeplex.first_sequence[here])
        floor[first : first + len(mixture)] = np.asarray(mixture) / float(np.sum(mixture)) * _SUM
        return _value(form, floor)

    def loss(self, mixture: Floats) -> float:
        """The loss of ``mixture`` here."""
        return max(0.0, self.bounded.value - self.value_of(mixture))

    def losses(self) -> Floats:
        """The loss of each single move: float64[n]."""
        return np.array([self.loss(row) for row in np.eye(len(self.actions))])


def _value(form: SequenceForm, floor: Floats | None = None) -> float:
    found = solve(form, x_floor=floor)
    if found.status != "optimal":
        raise SolverError(f"bounded game: {found.status}, gap {found.exploitability:.1e}; expected an optimum")
    return found.value


def bounded_game(start: Position, color: chess.Color, plies: int, leaves: Leaves = "draw") -> Bounded:
    """All games of at most ``plies`` plies from ``start``, seen from ``color``."""
    model = DarkChess(color, PAPER, BuiltinEvaluator())
    builder = GameBuilder()
    # One entry per history of the current ply: its state, its mover, both players' knowledge, its moves, its node in
    # the tree.
    states = model.states(start.row[None, :], 0)
    movers = model.movers(states)
    known = [np.zeros(1, dtype=np.int64)] * 2
    lines: list[tuple[int, ...]] = [()]
    nodes = [builder.add_decision(None, None, player=int(movers[0]), observations=(0, 0))]
    knowledge: dict[tuple[int, ...], int] = {(): 0}
    first_key = 1
    for ply in range(plies):
        found = model.expand(states)
        above = np.repeat(np.arange(len(states)), np.diff(found.offsets))
        keys = [_keys(found, player, movers[above], known[player][above], first_key) for player in (0, 1)]
        first_key += len(above)
        inner = (found.movers != TERMINAL) & (ply < plies - 1)
        # Undecided games after the last ply count by ``leaves``; finished ones have their value.
        values = np.where((found.movers != TERMINAL) & (leaves == "draw"), 0.0, found.values)
        added, below = [], []
        for i, action in enumerate(found.actions.tolist()):
            if not inner[i]:
                builder.add_terminal(nodes[above[i]], str(action), utility=float(values[i]))
                continue
            seen = int(keys[0][i]), int(keys[1][i])
            mover = int(found.movers[i])
            added.append(builder.add_decision(nodes[above[i]], str(action), player=mover, observations=seen))
            below.append((*lines[above[i]], action))
            knowledge[below[-1]] = seen[0]
        states, movers = found.states[inner], found.movers[inner]
        known = [each[inner] for each in keys]
        nodes, lines = added, below
        if not nodes:
            break
    return Bounded(builder.build(), knowledge)


def _keys(found: Expansion, player: int, movers: npt.NDArray[np.int8], known: Ints, first: int) -> Ints:
    """The knowledge of ``player`` after each child, as numbers from ``first`` on: equal if its knowledge before was
    equal, its action if it moved, and its observation now."""
    own = np.where(movers == player, found.actions, -1)
    seen = found.observations[:, player].view(np.int64)
    _, index = np.unique(np.stack([known, own.astype(np.int64), seen], axis=1), axis=0, return_inverse=True)
    keys: Ints = first + index.reshape(len(own))
    return keys
