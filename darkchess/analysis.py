"""What the engine thinks at one turn of a player, from her views alone: what she holds possible, her mixed strategy,
what each move is worth, and the lines that she expects.

Stands on the player's side of the wall: nothing here knows a true game. :mod:`darkchess.once_over` compares with it.

The search is the player's own (:class:`klss.search.Search`, or the baseline's, on her exact position set), with these
differences: it starts afresh at the ply in question, where in a game the trunk of the moves before would have been
carried on; and it is made where the player needs none (a king to take, a single move) as well, so that every move has a
value. A king that can be taken is taken all the same, as the player does: no search says so where the game is all but
won without it.

Values are player 0's expected utility û in [−1, 1], tanh(pawns/6), against the opponent's equilibrium plan y:

* of a move in the mix: the profile's, Σ chance·y·x/x(a)·value over the leaves below it, over the roots' Σ chance·y;
* of a move that x never plays there is no plan below it: the best that she could do after it against y.

The information penalty is left out, so that moves of one mix may differ a little. y is the opponent of the gadget: she
goes where x is weakest, which is not where an average opponent goes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import chess
import numpy as np
import numpy.typing as npt

from darkchess._kernels.marginals import count_men
from darkchess.errors import DarkchessError
from darkchess.evaluation import Evaluator
from darkchess.model import DarkChess, PositionBelief
from darkchess.move import decode, encode
from darkchess.player import Limit
from darkchess.position import Position
from darkchess.position_set import PositionSet
from darkchess.rules import PAPER, Ruleset
from darkchess.san import san
from darkchess.view import View
from klss._kernels.trunk import spread_down
from klss.best_response import best_response
from klss.search import Budget, Search, SearchConfiguration
from klss.search.expansion import SUPPORT
from klss.search.gadget import Equilibrium, gadget_form
from klss.search.trunk import Trunk

__all__ = [
    "Analysis", "AnalysisError", "Analyst", "Line", "LineMove", "Marginals", "MoveValue", "RootValues", "marginals",
    "principal_lines", "root_values",
]  # fmt: skip

Floats = npt.NDArray[np.float64]
Progress = Callable[[dict[str, float]], None]

_CHUNK = 1 << 16
_LINES = 3
_LINE_PLIES = 12


class AnalysisError(DarkchessError, ValueError):
    """An analysis was asked for where the player has no move to make; the message says what, got, expected."""


# ---------------------------------------------------------------- what she believes
@dataclass(frozen=True)
class Marginals:
    """For each square what stands there, over all positions that a player holds possible, each counted once.

    Attributes
    ----------
    color
        The player.
    size
        Number of positions.
    counts
        int64[64, 6]: in how many of them each enemy piece (pawn to king) stands on each square.
    own
        Her own men.
    """

    color: chess.Color
    size: int
    counts: npt.NDArray[np.int64]
    own: dict[int, chess.Piece]

    def at(self, square: int) -> dict[str, float]:
        """Probability of each man that may stand on ``square``, as FEN writes it, the likeliest first.

        What is left to 1 is the probability that the square is empty.
        """
        if square in self.own:
            return {self.own[square].symbol(): 1.0}
        order = sorted(range(6), key=lambda piece: (-int(self.counts[square, piece]), piece))
        return {
            chess.Piece(piece + 1, not self.color).symbol(): int(self.counts[square, piece]) / self.size
            for piece in order
            if self.counts[square, piece]
        }

    def enemy(self, square: int) -> float:
        """Probability that an enemy man stands on ``square``."""
        return int(self.counts[square].sum()) / self.size

    def by_square(self) -> dict[str, dict[str, float]]:
        """:meth:`at` by the square's name, a1 first; squares that are surely empty are left out."""
        found = {chess.SQUARE_NAMES[square]: self.at(square) for square in range(64)}
        return {name: men for name, men in found.items() if men}


def marginals(positions: PositionSet) -> Marginals:
    """Exact counts over all of ``positions``."""
    view = positions.view
    counts = np.zeros((64, 6), dtype=np.int64)
    for start in range(0, positions.size, _CHUNK):
        rows = positions.rows(np.arange(start, min(start + _CHUNK, positions.size)))
        count_men(rows, int(view.color == chess.WHITE), counts)
    own = {square: piece for square, piece in sorted(view.pieces.items()) if piece.color == view.color}
    return Marginals(view.color, positions.size, counts, own)


# ---------------------------------------------------------------- what moves are worth
class RootValues(NamedTuple):
    """Player 0's actions at her infoset (n of them): codes int32[n], probabilities float64[n], values float64[n] (nan
    where nothing is known).
    """

    actions: npt.NDArray[np.int32]
    probabilities: Floats
    values: Floats


