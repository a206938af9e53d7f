"""Any program that speaks the engine protocol, hosted as a player.

:class:`HostedPlayer` stands on the player's side of the wall: it is given views and a clock and writes nothing else
down. What reaches the engine is a function of the start position, the views, the limits, a seed and a key that is not
the game's: ids are hashes of that key.

The engine's faults are found here: a move that is not legal, garbage, an error, silence, a dead process. Each costs the
engine its process; unless ``restarts`` allow another try with the whole transcript, it costs the game
(:class:`darkchess.game.contest.Forfeit`, or :class:`darkchess.game.contest.OutOfTime` once the clock is used up).
"""

from __future__ import annotations

import hashlib
import logging
import secrets
import time
from collections.abc import Callable
from typing import Any, Literal

from darkchess.board.position import START_FEN, Position
from darkchess.game.contest import Decision, Forfeit, Limit, OutOfTime, Player, Progress
from darkchess.game.rules import PAPER, Ruleset
from darkchess.game.view import View
from uci_bridge.errors import EngineFailed, ProtocolError
from uci_bridge.protocol.codec import read_reply, write_request
from uci_bridge.protocol.engine_process import EngineProcess, Late, Patience
from uci_bridge.protocol.messages import (
    Answer,
    Clock,
    Ids,
    ObservationPush,
    Received,
    Refusal,
    Reply,
    TurnRequest,
    observation_of,
)

__all__ = ["EngineProcess", "HostedPlayer", "Patience"]

log = logging.getLogger(__name__)

_SEEDS = 1 << 53
"""Seeds are below this: programs that have floating-point numbers only read them right."""

_NODE_S = 0.02
"""Seconds that a node may take, where nodes are the limit and no clock runs."""


_STRAYS = 16
"""Blank lines, or acknowledgements of nothing, that are passed over."""


