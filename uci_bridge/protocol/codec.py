"""The engine protocol's messages: read with every field checked and bounded, written one JSON object a line.

Types and bounds are those of :mod:`uci_bridge.protocol.shapes`; here is which message it is, what it means in chess,
and how it is written. The standard library's json reads, since msgspec's refuses a whole line for a number or a lone
surrogate in the diagnostics; it writes, since msgspec's writes no pure ASCII.

An engine's own words (errors, diagnostics) are read as :mod:`klss.text` shows them.

Source: docs/engine-protocol.md, which is this file in prose; the shapes are those of the open engine protocol
v1 of the engine Misty (PyPI ``misty-chess``, module ``fow_chess.engine_protocol``). ``budget_ms``,
``nodes``, ``fen`` and ``rules`` are additions.

Nothing here knows a game: whether an observation follows from the one before is asked of :mod:`darkchess.game.view`.

Deviations: a push may lack ``engineId`` and ``protocolVersion``, an answer its ids; a mask may have fewer than 16
digits. What is written has everything.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

import chess

from darkchess.board.move import encode
from darkchess.game.rules import Outcome
from klss.text import printable
from uci_bridge.errors import ProtocolError
from uci_bridge.protocol import shapes
from uci_bridge.protocol.diagnostics import fit_to_keep
from uci_bridge.protocol.fitting import bad, fitted
from uci_bridge.protocol.messages import (
    Answer,
    Clock,
    Ids,
    Observation,
    ObservationPush,
    Received,
    Refusal,
    Reply,
    TurnRequest,
)

__all__ = [
    "MAX_ANSWER_BYTES", "MAX_LINE_BYTES", "PROTOCOL_VERSION", "read_reply", "read_request", "write_reply",
    "write_request",
]  # fmt: skip

PROTOCOL_VERSION = "1"

MAX_LINE_BYTES = 4 << 20
"""Longest line that is read as a request: a transcript of some 2,700 plies."""

MAX_ANSWER_BYTES = 1 << 18
"""Longest line that is read as an answer."""

MAX_ERROR = 4096

_COLORS = {"white": chess.WHITE, "black": chess.BLACK}
_PROMOTIONS = {"queen": chess.QUEEN, "rook": chess.ROOK, "bishop": chess.BISHOP, "knight": chess.KNIGHT}
_PROMOTION_NAMES = {piece: name for name, piece in _PROMOTIONS.items()}
_PIECES = {letter.upper(): piece for piece, letter in enumerate(chess.PIECE_SYMBOLS) if letter}
_SQUARES = {name: square for square, name in enumerate(chess.SQUARE_NAMES)}


# ----------------------------------------------------------------------------------------------------------------------
# reading


def read_request(line: bytes) -> TurnRequest | ObservationPush:
    """The request of one line.

    Raises
    ------
    ProtocolError
        The line is no request; carries the ids that could be read.
    """
    message = _object_of(line)
    try:
        if "legalMoves" in message:
            _check_version(message, required=True)
            return _turn(fitted(message, shapes.TurnRequest))
        if "observation" in message:
            _check_version(message)
            return _push(fitted(message, shapes.ObservationPush))
        raise ProtocolError(
            'got neither "legalMoves" (a turn request) nor "observation" (a push) in the message, expected one of them'
        )
    except ProtocolError as error:
        error.ids.update(_readable_ids(message))
        raise


def read_reply(line: bytes) -> Reply:
    """An engine's reply to a request.

    Raises
    ------
    ProtocolError
        The line is none.
    """
    message = _object_of(line)
    if message.get("error") is not None:
        error = message["error"]
        if not isinstance(error, str):
            raise bad("error", error, "a text")
        need = message.get("need")
        return Refusal(_readable_ids(message), printable(error, MAX_ERROR), need if need == "transcript" else None)
    _check_version(message)
    if "move" in message:
        answer = fitted(message, shapes.Answer)
        return Answer(_ids(answer), _move(answer.move), fit_to_keep(answer.diagnostics or {}))
    if message.get("received") is True:
        return Received(_ids(fitted(message, shapes.Received)))
    raise ProtocolError('reply: got neither "move" nor "error" nor "received": true, expected one of them')


def _object_of(line: bytes) -> dict[str, Any]:
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


def _check_version(message: Mapping[str, Any], *, required: bool = False) -> None:
    """Before anything else: of another version's fields nothing is known."""
    value = message.get("protocolVersion")
    if value != PROTOCOL_VERSION and (required or value is not None):
        raise bad("protocolVersion", value, f'"{PROTOCOL_VERSION}"')


def _readable_ids(message: Mapping[str, Any]) -> dict[str, str]:
    """The ids that are well-formed."""
    found = {key: message.get(key) for key in ("gameId", "sessionId")}
    return {key: value for key, value in found.items() if isinstance(value, str) and len(value) <= shapes.MAX_ID}


def _ids(told: shapes.TurnRequest | shapes.ObservationPush | shapes.Received) -> Ids:
    return Ids(told.gameId, told.sessionId, told.engineId)


def _push(told: shapes.ObservationPush) -> ObservationPush:
    return ObservationPush(_ids(told), _COLORS[told.color], told.ply, _observation(told.observation))


