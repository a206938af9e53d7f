"""Turns that nobody sees, so that all compiled code is there when a clock runs. Stands on the referee's side."""

from __future__ import annotations

import chess

from blindchess.belief.position_set import PositionSet
from blindchess.game.arbiter import Arbiter
from blindchess.game.contest import Player
from blindchess.game.referee import Referee
from blindchess.players.scripted import RandomPlayer
from darkchess.board.position_table import exercise_table
from darkchess.game.arbiter import TimeControl

__all__ = ["warm_up"]

_TURNS = 4
_NODES = 20


def warm_up(player: Player, color: chess.Color) -> None:
    """Let ``player`` begin a game that nobody sees; her next one starts afresh, as every game does."""
    players: dict[chess.Color, Player] = {color: player, not color: RandomPlayer()}
    scratch = Arbiter(Referee(), players, dict.fromkeys(chess.COLORS, TimeControl(nodes=_NODES)))
    scratch.begin()
    for _ in range(_TURNS):
        if scratch.referee.outcome is None:
            scratch.play_turn()
    known = PositionSet(color, scratch.referee.positions[0])
    exercise_table(known.halves)  # a table that grows or is cut: only some games have one
