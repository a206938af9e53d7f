"""What the engine protocol's messages look like: docs/engine-protocol.md's tables as types, bounds included.

Fields have the names that they have in the JSON. One whose default is None may be left out or null; unknown ones are
ignored, and so is ``protocolVersion``, which is looked at before all else. What fields say together is checked where
they are; for what complaints look like see :mod:`uci_bridge.protocol.fitting`.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct, field

from darkchess.fog.game.view import Kind

__all__ = ["Answer", "Move", "Observation", "ObservationPush", "Received", "TurnRequest"]

MAX_ID = 256
MAX_PLY = 20_000

Color = Literal["white", "black"]

Id = Annotated[str, Meta(min_length=1, max_length=MAX_ID)]
IdOrEmpty = Annotated[str, Meta(max_length=MAX_ID)]
Ply = Annotated[int, Meta(ge=0, le=MAX_PLY)]
Square = Annotated[int, Meta(ge=0, le=63, description="a square from 0 to 63")]
SquareName = Annotated[str, Meta(pattern=r"^[a-h][1-8]\Z", description="a square such as e2")]
Mask = Annotated[str, Meta(pattern=r"^0[xX][0-9a-fA-F]{1,16}\Z", description='"0x" and 16 hexadecimal digits')]
Milliseconds = Annotated[int, Meta(ge=0, le=10**11)]  # three years: more than any clock holds
Nodes = Annotated[int, Meta(ge=1, le=10**8)]
Seed = Annotated[int, Meta(ge=-(2**63), description="a whole number of 64 bits")]  # msgspec's bounds end at 2^63
Fen = Annotated[str, Meta(max_length=120, description="a FEN of at most 120 characters")]


class Move(Struct, frozen=True):
    """A move."""

    from_: SquareName = field(name="from")
    to: SquareName
    promotion: Literal["queen", "rook", "bishop", "knight"] | None = None

    def __post_init__(self) -> None:
        """Refuse a move to where it starts."""
        if self.from_ == self.to:
            raise ValueError(f": got a move from {self.from_} to itself, expected two squares")


class Piece(Struct, frozen=True):
    """A man on a square."""

    type: Annotated[Literal["P", "N", "B", "R", "Q", "K"], Meta(description="one of P N B R Q K")]
    color: Color


_SquareAndPiece = Annotated[tuple[Square, Piece], Meta(description='[square, {"type", "color"}]')]


class GameOver(Struct, frozen=True, kw_only=True):
    """How the game ended."""

    winner: Color | None = None
    reason: Annotated[str, Meta(max_length=64)]


class Observation(Struct, frozen=True, kw_only=True):
    """What a player sees after a ply."""

    ply: Ply
    kind: Kind
    own_move: Move | None = None
    visibility_mask: Mask
    visible_pieces: Annotated[list[_SquareAndPiece], Meta(max_length=64)]
    own_capture_square: Square | None = None
    opp_capture_landing_square: Square | None = None
    game_over: GameOver | None = None

    def __post_init__(self) -> None:
        """Refuse what no ply shows."""
        kind = self.kind
        if (kind == "initial") != (self.ply == 0):
            raise ValueError(f".kind: got {kind!r} at ply {self.ply}, expected 'initial' at ply 0 and only there")
        if (self.own_move is not None) != (kind == "own_move"):
            got = "nothing" if self.own_move is None else "a move"
            raise ValueError(f".own_move: got {got} with kind {kind!r}, expected a move with 'own_move' only")
        if kind != "opp_move" and (self.own_capture_square, self.opp_capture_landing_square) != (None, None):
            raise ValueError(f".own_capture_square: got a capture with kind {kind!r}, expected it with 'opp_move' only")
        squares = [square for square, _ in self.visible_pieces]
        if len(set(squares)) < len(squares):
            i = next(i for i, square in enumerate(squares) if square in squares[:i])
            raise ValueError(f".visible_pieces[{i}][0]: got square {squares[i]} twice, expected each square once")


class Clock(Struct, frozen=True, kw_only=True):
    """A player's clock."""

    remaining_ms: Milliseconds | None = None
    increment_ms: Milliseconds


class _Rules(Struct, frozen=True):
    """What the rules leave open."""

    no_move: Literal["loss", "draw"] = "loss"


class TurnRequest(Struct, frozen=True, kw_only=True):
    """It is the player's turn."""

    gameId: Id
    engineId: Id
    sessionId: Id
    color: Color
    ply: Ply
    engineSeed: Seed
    clock: Clock
    # No position of dark chess has more (darkchess.board.kernels.moves).
    legalMoves: Annotated[list[Move], Meta(min_length=1, max_length=448)]
    observationTranscript: Annotated[list[Observation], Meta(min_length=1, max_length=MAX_PLY + 1)] | None = None
    latestObservationDelta: Observation | None = None
    budget_ms: Milliseconds | None = None
    nodes: Nodes | None = None
    fen: Fen | None = None
    rules: _Rules | None = None

    def __post_init__(self) -> None:
        """Refuse a seed that is too large, and observations of other plies."""
        if self.engineSeed >= 2**64:
            raise ValueError(".engineSeed: got 2^64 or more, expected a whole number of 64 bits")
        told = self.observationTranscript
        if told is not None:
            for ply, seen in enumerate(told):
                if seen.ply != ply:
                    raise ValueError(
                        f".observationTranscript[{ply}].ply: got {seen.ply}, expected {ply}: every ply once, in order"
                    )
            _check_ply(self.ply, told[-1], f"observationTranscript[{len(told) - 1}]")
        if self.latestObservationDelta is not None:
            _check_ply(self.ply, self.latestObservationDelta, "latestObservationDelta")


class ObservationPush(Struct, frozen=True, kw_only=True):
    """An observation outside the player's turn."""

    gameId: Id
    engineId: IdOrEmpty = ""
    sessionId: Id
    color: Color
    ply: Ply
    observation: Observation

    def __post_init__(self) -> None:
        """Refuse an observation of another ply."""
        _check_ply(self.ply, self.observation, "observation")


class Received(Struct, frozen=True, kw_only=True):
    """The answer to a push; with a move, to a turn request."""

    gameId: IdOrEmpty = ""
    sessionId: IdOrEmpty = ""
    engineId: IdOrEmpty = ""


class Answer(Received, frozen=True, kw_only=True):
    """The answer to a turn request."""

    move: Move
    diagnostics: dict[str, Any] | None = None


def _check_ply(ply: int, seen: Observation, where: str) -> None:
    if seen.ply != ply:
        raise ValueError(f".ply: got {ply} with {where}.ply {seen.ply}, expected the same")
