"""What the engine protocol's messages have in common in every game: one JSON object a line, ids, moves, refusals.

The standard library's json reads, since msgspec's refuses a whole line for a number or a lone surrogate in the
diagnostics; it writes, since msgspec's writes no pure ASCII.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any, Protocol

import chess

from klss.support.text import printable
from uci_bridge.errors import ProtocolError
from uci_bridge.protocol import shapes
from uci_bridge.protocol.fitting import bad, fitted
from uci_bridge.protocol.messages import Ids, Received, Refusal

__all__ = [
    "COLORS", "MAX_ANSWER_BYTES", "MAX_LINE_BYTES", "PIECES", "PROTOCOL_VERSION", "check_version", "color_name",
    "ids_of", "line_of", "move_json", "move_of", "object_of", "plain", "readable_ids", "received_of", "refusal_line",
    "refusal_of",
]  # fmt: skip

PROTOCOL_VERSION = "1"

MAX_LINE_BYTES = 4 << 20
"""Longest line that is read as a request: a transcript of some 2,700 plies."""

MAX_ANSWER_BYTES = 1 << 18
"""Longest line that is read as an answer."""

MAX_ERROR = 4096

COLORS = {"white": chess.WHITE, "black": chess.BLACK}
_PROMOTIONS = {"queen": chess.QUEEN, "rook": chess.ROOK, "bishop": chess.BISHOP, "knight": chess.KNIGHT}
_PROMOTION_NAMES = {piece: name for name, piece in _PROMOTIONS.items()}
PIECES = {letter.upper(): piece for piece, letter in enumerate(chess.PIECE_SYMBOLS) if letter}
_SQUARES = {name: square for square, name in enumerate(chess.SQUARE_NAMES)}


class _Told(Protocol):
    @property
    def gameId(self) -> str: ...

    @property
    def sessionId(self) -> str: ...

    @property
    def engineId(self) -> str: ...


def object_of(line: bytes) -> dict[str, Any]:
    """The JSON object of one line; raises ProtocolError where it is none."""
    try:
        message = json.loads(line.decode("utf-8"), parse_constant=_no_constant)
    except RecursionError:
        raise ProtocolError("not JSON: got too deep a nesting, expected one JSON object a line") from None
    except UnicodeDecodeError as error:
        raise ProtocolError(f"not JSON: got bytes that are no UTF-8 at {error.start}, expected UTF-8") from None
    except ValueError as error:
        raise ProtocolError(f"not JSON: {str(error)[:80]}; expected one JSON object a line") from None
    if not isinstance(message, dict):
        raise bad("message", message, "one JSON object a line")
    return message


def _no_constant(name: str) -> float:
    raise ValueError(f"got {name}, which JSON does not have")


def check_version(message: Mapping[str, Any], *, required: bool = False) -> None:
    """Before anything else: of another version's fields nothing is known."""
    value = message.get("protocolVersion")
    if value != PROTOCOL_VERSION and (required or value is not None):
        raise bad("protocolVersion", value, f'"{PROTOCOL_VERSION}"')


def readable_ids(message: Mapping[str, Any]) -> dict[str, str]:
    """The ids that are well-formed."""
    found = {key: message.get(key) for key in ("gameId", "sessionId")}
    return {key: value for key, value in found.items() if isinstance(value, str) and len(value) <= shapes.MAX_ID}


def ids_of(told: _Told) -> Ids:
    """The ids of a message that was read."""
    return Ids(told.gameId, told.sessionId, told.engineId)


def move_of(told: shapes.Move) -> chess.Move:
    """The move that a shape says."""
    return chess.Move(_SQUARES[told.from_], _SQUARES[told.to], _PROMOTIONS[told.promotion] if told.promotion else None)


def line_of(message: dict[str, Any]) -> bytes:
    """One line, its end included."""
    return json.dumps(message, separators=(",", ":"), allow_nan=False).encode("ascii") + b"\n"


def move_json(move: chess.Move) -> dict[str, str]:
    """A move as the protocol says it."""
    told = {"from": chess.SQUARE_NAMES[move.from_square], "to": chess.SQUARE_NAMES[move.to_square]}
    if move.promotion is not None:
        told["promotion"] = _PROMOTION_NAMES[move.promotion]
    return told


def color_name(color: chess.Color | None) -> str | None:
    """A colour as the protocol says it."""
    return None if color is None else chess.COLOR_NAMES[color]


def plain(value: Any) -> Any:
    """``value`` as JSON has it: numpy's numbers as Python's, what is not finite as null, anything else as text."""
    if isinstance(value, Mapping):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    if value is None or isinstance(value, (bool, str)):
        return value
    number = value.item() if hasattr(value, "item") else value
    if isinstance(number, float):
        return number if math.isfinite(number) else None
    return number if isinstance(number, int) else str(number)


def refusal_of(message: Mapping[str, Any]) -> Refusal | None:
    """An engine's refusal; None where the message is none."""
    error = message.get("error")
    if error is None:
        return None
    if not isinstance(error, str):
        raise bad("error", error, "a text")
    need = message.get("need")
    return Refusal(readable_ids(message), printable(error, MAX_ERROR), need if need == "transcript" else None)


def received_of(message: dict[str, Any]) -> Received | None:
    """An engine's acknowledgement of a push; None where the message is none."""
    return Received(ids_of(fitted(message, shapes.Received))) if message.get("received") is True else None


def refusal_line(refusal: Refusal) -> bytes:
    """A refusal as it is written."""
    message: dict[str, Any] = {"protocolVersion": PROTOCOL_VERSION, **refusal.ids, "error": refusal.error}
    if refusal.need is not None:
        message["need"] = refusal.need
    return line_of(message)