def _turn(told: shapes.TurnRequest) -> TurnRequest:
    transcript = delta = None
    if told.observationTranscript is not None:
        transcript = tuple(map(_observation, told.observationTranscript))
    if told.latestObservationDelta is not None:
        delta = _observation(told.latestObservationDelta)
        if transcript is not None and transcript[-1] != delta:
            raise ProtocolError(
                "latestObservationDelta: got another observation than the transcript's last, expected it"
            )
    if transcript is None and delta is None:
        raise ProtocolError(
            "got neither observationTranscript nor latestObservationDelta, expected one of them", need="transcript"
        )
    return TurnRequest(
        ids=_ids(told),
        color=_COLORS[told.color],
        ply=told.ply,
        seed=told.engineSeed,
        clock=Clock(told.clock.remaining_ms, told.clock.increment_ms),
        legal_moves=tuple(map(_move, told.legalMoves)),
        transcript=transcript,
        delta=delta if transcript is None else None,
        budget_ms=told.budget_ms,
        nodes=told.nodes,
        fen=told.fen,
        no_move="loss" if told.rules is None else told.rules.no_move,
    )


def _observation(told: shapes.Observation) -> Observation:
    over = told.game_over
    return Observation(
        ply=told.ply,
        kind=told.kind,
        visible=int(told.visibility_mask, 16),
        pieces={square: chess.Piece(_PIECES[man.type], _COLORS[man.color]) for square, man in told.visible_pieces},
        own_move=None if told.own_move is None else _move(told.own_move),
        own_capture_square=told.own_capture_square,
        opp_capture_landing_square=told.opp_capture_landing_square,
        game_over=None if over is None else Outcome(_COLORS[over.winner] if over.winner else None, over.reason),
    )


def _move(told: shapes.Move) -> chess.Move:
    return chess.Move(_SQUARES[told.from_], _SQUARES[told.to], _PROMOTIONS[told.promotion] if told.promotion else None)


# ----------------------------------------------------------------------------------------------------------------------
# writing


def write_request(request: TurnRequest | ObservationPush) -> bytes:
    """One line, its end included. The same request gives the same bytes."""
    ids = request.ids
    message: dict[str, Any] = {
        "protocolVersion": PROTOCOL_VERSION,
        "gameId": ids.game_id,
        "engineId": ids.engine_id,
        "sessionId": ids.session_id,
        "color": chess.COLOR_NAMES[request.color],
        "ply": request.ply,
    }
    if isinstance(request, ObservationPush):
        message["observation"] = _observation_json(request.observation)
        return _line(message)
    message["engineSeed"] = request.seed
    message["clock"] = {"remaining_ms": request.clock.remaining_ms, "increment_ms": request.clock.increment_ms}
    message["legalMoves"] = [_move_json(move) for move in sorted(request.legal_moves, key=encode)]
    if request.transcript is not None:
        message["observationTranscript"] = [_observation_json(each) for each in request.transcript]
    elif request.delta is not None:
        message["latestObservationDelta"] = _observation_json(request.delta)
    for key, value in (("budget_ms", request.budget_ms), ("nodes", request.nodes), ("fen", request.fen)):
        if value is not None:
            message[key] = value
    message["rules"] = {"no_move": request.no_move}
    return _line(message)


def write_reply(reply: Reply) -> bytes:
    """One line, its end included."""
    message: dict[str, Any] = {"protocolVersion": PROTOCOL_VERSION}
    if isinstance(reply, Refusal):
        message |= {**reply.ids, "error": reply.error}
        if reply.need is not None:
            message["need"] = reply.need
        return _line(message)
    message |= {"gameId": reply.ids.game_id, "sessionId": reply.ids.session_id}
    if isinstance(reply, Answer):
        message |= {"move": _move_json(reply.move), "diagnostics": _plain(reply.diagnostics)}
    else:
        message["received"] = True
    return _line(message)


def _line(message: dict[str, Any]) -> bytes:
    return json.dumps(message, separators=(",", ":"), allow_nan=False).encode("ascii") + b"\n"


def _move_json(move: chess.Move) -> dict[str, str]:
    told = {"from": chess.SQUARE_NAMES[move.from_square], "to": chess.SQUARE_NAMES[move.to_square]}
    if move.promotion is not None:
        told["promotion"] = _PROMOTION_NAMES[move.promotion]
    return told


def _observation_json(seen: Observation) -> dict[str, Any]:
    over = seen.game_over
    return {
        "ply": seen.ply,
        "kind": seen.kind,
        "own_move": None if seen.own_move is None else _move_json(seen.own_move),
        "visibility_mask": f"0x{seen.visible:016x}",
        "visible_pieces": [
            [square, {"type": piece.symbol().upper(), "color": chess.COLOR_NAMES[piece.color]}]
            for square, piece in sorted(seen.pieces.items())
        ],
        "own_capture_square": seen.own_capture_square,
        "opp_capture_landing_square": seen.opp_capture_landing_square,
        "game_over": None if over is None else {"winner": _color_name(over.winner), "reason": over.reason},
    }


def _color_name(color: chess.Color | None) -> str | None:
    return None if color is None else chess.COLOR_NAMES[color]


def _plain(value: Any) -> Any:
    """``value`` as JSON has it: numpy's numbers as Python's, what is not finite as null, anything else as text."""
    if isinstance(value, Mapping):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in value]
    if value is None or isinstance(value, (bool, str)):
        return value
    number = value.item() if hasattr(value, "item") else value
    if isinstance(number, float):
        return number if math.isfinite(number) else None
    return number if isinstance(number, int) else str(number)
