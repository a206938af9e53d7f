"""The true game of OpenSpiel: it draws for nature, and gives each player its observations."""

from __future__ import annotations

from typing import Any

import numpy as np

from klss.openspiel.observations import Seen, Sight, history_key
from klss.play.outcome import Outcome, Seat
from klss.play.small_game import Nature, SmallReferee
from klss.support.arrays import Keys

_PLAYERS = {True: 0, False: 1}
"""The game's player at each seat."""


class Referee(SmallReferee[Seen, int]):
    """See :class:`klss.play.contest.Referee`; ``game`` is a ``pyspiel.Game`` of
    :func:`klss.openspiel.games.spiel_game`.
    """

    question = "action"

    def __init__(self, game: Any, nature: Nature) -> None:
        super().__init__(nature)
        self._state = game.new_initial_state()
        self._sights = {seat: Sight(game, player) for seat, player in _PLAYERS.items()}
        self._own: dict[Seat, int | None] = {True: None, False: None}
        self.actions: list[tuple[Seat, int, str]] = []
        self._go_on()

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
        self.actions.append((seat, action, self._state.action_to_string(_PLAYERS[seat], action)))
        self._own[seat] = action
        self._state.apply_action(action)
        self._go_on()

    def _go_on(self) -> None:
        """Draw for nature, then add the players' observations, or end the game."""
        state = self._state
        while state.is_chance_node():
            actions, shares = zip(*state.chance_outcomes(), strict=True)
            state.apply_action(self.draw(actions, shares))
        self.turn = state.current_player() == 0
        if state.is_terminal():
            mine = state.returns()[0]
            self.outcome = Outcome(None if mine == 0.0 else mine > 0.0, "game_over")
            return
        # An own action is kept until the observation that follows it, which may come some plies later.
        for seat, sight in self._sights.items():
            seen = self.observations(seat)
            found = sight.look(state, seen[-1] if seen else None, self._own[seat])
            if found is not None:
                self.show(seat, found)
                self._own[seat] = None
