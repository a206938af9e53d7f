"""One game in a thread of its own, run by the arbiter between players that answer through an inbox.

It is on the referee's side of the wall. The game's thread writes everything; the server's thread reads.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping

import chess

from klss.play.arbiter import Arbiter
from klss.play.contest import AnyPlayer, AnyReferee
from klss.play.limits import Limit
from klss.play.outcome import Outcome
from klss.support.text import Document
from klss_app.web.seats import AnyInbox, Ended, HumanAtBoard


class GameClock:
    """Both clocks as a page shows them. ``remaining_s``: seconds left as the arbiter keeps them, for the player to move
    as of the beginning of the turn; empty without a clock."""

    def __init__(self, remaining_s: dict[chess.Color, float], now: Callable[[], float] = time.monotonic) -> None:
        self.remaining_s = remaining_s
        self._now = now
        self._turn_began = now()

    def turn_begins(self) -> None:
        """The other player's clock runs from here."""
        self._turn_began = self._now()

    def left_s(self, running: chess.Color | None) -> dict[chess.Color, float]:
        """Seconds left to both at this moment; empty without clocks. ``running``: the side whose clock runs."""
        left = dict(self.remaining_s)
        if left and running is not None:
            left[running] = max(0.0, left[running] - (self._now() - self._turn_began))
        return left

    def shown(self, running: chess.Color | None) -> Document | None:
        """The same in milliseconds, with the side whose clock runs, for a page; None without clocks."""
        left = {chess.COLOR_NAMES[color]: round(1000 * seconds) for color, seconds in self.left_s(running).items()}
        return left | {"running": None if running is None else chess.COLOR_NAMES[running]} if left else None


class RunningGame:
    """One game."""

    def __init__(
        self,
        referee: AnyReferee,  # the true game, at its start
        players: Mapping[chess.Color, AnyPlayer],  # who answer through ``inbox``
        controls: Mapping[chess.Color, Limit],
        inbox: AnyInbox,
        clock: GameClock,  # what pages are shown
        *,
        # called by the game's thread: before the game begins, to wait for an engine that must be loaded before a clock
        # runs; and once the game is over and the players know it
        prepared: Callable[[], None],
        ended: Callable[[RunningGame], None],
    ) -> None:
        self.referee = referee
        self.inbox = inbox
        self.fault: BaseException | None = None
        self._players = players
        self._clock = clock
        self._prepared = prepared
        self._ended = ended
        people = [color for color, player in players.items() if isinstance(player, HumanAtBoard)]
        self._arbiter = Arbiter(
            referee, players, controls, on_pass=self._pass, unhurried=people, remaining_s=clock.remaining_s
        )
        self._thread = threading.Thread(target=self._run, name="klss board: a game", daemon=True)
        self.over = threading.Event()

    def start(self) -> None:
        """Begin, in a thread."""
        self._thread.start()

    def leave(self, wait_s: float = 0.0) -> bool:
        """End it where it is, without an outcome; from any thread. Whether it was over and kept within ``wait_s``."""
        self.inbox.put(Ended(None))
        return self.over.wait(wait_s)

    def _run(self) -> None:
        try:
            self._prepared()
            self._clock.turn_begins()
            self._arbiter.play()
        except Ended as why:
            self._end(why.outcome or Outcome(None, "aborted"))
        except BaseException as error:
            # Also for a bug of ours: otherwise the pages would wait for ever.
            self.fault = error
            self._end(Outcome(None, "aborted"))
        finally:
            try:
                self._ended(self)
            finally:
                self.over.set()

    def _pass(self, color: chess.Color) -> None:
        """The turn of ``color`` is over."""
        self._clock.turn_begins()
        self.inbox.turn_over(color)

    def _end(self, outcome: Outcome) -> None:
        if self.referee.outcome is None:
            self.referee.end(outcome)
        for player in self._players.values():
            player.end(outcome)
