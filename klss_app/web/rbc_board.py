"""Reconnaissance Blind Chess at the board in the browser: the game, and the review of one that is over.

It is on the referee's side of the wall.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import chess

from darkchess.board import fen
from darkchess.errors import DarkchessError
from darkchess.rbc.game.contest import DEFAULT_PLAYER
from darkchess.rbc.game.history import replayed
from darkchess.rbc.game.referee import Referee, Turn
from klss.play.outcome import Outcome
from klss.support.text import printable
from klss_app.rbc_spoken import request_letters
from klss_app.web.board_game import MOST_PLIES, BadGame, BoardGame, Reviewed, Settings
from klss_app.web.rbc_seat import Knowledge, RbcHuman
from klss_app.web.seats import Inbox, over_document
from uci_bridge.kits.rbc import RBC


@dataclass(frozen=True)
class _Game:
    """A game as its reviews read it."""

    referee: Referee
    outcome: Outcome | None


class RbcBoard(BoardGame):
    """See :class:`klss_app.web.board_game.BoardGame`."""

    kit = RBC
    opening = ("e5", "e2e4", "e4", "d7d5")
    analysis = "klss_app.web.rbc_analysis"

    def human(self, inbox: Inbox, show: Callable[[dict[str, Any]], None], earlier: int) -> RbcHuman:
        """See the base."""
        return RbcHuman(inbox, show, earlier)

    def kept(self, referee: Referee, settings: Settings, headers: Mapping[str, str], *, left: bool) -> Reviewed:
        """See the base."""
        names = headers["White"], headers["Black"]
        game = _Game(referee, None if left else referee.outcome)
        return Reviewed(game, RBC.record(referee, headers), len(referee.turns), names)

    def opened(self, text: str, settings: Settings) -> Reviewed:
        """See the base: the JSON of reconchess."""
        return opened(text)

    def review(self, reviewed: Reviewed) -> dict[str, Any]:
        """See the base. Each ply also has ``look``, the square looked at in the turn before it, and ``ages`` for both
        sides (:meth:`klss_app.web.rbc_seat.Knowledge.ages`)."""
        game: _Game = reviewed.game
        positions, turns = game.referee.positions, game.referee.turns
        known = {color: Knowledge(color, positions[0]) for color in chess.COLORS}
        plies: list[dict[str, Any]] = []
        for ply, position in enumerate(positions):
            turn = None if ply == 0 else turns[ply - 1]
            if turn is not None:
                known[turn.color].sensed(turn.sensed)
                known[turn.color].moved(turn.moved)
            if ply < len(turns):  # a turn begins with the notice of the opponent's capture
                known[turns[ply].color].notice(turns[ply].notice)
            boards = {chess.COLOR_NAMES[color]: known[color].board() for color in chess.COLORS}
            ages = {chess.COLOR_NAMES[color]: known[color].ages() for color in chess.COLORS}
            at = {"ages": ages, "turn": chess.COLOR_NAMES[position.turn], "number": position.fullmove}
            plies.append(_turn_document(turn) | at | {"truth": fen.board_text(position.pieces, 0)} | boards)
        tags = dict(zip(("White", "Black"), reviewed.names, strict=True))
        return {"tags": tags, "over": over_document(game.outcome), "plies": plies}

    def request(self, reviewed: Reviewed, settings: Settings) -> dict[str, Any]:
        """See the base."""
        return {"history": reviewed.text, "configuration": DEFAULT_PLAYER}


def opened(text: str) -> Reviewed:
    """The game of a history; raises :class:`BadGame`."""
    try:
        referee = replayed(text)
    except DarkchessError as error:
        raise BadGame(printable(str(error), 300)) from None
    if not 0 < len(referee.turns) <= MOST_PLIES:
        raise BadGame(f"got a history of {len(referee.turns)} turns, expected 1 to {MOST_PLIES}")
    document = json.loads(text)
    white, black = (printable(str(document.get(f"{side}_name", "?")), 80) for side in ("white", "black"))
    return Reviewed(_Game(referee, referee.outcome), text, len(referee.turns), (white, black))


def _turn_document(turn: Turn | None) -> dict[str, Any]:
    """The turn that led to a ply; all None at the start."""
    if turn is None:
        return {"move": None, "san": None, "look": None}
    look = None if turn.sensed.square is None else chess.SQUARE_NAMES[turn.sensed.square]
    taken = None if turn.moved.taken is None else turn.moved.taken.uci()
    letters = request_letters(turn.moved, turn.before.pieces)
    return {"move": taken, "san": letters if look is None else f"{look}: {letters}", "look": look}