class HostedPlayer(Player):
    """One player of one game, played by an engine process.

    Parameters
    ----------
    engine
        The process; started when the game starts. Several players may share it.
    seed
        Of the engine's random choices.
    key
        What the ids are hashed from; None: random ones. Nothing that says which game this is.
    restarts
        How often in this game an engine that failed is killed, started again and asked again.

    Attributes
    ----------
    trouble : str or None
        The engine's last fault.
    """

    def __init__(self, engine: EngineProcess, *, seed: int = 0, key: str | None = None, restarts: int = 0) -> None:
        self.trouble = None
        self._engine = engine
        self._closed = False
        self._seed = seed % _SEEDS
        self._key = secrets.token_hex(16) if key is None else key
        self._restarts = restarts
        self._games = 0
        self._views: list[View] = []
        self._ids = Ids("", "")
        self._fen: str | None = None
        self._no_move: Literal["loss", "draw"] = "loss"
        self._pushes = True
        self._unanswered = 0
        self._known = -1
        self._incarnation = 0

    # ----------------------------------------------------------------------------------------------- a player's methods
    def start(self, view: View, start: Position, ruleset: Ruleset = PAPER) -> None:
        """See :class:`darkchess.game.contest.Player`; a new session, also where this player has played before."""
        self._games += 1
        self._closed = False
        self._ids = Ids(self._hashed("game"), self._hashed("session"), "engine")
        self._views = [view]
        self._fen = None if start.fen() == START_FEN else start.fen()
        self._no_move = ruleset.no_move
        self._forget()
        try:
            self._engine.start()
        except EngineFailed as fault:
            self._note(str(fault))  # choose tries once more, and then says so

    def observe(self, view: View) -> None:
        """See :class:`darkchess.game.contest.Player`; nothing is raised for what the engine does."""
        self._views.append(view)
        if view.kind == "own_move" or view.game_over is not None:
            self._push(view)

    def end(self, view: View) -> None:
        """The game ended by something that is no ply; ``view`` is the last one again, with ``game_over``."""
        if self._views:
            self._views[-1] = view
            self._push(view)

    def choose(self, limit: Limit, progress: Progress | None = None) -> Decision:
        """See :class:`darkchess.game.contest.Player`.

        Raises
        ------
        Forfeit
            The engine gives no move, or none that is legal.
        OutOfTime
            It gave none before its clock ran out.
        """
        began = time.monotonic()
        while True:
            try:
                return self._decision(limit, began)
            except (EngineFailed, ProtocolError) as fault:
                self._engine.kill()
                flagged = limit.clock is not None and time.monotonic() - began >= limit.clock[0]
                self._note(str(fault))
                if flagged:
                    raise OutOfTime(str(fault)) from None
                if self._restarts <= 0 or self._closed:
                    raise Forfeit(str(fault)) from None
                self._restarts -= 1

    def close(self) -> None:
        """No more of this game. The process stays and is its owner's to close, afterwards if it is still thinking."""
        self._closed = True

    # ------------------------------------------------------------------------------------------------ turns
    def _decision(self, limit: Limit, began: float) -> Decision:
        view = self._views[-1]
        asked = time.monotonic()
        with self._engine.lock:
            self._engine.start()
            if self._closed:
                raise EngineFailed("it was closed")
            if self._engine.starts != self._incarnation:
                self._forget()
                self._incarnation = self._engine.starts
            until = self._until(limit, began, asked)
            reply = self._asked(self._request(view, limit, began), until)
            if isinstance(reply, Refusal) and reply.need == "transcript" and self._known >= 0:
                self._known = -1
                reply = self._asked(self._request(view, limit, began), until)
        if isinstance(reply, Refusal):
            raise EngineFailed(f"it refused the turn: {reply.error[:300]}")
        if not isinstance(reply, Answer) or reply.move not in view.legal_moves:
            got = reply.move.uci() if isinstance(reply, Answer) else "no move"
            raise EngineFailed(f"it answered {got}, expected one of its {len(view.legal_moves)} legal moves")
        self._known = view.ply
        return Decision(reply.move, dict(reply.diagnostics))

    def _request(self, view: View, limit: Limit, began: float) -> TurnRequest:
        clock = Clock()
        if limit.clock is not None:
            left = limit.clock[0] - (time.monotonic() - began)
            clock = Clock(max(0, round(left * 1000)), max(0, round(limit.clock[1] * 1000)))
        follows = self._known == view.ply - 1 and self._known >= 0
        return TurnRequest(
            ids=self._ids,
            color=view.color,
            ply=view.ply,
            seed=self._seed,
            clock=clock,
            legal_moves=view.legal_moves,
            transcript=None if follows else tuple(map(observation_of, self._views)),
            delta=observation_of(view) if follows else None,
            budget_ms=None if limit.time_s is None else max(1, round(limit.time_s * 1000)),
            nodes=limit.nodes,
            fen=self._fen,
            no_move=self._no_move,
        )

    def _asked(self, request: TurnRequest, until: Callable[[], float]) -> Reply:
        """The engine's reply to a turn request; late ones to pushes are passed over."""
        self._engine.send(write_request(request), until())
        for _ in range(self._unanswered + _STRAYS):
            reply = self._reply(until)
            if not (isinstance(reply, Received) or (isinstance(reply, Refusal) and self._unanswered > 0)):
                self._unanswered = 0
                return reply
            self._unanswered = max(0, self._unanswered - 1)
        raise EngineFailed("it said again and again that it received what nobody asked for")

    def _until(self, limit: Limit, began: float, asked: float) -> Callable[[], float]:
        """When to give up on a move: its clock has run since ``began``, this process was asked at ``asked``."""
        patience, usual = self._engine.patience, limit.seconds()
        if usual is None:
            assert limit.nodes is not None
            hung = asked + limit.nodes * _NODE_S + patience.nodes_s
        elif limit.clock is None:
            hung = asked + usual + patience.grace_s
        else:
            hung = asked + usual + max(usual, patience.grace_s)
        if limit.clock is not None:
            flag = began + limit.clock[0]
            # A hung engine costs no whole clock where it may be started again.
            by = min(flag, hung) if self._restarts > 0 else flag
            return lambda: by
        if self._engine.answered:
            return lambda: hung
        loaded = self._engine.loaded_by(asked)
        return lambda: max(hung, loaded())

    # ------------------------------------------------------------------------------------------------ pushes
    def _push(self, view: View) -> None:
        """Send an observation outside the engine's turn, and wait a moment for its answer."""
        if not (self._pushes and self._engine.alive and self._engine.starts == self._incarnation):
            return  # an engine that was not asked yet in this game, or does not take pushes, gets the whole transcript
        push = ObservationPush(self._ids, view.color, view.ply, observation_of(view))
        until = time.monotonic() + self._engine.patience.push_s
        with self._engine.lock:
            try:
                self._engine.send(write_request(push), until)
                self._unanswered += 1
                reply = self._reply(lambda: until)
            except Late:
                self._pushes = False
                return
            except (EngineFailed, ProtocolError) as fault:
                self._note(str(fault))
                self._engine.kill()
                return
        self._unanswered -= 1
        if isinstance(reply, Received) and self._known >= view.ply - 1:
            self._known = view.ply
        elif not isinstance(reply, Received):
            self._pushes = self._pushes and isinstance(reply, Refusal)
            self._known = -1

    # ------------------------------------------------------------------------------------------------ helpers
    def _reply(self, until: Callable[[], float]) -> Reply:
        """The next reply in this session.

        Raises
        ------
        EngineFailed
            See :meth:`EngineProcess.receive`; or the reply is another session's.
        ProtocolError
            The line is no reply.
        """
        line = b""
        for _ in range(_STRAYS):
            line = line.strip() or self._engine.receive(until)
        reply = read_reply(line)
        told: dict[str, Any] = dict(reply.ids) if isinstance(reply, Refusal) else _told(reply.ids)
        for key, value in _told(self._ids).items():
            if told.get(key, value) != value:
                raise EngineFailed(f"it answered with {key} {told[key]!r}, expected {value!r}")
        return reply

    def _forget(self) -> None:
        """Nothing is known to the engine, for all we know."""
        self._known = -1
        self._unanswered = 0
        self._pushes = True
        self._incarnation = 0

    def _hashed(self, what: str) -> str:
        return hashlib.sha256(f"{what}/{self._games}/{self._key}".encode()).hexdigest()[:24]

    def _note(self, fault: str) -> None:
        self.trouble = fault
        log.warning("%s: %s", self._engine.name, fault)


def _told(ids: Ids) -> dict[str, str]:
    """The ids that a reply has; an empty one was left out."""
    return {key: value for key, value in (("gameId", ids.game_id), ("sessionId", ids.session_id)) if value}
