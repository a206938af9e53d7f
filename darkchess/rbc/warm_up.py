"""Short games that are thrown away, so that all compiled code is loaded before a clock runs. On the referee's side."""

from __future__ import annotations

import chess

from darkchess.board.position import START_FEN, Position
from darkchess.board.position_table import exercise_table
from darkchess.rbc.belief.position_set import PositionSet
from darkchess.rbc.game.contest import Answer
from darkchess.rbc.game.observation import Moved, Observation
from darkchess.rbc.game.referee import Referee
from darkchess.rbc.players.scripted import RandomPlayer
from klss.play.arbiter import Arbiter
from klss.play.contest import Player
from klss.play.limits import Limit

_TURNS = 4
_NODES = 20
_FEW_PIECES = "4k3/8/8/8/8/8/7r/R3K3 {} - - 0 1"
_DEEPER = 400
"""Nodes for each question in the position with few pieces: enough for a search below the children."""

_TAKES = Position.from_fen("4k3/8/8/8/8/8/4Q3/4K2R w K - 0 1")


def warm_up(player: Player[Position, Observation, Answer], color: chess.Color) -> None:
    """Let ``player`` begin games that are thrown away. Its next game starts afresh, as every game does."""
    players = {color: player, not color: RandomPlayer()}
    for fen, nodes, turns in ((START_FEN, _NODES, _TURNS), (_FEW_PIECES.format("w" if color else "b"), _DEEPER, 1)):
        scratch = Arbiter(Referee(fen), players, dict.fromkeys(chess.COLORS, Limit(nodes=nodes)))
        scratch.begin()
        for _ in range(turns):
            if scratch.referee.outcome is None:
                scratch.play_turn()
    # Code that only some games run: a table grows or is cut, a piece is lost, a king is captured.
    known = PositionSet(chess.WHITE, _TAKES)
    exercise_table(known.halves)
    known.own.lose(chess.H1)
    known.moved(Moved(chess.Move(chess.E2, chess.E8), chess.Move(chess.E2, chess.E8), chess.E8))
