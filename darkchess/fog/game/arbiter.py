"""Runs one game between two players: hands each her own views, asks for moves within limits, keeps the clocks.

Stands on the referee's side of the wall: it knows the true game and hands out views only.

Time is charged to the player who is to move, from the moment she is shown the last move. What a player does with the
view after her *own* move is not charged: her clock has stopped then.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import chess

from darkchess.fog.game.contest import Decision, Player
from darkchess.fog.game.referee import Referee
from klss.table.contest import Forfeit, OutOfTime, Resignation, TruthCount
from klss.table.limits import Limit, TimeControl, charged
from klss.table.outcome import Outcome

__all__ = ["Arbiter", "Played"]


@dataclass(frozen=True)
class Played:
    """One ply that was played.

    Attributes
    ----------
    ply
        Half-moves played, this one included.
    color
        Who moved.
    decision
        Her move and its diagnostics.
    seconds
        Wall time she took.
    """

    ply: int
    color: chess.Color
    decision: Decision
    seconds: float


@dataclass
class Arbiter:
    """One game: the referee, the players, what limits them.

    Attributes
    ----------
    referee
        The true game; may have been played on already.
    players
        The player of each colour.
    controls
        What limits each of them.
    on_ply
        Called after every move that was played.
    truth
        Where to count lost truths; None (always, but in tests of a player) looks at nothing of hers.
    remaining_s
        Seconds left on each clock, for the colours that have one.
    """

    referee: Referee
    players: Mapping[chess.Color, Player]
    controls: Mapping[chess.Color, TimeControl]
    on_ply: Callable[[Played], None] | None = None
    truth: TruthCount | None = None
    remaining_s: dict[chess.Color, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for color, control in self.controls.items():
            if control.clock is not None:
                self.remaining_s.setdefault(color, control.clock[0])
        self._shown = dict.fromkeys(chess.COLORS, 0)
        self._told_end = dict.fromkeys(chess.COLORS, False)

    def play(self) -> None:
        """Play to the end of the game."""
        self.begin()
        while self.referee.outcome is None:
            self.play_ply()
        for color in chess.COLORS:
            self._show(color)
            self._tell_end(color)

    def begin(self) -> None:
        """Tell both players that a game begins, and show them what was played before; that is on nobody's clock."""
        for color in chess.COLORS:
            self.players[color].start(self.referee.views(color)[0], self.referee.positions[0], self.referee.ruleset)
            self._shown[color] = 0
            self._show(color)

    def play_ply(self) -> None:
        """Ask the player to move for one move, and play it; who resigns, flags or forfeits ends the game instead."""
        color = self.referee.turn
        limit = self._limit(color)
        begin = time.monotonic()
        try:
            self._show(color)
            decision = self.players[color].choose(limit)
        except Resignation:
            self.referee.resign(color)
            return
        except OutOfTime:
            self.remaining_s[color] = 0.0
            self.referee.flag(color)
            return
        except Forfeit:
            self.referee.end(Outcome(not color, "forfeit"))
            return
        seconds = time.monotonic() - begin
        if not charged(self.remaining_s, color, self.controls[color].clock, seconds):
            self.referee.flag(color)
            return
        self._check_truth(color)
        self.referee.push(decision.move)
        self._show(color)
        self._check_truth(color)
        if self.on_ply is not None:
            self.on_ply(Played(self.referee.ply, color, decision, seconds))

    def _limit(self, color: chess.Color) -> Limit:
        control = self.controls[color]
        clock = None if control.clock is None else (self.remaining_s[color], control.clock[1])
        return Limit(time_s=control.time_s, nodes=control.nodes, clock=clock)

    def _show(self, color: chess.Color) -> None:
        """Show ``color`` what she has not seen yet."""
        views = self.referee.views(color)
        for view in views[self._shown[color] + 1 :]:
            self.players[color].observe(view)
            self._told_end[color] = view.game_over is not None
        self._shown[color] = len(views) - 1

    def _tell_end(self, color: chess.Color) -> None:
        """Tell ``color`` of an end that came with no ply."""
        if not self._told_end[color]:
            self._told_end[color] = True
            self.players[color].end(self.referee.view(color))

    def _check_truth(self, color: chess.Color) -> None:
        if self.truth is None or self.referee.outcome is not None:
            return
        position_set = self.players[color].position_set
        if position_set is None:
            return
        if position_set.capped_by is not None:
            self.truth.sampled += 1
            return
        self.truth.checks += 1
        if not position_set.contains(self.referee.position.row):
            self.truth.lost += 1
