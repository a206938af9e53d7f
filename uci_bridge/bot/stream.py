"""The stream of one game of a bot: reopened whenever it breaks, and reduced to the latest state.

Servers cut streams, repeat lines, send old ones, and break a second stream at once while they still hold the first.
When a stream is opened, lines that the server had queued come before the true state. So nobody may act before a
``gameFull`` on this very connection and a short silence (:meth:`GameStream.settling`). A queued end comes before the
last moves, so the ``gameFull`` that has them is waited for.

A game that the server refuses (404) several times in a row is gone, and so is one whose stream opens and breaks at once
for minutes.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time

from klss.play.outcome import Outcome
from uci_bridge.bot.dialect import GameEnd, GameFull, GameLine, GameState
from uci_bridge.bot.lichess import Client, Refused, Rejected, ServerError, Timing

log = logging.getLogger(__name__)

_LONGEST_WAIT_S = 10.0
"""Longest wait between two tries, as a clock may be running; the server may ask for a longer one."""
_GONE_S = 120.0
"""If a stream opens and breaks at once for this long, the game no longer exists."""
_REFUSALS = 10
"""Refusals in a row after which a game is gone: a minute of them."""
_LAST_MOVES_S = 5.0
"""Time limit for the last moves, if the end of the game came before them."""


class GameStream:
    """Follows one game."""

    def __init__(self, game_id: str, client: Client, timing: Timing) -> None:
        self.id = game_id
        # the latest of each; None before the first
        self.full: GameFull | None = None
        self.state: GameState | None = None
        self.over = False  # nothing more will come: the game has ended, or there is no such game (any more)
        self.outcome: Outcome | None = None  # the end, if the server reported it
        self.connection = 0  # counts connections
        # a ``gameFull`` came on this connection, so ``state`` is the true state and not an old one from a queue
        self.synced = False
        self.news = asyncio.Event()  # set when any of these changes
        # (time.monotonic() when the latest moves arrived, whether they were played then; False: maybe earlier)
        self.since = (time.monotonic(), False)
        self._client, self._timing = client, timing
        self._settled_at = 0.0
        self._heard_at = self._opened_at = time.monotonic()
        self._breaking_since: float | None = None
        self._ending_at: float | None = None  # deadline for the last moves, once the end came before them
        self._open: asyncio.Timeout | None = None  # the time limit of the latest connection

    def reopen(self) -> None:
        """Close the stream and open it anew, to learn the true state; not synced until then."""
        self.synced = False
        self._close_in(0.0)

    def settling(self) -> float:
        """Seconds to wait before :attr:`state` may be acted on; 0 when it may be now."""
        if self.full is None or self.state is None or not self.synced:
            return 1.0
        return max(0.0, self._settled_at - time.monotonic())

    async def wait(self, seconds: float) -> None:
        """Wait for :attr:`news`, for some seconds at most."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self.news.wait()

    def end(self) -> None:
        """Stop following the game."""
        self.over = True
        self.news.set()

    def give_up(self, reason: str) -> None:
        """Stop following the game, since it seems not to exist any more."""
        self._log(logging.WARNING, "game given up", reason=reason)
        self.end()

    async def run(self) -> None:
        """Keep the stream open until the game is over."""
        waits = self._timing.waits(_LONGEST_WAIT_S)
        refusals = 0
        while not self.over:
            heard_at, connection = self._heard_at, self.connection
            wait_s, problem = 0.0, "the stream ended"
            try:
                await self._one_connection()
            except (Refused, Rejected) as error:
                refusals, problem = refusals + 1, str(error)
                if self._ending_at is not None:
                    self.end()
                elif refusals >= _REFUSALS:
                    self.give_up(problem)
            except ServerError as error:
                wait_s, problem = error.wait_s, str(error)
            if self._ending_at is not None and time.monotonic() >= self._ending_at:
                self.end()
            if self.over:
                return
            self.synced = False
            now = time.monotonic()
            if self._heard_at != heard_at:
                waits = self._timing.waits(_LONGEST_WAIT_S)
                refusals, self._breaking_since = 0, None
            elif self.connection == connection:  # not even opened: the server is down, and may return with its games
                self._breaking_since = None
            elif self._breaking_since is None:
                self._breaking_since = now
            elif now - self._breaking_since > _GONE_S:
                self.give_up("its stream breaks at once, time and again")
                return
            wait_s = max(wait_s, next(waits))
            self._log(logging.INFO, "game stream broke", reason=problem, retry_s=round(wait_s, 2))
            await asyncio.sleep(wait_s)

    async def _one_connection(self) -> None:
        """Run one connection; return when the stream ends, is to be reopened, or the game is over."""
        self.synced = False
        patience_s = None if self._ending_at is None else max(0.0, self._ending_at - time.monotonic())
        with contextlib.suppress(TimeoutError):
            async with (
                asyncio.timeout(patience_s) as self._open,
                contextlib.aclosing(self._client.game(self.id)) as lines,
            ):
                async for line in lines:
                    self._take(line)
                    if self.over:
                        return
                    if not self.synced and time.monotonic() - self._opened_at > self._timing.idle_s:
                        raise ServerError(f"no gameFull came for {self._timing.idle_s:g} s")

    def _close_in(self, seconds: float) -> None:
        """Let the connection, if there is one, end at that time."""
        if self._open is not None:
            with contextlib.suppress(RuntimeError):  # it has ended
                self._open.reschedule(asyncio.get_running_loop().time() + seconds)

    def _take(self, line: GameLine | None) -> None:
        if line is None:
            self.connection += 1
            self._opened_at = time.monotonic()
            return
        live, heard_at = self.synced, self._heard_at
        self._heard_at = time.monotonic()
        if isinstance(line, GameFull):
            if line.id != self.id:
                self._log(logging.WARNING, "a line of another game", got=line.id)
                return
            self.full, self.synced = line, True
            self._set(line.state, live, heard_at)
            if self._ending_at is not None:
                self.end()
        elif isinstance(line, GameState):
            if self.synced:  # else it comes from the server's queue: it is old, and the true gameFull follows
                self._set(line, live, heard_at)
        elif isinstance(line, GameEnd):
            if line.id not in ("", self.id):
                self._log(logging.WARNING, "a line of another game", got=line.id)
                return
            if self.synced:
                self.end()
            elif self._ending_at is None:
                self._ending_at = time.monotonic() + _LAST_MOVES_S
                self._close_in(_LAST_MOVES_S)

    def _set(self, state: GameState, live: bool, heard_at: float) -> None:
        now = time.monotonic()
        if self.state is None:
            self.since = (now, False)
        elif state.moves != self.state.moves:
            # Moves played while we did not listen came after the last line that we got: count the clock from there.
            self.since = (now if live else heard_at, self.since[1] or live)
        self.state = state
        if not live:
            self._settled_at = now + self._timing.settle_s
        if state.outcome is not None:
            self.outcome = state.outcome
            self.end()
        self.news.set()

    def _log(self, level: int, event: str, **fields: object) -> None:
        log.log(level, event, extra={"fields": {"game": self.id, **fields}})
