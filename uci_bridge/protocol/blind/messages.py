"""What the messages of Reconnaissance Blind Chess say once they are read; :mod:`uci_bridge.protocol.blind.codec` reads
and writes them. Ids, clocks, acknowledgements and refusals are those of :mod:`uci_bridge.protocol.messages`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import chess

from darkchess.rbc.game.observation import Moved, Notice, Sensed
from klss.table.outcome import Outcome
from uci_bridge.protocol.messages import Clock, Ids, Received, Refusal

__all__ = [
    "BlindObservation", "BlindPush", "BlindReply", "BlindRequest", "MoveAnswer", "Phase", "SenseAnswer",
]  # fmt: skip

Phase = Literal["sense", "move"]
"""Which of a turn's two questions."""


@dataclass(frozen=True)
class BlindObservation:
    """What a player is told.

    Attributes
    ----------
    ply
        Turns of either side that were played when she is told: in her turn those before it, once she has moved it too.
    told
        What it is.
    """

    ply: int
    told: Notice | Sensed | Moved | Outcome


@dataclass(frozen=True)
class BlindRequest:
    """A question.

    Attributes
    ----------
    ids, color
        Whose.
    ply
        Turns of either side that were played.
    phase
        Which question.
    seed
        ``engineSeed``.
    clock
        Her clock.
    requests
        What she may ask for beside a pass, as they came; written sorted by from, to, promotion.
    senses
        Where she may look beside nowhere; () when she is asked for a move.
    transcript
        Everything that she was told, or None.
    delta
        The last of it, or None. One of both is there.
    budget_ms, nodes
        What limits her answer: nodes, else the budget, else the clock.
    fen
        The start position; None for the usual one.
    """

    ids: Ids
    color: chess.Color
    ply: int
    phase: Phase
    seed: int
    clock: Clock
    requests: tuple[chess.Move, ...]
    senses: tuple[int, ...] = ()
    transcript: tuple[BlindObservation, ...] | None = None
    delta: BlindObservation | None = None
    budget_ms: int | None = None
    nodes: int | None = None
    fen: str | None = None


@dataclass(frozen=True)
class BlindPush:
    """What she is told outside her questions: what became of her move, and the end of the game."""

    ids: Ids
    color: chess.Color
    observation: BlindObservation


@dataclass(frozen=True)
class SenseAnswer:
    """Where an engine looks (None: nowhere), and what it says about it."""

    ids: Ids
    square: int | None
    diagnostics: Mapping[str, Any]


@dataclass(frozen=True)
class MoveAnswer:
    """What an engine asks for (None: it passes), and what it says about it."""

    ids: Ids
    request: chess.Move | None
    diagnostics: Mapping[str, Any]


BlindReply = SenseAnswer | MoveAnswer | Received | Refusal
