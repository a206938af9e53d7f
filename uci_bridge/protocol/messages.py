"""What the engine protocol's messages say once they are read; :mod:`uci_bridge.protocol.codec` reads, writes them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import chess

from darkchess.fog.game.view import Kind, View
from klss.table.outcome import Outcome

__all__ = [
    "Answer", "Clock", "Ids", "Observation", "ObservationPush", "Received", "Refusal", "Reply", "TurnRequest",
    "observation_of",
]  # fmt: skip


@dataclass(frozen=True)
class Ids:
    """Whose message it is. Opaque: they tell nothing of the game.

    Attributes
    ----------
    game_id, session_id, engine_id
        ``gameId``, ``sessionId`` (one player's side of one game) and ``engineId``.
    """

    game_id: str
    session_id: str
    engine_id: str = ""


@dataclass(frozen=True)
class Clock:
    """The player's clock: milliseconds left (None: she has none), and added after each of her moves."""

    remaining_ms: int | None = None
    increment_ms: int = 0


@dataclass(frozen=True)
class Observation:
    """What a player sees after a ply; the fields are those of :class:`darkchess.fog.game.view.View`."""

    ply: int
    kind: Kind
    visible: int
    pieces: Mapping[int, chess.Piece]
    own_move: chess.Move | None = None
    own_capture_square: int | None = None
    opp_capture_landing_square: int | None = None
    game_over: Outcome | None = None


@dataclass(frozen=True)
class TurnRequest:
    """It is the player's turn.

    Attributes
    ----------
    ids, color
        Whose.
    ply
        Half-moves played; that of the last observation.
    seed
        ``engineSeed``.
    clock
        Her clock.
    legal_moves
        As they came; written sorted by from, to, promotion.
    transcript
        Every observation from ply 0 on, or None.
    delta
        The last observation, or None. One of both is there.
    budget_ms, nodes
        What limits the search: nodes, else the budget, else the clock.
    fen
        The start position; None for the usual one.
    no_move
        What happens to who cannot move.
    """

    ids: Ids
    color: chess.Color
    ply: int
    seed: int
    clock: Clock
    legal_moves: tuple[chess.Move, ...]
    transcript: tuple[Observation, ...] | None = None
    delta: Observation | None = None
    budget_ms: int | None = None
    nodes: int | None = None
    fen: str | None = None
    no_move: Literal["loss", "draw"] = "loss"


@dataclass(frozen=True)
class ObservationPush:
    """An observation outside her turn: right after her own move, and at the end of the game."""

    ids: Ids
    color: chess.Color
    ply: int
    observation: Observation


@dataclass(frozen=True)
class Answer:
    """An engine's move, and what it says about it."""

    ids: Ids
    move: chess.Move
    diagnostics: Mapping[str, Any]


@dataclass(frozen=True)
class Received:
    """An observation push was taken in."""

    ids: Ids


@dataclass(frozen=True)
class Refusal:
    """What was wrong with a request; ``ids`` are those that could be read, by their keys."""

    ids: Mapping[str, str]
    error: str
    need: str | None = None


Reply = Answer | Received | Refusal


def observation_of(view: View) -> Observation:
    """What the protocol tells of a view."""
    return Observation(
        ply=view.ply,
        kind=view.kind,
        visible=view.visible,
        pieces=view.pieces,
        own_move=view.own_move,
        own_capture_square=view.own_capture_square,
        opp_capture_landing_square=view.opp_capture_landing_square,
        game_over=view.game_over,
    )
