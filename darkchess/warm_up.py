"""A game that nobody sees, so that all compiled code is there when a clock runs. Stands on the referee's side."""

from __future__ import annotations

import chess

from darkchess.belief.position_set import compile_rare_kernels
from darkchess.game.arbiter import Arbiter, TimeControl
from darkchess.game.contest import Player
from darkchess.game.referee import Referee
from darkchess.players.tracking import RandomPlayer

__all__ = ["warm_up"]

_WARM_UP_PLIES = 4
_WARM_UP_NODES = 100


def warm_up(player: Player, color: chess.Color) -> None:
    """Let ``player`` begin a game that nobody sees, so that all compiled code is there when a clock runs.

    Her next game starts afresh, as every game does.
    """
    few = TimeControl(nodes=_WARM_UP_NODES)
    players = {color: player, not color: RandomPlayer()}
    scratch = Arbiter(Referee(), players, dict.fromkeys(chess.COLORS, few))
    scratch.begin()
    for _ in range(_WARM_UP_PLIES):
        scratch.play_ply()
    compile_rare_kernels()
