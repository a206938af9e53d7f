"""What the messages of Reconnaissance Blind Chess look like; see :mod:`uci_bridge.protocol.shapes`."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from uci_bridge.protocol import shapes
from uci_bridge.protocol.shapes import (
    MAX_PLY,
    Clock,
    Color,
    Fen,
    GameOver,
    Id,
    IdOrEmpty,
    Milliseconds,
    Move,
    Nodes,
    Piece,
    Ply,
    Seed,
    Square,
)

__all__ = ["BlindObservation", "BlindPush", "BlindRequest", "MoveAnswer", "SenseAnswer"]

_MAX_REQUESTS = 512

_SquareAndContent = Annotated[tuple[Square, Piece | None], Meta(description='[square, {"type", "color"} or null]')]

_FIELDS = {
    "capture_notice": {"own_capture_square"},
    "sense_result": {"sense", "sensed_squares"},
    "move_result": {"requested", "taken", "capture_square"},
    "game_over": {"game_over"},
}


class BlindObservation(Struct, frozen=True, kw_only=True):
    """What a player is told."""

    ply: Ply
    kind: Literal["capture_notice", "sense_result", "move_result", "game_over"]
    own_capture_square: Square | None = None
    sense: Square | None = None
    sensed_squares: Annotated[list[_SquareAndContent], Meta(max_length=9)] | None = None
    requested: Move | None = None
    taken: Move | None = None
    capture_square: Square | None = None
    game_over: GameOver | None = None

    def __post_init__(self) -> None:
        """Refuse what belongs to another kind, and a kind without what makes it one."""
        for kind, fields in _FIELDS.items():
            for name in sorted(fields):
                if kind != self.kind and getattr(self, name) is not None:
                    raise ValueError(f".{name}: got something with kind {self.kind!r}, expected it with {kind!r} only")
        for kind, name in (("sense_result", "sensed_squares"), ("game_over", "game_over")):
            if self.kind == kind and getattr(self, name) is None:
                raise ValueError(f".{name}: got nothing, expected it with kind {kind!r}")
        squares = [square for square, _ in self.sensed_squares or []]
        if len(set(squares)) < len(squares):
            raise ValueError(".sensed_squares: got a square twice, expected each square once")


class BlindRequest(Struct, frozen=True, kw_only=True):
    """A question."""

    gameId: Id
    engineId: Id
    sessionId: Id
    color: Color
    ply: Ply
    phase: Literal["sense", "move"]
    engineSeed: Seed
    clock: Clock
    senseActions: Annotated[list[Square], Meta(min_length=1, max_length=64)] | None = None
    # Castling's, pawns' diagonals and promotions among them (darkchess.rbc.game._kernels.requests).
    legalMoves: Annotated[list[Move], Meta(max_length=_MAX_REQUESTS)]
    observationTranscript: Annotated[list[BlindObservation], Meta(min_length=1, max_length=2 * MAX_PLY)] | None = None
    latestObservationDelta: BlindObservation | None = None
    budget_ms: Milliseconds | None = None
    nodes: Nodes | None = None
    fen: Fen | None = None

    def __post_init__(self) -> None:
        """Refuse a seed that is too large, and squares that do not belong to the question."""
        if self.engineSeed >= 2**64:
            raise ValueError(".engineSeed: got 2^64 or more, expected a whole number of 64 bits")
        if (self.senseActions is not None) != (self.phase == "sense"):
            got = "nothing" if self.senseActions is None else "squares"
            raise ValueError(f".senseActions: got {got} in phase {self.phase!r}, expected squares in 'sense' only")
        if self.senseActions is not None and len(set(self.senseActions)) < len(self.senseActions):
            raise ValueError(".senseActions: got a square twice, expected each square once")


class BlindPush(Struct, frozen=True, kw_only=True):
    """What a player is told outside her questions."""

    gameId: Id
    engineId: IdOrEmpty = ""
    sessionId: Id
    color: Color
    ply: Ply
    observation: BlindObservation

    def __post_init__(self) -> None:
        """Refuse an observation of another ply."""
        if self.ply != self.observation.ply:
            raise ValueError(f".ply: got {self.ply} with observation.ply {self.observation.ply}, expected the same")


class SenseAnswer(shapes.Received, frozen=True, kw_only=True):
    """The answer to ``sense``."""

    sense: Square | None
    diagnostics: dict[str, Any] | None = None


class MoveAnswer(shapes.Received, frozen=True, kw_only=True):
    """The answer to ``move``."""

    move: Move | None
    diagnostics: dict[str, Any] | None = None
