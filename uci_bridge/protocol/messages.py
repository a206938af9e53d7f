"""The engine protocol's messages as objects; :mod:`uci_bridge.protocol.codec` reads and writes them.

Each game defines its own questions and observations: :mod:`uci_bridge.protocol.wire`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from klss.play.outcome import Seat
from uci_bridge.protocol.shapes import Clock


@dataclass(frozen=True)
class Ids:
    """The ids of a message. They are opaque: they reveal nothing of the game."""

    # a session is one player's side of one game
    game_id: str
    session_id: str
    engine_id: str = ""


@dataclass(frozen=True)
class Request:
    """A question."""

    ids: Ids
    seat: Seat
    ply: int  # turns played; equal to that of the last observation
    question: Any  # the question with the possible answers
    setup: Any  # the part of the game that both players know
    seed: int
    clock: Clock
    transcript: tuple[Any, ...] | None = None  # every observation, or None
    delta: Any = None  # the last observation, or None. One of the two is always given
    # the limit of the answer: nodes, else the budget, else the clock
    budget_ms: int | None = None
    nodes: int | None = None


@dataclass(frozen=True)
class Push:
    """An observation outside the player's questions: the result of its turn, and the end of the game."""

    ids: Ids
    seat: Seat
    seen: Any


@dataclass(frozen=True)
class Answer:
    """An engine's answer, and what it reports about it."""

    ids: Ids
    key: str  # the question that it answers: the name of the field that holds it
    value: Any
    diagnostics: Mapping[str, Any]


@dataclass(frozen=True)
class Received:
    """The acknowledgement of a push."""

    ids: Ids


@dataclass(frozen=True)
class Refusal:
    """The refusal of a request; ``ids`` are those that could be read, by their keys."""

    ids: Mapping[str, str]
    error: str
    need: str | None = None


Reply = Answer | Received | Refusal
