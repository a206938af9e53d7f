"""A solved trunk read as a player reads an analysis: what each of her moves is worth, and the lines that she expects.

Values are player 0's expected utility û in [−1, 1], tanh(pawns/6), against the opponent's equilibrium plan y:

* of a move in the mix: the profile's, Σ chance·y·x/x(a)·value over the leaves below it, over the roots' Σ chance·y;
* of a move that x never plays there is no plan below it: the best that she could do after it against y.

The information penalty is left out, so that moves of one mix may differ a little. y is the opponent of the gadget: she
goes where x is weakest, which is not where an average opponent goes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import chess
import numpy as np
import numpy.typing as npt

from darkchess.board.move import decode
from darkchess.board.position import Position
from darkchess.game.san import san
from klss.arrays import Floats, Int32s, Ints
from klss.best_response import best_response
from klss.search.gadget import gadget_form
from klss.search.profile import SUPPORT, Profile, reach_of, strategy_at_root
from klss.search.trunk import Trunk

__all__ = ["Line", "LineMove", "RootValues", "principal_lines", "root_values"]


_LINE_PLIES = 12


class RootValues(NamedTuple):
    """Player 0's actions at her infoset (n of them): codes int32[n], probabilities float64[n], values float64[n] (nan
    where nothing is known).
    """

    actions: Int32s
    probabilities: Floats
    values: Floats


def _responses(trunk: Trunk, y: Floats) -> Floats:
    """What each of player 0's sequences is worth to her when she plays best after it, unnormalised: float64[S0]."""
    form = gadget_form(trunk, "maxmargin")
    return best_response(form.treeplexes[0], form.a @ y, maximize=True).sequence_value


def root_values(trunk: Trunk, profile: Profile) -> RootValues:
    """The strategy at player 0's infoset and what each action is worth (see the module).

    Roots that were never expanded say nothing of any action and are left out. The values are nan where player 1 goes
    to such roots only: the search was too short.
    """
    nodes, count = trunk.nodes, trunk.node_count
    first, size = int(trunk.infosets[0].first[0]), int(trunk.infosets[0].size[0])
    codes, probabilities = strategy_at_root(trunk, profile)
    reach = reach_of(1, trunk, profile.y)
    expanded = nodes.first_child[: trunk.root_count] >= 0
    total = float(reach[: trunk.root_count][expanded].sum())
    if total <= SUPPORT:
        return RootValues(codes, probabilities, np.full(size, np.nan))
    values = _responses(trunk, profile.y)[first : first + size] / total
    below = np.full(count, -1, dtype=np.int64)
    top = np.flatnonzero(nodes.depth[:count] == 1)
    below[top] = nodes.sequence[top, 0] - first
    trunk.spread_down(below)
    leaves = np.flatnonzero(trunk.leaf & (below >= 0))
    utility = reach[leaves] * profile.x[nodes.sequence[leaves, 0]] * nodes.value[leaves]
    expected = np.bincount(below[leaves], weights=utility, minlength=size)
    played = probabilities > 0.0
    values[played] = expected[played] / (profile.x[first : first + size][played] * total)
    return RootValues(codes, probabilities, values)


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
    trunk: Trunk, profile: Profile, codes: Sequence[int], fullmove: int, plies: int = _LINE_PLIES
) -> list[Line]:
    """A line for each of ``codes``, actions at player 0's infoset; none where player 1 reaches no expanded root.

    A line ends where more than half of the probability is on nodes that were not expanded, or are decided.
    """
    reach = reach_of(1, trunk, profile.y)
    responses = _responses(trunk, profile.y)
    lines = []
    for code in codes:
        moves: list[LineMove] = []
        front = np.flatnonzero((reach[: trunk.root_count] > 0.0) & (trunk.nodes.first_child[: trunk.root_count] >= 0))
        chosen = _own_choice(trunk, profile, responses, 0, code)
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
            chosen = _own_choice(trunk, profile, responses, infoset, None)
        if moves:
            lines.append(Line(tuple(moves)))
    return lines


def _own_choice(
    trunk: Trunk, profile: Profile, responses: Floats, infoset: int, code: int | None
) -> tuple[int, float | None] | None:
    """Player 0's action (``code``, or the likeliest) and its probability; None where she has no sequences."""
    first, size = int(trunk.infosets[0].first[infoset]), int(trunk.infosets[0].size[infoset])
    if first < 0:
        return None
    plan = profile.x[first : first + size]
    codes = trunk.sequences[0].action[first : first + size]
    reached = plan.sum() > SUPPORT
    place = int((plan if reached else responses[first : first + size]).argmax())
    if code is not None:
        place = int(np.flatnonzero(codes == code)[0])
    return int(codes[place]), float(plan[place] / plan.sum()) if reached else None


def _children(trunk: Trunk, front: npt.NDArray[Any]) -> Ints:
    """Children of the nodes ``front``, all expanded."""
    counts = trunk.nodes.child_count[front].astype(np.int64)
    ends = np.cumsum(counts)
    first = trunk.nodes.first_child[front].astype(np.int64)
    kids: Ints = np.repeat(first - ends + counts, counts)
    return kids + np.arange(len(kids))


def _going_on(trunk: Trunk, reach: Floats, front: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The expanded nodes of ``front`` that are reached; none where they hold less than half of its probability."""
    live: npt.NDArray[Any] = front[(trunk.nodes.first_child[front] >= 0) & (reach[front] > 0.0)]
    return live if 2.0 * reach[live].sum() >= reach[front].sum() else live[:0]


def _likeliest(trunk: Trunk, reach: Floats, replies: Ints) -> tuple[int, float, Ints]:
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
