"""Reconnaissance Blind Chess as people see it: the game, and the review of one that is over.

It is on the referee's side of the wall.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import chess

from darkchess.rbc.game.referee import Referee, Turn
from klss.play.arbiter import Played
from klss.play.kit import AnyReplay
from klss_app.front import ChessFront, Step
from klss_app.known.known import Picture
from klss_app.known.rbc import RbcKnown, move_letters, request_letters


class RbcBoard(ChessFront):
    """See :class:`klss_app.front.Front`."""

    known = RbcKnown
    opening = ("e5", "e2e4", "e4", "d7d5")

    def words(self, referee: Referee, played: Played[Any], name: str) -> str:
        return turn_text(referee.turns[played.ply - 1])

    def steps(self, referee: Referee) -> list[Step]:
        """See the base. What each side knew is that after its notice of the turn; the page also gets ``look``, the
        square looked at in the turn before, and ``ages`` for both sides."""
        known = {color: RbcKnown(color, referee.setup) for color in chess.COLORS}
        steps = []
        for ply, (turn, after) in enumerate(pairwise([None, *referee.turns, None])):
            look = move = letters = None
            words, marked = "start", tuple[int, ...]()
            if turn is not None:
                known[turn.color].observe(turn.sensed)
                known[turn.color].observe(turn.moved)
                taken = turn.moved.taken
                look = None if turn.sensed.square is None else chess.SQUARE_NAMES[turn.sensed.square]
                move = None if taken is None else taken.uci()
                marked = () if taken is None else (taken.from_square, taken.to_square)
                said = request_letters(turn.moved, turn.before.pieces)
                words, letters = turn_text(turn), said if look is None else f"{look}: {said}"
            if after is not None:  # a turn begins with the notice of the opponent's capture
                known[after.color].observe(after.notice)
            position = referee.positions[ply]
            pictures = {color: known[color].picture() for color in chess.COLORS}
            ages = {chess.COLOR_NAMES[color]: known[color].ages() for color in chess.COLORS}
            extra, truth = {"look": look, "ages": ages}, Picture(position.pieces, marked=marked)
            steps.append(Step(words, position.turn, position.fullmove, truth, pictures, move, letters, extra))
        return steps

    def moves(self, replay: AnyReplay) -> list[str | None]:
        return super().moves(replay)[1::2]


def turn_text(turn: Turn) -> str:
    """A turn in words: ``2. White looks at e5, asks for Nc3.``"""
    looked = "nowhere" if turn.sensed.square is None else f"at {chess.SQUARE_NAMES[turn.sensed.square]}"
    requested, taken = turn.moved.requested, turn.moved.taken
    asked = "passes" if requested is None else f"asks for {move_letters(requested, turn.before.pieces)}"
    if requested is not None and taken != requested:
        asked += ", nothing is played" if taken is None else f", plays {taken.uci()}"
    if turn.moved.capture_square is not None:
        asked += f", takes on {chess.SQUARE_NAMES[turn.moved.capture_square]}"
    number = f"{turn.before.fullmove}{'.' if turn.color else '...'}"
    return f"{number} {'White' if turn.color else 'Black'} looks {looked}, {asked}."
