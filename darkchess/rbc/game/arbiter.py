"""Runs one game between two players: hands each what she is told, asks for senses and requests, keeps the clocks.

Stands on the referee's side of the wall. Time is charged to the player whose turn it is, from the notice to the answer
to her request; what she does with the result of her move is not charged, as her clock has stopped then.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import chess

from darkchess.errors import IllegalMove
from darkchess.rbc.game.contest import Asked, Look, Player
from darkchess.rbc.game.referee import Referee, Turn
from klss.table.contest import Forfeit, OutOfTime, Resignation, TruthCount
from klss.table.limits import Limit, TimeControl, charged
from klss.table.outcome import Outcome

__all__ = ["Arbiter", "Played"]


@dataclass(frozen=True)
class Played:
    """A turn that was played.

    Attributes
    ----------
    ply
        Turns played, this one included.
    turn
        What was done and told.
    look, asked
        The player's answers and their diagnostics.
    sense_s, move_s
        Wall time that each took.
    """

    ply: int
    turn: Turn
    look: Look
    asked: Asked
    sense_s: float
    move_s: float


@dataclass
class Arbiter:
    """One game: the referee, the players, what limits them.

    Attributes
    ----------
    referee
        The true game; has not begun.
    players
        The player of each colour.
    controls
        What limits each of them: seconds or nodes for each of a turn's two questions, or a clock.
    on_turn
        Called after every turn that was played.
    truth
        Where to count lost truths; None (always, but in tests of a player) looks at nothing of hers.
    remaining_s
        Seconds left on each clock, for the colours that have one.
    """

    referee: Referee
    players: Mapping[chess.Color, Player]
    controls: Mapping[chess.Color, TimeControl]
    on_turn: Callable[[Played], None] | None = None
    truth: TruthCount | None = None
    remaining_s: dict[chess.Color, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for color, control in self.controls.items():
            if control.clock is not None:
                self.remaining_s.setdefault(color, control.clock[0])

    def play(self) -> None:
        """Play to the end of the game."""
        self.begin()
        while self.referee.outcome is None:
            self.play_turn()
        for color in chess.COLORS:
            self.players[color].end(self.referee.outcome)

    def begin(self) -> None:
        """Tell both players that a game begins."""
        for color in chess.COLORS:
            self.players[color].start(color, self.referee.positions[0])

    def play_turn(self) -> None:
        """Play one turn; who resigns, flags or forfeits ends the game instead."""
        referee = self.referee
        color = referee.turn
        player = self.players[color]
        begin = time.monotonic()
        try:
            player.notice(referee.notice)
            self._check_truth(color)
            look = player.choose_sense(self._limit(color, begin))
            sensed = referee.sense(look.square)
            middle = time.monotonic()
            player.sensed(sensed)
            self._check_truth(color)
            asked = player.choose_move(self._limit(color, begin))
            end = time.monotonic()
            if not charged(self.remaining_s, color, self.controls[color].clock, end - begin):
                referee.flag(color)
                return
            moved = referee.move(asked.request)
        except Resignation:
            referee.resign(color)
            return
        except OutOfTime:
            self.remaining_s[color] = 0.0
            referee.flag(color)
            return
        except (Forfeit, IllegalMove) as fault:
            if isinstance(fault, IllegalMove):
                player.trouble = str(fault)
            referee.end(Outcome(not color, "forfeit"))
            return
        player.moved(moved)
        self._check_truth(color)
        if self.on_turn is not None:
            self.on_turn(Played(referee.ply, referee.turns[-1], look, asked, middle - begin, end - middle))

    def _limit(self, color: chess.Color, begin: float) -> Limit:
        control = self.controls[color]
        clock = None
        if control.clock is not None:
            clock = (max(0.0, self.remaining_s[color] - (time.monotonic() - begin)), control.clock[1])
        return Limit(time_s=control.time_s, nodes=control.nodes, clock=clock)

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
        row = self.referee.position.row.copy()
        if not position_set.contains(row):
            self.truth.lost += 1
