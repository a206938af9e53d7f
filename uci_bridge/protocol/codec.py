"""The engine protocol's messages: read with every field checked and bounded, written one JSON object a line.

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
import re
from collections.abc import Mapping
from typing import Any, Literal

import chess

from darkchess.board.move import encode
from darkchess.game.rules import Outcome
from darkchess.game.view import Kind
from klss.text import printable
from uci_bridge.errors import ProtocolError
from uci_bridge.protocol.diagnostics import fit_to_keep
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

MAX_ID = 256
"""Most characters of an id."""

MAX_PLY = 20_000
MAX_MOVES = 448
"""Most legal moves: no position of dark chess has more (darkchess.board.kernels.moves)."""

MAX_NODES = 10**8
MAX_MS = 10**11
"""Three years: more than any clock holds."""

MAX_REASON = 64
MAX_FEN = 120
MAX_ERROR = 4096

_COLORS = {"white": chess.WHITE, "black": chess.BLACK}
_KINDS: tuple[Kind, ...] = ("initial", "own_move", "opp_move")
_PROMOTIONS = {"queen": chess.QUEEN, "rook": chess.ROOK, "bishop": chess.BISHOP, "knight": chess.KNIGHT}
_PROMOTION_NAMES = {piece: name for name, piece in _PROMOTIONS.items()}
_PIECES = {letter.upper(): piece for piece, letter in enumerate(chess.PIECE_SYMBOLS) if letter}
_SQUARES = {name: square for square, name in enumerate(chess.SQUARE_NAMES)}
_MASK = re.compile(r"0[xX][0-9a-fA-F]{1,16}")


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
        return _request(message)
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
            raise _bad("error", error, "a text")
        need = message.get("need")
        return Refusal(_readable_ids(message), printable(error, MAX_ERROR), need if need == "transcript" else None)
    _version(message, required=False)
    ids = Ids(*(_text(message, key, MAX_ID, default="") for key in ("gameId", "sessionId", "engineId")))
    if "move" in message:
        diagnostics = message.get("diagnostics")
        if diagnostics is not None and not isinstance(diagnostics, dict):
            raise _bad("diagnostics", diagnostics, "an object")
        return Answer(ids, _move(message["move"], "move"), fit_to_keep(diagnostics or {}))
    if message.get("received") is True:
        return Received(ids)
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
        raise ProtocolError(f"got {_short(message)}, expected one JSON object a line")
    return message


def _no_constant(name: str) -> float:
    raise ValueError(f"got {name}, which JSON does not have")


def _request(message: dict[str, Any]) -> TurnRequest | ObservationPush:
    if "legalMoves" in message:
        return _turn(message)
    if "observation" in message:
        _version(message, required=False)
        push = ObservationPush(
            Ids(_id(message, "gameId"), _id(message, "sessionId"), _text(message, "engineId", MAX_ID, default="")),
            _color(message, "color"),
            _whole(message, "ply", 0, MAX_PLY),
            _observation(message["observation"], "observation"),
        )
        _same_ply(push.ply, push.observation, "observation")
        return push
    raise ProtocolError(
        'got neither "legalMoves" (a turn request) nor "observation" (a push) in the message, expected one of them'
    )


def _turn(message: dict[str, Any]) -> TurnRequest:
    _version(message, required=True)
    ids = Ids(_id(message, "gameId"), _id(message, "sessionId"), _id(message, "engineId"))
    color, ply = _color(message, "color"), _whole(message, "ply", 0, MAX_PLY)
    clock = _object(message, "clock")
    moves = _list(message, "legalMoves", MAX_MOVES)
    if not moves:
        raise _bad("legalMoves", moves, "at least one move")
    transcript = delta = None
    if message.get("observationTranscript") is not None:
        told = _list(message, "observationTranscript", MAX_PLY + 1)
        transcript = tuple(_observation(each, f"observationTranscript[{i}]") for i, each in enumerate(told))
        odd = next((i for i, each in enumerate(transcript) if each.ply != i), None)
        if odd is not None:
            raise ProtocolError(
                f"observationTranscript[{odd}].ply: got {transcript[odd].ply}, expected {odd}: every ply once, in order"
            )
        if not transcript:
            raise _bad("observationTranscript", told, "at least the observation of ply 0")
        _same_ply(ply, transcript[-1], f"observationTranscript[{len(transcript) - 1}]")
    if message.get("latestObservationDelta") is not None:
        delta = _observation(message["latestObservationDelta"], "latestObservationDelta")
        _same_ply(ply, delta, "latestObservationDelta")
        if transcript is not None and transcript[-1] != delta:
            raise ProtocolError(
                "latestObservationDelta: got another observation than the transcript's last, expected it"
            )
    if transcript is None and delta is None:
        raise ProtocolError(
            "got neither observationTranscript nor latestObservationDelta, expected one of them", need="transcript"
        )
    fen = message.get("fen")
    if fen is not None and not (isinstance(fen, str) and len(fen) <= MAX_FEN):
        raise _bad("fen", fen, f"a FEN of at most {MAX_FEN} characters")
    return TurnRequest(
        ids=ids,
        color=color,
        ply=ply,
        seed=_whole(message, "engineSeed", -(2**63), 2**64 - 1),
        clock=Clock(
            _optional(clock, "remaining_ms", 0, MAX_MS, "clock."), _whole(clock, "increment_ms", 0, MAX_MS, "clock.")
        ),
        legal_moves=tuple(_move(move, f"legalMoves[{i}]") for i, move in enumerate(moves)),
        transcript=transcript,
        delta=delta if transcript is None else None,
        budget_ms=_optional(message, "budget_ms", 0, MAX_MS),
        nodes=_optional(message, "nodes", 1, MAX_NODES),
        fen=fen,
        no_move=_no_move(message),
    )


def _no_move(message: dict[str, Any]) -> Literal["loss", "draw"]:
    if message.get("rules") is None:
        return "loss"
    no_move = _object(message, "rules").get("no_move", "loss")
    if no_move == "loss":
        return "loss"
    if no_move == "draw":
        return "draw"
    raise _bad("rules.no_move", no_move, '"loss" or "draw"')


def _observation(value: Any, where: str) -> Observation:
    if not isinstance(value, dict):
        raise _bad(where, value, "an object")
    dot = where + "."
    ply, kind = _whole(value, "ply", 0, MAX_PLY, dot), value.get("kind")
    if kind not in _KINDS:
        raise _bad(f"{dot}kind", kind, " or ".join(_KINDS))
    if (kind == "initial") != (ply == 0):
        raise ProtocolError(f"{dot}kind: got {kind!r} at ply {ply}, expected 'initial' at ply 0 and only there")
    told = value.get("own_move")
    own_move = None if told is None else _move(told, f"{dot}own_move")
    if (own_move is not None) != (kind == "own_move"):
        raise ProtocolError(
            f"{dot}own_move: got {_short(told)} with kind {kind!r}, expected a move with 'own_move' only"
        )
    lost = _optional(value, "own_capture_square", 0, 63, dot)
    landing = _optional(value, "opp_capture_landing_square", 0, 63, dot)
    if kind != "opp_move" and not (lost is None and landing is None):
        raise ProtocolError(
            f"{dot}own_capture_square: got a capture with kind {kind!r}, expected it with 'opp_move' only"
        )
    mask = value.get("visibility_mask")
    if not (isinstance(mask, str) and _MASK.fullmatch(mask)):
        raise _bad(f"{dot}visibility_mask", mask, '"0x" and 16 hexadecimal digits')
    return Observation(
        ply=ply,
        kind=kind,
        visible=int(mask, 16),
        pieces=_pieces(value, dot),
        own_move=own_move,
        own_capture_square=lost,
        opp_capture_landing_square=landing,
        game_over=_game_over(value, dot),
    )


def _pieces(value: dict[str, Any], dot: str) -> dict[int, chess.Piece]:
    pieces: dict[int, chess.Piece] = {}
    for i, entry in enumerate(_list(value, "visible_pieces", 64, dot)):
        where = f"{dot}visible_pieces[{i}]"
        if not (isinstance(entry, list) and len(entry) == 2 and isinstance(entry[1], dict)):
            raise _bad(where, entry, '[square, {"type", "color"}]')
        square, piece = entry
        if not (_is_whole(square) and 0 <= square < 64):
            raise _bad(f"{where}[0]", square, "a square from 0 to 63")
        if square in pieces:
            raise ProtocolError(f"{where}[0]: got square {square} twice, expected each square once")
        letter = piece.get("type")
        if not (isinstance(letter, str) and letter in _PIECES):
            raise _bad(f"{where}[1].type", letter, "one of P N B R Q K")
        pieces[square] = chess.Piece(_PIECES[letter], _color(piece, "color", f"{where}[1]."))
    return pieces


def _game_over(value: dict[str, Any], dot: str) -> Outcome | None:
    if value.get("game_over") is None:
        return None
    over = _object(value, "game_over", dot)
    winner = None if over.get("winner") is None else _color(over, "winner", f"{dot}game_over.")
    return Outcome(winner, _text(over, "reason", MAX_REASON, f"{dot}game_over."))


def _move(value: Any, where: str) -> chess.Move:
    if not isinstance(value, dict):
        raise _bad(where, value, '{"from", "to"}')
    squares = []
    for key in ("from", "to"):
        name = value.get(key)
        if not (isinstance(name, str) and name in _SQUARES):
            raise _bad(f"{where}.{key}", name, "a square such as e2")
        squares.append(_SQUARES[name])
    promotion = value.get("promotion")
    if promotion is not None and not (isinstance(promotion, str) and promotion in _PROMOTIONS):
        raise _bad(f"{where}.promotion", promotion, "queen, rook, bishop or knight")
    if squares[0] == squares[1]:
        raise ProtocolError(f"{where}: got a move from {value['from']} to itself, expected two squares")
    return chess.Move(squares[0], squares[1], None if promotion is None else _PROMOTIONS[promotion])


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


# ----------------------------------------------------------------------------------------------------------------------
# fields


def _short(value: Any) -> str:
    """``value`` in an error message: short, whatever it is."""
    if isinstance(value, (dict, list)):
        return f"{'an object' if isinstance(value, dict) else 'a list'} of {len(value)}"
    if isinstance(value, str):
        return repr(value[:60] + "…" if len(value) > 60 else value)
    text = "nothing" if value is None else str(value)
    return text if len(text) <= 60 else text[:60] + "…"


def _bad(where: str, got: Any, expected: str) -> ProtocolError:
    return ProtocolError(f"{where}: got {_short(got)}, expected {expected}")


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _whole(message: dict[str, Any], key: str, least: int, most: int, where: str = "") -> int:
    value = message.get(key)
    if not (_is_whole(value) and least <= value <= most):  # type: ignore[operator]
        raise _bad(where + key, value, f"a whole number from {least} to {most}")
    return value  # type: ignore[return-value]


def _optional(message: dict[str, Any], key: str, least: int, most: int, where: str = "") -> int | None:
    return None if message.get(key) is None else _whole(message, key, least, most, where)


def _text(message: dict[str, Any], key: str, most: int, where: str = "", *, default: str | None = None) -> str:
    value = message.get(key, default)
    if not (isinstance(value, str) and len(value) <= most):
        raise _bad(where + key, value, f"a text of at most {most} characters")
    return value


def _id(message: dict[str, Any], key: str) -> str:
    value = _text(message, key, MAX_ID)
    if not value:
        raise _bad(key, value, f"a text of 1 to {MAX_ID} characters")
    return value


def _list(message: dict[str, Any], key: str, most: int, where: str = "") -> list[Any]:
    value = message.get(key)
    if not (isinstance(value, list) and len(value) <= most):
        raise _bad(where + key, value, f"a list of at most {most}")
    return value


def _object(message: dict[str, Any], key: str, where: str = "") -> dict[str, Any]:
    value = message.get(key)
    if not isinstance(value, dict):
        raise _bad(where + key, value, "an object")
    return value


def _color(message: dict[str, Any], key: str, where: str = "") -> chess.Color:
    value = message.get(key)
    if not (isinstance(value, str) and value in _COLORS):
        raise _bad(where + key, value, '"white" or "black"')
    return _COLORS[value]


def _version(message: dict[str, Any], *, required: bool) -> None:
    value = message.get("protocolVersion")
    if value != PROTOCOL_VERSION and (required or value is not None):
        raise _bad("protocolVersion", value, f'"{PROTOCOL_VERSION}"')


def _same_ply(ply: int, seen: Observation, where: str) -> None:
    if seen.ply != ply:
        raise ProtocolError(f"ply: got {ply} with {where}.ply {seen.ply}, expected the same")


def _readable_ids(message: Mapping[str, Any]) -> dict[str, str]:
    """The ids that are well-formed."""
    found = {key: message.get(key) for key in ("gameId", "sessionId")}
    return {key: value for key, value in found.items() if isinstance(value, str) and len(value) <= MAX_ID}
