"""A short game that is thrown away, so that all compiled code is loaded before a clock runs. On the referee's side."""

from __future__ import annotations

import chess

from darkchess.fog.belief.filter import SECONDS, Filter
from darkchess.fog.belief.position_set import PositionSet, compile_rare_kernels
from darkchess.fog.game.contest import Setup
from darkchess.fog.game.referee import Referee
from darkchess.fog.game.view import View
from darkchess.fog.players.tracking import RandomPlayer
from klss.play.arbiter import Arbiter
from klss.play.contest import Player
from klss.play.limits import Limit

_WARM_UP_PLIES = 6
"""Three moves of each side: at the second one or the third, a search carries its trunk on."""

_WARM_UP_NODES = 100
"""Nodes of each move: enough for a batch of leaves."""


def warm_up(player: Player[Setup, View, chess.Move], color: chess.Color) -> None:
    """Let ``player`` play the first plies of a game that is thrown away. Its next game starts afresh, as all do."""
    few = Limit(nodes=_WARM_UP_NODES)
    players = {color: player, not color: RandomPlayer()}
    scratch = Arbiter(Referee(), players, dict.fromkeys(chess.COLORS, few))
    scratch.begin()
    for _ in range(_WARM_UP_PLIES):
        scratch.play_turn()
    compile_rare_kernels()
    followed = player.position_set
    if isinstance(followed, PositionSet) and followed.weigher is not None:
        _at_every_level(followed.weigher)


def _at_every_level(weigher: Filter) -> None:
    """Update weights at each level of a filter, and look positions up: a game may need any level, depending on its sets
    and its clock.
    """
    for seconds in SECONDS.values():
        game = Referee()
        known = PositionSet(game.view(chess.BLACK), game.position, weigher=weigher)
        game.push(game.legal_moves()[0])
        known.observe(game.view(chess.BLACK), allowance=seconds)
        rows = known.rows(0)
        known.indices(rows)
        known.contains(rows[0])
