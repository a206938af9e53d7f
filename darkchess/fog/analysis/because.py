"""Why a move costs something: the reply that punishes it, over the positions that its player considers possible.

This is on the player's side: nothing here knows a true game.

A reply *punishes* a move in a position if it leaves the mover worse by :data:`CLEAR` or more than the engine's own move
there, after the best reply to that. Values are those of the evaluator, after the reply. The reply that is told costs
the most in the mean, by the weights of the positions; since a loss of a piece is plainer than a worse position, a
capture counts as if it cost :data:`_PLAINER` times as much.
"""

from __future__ import annotations

from dataclasses import dataclass

import chess
import numpy as np

from darkchess.board.move import decode, encode
from darkchess.board.position import Position
from darkchess.fog.analysis.analyst import Analysis, Analyst
from darkchess.fog.analysis.principal_lines import Line, LineMove, piece_on, principal_lines
from darkchess.fog.game.san import san
from klss.theory.movers import TERMINAL

CLEAR = 0.1
"""Least difference in value by which a reply punishes a move; lower costs are not explained."""

_PLAINER = 3.0

_MOST_POSITIONS = 512
"""Most positions that are looked at; of a larger set as many are drawn, each with the same probability."""


@dataclass(frozen=True)
class Reason:
    """The reply that punishes a move, or the one that the engine expects where none does."""

    line: Line  # the move, the reply, and what the engine expects then
    takes: chess.PieceType | None  # what the reply captures
    count: int  # number of positions in which the reply can be played, and punishes
    positions: int  # number of positions looked at
    punishes: bool


def reason(move: chess.Move, analysis: Analysis, analyst: Analyst) -> Reason | None:
    """Return why ``move`` costs something; None if the search has a value for it and no reply.

    ``analyst`` made ``analysis``, and has seen no later view.
    """
    known, model, fullmove = analyst.position_set, analyst.model, analysis.view.fullmove
    rows = known.sample(_MOST_POSITIONS)
    weights = known.weights[known.indices(rows)]
    first = model.expand(model.states(rows, analyst.quiet))
    # What the engine's move leaves in each position, after the best reply to it.
    own = np.flatnonzero(first.actions == encode(analysis.moves[0].move))
    left, goes_on = first.values[own], first.movers[own] != TERMINAL
    answers = model.expand(first.states[own[goes_on]])
    left[goes_on] = np.minimum.reduceat(answers.values, answers.offsets[:-1])
    # All replies to the move: what each costs beside that, what plays it, and what it takes.
    after = first.states[first.actions == encode(move)]
    replies = model.expand(after)
    parents = np.repeat(np.arange(len(after)), np.diff(replies.offsets))
    codes, before = replies.actions.astype(np.int64), after[parents]
    cost = left[parents] - replies.values
    piece, taken = piece_on(before, codes >> 9), piece_on(before, codes >> 3 & 63)
    en_passant = (piece == 0) & (taken < 0) & ((codes >> 9) % 8 != (codes >> 3) % 8)
    taken[en_passant] = 0
    kinds = 8 * codes + piece
    punishing = np.flatnonzero(cost >= CLEAR)
    if len(punishing):
        _, group = np.unique(kinds[punishing], return_inverse=True)
        plain = np.where(taken[punishing] >= 0, _PLAINER, 1.0)
        total = np.bincount(group, weights=plain * (weights[parents] * cost)[punishing])
        same = punishing[group == int(total.argmax())]
        at = same[(weights[parents] * cost)[same].argmax()]
        reply, here = decode(int(codes[at])), Position(before[at, :9], fullmove + (not analysis.view.color))
        line = (
            LineMove(move, san(analysis.view, move), True, None, here),
            LineMove(reply, san(here, reply), False, None, here.after(reply)),
        )
        takes = int(taken[at]) + 1 if taken[at] >= 0 else None
        return Reason(line, takes, len(same), len(rows), True)
    for expected in principal_lines(analysis.trunk, analysis.profile, [encode(move)], fullmove):
        if len(expected) > 1:
            count = len(np.unique(parents[codes == encode(expected[1].move)]))
            return Reason(expected, None, count, len(rows), False)
    return None