def _reach(trunk: Trunk, y: Floats) -> Floats:
    """Nature's and player 1's part of the probability of each node: float64[N]."""
    count = trunk.node_count
    return np.asarray(trunk.nodes.chance[:count] * y[trunk.nodes.sequence[:count, 1]])


def _responses(trunk: Trunk, y: Floats) -> Floats:
    """What each of player 0's sequences is worth to her when she plays best after it, unnormalised: float64[S0]."""
    form = gadget_form(trunk, "maxmargin")
    return best_response(form.treeplexes[0], form.a @ y, maximize=True).sequence_value


def root_values(trunk: Trunk, equilibrium: Equilibrium) -> RootValues:
    """The strategy at player 0's infoset and what each action is worth (see the module).

    Roots that were never expanded say nothing of any action and are left out. The values are nan where player 1 goes
    to such roots only: the search was too short.
    """
    nodes, count = trunk.nodes, trunk.node_count
    first, size = int(trunk.infosets[0].first[0]), int(trunk.infosets[0].size[0])
    codes = trunk.sequences[0].action[first : first + size].copy()
    probabilities = equilibrium.x[first : first + size].copy()
    probabilities[probabilities <= SUPPORT] = 0.0
    probabilities /= probabilities.sum()
    reach = _reach(trunk, equilibrium.y)
    expanded = nodes.first_child[: trunk.root_count] >= 0
    total = float(reach[: trunk.root_count][expanded].sum())
    if total <= SUPPORT:
        return RootValues(codes, probabilities, np.full(size, np.nan))
    values = _responses(trunk, equilibrium.y)[first : first + size] / total
    below = np.full(count, -1, dtype=np.int64)
    top = np.flatnonzero(nodes.depth[:count] == 1)
    below[top] = nodes.sequence[top, 0] - first
    spread_down(nodes.parent, count, below)
    leaves = np.flatnonzero(trunk.leaf & (below >= 0))
    utility = reach[leaves] * equilibrium.x[nodes.sequence[leaves, 0]] * nodes.value[leaves]
    profile = np.bincount(below[leaves], weights=utility, minlength=size)
    played = probabilities > 0.0
    values[played] = profile[played] / (equilibrium.x[first : first + size][played] * total)
    return RootValues(codes, probabilities, values)


# ---------------------------------------------------------------- what she expects
@dataclass(frozen=True)
class LineMove:
    """One move of a line.

    Attributes
    ----------
    move
        The move.
    san
        In SAN.
    mine
        The player's own.
    probability
        Of an own move: in her plan. Of the opponent's: how often she makes this one, among all that the player holds
        possible after the moves before. None where the plans do not say.
    """

    move: chess.Move
    san: str
    mine: bool
    probability: float | None


@dataclass(frozen=True)
class Line:
    """What the player expects after one of her moves: the opponent's likeliest reply over the particles of her own
    trunk, what she would see of it, her own answer, and so on.
    """

    moves: tuple[LineMove, ...]


def principal_lines(
    trunk: Trunk, equilibrium: Equilibrium, codes: Sequence[int], fullmove: int, plies: int = _LINE_PLIES
) -> list[Line]:
    """A line for each of ``codes``, actions at player 0's infoset; none where player 1 reaches no expanded root.

    A line ends where more than half of the probability is on nodes that were not expanded, or are decided.
    """
    reach = _reach(trunk, equilibrium.y)
    responses = _responses(trunk, equilibrium.y)
    lines = []
    for code in codes:
        moves: list[LineMove] = []
        front = np.flatnonzero((reach[: trunk.root_count] > 0.0) & (trunk.nodes.first_child[: trunk.root_count] >= 0))
        chosen = _own_choice(trunk, equilibrium, responses, 0, code)
        while len(front) and chosen is not None and len(moves) < plies:
            moves.append(_line_move(trunk, reach, front, chosen[0], fullmove, True, chosen[1]))
            kids = _children(trunk, front)
            front = _going_on(trunk, reach, kids[trunk.nodes.action[kids] == chosen[0]])
            if not len(front):
                break
            replies = _children(trunk, front)
            reply, share, kids = _likeliest(trunk, reach, replies)
            if reply < 0:
                break
            moves.append(_line_move(trunk, reach, trunk.nodes.parent[kids], reply, fullmove, False, share))
            seen = trunk.nodes.infoset[kids, 0]
            weights = np.bincount(seen, weights=reach[kids])
            infoset = int(weights.argmax())
            front = _going_on(trunk, reach, kids[seen == infoset])
            chosen = _own_choice(trunk, equilibrium, responses, infoset, None)
        if moves:
            lines.append(Line(tuple(moves)))
    return lines


