"""The true game of OpenSpiel: it draws for nature, and gives each player its observations."""

from __future__ import annotations

from typing import Any

import numpy as np

from klss.openspiel.observations import Place, Seen, Sight, history_key
from klss.play.outcome import Outcome, Seat
from klss.play.small_game import Nature, SmallReferee
from klss.support.arrays import Keys
from klss.theory.movers import CHANCE, TERMINAL


class Referee(SmallReferee[Seen, int]):
    """See :class:`klss.play.contest.Referee`; ``game`` is a ``pyspiel.Game`` of
    :func:`klss.openspiel.games.spiel_game`.
    """

    question = "action"

    def __init__(self, game: Any, nature: Nature) -> None:
        super().__init__(nature)
        self._sight = Sight(game, 0)  # player 0 has the seat True
        self.actions: list[tuple[Seat, int, str]] = []
        self._reach(self._sight.start)

    @property
    def truth(self) -> Keys:
        """See :class:`klss.play.contest.Referee`: the history's key, uint64[2]."""
        return np.array(history_key(self._state), dtype=np.uint64)

    def state(self) -> tuple[int, int]:
        """See the base: a history, since no game says that its texts have everything that matters later."""
        return history_key(self._state)

    @property
    def history(self) -> list[int]:
        """All actions, including nature's."""
        return list(self._state.history())

    @property
    def returns(self) -> list[float] | None:
        """Both players' payoffs, in the game's own units; None unless the game ended by its rules."""
        return list(self._state.returns()) if self._state.is_terminal() else None

    def __str__(self) -> str:
        """Return the true state as OpenSpiel prints it."""
        return str(self._state)

    def play(self, action: int) -> None:
        seat, legal = self.turn, self._state.legal_actions()
        if action not in legal:
            raise ValueError(f"action: got {action}, expected one of {legal}")
        self.actions.append((seat, action, self._state.action_to_string(self._place.mover, action)))
        self._reach(self._sight.child(self._place, action))

    def _reach(self, place: Place) -> None:
        """Draw for nature, then add the players' observations, or end the game."""
        while place.mover == CHANCE:
            place = self._sight.child(place, self.draw(*self._sight.edges(place)))
        self._place, self.turn = place, place.mover == 0
        if place.mover == TERMINAL:
            mine = place.state.returns()[0]
            self.outcome = Outcome(None if mine == 0.0 else mine > 0.0, "game_over")
        for who, seat in enumerate((True, False)):
            seen = self._sight.seen(place, len(self.observations(seat)), who)
            if seen is not None:
                self.show(seat, seen)

    @property
    def _state(self) -> Any:
        return self._place.state
