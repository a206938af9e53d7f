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
from klss.support.arrays import Floats, Ints

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


Line = tuple[LineMove, ...]
"""The line that the player expects after one of its moves: the opponent's likeliest reply over the roots of the trunk,
the player's answer to its likeliest observation of that, and so on.
"""


def principal_lines(
    trunk: Trunk, profile: Profile, codes: Sequence[int], fullmove: int, plies: int = _LINE_PLIES
) -> list[Line]:
    """Return a line for each of ``codes``, actions at player 0's infoset; none if player 1 reaches no expanded root.

    A line ends when more than half of the probability is on nodes that are not expanded, or are decided.
    """
    reach = reach_of(1, trunk, profile.y)
    best = responses(trunk, profile.y)
    lines = []
    for code in codes:
        moves: list[LineMove] = []
        # The nodes that the line has reached, all in one infoset of the player: at first, the roots.
        front = np.flatnonzero((reach[: trunk.root_count] > 0.0) & (trunk.nodes.first_child[: trunk.root_count] >= 0))
        chosen = _own_choice(trunk, profile, best, 0, code)
        while len(front) and chosen is not None and len(moves) < plies:
            # The player's move.
            moves.append(_line_move(trunk, reach, front, chosen[0], fullmove, True, chosen[1]))
            kids = _children(trunk, front)
            front = _going_on(trunk, reach, kids[trunk.nodes.action[kids] == chosen[0]])
            if not len(front):
                break
            # The opponent's likeliest reply, over all these nodes.
            replies = _children(trunk, front)
            reply, share, kids = _likeliest(trunk, reach, replies)
            if reply < 0:
                break
            moves.append(
                _line_move(trunk, reach, trunk.nodes.parent[kids].astype(np.int64), reply, fullmove, False, share)
            )
            # The player's likeliest observation of it, and its next choice there.
            seen = trunk.nodes.infoset[kids, 0]
            weights = np.bincount(seen, weights=reach[kids])
            infoset = int(weights.argmax())
            front = _going_on(trunk, reach, kids[seen == infoset])
            chosen = _own_choice(trunk, profile, best, infoset, None)
        if moves:
            lines.append(tuple(moves))
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
    trunk: Trunk, reach: Floats, front: Ints, code: int, fullmove: int, mine: bool, share: float | None
) -> LineMove:
    """Return the move ``code``, written in SAN at the node of ``front`` that is reached most."""
    node = int(front[reach[front].argmax()])
    depth = int(trunk.nodes.depth[node])
    position = Position(trunk.states[node, :9], fullmove + depth // 2)
    return LineMove(decode(code), san(position, decode(code)), mine, share)
