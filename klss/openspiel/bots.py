"""Our players as bots of OpenSpiel, for its own loops (``evaluate_bots``).

OpenSpiel gives a bot the whole state. This one reads only what its player may see and passes nothing else on.
"""

from __future__ import annotations

import random
from typing import Any

import pyspiel

from klss.errors import GameError
from klss.openspiel.games import spiel_game
from klss.openspiel.model import Values
from klss.openspiel.named_players import configuration, make_player
from klss.openspiel.observations import Sight
from klss.play.limits import Limit


class Bot(pyspiel.Bot):  # type: ignore[misc]
    """A bot for one seat of a game.

    Parameters
    ----------
    game : str or pyspiel.Game
        Of two players, zero-sum.
    player : int
        0 or 1.
    name : str
        A configuration: ``kluss``, ``klss2021``, ``ismcts``, ``random``, ``policy:FILE``, or ``NAME,field=value,…``.
    seconds, nodes : float, int, optional
        Limit of a move; with ``nodes`` the same seed plays the same. By default 5 seconds.
    seed : int
        Of all random draws, in all games together.
    values : callable, optional
        Values of leaves for the game's first player: a list of ``pyspiel.State`` -> payoffs. By default the mean of a
        few random playouts.

    Raises
    ------
    GameError
        No such game, or one that is not supported; no such player. :meth:`step` raises it where it is not the bot's
        turn.
    ConfigurationError
        No such configuration.
    """

    def __init__(
        self,
        game: str | Any,
        player: int,
        name: str = "kluss",
        *,
        seconds: float | None = None,
        nodes: int | None = None,
        seed: int = 0,
        values: Values | None = None,
    ) -> None:
        super().__init__()
        if player not in (0, 1):
            raise GameError(f"player: got {player!r}, expected 0 or 1")
        spiel, _ = spiel_game(game)
        self._player = make_player(configuration(name), spiel, seed, values)
        self._index, self._limit = player, Limit(time_s=seconds, nodes=nodes)
        self._sight, self._seeds, self._given = Sight(spiel, player), random.Random(f"{seed}"), 0
        self.restart()

    def restart(self) -> None:
        """Begin a new game; it has random draws of its own."""
        if self._given:
            self._player.seed = self._seeds.randrange(2**31)
        self._given = 0
        self._player.begin(self._index == 0)

    def restart_at(self, state: Any) -> None:
        """Begin a new game; the moves before ``state`` are read at the first step."""
        self.restart()

    def step(self, state: Any) -> int:
        """Return an action at a state where it is the bot's turn."""
        return self.step_with_policy(state)[1]

    def step_with_policy(self, state: Any) -> tuple[list[tuple[int, float]], int]:
        """Return the mixed strategy at a state, as (action, probability), and the action drawn from it."""
        if state.current_player() != self._index and not state.is_simultaneous_node():
            raise GameError(f"step: got a state at which player {self._index} has no turn, expected one of its turns")
        history = list(state.history())
        if state.is_simultaneous_node() and self._index == 1:
            history.append(state.legal_actions(0)[0])  # in turns, player 0 moves first, unseen: any action will do
        seen = self._sight.along(self._sight.start.state, history)
        if len(seen) <= self._given:  # OpenSpiel may go back to an earlier state
            self.restart()
        for each in seen[self._given :]:
            self._player.observe(each)
        self._given = len(seen)
        action = self._player.answer("action", self._limit).answer
        return list(self._player.mixture.items()), int(action)
