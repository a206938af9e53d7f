"""One game of a bot: follow its stream, ask the engine behind the wall, send its moves, until the game is over.

The stream (:mod:`uci_bridge.bot.stream`) holds the latest state. Only that state is acted on, so that old, repeated and
late lines do no harm. :class:`Stage` names where a game stands:

- *joining* until the first ``gameFull`` says whether it is a game of ours that may be played, else it is *refused*;
- *waiting* for the opponent, or for the server to say that a decided game is over;
- *playing* while the engine thinks and its move is being sent;
- *confirming* from then on until a state shows the move.

The stream ends it, from any stage: the server says so, we leave, or it is given up. Two rules keep it safe:

- The answer to a move proves nothing: a move counts once a state shows it. If none does, the stream is opened anew,
  since a fresh ``gameFull`` is the true state, and only then the move is sent again. In a position that we have not
  seen the move could be illegal, and an illegal move loses.
- After moves were taken back, the engine's session continues if its player's *views* do, else it begins anew. The
  engine's seat decides that, as it sees only views.

Source: the behaviour of pychess.org's server (see :mod:`uci_bridge.bot.dialect`). Deviation: if a server takes a move
back while ours is on its way, it plays ours in the changed position; nothing in its API prevents that.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import math
import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum

import chess

from darkchess.fog.game.contest import king_capture
from darkchess.fog.game.record import GameRecord
from klss.play.contest import Forfeit
from klss.play.outcome import Outcome
from klss.support.text import printable
from uci_bridge.bot.dialect import GameFull, GameState
from uci_bridge.bot.engine import EngineSeat
from uci_bridge.bot.lichess import Client, ServerError
from uci_bridge.bot.record import Records
from uci_bridge.bot.stream import GameStream
from uci_bridge.bot.true_game import TrueGame, Unfollowable

log = logging.getLogger(__name__)

_LATE_S = 1800.0
"""Time without news, beyond both clocks, after which a game is given up."""
_SENDS = 6
"""Most times that the same move is sent in the same position."""


class Stage(Enum):
    """Where a game stands; see the module's docstring."""

    JOINING = "joining"
    REFUSED = "refused"
    WAITING = "waiting"
    PLAYING = "playing"
    CONFIRMING = "confirming"


@dataclass
class _Sent:
    """A move that was sent, or is just being sent."""

    # the moves before it
    moves: tuple[str, ...]
    move: chess.Move
    tries: int = 1  # how often it was sent
    due: float = math.inf  # when the stream is reopened to learn the true state, if no state has shown the move
    # from this connection of the stream on, a ``gameFull`` without the move proves that it was not played
    proof: float = math.inf


