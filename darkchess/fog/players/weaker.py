"""A weaker version of another player: fewer nodes a move, and sometimes a random move."""

from __future__ import annotations

import math
from dataclasses import replace

import chess
import numpy as np

from darkchess.board.position import Position
from darkchess.fog.belief.position_set import PositionSet
from darkchess.fog.game.contest import Player, king_capture
from darkchess.fog.game.rules import PAPER, Ruleset
from darkchess.fog.game.view import View
from darkchess.fog.players.tracking import TrackingPlayer
from klss.play.contest import Decision
from klss.play.limits import Limit, Progress
from klss.play.outcome import Outcome


class WeakerPlayer(Player):
    """Plays as ``player`` does, with at most ``max_nodes`` a move (then nothing reads a clock), but makes a random move
    with probability ``slips``, unless it can take the king.
    """

    def __init__(self, player: TrackingPlayer, *, max_nodes: float, slips: float, seed: int) -> None:
        self._player, self._max_nodes, self._slips, self._seed = player, max_nodes, slips, seed

    @property
    def position_set(self) -> PositionSet:
        return self._player.position_set

    def start(self, view: View, start: Position, ruleset: Ruleset = PAPER) -> None:
        self._player.start(view, start, ruleset)

    def observe(self, view: View) -> None:
        self._player.observe(view)

    def choose(self, limit: Limit, progress: Progress | None = None) -> Decision[chess.Move]:
        view = self._player.view
        rng = np.random.default_rng([self._seed, view.ply])
        if rng.random() < self._slips and king_capture(view) is None:
            return Decision(view.legal_moves[int(rng.integers(len(view.legal_moves)))], {})
        if math.isfinite(self._max_nodes):
            limit = replace(limit, nodes=int(min(self._max_nodes, limit.nodes or math.inf)))
        return self._player.choose(limit, progress)

    def end(self, outcome: Outcome) -> None:
        self._player.end(outcome)

    def close(self) -> None:
        self._player.close()
