"""Any program that speaks the engine protocol, hosted as a player.

:class:`HostedPlayer` stands on the player's side of the wall: it is given views and a clock and writes nothing else
down. How it speaks with the engine, and what the engine's faults cost, is :mod:`uci_bridge.protocol.conversation`.
"""

from __future__ import annotations

from typing import Literal

from darkchess.board.position import START_FEN, Position
from darkchess.fog.game.contest import Decision, Player
from darkchess.fog.game.rules import PAPER, Ruleset
from darkchess.fog.game.view import View
from klss.table.limits import Limit, Progress
from uci_bridge.errors import EngineFailed
from uci_bridge.protocol.codec import read_reply, write_request
from uci_bridge.protocol.conversation import Conversation, budget_ms, clock_left
from uci_bridge.protocol.engine_process import EngineProcess, Patience
from uci_bridge.protocol.messages import Answer, ObservationPush, Reply, TurnRequest, observation_of

__all__ = ["EngineProcess", "HostedPlayer", "Patience"]


class HostedPlayer(Player):
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
        self._views: list[View] = []
        self._fen: str | None = None
        self._no_move: Literal["loss", "draw"] = "loss"

    @property
    def trouble(self) -> str | None:
        """See :class:`darkchess.fog.game.contest.Player`."""
        return self._conversation.trouble

    @trouble.setter
    def trouble(self, told: str | None) -> None:
        self._conversation.trouble = told

    def start(self, view: View, start: Position, ruleset: Ruleset = PAPER) -> None:
        """See :class:`darkchess.fog.game.contest.Player`; a new session, also where this player has played before."""
        self._views = [view]
        self._fen = None if start.fen() == START_FEN else start.fen()
        self._no_move = ruleset.no_move
        self._conversation.begin()

    def observe(self, view: View) -> None:
        """See :class:`darkchess.fog.game.contest.Player`; nothing is raised for what the engine does."""
        self._views.append(view)
        if view.kind == "own_move" or view.game_over is not None:
            self._push(view)

    def end(self, view: View) -> None:
        """The game ended by something that is no ply; ``view`` is the last one again, with ``game_over``."""
        if self._views:
            self._views[-1] = view
            self._push(view)

    def choose(self, limit: Limit, progress: Progress | None = None) -> Decision:
        """See :class:`darkchess.fog.game.contest.Player`.

        Raises
        ------
        Forfeit, OutOfTime
            See :meth:`uci_bridge.protocol.conversation.Conversation.ask`; a move has to be legal.
        """
        view = self._views[-1]

        def line(follows: bool, began: float) -> bytes:
            return write_request(
                TurnRequest(
                    ids=self._conversation.ids,
                    color=view.color,
                    ply=view.ply,
                    seed=self._conversation.seed,
                    clock=clock_left(limit, began),
                    legal_moves=view.legal_moves,
                    transcript=None if follows else tuple(map(observation_of, self._views)),
                    delta=observation_of(view) if follows else None,
                    budget_ms=budget_ms(limit),
                    nodes=limit.nodes,
                    fen=self._fen,
                    no_move=self._no_move,
                )
            )

        def accept(reply: Reply) -> Decision:
            if not isinstance(reply, Answer) or reply.move not in view.legal_moves:
                got = reply.move.uci() if isinstance(reply, Answer) else "no move"
                raise EngineFailed(f"it answered {got}, expected one of its {len(view.legal_moves)} legal moves")
            return Decision(reply.move, dict(reply.diagnostics))

        return self._conversation.ask(view.ply, line, accept, limit)

    def close(self) -> None:
        """See :meth:`uci_bridge.protocol.conversation.Conversation.close`."""
        self._conversation.close()

    def _push(self, view: View) -> None:
        push = ObservationPush(self._conversation.ids, view.color, view.ply, observation_of(view))
        self._conversation.push(view.ply, write_request(push))