class BotGame:
    """One game."""

    def __init__(
        self,
        game_id: str,  # the server's
        *,
        # the server, and the folder of the games
        client: Client,
        records: Records,
        name: str,  # our name on the server
        seat: Callable[[str | None, int], EngineSeat],  # makes the engine's seat: ``seat(fen, ply)``
        # returns the reason not to play a game at its start (a decline key), or None; with a reason it is aborted
        refusal: Callable[[GameFull, str], str | None],
        greeting: str | None = None,  # sent once when the game starts; None for no greeting
        margin_ms: int = 1000,  # kept back on the clock
        # the record's tags for our player: PGN tags without the colour, such as ``Engine``
        engine: Mapping[str, str] | None = None,
    ) -> None:
        self.id = game_id
        self._engine = dict(engine or {})
        self.opponent: str | None = None
        self._client, self._records, self._name = client, records, name
        self._make_seat, self._refusal = seat, refusal
        self._greeting, self._margin_ms = greeting, margin_ms
        self._timing = client.timing
        self._seat: EngineSeat | None = None
        self._game: TrueGame | None = None
        self._color: chess.Color = chess.WHITE
        self._stream = GameStream(game_id, client, self._timing)
        self._followed: GameState | None = None
        self._clocks_s: dict[int, float] = {}  # ply -> seconds on the mover's clock
        self._stage = Stage.JOINING
        self._sent: _Sent | None = None
        self._ended_by_us: Outcome | None = None
        self._nonsense = 0

    @property
    def over(self) -> bool:
        """Whether the game has ended; it no longer counts as being played."""
        return self._stream.over

    async def run(self) -> None:
        """Play the game to its end, record it, and close everything. Raises nothing but cancellation."""
        self._stream.since = (time.monotonic(), False)  # it may have waited for its turn
        reader = asyncio.create_task(self._stream.run(), name=f"stream of {self.id}")
        try:
            await self._play()
            await self._finish()
        except asyncio.CancelledError:
            raise
        except Exception as error:  # a fault in one game must not end the others
            # A traceback shows no values of variables, but an error's message may name a move of the true game.
            kind = type(error).__name__
            where = RuntimeError(kind).with_traceback(error.__traceback__)
            self._log(logging.ERROR, "game task failed", error=kind, exc_info=where)
        finally:
            reader.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await reader
            if self._seat is not None:
                await self._seat.close()

    async def _play(self) -> None:
        stream = self._stream
        while not stream.over:
            stream.news.clear()
            pause = self._pause()
            if pause > 0.0:
                await stream.wait(pause)
                continue
            assert stream.full is not None and stream.state is not None
            state = stream.state
            if self._followed is not state and not await self._follow(stream.full, state):
                continue
            if self._stage is Stage.PLAYING:
                move = await self._choose(state)
                if move is not None:
                    await self._send(state, _Sent(state.moves, move))
            elif self._stage is Stage.CONFIRMING and self._sent and stream.connection >= self._sent.proof:
                # A fresh gameFull still has the same position: the move never arrived, or was taken back.
                if self._sent.tries >= _SENDS:
                    stream.give_up("the server takes no move of ours")
                else:
                    await self._send(state, _Sent(state.moves, self._sent.move, self._sent.tries + 1))

    def _pause(self) -> float:
        """Seconds until the next action, if no news comes before."""
        stream, sent = self._stream, self._sent
        now = time.monotonic()
        # By the server's own clocks the game must have ended then; they count also while the server is away.
        clocks_ms = () if stream.state is None else stream.state.clock_ms
        overdue = stream.since[0] + sum(max(0, clock) for clock in clocks_ms) / 1000.0 + _LATE_S - now
        if overdue <= 0.0:
            stream.give_up("nothing was heard for longer than the clocks run")
            return 1.0
        if settling := stream.settling():
            return settling
        if self._followed is not stream.state or self._stage is Stage.PLAYING:
            return 0.0
        if self._stage is not Stage.CONFIRMING or sent is None:
            return overdue
        if stream.connection >= sent.proof:
            return 0.0
        if now >= sent.due:
            sent.due = now + self._timing.confirm_s * 2.0**sent.tries
            self._log(logging.INFO, "a move was not shown: the stream is opened anew", ply=len(sent.moves))
            stream.reopen()
        return max(0.05, min(overdue, sent.due - now))

    async def _follow(self, full: GameFull, state: GameState) -> bool:
        """Bring our game to ``state``; False if there is nothing to play."""
        try:
            if self._stage is Stage.JOINING:
                await self._join(full)
            if self._game is None:
                return False
            if self._game.follow(state.moves):
                self._log(logging.INFO, "moves were taken back", ply=len(state.moves))
        except Unfollowable as error:
            self._nonsense += 1
            self._log(logging.ERROR, "the server's moves make no sense", error=str(error))
            if self._nonsense < 3:
                self._stream.reopen()
            else:
                await self._leave("resign")
            return False
        game, sent, self._followed = self._game, self._sent, state
        self._note_clocks(game, state)
        self._nonsense = 0
        if sent is not None and state.moves != sent.moves:
            sent = self._sent = None
        if game.referee.turn != self._color or game.decided:
            self._stage = Stage.WAITING
            if self._seat is not None and state.moves and not game.decided:
                await self._seat.tell(game.referee.views(self._color))
        elif sent is None:
            self._stage = Stage.PLAYING
        elif self._stream.connection < sent.proof:
            # The same position again after our move: an old line, or moves were taken back and played again.
            sent.due = min(sent.due, time.monotonic() + min(1.0, self._timing.confirm_s))
        return True

    def _note_clocks(self, game: TrueGame, state: GameState) -> None:
        """Store both clocks of a state: they are those after the last two moves."""
        self._clocks_s = {ply: clock for ply, clock in self._clocks_s.items() if ply < game.referee.ply - 1}
        for ply, color in ((game.referee.ply - 1, game.referee.turn), (game.referee.ply, not game.referee.turn)):
            if ply >= 1:
                self._clocks_s[ply] = state.clock_ms[0 if color == chess.WHITE else 1] / 1000.0

    async def _join(self, full: GameFull) -> None:
        """Begin to play the game if it is ours and not refused."""
        if not self._recognise(full):
            self._stage = Stage.REFUSED
            self._stream.end()
            return
        assert self.opponent is not None
        reason = self._refusal(full, self.opponent)
        if reason is not None:
            self._log(logging.INFO, "game refused", opponent=self.opponent, reason=reason)
            self._stage = Stage.REFUSED
            await self._leave("abort")
            return
        self._game = TrueGame(full.fen)
        self._stage = Stage.WAITING
        ply, initial_s = len(full.state.moves), full.initial_s
        if initial_s is None and not ply:
            initial_s = full.state.clock_ms[0] / 1000.0
        known = {} if initial_s is None else {"initial_s": initial_s}
        self._records.begin(self.id, opponent=self.opponent, **known)
        self._seat = self._make_seat(full.fen, ply)
        self._log(logging.INFO, "game", opponent=self.opponent, color=chess.COLOR_NAMES[self._color], ply=ply)
        if self._greeting and not self._records.under_way[self.id].greeted and ply < 2:
            self._records.begin(self.id, greeted=True)
            try:
                await self._client.chat(self.id, self._greeting)
            except ServerError as error:
                self._log(logging.INFO, "no greeting", error=str(error))

    def _recognise(self, full: GameFull) -> bool:
        """Whether the game is ours; if so, set our colour and the opponent."""
        names = [full.white.lower(), full.black.lower()]
        if self._name.lower() not in names:
            self._log(logging.ERROR, "not a game of ours", white=full.white, black=full.black)
            return False
        self._color = chess.WHITE if names[0] == self._name.lower() else chess.BLACK
        self.opponent = full.black if self._color == chess.WHITE else full.white
        return True

    async def _leave(self, how: str) -> None:
        """Abort or resign; afterwards the game is over for us even if that failed."""
        try:
            await self._client.insist(
                lambda: self._client.abort(self.id) if how == "abort" else self._client.resign(self.id)
            )
        except ServerError as error:
            self._log(logging.INFO, f"{how} failed", error=str(error))
        if how == "resign":
            self._ended_by_us = Outcome(not self._color, "resign")
        self._stream.end()

    async def _choose(self, state: GameState) -> chess.Move | None:
        """The engine's move; None if the game is over or its moves have changed meanwhile."""
        assert self._game is not None and self._seat is not None
        views = self._game.referee.views(self._color)
        thinking = asyncio.create_task(self._seat.choose(views, self._clock(state)))
        leaving = asyncio.create_task(self._elsewhere(state, math.inf))
        try:
            await asyncio.wait({thinking, leaving}, return_when=asyncio.FIRST_COMPLETED)
            return None if leaving.done() else thinking.result()
        except Forfeit as error:
            self._log(logging.WARNING, "moved without the engine", ply=len(state.moves), reason=str(error))
            return king_capture(views[-1]) or secrets.choice(views[-1].legal_moves)
        finally:
            for task in (thinking, leaving):
                task.cancel()
            await asyncio.gather(thinking, leaving, return_exceptions=True)

    def _clock(self, state: GameState) -> tuple[float, float]:
        """Seconds on our clock, less the margin, and those that are added after each move."""
        mine = 0 if self._color == chess.WHITE else 1
        since, sure = self._stream.since
        left = state.clock_ms[mine]
        if len(state.moves) >= 2:
            left -= int((time.monotonic() - since) * 1000.0)
            if not sure:  # joined in mid-game: it is unknown for how long it has been our turn
                left = min(left, left // 3 + state.increment_ms[mine] // 2)
        return max(1, left - self._margin_ms) / 1000.0, max(0, state.increment_ms[mine]) / 1000.0

    async def _send(self, state: GameState, sent: _Sent) -> None:
        """Send a move while the game is known to be at ``state``. After an error, too, only a fresh ``gameFull`` tells
        whether it has arrived.
        """
        self._sent, self._stage = sent, Stage.PLAYING
        # Wait while the stream is down, since moves may have been taken back; but at most a quarter of the clock.
        if await self._elsewhere(state, min(10.0, self._clock(state)[0] / 4.0), until_synced=True):
            self._sent = None  # nothing is on its way
            return
        delay_s = self._timing.confirm_s
        try:
            await self._client.move(self.id, sent.move.uci())
        except ServerError as error:
            self._log(logging.WARNING, "sending a move failed", ply=len(state.moves), error=str(error))
            delay_s = max(error.wait_s, min(2.0 ** (sent.tries - 1), delay_s))  # a server may need a while to recover
        self._stage = Stage.CONFIRMING
        # A connection that is just being opened may get a gameFull from before the move: then only the next one counts.
        sent.proof = self._stream.connection + (1 if self._stream.synced else 2)
        sent.due = time.monotonic() + delay_s
        self._log(logging.DEBUG, "move sent", ply=len(state.moves))

    def _is_elsewhere(self, state: GameState) -> bool:
        """Whether the game is over, or no longer at ``state``."""
        latest = self._stream.state
        return self._stream.over or (latest is not None and latest.moves != state.moves)

    async def _elsewhere(self, state: GameState, seconds: float, *, until_synced: bool = False) -> bool:
        """Wait up to ``seconds``; return True as soon as the game is over or no longer at ``state``. With
        ``until_synced`` stop waiting once the stream's state may be acted on.
        """
        deadline = time.monotonic() + seconds
        while not self._is_elsewhere(state) and (rest := deadline - time.monotonic()) > 0.0:
            if until_synced:
                rest = min(rest, self._stream.settling())
                if rest == 0.0:
                    break
            self._stream.news.clear()
            await self._stream.wait(rest)
        return self._is_elsewhere(state)

    # The end.

    async def _finish(self) -> None:
        """Record the game, from whatever the server reported of it."""
        full, state = self._stream.full, self._stream.state
        if self._stage is Stage.JOINING and full is not None:  # it ended before we began to play it
            with contextlib.suppress(Unfollowable):
                if full.variant == self._client.dialect.variant and self._recognise(full):
                    self._game = TrueGame(full.fen)
        game = self._game
        if game is None or full is None or state is None:
            if self._stage is not Stage.REFUSED:
                self._log(logging.WARNING, "not recorded: the server shows no moves of it", opponent=self.opponent)
            self._records.forget(self.id)
            return
        with contextlib.suppress(Unfollowable):
            game.follow(state.moves)
            self._note_clocks(game, state)
        moves, outcome = self._judged(game)
        headers = self._headers(full, outcome)
        clocks_s = tuple(self._clocks_s.get(ply) for ply in range(1, len(moves) + 1))
        path = self._records.save(self.id, GameRecord(moves, outcome, game.fen, headers, clocks_s))
        self._records.forget(self.id)
        result, reason = ("*", "unknown") if outcome is None else (outcome.result, outcome.reason)
        ended = {"result": result, "reason": reason, "plies": len(moves), "file": str(path)}
        self._log(logging.INFO, "game over", None, opponent=self.opponent, **ended)
        if self._seat is not None:
            game.end(outcome or Outcome(None, "unknown"))
            await self._seat.tell(game.referee.views(self._color))

    def _judged(self, game: TrueGame) -> tuple[tuple[chess.Move, ...], Outcome | None]:
        """The moves and the outcome. The server's result counts; the rules give the exact reason if they agree with it.

        A move of ours that was sent and never shown may have ended the game, unless the server reports another end.
        """
        said, sent = self._stream.outcome or self._ended_by_us, self._sent
        moves, ruled = game.ending()
        if ruled is None and sent is not None and len(sent.moves) == game.referee.ply:
            last, by_it = game.ending(sent.move)
            if by_it is not None and (said is None or said.reason in (by_it.reason, "unknown")):
                moves, ruled = last, by_it
        if ruled is not None and (said is None or said.result == ruled.result or ruled.reason == "king_captured"):
            return moves, ruled
        return game.referee.moves, said

    def _headers(self, full: GameFull, outcome: Outcome | None) -> dict[str, str]:
        known = self._records.under_way.get(self.id)
        headers = {
            "Event": f"{self._client.dialect.name} game",
            "Site": self._client.address(self.id),
            "Date": time.strftime("%Y.%m.%d", time.gmtime(None if known is None else known.since)),
            "White": full.white,
            "Black": full.black,
        }
        initial_s = known.initial_s if full.initial_s is None and known is not None else full.initial_s
        if initial_s is not None:
            headers["TimeControl"] = f"{initial_s:g}+{full.state.increment_ms[0] / 1000.0:g}"
        for name, value in self._engine.items():
            headers[f"{chess.COLOR_NAMES[self._color].capitalize()}{name}"] = printable(value, 80)
        if outcome is None:  # a record has no guess at the result
            headers["Ending"] = "not told by the server"
        return headers

    def _log(self, level: int, event: str, exc_info: Exception | None = None, **fields: object) -> None:
        log.log(level, event, exc_info=exc_info, extra={"fields": {"game": self.id, **fields}})