def _own_choice(
    trunk: Trunk, equilibrium: Equilibrium, responses: Floats, infoset: int, code: int | None
) -> tuple[int, float | None] | None:
    """Player 0's action (``code``, or the likeliest) and its probability; None where she has no sequences."""
    first, size = int(trunk.infosets[0].first[infoset]), int(trunk.infosets[0].size[infoset])
    if first < 0:
        return None
    plan = equilibrium.x[first : first + size]
    codes = trunk.sequences[0].action[first : first + size]
    reached = plan.sum() > SUPPORT
    place = int((plan if reached else responses[first : first + size]).argmax())
    if code is not None:
        place = int(np.flatnonzero(codes == code)[0])
    return int(codes[place]), float(plan[place] / plan.sum()) if reached else None


def _children(trunk: Trunk, front: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """Children of the nodes ``front``, all expanded."""
    counts = trunk.nodes.child_count[front].astype(np.int64)
    ends = np.cumsum(counts)
    first = trunk.nodes.first_child[front].astype(np.int64)
    kids: npt.NDArray[np.int64] = np.repeat(first - ends + counts, counts)
    return kids + np.arange(len(kids))


def _going_on(trunk: Trunk, reach: Floats, front: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The expanded nodes of ``front`` that are reached; none where they hold less than half of its probability."""
    live: npt.NDArray[Any] = front[(trunk.nodes.first_child[front] >= 0) & (reach[front] > 0.0)]
    return live if 2.0 * reach[live].sum() >= reach[front].sum() else live[:0]


def _likeliest(trunk: Trunk, reach: Floats, replies: npt.NDArray[np.int64]) -> tuple[int, float, npt.NDArray[np.int64]]:
    """Code of the likeliest reply (man and squares), its share, and the nodes that it leads to; −1 where none is."""
    origin = trunk.nodes.action[replies].astype(np.int64) >> 9
    before = trunk.states[trunk.nodes.parent[replies]]
    here = (before[:, :6] >> origin.astype(np.uint64)[:, None]) & np.uint64(1)
    identity = trunk.nodes.action[replies].astype(np.int64) * 8 + here.argmax(axis=1)
    kinds, group = np.unique(identity, return_inverse=True)
    weights = np.bincount(group, weights=reach[replies])
    total = float(weights.sum())
    if total <= 0.0:
        return -1, 0.0, replies[:0]
    best = int(weights.argmax())
    same = replies[group == best]
    return int(kinds[best]) >> 3, float(weights[best]) / total, same[reach[same] > 0.0]


def _line_move(
    trunk: Trunk, reach: Floats, front: npt.NDArray[Any], code: int, fullmove: int, mine: bool, share: float | None
) -> LineMove:
    """The move ``code`` as it is written where it is likeliest made."""
    node = int(front[reach[front].argmax()])
    depth = int(trunk.nodes.depth[node])
    position = Position(trunk.states[node, :9], fullmove + depth // 2)
    return LineMove(decode(code), san(position, decode(code)), mine, share)


# ---------------------------------------------------------------- the whole
@dataclass(frozen=True)
class MoveValue:
    """One of the player's moves: its probability in the mix, and its value (None: the search was too short)."""

    move: chess.Move
    san: str
    probability: float
    value: float | None


@dataclass(frozen=True)
class Analysis:
    """What the engine thinks at one turn.

    Attributes
    ----------
    view
        What the player sees there.
    positions
        How many positions she holds possible.
    capped_by
        None where they are all that agree with her views; else why they are a sample.
    marginals
        What stands where in them.
    value
        What the profile is worth to her; None where the search was too short to say.
    moves
        All her moves, the most played first, then the most valuable.
    lines
        What she expects after the first of them.
    diagnostics
        The search's, as in the engine protocol.
    trunk, equilibrium
        What all this was read from.
    """

    view: View
    positions: int
    capped_by: Literal["cap", "time"] | None
    marginals: Marginals
    value: float | None
    moves: tuple[MoveValue, ...]
    lines: tuple[Line, ...]
    diagnostics: dict[str, Any]
    trunk: Trunk
    equilibrium: Equilibrium

    @property
    def mix_value(self) -> float | None:
        """Value of the mixed strategy: the mean of the moves' values."""
        played = [(move.probability, move.value) for move in self.moves if move.probability > 0.0]
        return _sum(played)

    def loss(self, move: chess.Move) -> float | None:
        """How much less ``move`` is worth than the mixed strategy; None where the search was too short to say."""
        mix = self.mix_value
        value = next((found.value for found in self.moves if found.move == move), None)
        return None if mix is None or value is None else mix - value


def _sum(played: list[tuple[float, float | None]]) -> float | None:
    total = 0.0
    for probability, value in played:
        if value is None:
            return None
        total += probability * value
    return total


class Analyst:
    """Follows one player's views through a game and thinks where it is asked to.

    Parameters
    ----------
    view, start, ruleset
        As a player gets them at the start (:class:`darkchess.player.Player`).
    evaluator
        Values positions.
    configuration
        The search's choices; ``nested`` has no effect, every search starts afresh.
    seed, cap, threads, search
        As of :class:`darkchess.player.KlssPlayer`.
    """

    def __init__(
        self,
        view: View,
        start: Position,
        ruleset: Ruleset = PAPER,
        *,
        evaluator: Evaluator,
        configuration: SearchConfiguration | None = None,
        seed: int = 0,
        cap: int = 10_000_000,
        threads: int = 1,
        search: type[Search] = Search,
    ) -> None:
        self._configuration = configuration or SearchConfiguration()
        self._search = search
        self._evaluator = evaluator
        self._seed = seed
        self._model = DarkChess(view.color, ruleset, evaluator)
        self._views = [view]
        self._quiet = 0
        self.position_set = PositionSet(view, start, cap=cap, seed=seed, threads=threads)
        evaluator.new_game()

    @property
    def view(self) -> View:
        """The last view."""
        return self._views[-1]

    def observe(self, view: View) -> None:
        """Take in what is seen after a ply. The position set is brought up to date without a deadline."""
        self.position_set.observe(view)
        self._quiet = 0 if _is_loud(self.view, view) else self._quiet + 1
        self._views.append(view)

    def think(self, limit: Limit, *, particles: int | None = None, progress: Progress | None = None) -> Analysis:
        """What the engine thinks now; it has to be the player's turn.

        Parameters
        ----------
        limit
            Of the search alone; the position set is there already.
        particles
            Take at most so many, where the configuration takes more.
        progress
            As in :meth:`darkchess.player.Player.choose`.

        Raises
        ------
        AnalysisError
            The player has no move to make here.
        """
        view = self.view
        if view.to_move != view.color or view.game_over is not None or not view.legal_moves:
            raise AnalysisError(
                f"analysis: got ply {view.ply}, where {chess.COLOR_NAMES[view.color]} has no move to make; expected a "
                "turn of hers"
            )
        configuration = self._configuration
        if particles is not None:
            configuration = replace(configuration, particles=min(particles, configuration.particles))
        search = self._search(self._model, configuration, seed=self._seed)
        seconds = limit.seconds()
        budget = Budget(nodes=limit.nodes, seconds=seconds)
        self._evaluator.deadline = None if budget.started is None or seconds is None else budget.started + seconds
        history = np.array([int(each.key()) for each in self._views], dtype=np.uint64)
        belief = PositionBelief(self.position_set, self._model, self._quiet)
        result = search.search(belief, budget, history=history, progress=progress)
        self._evaluator.deadline = None
        trunk, equilibrium = search.trunk, search.equilibrium
        assert trunk is not None and equilibrium is not None
        found = root_values(trunk, equilibrium)
        value = float(result.diagnostics["value"])
        taking = _king_capture(view)
        if taking is not None:
            taken = found.actions == encode(taking)
            found = RootValues(found.actions, taken.astype(np.float64), np.where(taken, 1.0, found.values))
            value = 1.0
        moves = sorted(
            (
                MoveValue(decode(code), san(view, decode(code)), probability, None if math.isnan(value) else value)
                for code, probability, value in zip(*(part.tolist() for part in found), strict=True)
            ),
            key=lambda each: (-each.probability, -(each.value or 0.0), encode(each.move)),
        )
        shown = [encode(move.move) for move in moves[:_LINES] if move.probability > 0.0]
        lines = principal_lines(trunk, equilibrium, shown, view.fullmove)
        if taking is not None:
            lines = [Line((LineMove(taking, san(view, taking), True, 1.0),))]
        return Analysis(
            view=view,
            positions=self.position_set.size,
            capped_by=self.position_set.capped_by,
            marginals=marginals(self.position_set),
            value=value if math.isfinite(value) else None,
            moves=tuple(moves),
            lines=tuple(lines),
            diagnostics=result.diagnostics,
            trunk=trunk,
            equilibrium=equilibrium,
        )


def _is_loud(before: View, view: View) -> bool:
    """Whether the player observed a pawn move or a capture on the way from ``before`` to ``view``."""
    if view.own_move is None:
        return view.own_capture_square is not None
    mover, target = before.piece_at(view.own_move.from_square), before.piece_at(view.own_move.to_square)
    return (mover is not None and mover.piece_type == chess.PAWN) or (target is not None and target.color != view.color)


def _king_capture(view: View) -> chess.Move | None:
    """The move that takes the enemy king, which is always seen when it can be taken."""
    king = chess.Piece(chess.KING, not view.color)
    return next((move for move in view.legal_moves if view.piece_at(move.to_square) == king), None)
