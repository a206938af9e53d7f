"""The lines that a player expects, read from a solved trunk.

The opponent's plan is the equilibrium's y, that of the opponent in the gadget game: it plays against the weaknesses of
x, which an average opponent does not do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import chess
import numpy as np

from darkchess.board.move import decode
from darkchess.board.position import Position
from darkchess.fog.game.san import san
from klss.search.profile import SUPPORT, Profile, reach_of
from klss.search.root_values import responses
from klss.search.trunk import Trunk
from klss.support.arrays import Floats, Ints, States

_LINE_PLIES = 12
"""Most plies of a line; few trunks are so deep where the plans still say what is played."""


@dataclass(frozen=True)
class LineMove:
    """One move of a line."""

    move: chess.Move
    san: str
    mine: bool  # whether it is the player's own
    # for an own move, its probability in the player's plan; for the opponent's, its share over all positions that are
    # possible for the player after the moves before; None if the plans do not say
    probability: float | None
    after: Position  # the same possible position after each move


Line = tuple[LineMove, ...]
"""The line that the player expects after one of its moves: the opponent's likeliest reply over the roots of the trunk,
the player's answer to its likeliest observation of that, and so on.
"""


def principal_lines(trunk: Trunk, profile: Profile, codes: Sequence[int], fullmove: int) -> list[Line]:
    """Return a line for each of ``codes``, actions at player 0's infoset; none if player 1 reaches no expanded root.

    A line ends when more than half of the probability is on nodes that are not expanded, or are decided.
    """
    reach = reach_of(1, trunk, profile.y)
    best = responses(trunk, profile.y)
    lines = []
    for code in codes:
        shares: list[float | None] = []
        # The nodes that the line has reached, all in one infoset of the player: at first, the roots.
        front = np.flatnonzero((reach[: trunk.root_count] > 0.0) & (trunk.nodes.first_child[: trunk.root_count] >= 0))
        chosen = _own_choice(trunk, profile, best, 0, code)
        last = front
        while len(front) and chosen is not None and len(shares) < _LINE_PLIES:
            # The player's move.
            shares.append(chosen[1])
            kids = _children(trunk, front)
            last = kids[trunk.nodes.action[kids] == chosen[0]]
            front = _going_on(trunk, reach, last)
            if not len(front):
                break
            # The opponent's likeliest reply, over all these nodes.
            replies = _children(trunk, front)
            reply, share, kids = _likeliest(trunk, reach, replies)
            if reply < 0:
                break
            shares.append(share)
            last = kids
            # The player's likeliest observation of it, and its next choice there.
            seen = trunk.nodes.infoset[kids, 0]
            weights = np.bincount(seen, weights=reach[kids])
            infoset = int(weights.argmax())
            front = _going_on(trunk, reach, kids[seen == infoset])
            chosen = _own_choice(trunk, profile, best, infoset, None)
        if shares:
            lines.append(_line(trunk, int(last[reach[last].argmax()]), shares, fullmove))
    return lines


def _own_choice(
    trunk: Trunk, profile: Profile, best: Floats, infoset: int, code: int | None
) -> tuple[int, float | None] | None:
    """Return player 0's action (``code``, or the likeliest) and its probability; None if it has no sequences there."""
    first, size = int(trunk.infosets[0].first[infoset]), int(trunk.infosets[0].size[infoset])
    if first < 0:
        return None
    plan = profile.x[first : first + size]
    codes = trunk.sequences[0].action[first : first + size]
    # Where the plan does not lead, the best response to the opponent says what the player would play.
    reached = plan.sum() > SUPPORT
    place = int((plan if reached else best[first : first + size]).argmax())
    if code is not None:
        place = int(np.flatnonzero(codes == code)[0])
    return int(codes[place]), float(plan[place] / plan.sum()) if reached else None


def _children(trunk: Trunk, front: Ints) -> Ints:
    """Return the children of the nodes ``front``, all expanded."""
    counts = trunk.nodes.child_count[front].astype(np.int64)
    ends = np.cumsum(counts)
    first = trunk.nodes.first_child[front].astype(np.int64)
    kids: Ints = np.repeat(first - ends + counts, counts)
    return kids + np.arange(len(kids))


def _going_on(trunk: Trunk, reach: Floats, front: Ints) -> Ints:
    """Return the expanded nodes of ``front`` that are reached; none if they have less than half of its probability."""
    live: Ints = front[(trunk.nodes.first_child[front] >= 0) & (reach[front] > 0.0)]
    return live if 2.0 * reach[live].sum() >= reach[front].sum() else live[:0]


def _likeliest(trunk: Trunk, reach: Floats, replies: Ints) -> tuple[int, float, Ints]:
    """Return the code of the likeliest reply, its share, and the nodes that it leads to; −1 if none is reached. Replies
    are the same if the piece and its squares are.
    """
    codes = trunk.nodes.action[replies].astype(np.int64)
    identity = codes * 8 + piece_on(trunk.states[trunk.nodes.parent[replies]], codes >> 9)
    kinds, group = np.unique(identity, return_inverse=True)
    weights = np.bincount(group, weights=reach[replies])
    total = float(weights.sum())
    if total <= 0.0:
        return -1, 0.0, replies[:0]
    best = int(weights.argmax())
    same = replies[group == best]
    return int(kinds[best]) >> 3, float(weights[best]) / total, same[reach[same] > 0.0]


def piece_on(states: States, squares: Ints) -> Ints:
    """Return the kind of the piece on a square of each state, from 0 (pawn) to 5 (king); −1 where there is none:
    int64[n].
    """
    here = (states[:, :6] >> squares.astype(np.uint64)[:, None]) & np.uint64(1)
    kinds: Ints = np.where(here.any(axis=1), here.argmax(axis=1), -1)
    return kinds


def _line(trunk: Trunk, node: int, shares: Sequence[float | None], fullmove: int) -> Line:
    """Return the moves from a root to ``node``, with their shares."""
    moves: list[LineMove] = []
    for ply in reversed(range(len(shares))):
        parent, move = int(trunk.nodes.parent[node]), decode(int(trunk.nodes.action[node]))
        before = Position(trunk.states[parent, :9], fullmove + ply // 2)
        after = Position(trunk.states[node, :9], fullmove + (ply + 1) // 2)
        moves.append(LineMove(move, san(before, move), ply % 2 == 0, shares[ply], after))
        node = parent
    return tuple(reversed(moves))
