"""Dark chess as :mod:`klss.search` sees it: positions in batches, children with both players' observations, values; and
a position set as a belief.

Deviations from the paper: a position whose side to move can capture the king is not searched further. In every position
of its infoset, that side sees the king (an enemy piece that can be captured is always seen), and no move is better than
to capture it: so the value is exact.
"""

from __future__ import annotations

import chess
import numpy as np

from darkchess.board.kernels.attacks import in_check
from darkchess.board.kernels.board import IDENTITY, META, WIDTH
from darkchess.board.kernels.moves import MAX_MOVES, count_moves
from darkchess.board.kernels.tables import TABLES
from darkchess.evaluation.evaluator import Evaluator
from darkchess.fog.belief.position_set import PositionSet
from darkchess.fog.game.rules import Ruleset
from darkchess.fog.players._kernels.children import STATE_WIDTH, children, finish
from klss.search import Budget, Expansion, Past
from klss.search.model import Drawn, Model
from klss.support.arrays import Bools, Floats, Int8s, Int32s, Ints, States

_UNKNOWN = np.empty(0, dtype=np.int64)

_INFORMATION_SAMPLE = 2000
"""Most positions over which the entropy of the next observation is estimated; a sample of larger sets."""


class DarkChess(Model):
    """The game as one player, the searcher, sees it.

    Parameters
    ----------
    color : chess.Color
        The searcher's.
    ruleset : Ruleset
    evaluator : Evaluator

    Attributes
    ----------
    deadline : float or None
        The deadline of the present answer, which evaluators get. The owner of the model sets it before each search.
    """

    state_width = STATE_WIDTH
    deadline: float | None = None

    def __init__(self, color: chess.Color, ruleset: Ruleset, evaluator: Evaluator) -> None:
        self._side = 0 if color == chess.WHITE else 1
        self._no_move_value = -1.0 if ruleset.no_move == "loss" else 0.0
        self._evaluator = evaluator

    def states(self, rows: States, quiet: int) -> States:
        """Return the search states (uint64[n, 10]) of positions (uint64[n, 9]) that are ``quiet`` plies after the last
        pawn move or capture that the searcher observed.
        """
        out = np.empty((len(rows), STATE_WIDTH), dtype=np.uint64)
        out[:, :WIDTH] = rows
        out[:, WIDTH] = quiet
        return out

    def expand(self, states: States, past: Past | None = None) -> Expansion:
        """See :class:`klss.search.Model`. A child is worth at most 0 if, as far as the searcher knows, the game could
        be drawn there by repetition or by fifty quiet moves.
        """
        # Count the children of each state, and allocate their arrays.
        offsets, kept = np.empty((2, len(states) + 1), dtype=np.int64)
        count_moves(states, TABLES, offsets)
        count = int(offsets[-1])
        out = np.empty((count, STATE_WIDTH), dtype=np.uint64)
        rows = np.empty((count, WIDTH), dtype=np.uint64)
        actions = np.empty(count, dtype=np.int32)
        movers = np.empty(count, dtype=np.int8)
        observations = np.empty((count, 2), dtype=np.uint64)
        values, interest, ceilings = np.empty((3, count), dtype=np.float64)
        forcing = np.empty(count, dtype=np.bool_)
        # Write the children, both players' observations, and exact values where the game is over. ``rows`` gets the
        # other children, state by state (``kept``), in the form that evaluators take.
        children(
            states, self._side, self._no_move_value, TABLES, offsets, out, actions, movers, observations, values,
            forcing, rows, kept, np.empty(MAX_MOVES, dtype=np.int32),
        )  # fmt: skip
        theirs = self._evaluator.child_values(
            np.ascontiguousarray(states[:, :WIDTH]), kept, rows[: kept[-1]], deadline=self.deadline
        )
        # Turn these values into the searcher's, and set the ceilings of children that may be draws.
        times = past.times(offsets, observations[:, 0]) if past is not None else _UNKNOWN
        finish(states, self._side, offsets, out, movers, theirs, times, values, forcing, interest, ceilings)
        return Expansion(
            offsets=offsets,
            states=out,
            actions=actions,
            movers=movers,
            probabilities=np.ones(count),
            observations=observations,
            values=values,
            interest=interest,
            ceilings=ceilings,
        )

    def deepened(
        self, parents: States, offsets: Ints, children: States, depth: int, budget: Budget
    ) -> tuple[Floats | None, int]:
        """See :class:`klss.search.expansion.deepening.DeepeningModel`: the evaluator's perfect-information search."""
        rows, child_rows = np.ascontiguousarray(parents[:, :WIDTH]), np.ascontiguousarray(children[:, :WIDTH])
        theirs, visited = self._evaluator.search_values(
            rows, offsets, child_rows, depth, budget, self._no_move_value, deadline=self.deadline
        )
        if theirs is None:
            return None, visited
        return np.where(self.movers(children) == 0, theirs, -theirs), visited

    def movers(self, states: States) -> Int8s:
        theirs: Int8s = ((states[:, META] & np.uint64(1)) != np.uint64(self._side)).astype(np.int8)
        return theirs

    def values(self, states: States) -> Floats:
        # Evaluators give values for the side to move; the search needs the searcher's.
        values = self._evaluator.values(np.ascontiguousarray(states[:, :WIDTH]), deadline=self.deadline)
        return np.where(self.movers(states) == 0, values, -values)

    def threats(self, states: States) -> Bools:
        """Return for each position whether the opponent attacks the player's king."""
        out = np.empty(len(states), dtype=np.bool_)
        in_check(states, self._side, TABLES, out)
        return out

    def identities(self, states: States) -> States:
        """Return the positions without counters: equal rows are transpositions, except for draws (B.1)."""
        rows = states[:, :WIDTH].copy()
        rows[:, META] &= IDENTITY
        return rows


