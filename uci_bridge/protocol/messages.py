"""What the engine protocol's messages say once they are read; :mod:`uci_bridge.protocol.codec` reads and writes them.

What a question and an observation are is each game's: :mod:`uci_bridge.protocol.wire`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from klss.table.outcome import Seat
from uci_bridge.protocol.shapes import Clock

__all__ = ["Answer", "Ids", "Push", "Received", "Refusal", "Reply", "Request"]


@dataclass(frozen=True)
class Ids:
    """Whose message it is. The ids are opaque: they say nothing of the game."""

    # sessionId is one player's side of one game
    game_id: str
    session_id: str
    engine_id: str = ""


@dataclass(frozen=True)
class Request:
    """A question."""

    ids: Ids
    seat: Seat
    ply: int  # turns that were played; that of the last observation
    question: Any  # what is asked, and what may be answered
    setup: Any  # what both players know of the game
    seed: int
    clock: Clock
    transcript: tuple[Any, ...] | None = None  # every observation, or None
    delta: Any = None  # the last one, or None. One of both is there
    # what limits the answer: nodes, else the budget, else the clock
    budget_ms: int | None = None
    nodes: int | None = None


@dataclass(frozen=True)
class Push:
    """An observation outside the player's questions: what became of its turn, and the end of the game."""

    ids: Ids
    seat: Seat
    seen: Any


@dataclass(frozen=True)
class Answer:
    """An engine's answer, and what it reports about it."""

    ids: Ids
    key: str  # which question it answers: the name of the field that holds it
    value: Any
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
