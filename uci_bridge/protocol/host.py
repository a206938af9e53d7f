"""Any program that speaks the engine protocol, hosted as a player of any game.

:class:`HostedPlayer` stands on the player's side of the wall: it is given observations and a clock and writes nothing
else down. How it speaks with the engine, and what the engine's faults cost, is
:mod:`uci_bridge.protocol.conversation`.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from klss.table.contest import Decision, Forfeit, OutOfTime, Player
from klss.table.limits import Limit, Progress
from klss.table.outcome import Outcome, Seat
from uci_bridge.errors import EngineFailed
from uci_bridge.protocol.codec import read_reply, write_request
from uci_bridge.protocol.conversation import Conversation, budget_ms, clock_left
from uci_bridge.protocol.engine_process import EngineProcess, Patience
from uci_bridge.protocol.messages import Answer, Push, Reply, Request
from uci_bridge.protocol.wire import Wire

__all__ = ["EngineProcess", "HostedPlayer", "Patience", "rehearse"]

_REHEARSAL = Limit(time_s=0.1)


class HostedPlayer(Player):
    """One player of one game, played by an engine process.

    Parameters
    ----------
    engine
        The process; started when the game starts. Several players may share it.
    wire
        The game's part of the protocol.
    seed, key, restarts, quiet
        See :class:`uci_bridge.protocol.conversation.Conversation`.
    whole
        Whether an engine whose process ends in mid-game has lost the game, also between two questions.
    """

    def __init__(
        self,
        engine: EngineProcess,
        wire: Wire,
        *,
        seed: int = 0,
        key: str | None = None,
        restarts: int = 0,
        quiet: bool = False,
        whole: bool = False,
    ) -> None:
        self._engine, self._wire, self._whole = engine, wire, whole
        self._conversation = Conversation(
            engine, partial(read_reply, wire), seed=seed, key=key, restarts=restarts, quiet=quiet
        )

    @property
    def last_fault(self) -> str | None:  # type: ignore[override]
        """See :class:`klss.table.contest.Player`: the engine's."""
        return self._conversation.last_fault

    def begin(self, seat: Seat, setup: Any) -> None:
        """See :class:`klss.table.contest.Player`; a new session, also where this player has played before."""
        self._seat, self._setup = seat, setup
        self._transcript = self._wire.transcript(seat, setup)
        self._asked_once = False
        self._conversation.begin()

    def observe(self, observation: Any) -> None:
        """See :class:`klss.table.contest.Player`; nothing is raised for what the engine does."""
        self._push(self._transcript.add(observation))

    def end(self, outcome: Outcome) -> None:
        """See :class:`klss.table.contest.Player`; nothing is raised for what the engine does."""
        self._push(self._transcript.end(outcome))

    def answer(self, question: Any, limit: Limit, progress: Progress | None = None) -> Decision:
        """See :class:`klss.table.contest.Player`.

        Raises
        ------
        Forfeit, OutOfTime
            See :meth:`uci_bridge.protocol.conversation.Conversation.ask`; the answer has to be one that may be given.
        """
        if self._whole and self._asked_once and not self._engine.alive:
            words = f"it ended between two questions; its last words: {self._engine.stderr_tail}"
            self._conversation.last_fault = self.last_fault or words
            raise Forfeit(self.last_fault)
        self._asked_once = True
        asked = self._transcript.question(question)
        key = self._wire.key(asked)

        def accept(reply: Reply) -> Decision:
            if not isinstance(reply, Answer) or reply.key != key:
                raise EngineFailed(f"it answered no {key}, expected one")
            complaint = self._wire.complaint(asked, reply.value)
            if complaint is not None:
                raise EngineFailed(f"it answered {complaint}")
            return Decision(reply.value, dict(reply.diagnostics))

        last = len(self._transcript.seen) - 1
        return self._conversation.ask(last, partial(self._request, asked, limit), accept, limit)

    def close(self) -> None:
        """See :meth:`uci_bridge.protocol.conversation.Conversation.close`."""
        self._conversation.close()

    def _request(self, asked: Any, limit: Limit, follows: bool, began: float) -> bytes:
        transcript = self._transcript
        request = Request(
            ids=self._conversation.ids,
            seat=self._seat,
            ply=transcript.ply,
            question=asked,
            setup=self._setup,
            seed=self._conversation.seed,
            clock=clock_left(limit, began),
            transcript=None if follows else tuple(transcript.seen),
            delta=transcript.seen[-1] if follows else None,
            budget_ms=budget_ms(limit),
            nodes=limit.nodes,
        )
        return write_request(self._wire, request)

    def _push(self, seen: Any) -> None:
        if seen is not None:
            push = Push(self._conversation.ids, self._seat, seen)
            self._conversation.push(len(self._transcript.seen) - 1, write_request(self._wire, push))


def rehearse(engine: EngineProcess, wire: Wire) -> str | None:
    """Have an engine play a turn of a game that nobody plays, so that its compiled code is loaded when a clock runs.

    Returns
    -------
    str or None
        What went wrong; nothing is raised. It goes wrong again in a game, where it counts.
    """
    player = HostedPlayer(engine, wire, quiet=True)
    try:
        wire.rehearse(player, _REHEARSAL)
    except (Forfeit, OutOfTime, OSError) as error:  # OSError: this machine has too little for a process
        return str(error)
    player.end(Outcome(None, "aborted"))
    return None
