"""Any program that speaks the engine protocol, hosted as a player of Reconnaissance Blind Chess.

:class:`HostedBlindPlayer` stands on the player's side of the wall: it is given what she is told and a clock, and writes
nothing else down. How it speaks with the engine, and what the engine's faults cost, is
:mod:`uci_bridge.protocol.conversation`.
"""

from __future__ import annotations

from functools import partial

import chess

from darkchess.board.position import START_FEN, Position
from darkchess.rbc.game.contest import Asked, Look, Player
from darkchess.rbc.game.observation import Moved, Notice, Sensed, looked
from darkchess.rbc.game.own_half import OwnHalf
from klss.table.contest import Forfeit, OutOfTime
from klss.table.limits import Limit
from klss.table.outcome import Outcome
from uci_bridge.errors import EngineFailed
from uci_bridge.protocol.blind.codec import read_reply, write_request
from uci_bridge.protocol.blind.messages import (
    BlindObservation,
    BlindPush,
    BlindReply,
    BlindRequest,
    MoveAnswer,
    Phase,
    SenseAnswer,
)
from uci_bridge.protocol.conversation import Conversation, budget_ms, clock_left
from uci_bridge.protocol.engine_process import EngineProcess

__all__ = ["HostedBlindPlayer", "rehearse"]

_REHEARSAL = Limit(time_s=0.1)


class HostedBlindPlayer(Player):
    """One player of one game, played by an engine process.

    Parameters
    ----------
    engine
        The process; started when the game starts. Several players may share it.
    seed, key, restarts
        See :class:`uci_bridge.protocol.conversation.Conversation`.

    Attributes
    ----------
    trouble : str or None
        The engine's last fault.
    """

    def __init__(self, engine: EngineProcess, *, seed: int = 0, key: str | None = None, restarts: int = 0) -> None:
        self._conversation = Conversation(engine, read_reply, seed=seed, key=key, restarts=restarts)
        self._told: list[BlindObservation] = []
        self._ply = 0

    @property
    def trouble(self) -> str | None:
        """See :class:`darkchess.rbc.game.contest.Player`."""
        return self._conversation.trouble

    @trouble.setter
    def trouble(self, told: str | None) -> None:
        self._conversation.trouble = told

    def start(self, color: chess.Color, start: Position) -> None:
        """See :class:`darkchess.rbc.game.contest.Player`; a new session, also where this player has played before."""
        self._color = color
        self._own = OwnHalf(color, start)
        self._told = []
        self._ply = 0 if start.turn == color else 1
        self._fen = None if start.fen() == START_FEN else start.fen()
        self._conversation.begin()

    def notice(self, notice: Notice) -> None:
        """See :class:`darkchess.rbc.game.contest.Player`."""
        if notice.square is not None:
            self._own.lose(notice.square)
        self._told.append(BlindObservation(self._ply, notice))

    def choose_sense(self, limit: Limit) -> Look:
        """See :class:`darkchess.rbc.game.contest.Player`.

        Raises
        ------
        Forfeit, OutOfTime
            See :meth:`uci_bridge.protocol.conversation.Conversation.ask`.
        """

        def accept(reply: BlindReply) -> Look:
            if not isinstance(reply, SenseAnswer):
                raise EngineFailed("it answered no sense, expected a square or null")
            return Look(reply.square, dict(reply.diagnostics))

        return self._conversation.ask(len(self._told) - 1, partial(self._request, "sense", limit), accept, limit)

    def sensed(self, sensed: Sensed) -> None:
        """See :class:`darkchess.rbc.game.contest.Player`."""
        self._told.append(BlindObservation(self._ply, sensed))

    def choose_move(self, limit: Limit) -> Asked:
        """See :class:`darkchess.rbc.game.contest.Player`.

        Raises
        ------
        Forfeit, OutOfTime
            See :meth:`uci_bridge.protocol.conversation.Conversation.ask`; a request has to be one that she may make.
        """
        requests = self._own.requests()

        def accept(reply: BlindReply) -> Asked:
            if not isinstance(reply, MoveAnswer):
                raise EngineFailed("it answered no move, expected a request or null")
            asked = reply.request
            if asked is not None and asked not in requests and _queen(asked) not in requests:
                raise EngineFailed(f"it answered {asked.uci()}, expected one of its {len(requests)} requests, or null")
            return Asked(asked, dict(reply.diagnostics))

        return self._conversation.ask(len(self._told) - 1, partial(self._request, "move", limit), accept, limit)

    def moved(self, moved: Moved) -> None:
        """See :class:`darkchess.rbc.game.contest.Player`; nothing is raised for what the engine does."""
        self._own.play(moved.taken)
        self._tell(BlindObservation(self._ply + 1, moved))
        self._ply += 2

    def end(self, outcome: Outcome) -> None:
        """See :class:`darkchess.rbc.game.contest.Player`; nothing is raised for what the engine does."""
        # Whether the opponent has moved since she last did, only the outcome tells: the ply does not.
        self._tell(BlindObservation(self._told[-1].ply if self._told else 0, outcome))

    def close(self) -> None:
        """See :meth:`uci_bridge.protocol.conversation.Conversation.close`."""
        self._conversation.close()

    def _tell(self, seen: BlindObservation) -> None:
        self._told.append(seen)
        push = BlindPush(self._conversation.ids, self._color, seen)
        self._conversation.push(len(self._told) - 1, write_request(push))

    def _request(self, phase: Phase, limit: Limit, follows: bool, began: float) -> bytes:
        return write_request(
            BlindRequest(
                ids=self._conversation.ids,
                color=self._color,
                ply=self._ply,
                phase=phase,
                seed=self._conversation.seed,
                clock=clock_left(limit, began),
                requests=self._own.requests(),
                senses=tuple(chess.SQUARES) if phase == "sense" else (),
                transcript=None if follows else tuple(self._told),
                delta=self._told[-1] if follows else None,
                budget_ms=budget_ms(limit),
                nodes=limit.nodes,
                fen=self._fen,
            )
        )


def _queen(asked: chess.Move) -> chess.Move | None:
    """A pawn's request that leaves the promotion open, with a queen; None: it leaves nothing open."""
    return None if asked.promotion else chess.Move(asked.from_square, asked.to_square, chess.QUEEN)


def rehearse(engine: EngineProcess) -> None:
    """Have an engine play a turn of a game that nobody plays, so that its compiled code is loaded when a clock runs.

    What goes wrong here goes wrong again in a game, where it is told.
    """
    start = Position.start()
    player = HostedBlindPlayer(engine)
    try:
        player.start(chess.WHITE, start)
        player.notice(Notice(None))
        look = player.choose_sense(_REHEARSAL)
        player.sensed(looked(start, look.square))
        player.choose_move(_REHEARSAL)
        player.moved(Moved(None, None, None))
    except (Forfeit, OutOfTime, OSError):  # OSError: this machine has too little for a process
        return
    player.end(Outcome(None, "aborted"))
