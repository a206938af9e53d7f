"""Runs one game between two players: gives each its own observations, asks them within limits, keeps the clocks.

The arbiter is on the referee's side: it has access to the true game, and passes only observations on to the players.

A turn lasts until the other seat is asked, or the game is over; it may have several plies where a refused move is tried
again. The player's clock runs from the moment at which its turn begins, before it gets its last observations, to its
last answer of the turn. What the player does with the result of that answer is not charged. The clock is settled, with
one increment, only at the end of the turn, so that it tells nobody how often a move was refused. The first turn of the
game can be free for some seats.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeAlias

from klss.play.contest import (
    Answer,
    Decision,
    Forfeit,
    Observation,
    OutOfTime,
    Player,
    Referee,
    Resignation,
    Setup,
    TruthCount,
)
from klss.play.limits import Limit
from klss.play.outcome import Outcome, Seat

SEATS = (True, False)


@dataclass(frozen=True)
class Answered(Generic[Answer]):
    """A question, the decision of the player asked, and the wall time that it took, in seconds."""

    question: str
    decision: Decision[Answer]
    seconds: float


@dataclass(frozen=True)
class Played(Generic[Answer]):
    """A ply that was played."""

    ply: int  # number of plies played, this one included
    seat: Seat  # the seat that had the turn
    answers: tuple[Answered[Answer], ...]  # the ply's questions and answers, in order

    @property
    def decision(self) -> Decision[Answer]:
        """The ply's last decision."""
        return self.answers[-1].decision

    @property
    def seconds(self) -> float:
        """Wall time of all answers."""
        return sum(each.seconds for each in self.answers)


AnyPlayed: TypeAlias = Played[Any]
"""A ply of a game that was chosen by name."""


@dataclass
class Arbiter(Generic[Setup, Observation, Answer]):
    """One game: the referee, the players, their limits."""

    # the true game; some turns may have been played already
    referee: Referee[Setup, Observation, Answer]
    players: Mapping[Seat, Player[Setup, Observation, Answer]]  # the player of each seat
    controls: Mapping[Seat, Limit]  # each seat's limits: seconds or nodes for each question, or a clock
    on_turn: Callable[[Played[Answer]], None] | None = None  # called after every ply that was played
    # counts of lost truths, for tests of a player; None in all other games: no position set is read
    truth: TruthCount | None = None
    # called with the seat whose turn is over, before it sees the result of its last answer; other ends of a game don't
    # call it
    on_pass: Callable[[Seat], None] | None = None
    # seats whose clock stands still in the first turn of the game: people who may need to find their place first
    unhurried: Collection[Seat] = ()
    # seconds left on each clock, for the seats that have one
    remaining_s: dict[Seat, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for seat, control in self.controls.items():
            if control.clock is not None:
                self.remaining_s.setdefault(seat, control.clock[0])
        self._shown = dict.fromkeys(SEATS, 0)
        self._began: float | None = None  # when the present turn began, of ``time.monotonic``

    def play(self) -> None:
        """Play to the end of the game."""
        self.begin()
        while self.referee.outcome is None:
            self.play_turn()
        for seat in SEATS:
            self._show(seat)
        for seat in SEATS:
            self.players[seat].end(self.referee.outcome)

    def begin(self) -> None:
        """Begin the game for both players, and give them the observations so far; no clock runs meanwhile."""
        for seat in SEATS:
            self.players[seat].begin(seat, self.referee.setup)
            self._shown[seat] = 0
            self._show(seat)

    def play_turn(self) -> None:
        """Ask the player whose turn it is until a ply is played. A resignation, a flag or a forfeit ends the game."""
        referee, seat, ply = self.referee, self.referee.turn, self.referee.ply
        player, clock = self.players[seat], self.controls[seat].clock
        asked = time.monotonic()
        began = self._began = asked if self._began is None else self._began
        unhurried = ply == 0 and seat in self.unhurried
        answers: list[Answered[Answer]] = []
        try:
            while referee.outcome is None and referee.ply == ply:
                self._show(seat)
                question = referee.question
                decision = player.answer(question, Limit() if unhurried else self._limit(seat, began))
                now = time.monotonic()
                if unhurried:
                    began = self._began = now
                answers.append(Answered(question, decision, now - asked))
                asked = now
                # Check the clock before the answer counts: an answer after the flag is none.
                if clock is not None and now - began >= self.remaining_s[seat]:
                    raise OutOfTime
                self._check_truth(seat)
                referee.answer(decision.answer)
        except Resignation:
            referee.resign(seat)
        except OutOfTime:
            self.remaining_s[seat] = 0.0
            referee.flag(seat)
        except Forfeit:
            referee.end(Outcome(not seat, "forfeit"))
        else:
            if referee.outcome is not None or referee.turn != seat:
                self._began = None
                if clock is not None:
                    self.remaining_s[seat] += clock[1] - (asked - began)
                if self.on_pass is not None:
                    self.on_pass(seat)
            if self._show(seat):  # a set that has got nothing new is that of the question
                self._check_truth(seat)
            if self.on_turn is not None:
                self.on_turn(Played(referee.ply, seat, tuple(answers)))

    def _limit(self, seat: Seat, began: float) -> Limit:
        control = self.controls[seat]
        if control.clock is None:
            return control
        return replace(control, clock=(max(0.0, self.remaining_s[seat] - (time.monotonic() - began)), control.clock[1]))

    def _show(self, seat: Seat) -> bool:
        """Give ``seat`` its new observations; return whether there were any."""
        observations = self.referee.observations(seat)
        new = observations[self._shown[seat] :]
        for observation in new:
            self.players[seat].observe(observation)
        self._shown[seat] = len(observations)
        return bool(new)

    def _check_truth(self, seat: Seat) -> None:
        if self.truth is None or self.referee.outcome is not None:
            return
        held = self.players[seat].position_set
        if held is None:
            return
        if held.capped_by is not None:
            self.truth.sampled += 1
            return
        self.truth.checks += 1
        if not held.contains(self.referee.truth):
            self.truth.lost += 1