_LEAST_WEIGHT = 1e-300
"""Smallest weight that is counted, so that the logarithm exists."""


class PositionBelief:
    """A position set as the search's belief."""

    def __init__(self, positions: PositionSet, model: DarkChess, quiet: int, weighted: bool = False) -> None:
        """``quiet``: plies since the player's last pawn move, capture or loss; ``weighted``: whether to use the weights
        of the set's weigher, which it then has; else all positions weigh the same.
        """
        self.weighted = weighted
        self._positions = positions
        self._model = model
        self._quiet = quiet

    @property
    def size(self) -> int:
        return self._positions.size

    @property
    def capped_by(self) -> str | None:
        return self._positions.capped_by

    def sample(self, count: int, exclude: States, seed: int) -> States:
        rows = self._positions.sample(
            count, seed, exclude_rows=self._model.identities(exclude) if len(exclude) else None
        )
        return self._model.states(rows, self._quiet)

    def draw(self, count: int, exclude: States, seed: int, uniform_mix: float) -> Drawn:
        excluded = self._model.identities(exclude) if len(exclude) else None
        rows, inclusion = self._positions.draw(count, seed, excluded, uniform_mix=uniform_mix)
        return Drawn(self._model.states(rows, self._quiet), inclusion)

    def log_weights(self, states: States) -> Floats:
        """See :class:`klss.search.Belief`. States that are no members get the mean weight of those that are: a trunk
        may have positions that a sample has lost.
        """
        out = np.zeros(len(states))
        if not self.weighted:
            return out
        indices = self._positions.indices(self._model.identities(states))
        members = indices >= 0
        out[members] = np.log(np.maximum(self._positions.weights[indices[members]], _LEAST_WEIGHT))
        # The mean weight, as a logarithm; with the largest one taken out, the sum can't underflow.
        if members.any() and not members.all():
            out[~members] = np.log(np.exp(out[members] - out.max()).mean()) + out.max()
        return out

    def information(self, actions: Int32s) -> Floats:
        return self._positions.information(actions, _INFORMATION_SAMPLE)
