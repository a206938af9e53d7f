"""Read and write the engine protocol's messages, one JSON object per line; on reading every field is checked.

Types and bounds are those of :mod:`uci_bridge.protocol.shapes` and of a game's :class:`~uci_bridge.protocol.wire.Wire`.
This module recognises the kind of a message, and does what is the same in every game. An engine's own texts (errors,
diagnostics) are made printable by :mod:`klss.support.text`.

Why the standard library's json: msgspec's reader refuses a whole line because of one number or lone surrogate in the
diagnostics, and its writer does not write pure ASCII.

Source: docs/engine-protocol.md, which describes this file in prose; the shapes are those of the open engine protocol
v1 of the engine Misty (PyPI ``misty-chess``, module ``fow_chess.engine_protocol``). ``budget_ms``,
``nodes``, ``fen`` and ``rules`` are additions, and so is every game but Fog of War.

Deviations: a push may lack ``engineId`` and ``protocolVersion``, an answer its ids. Written messages have all fields.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import msgspec

from klss.support.text import printable
from uci_bridge.errors import ProtocolError
from uci_bridge.protocol import shapes
from uci_bridge.protocol.diagnostics import fit_to_keep, plain
from uci_bridge.protocol.messages import Answer, Ids, Push, Received, Refusal, Reply, Request
from uci_bridge.protocol.shapes import bad, fitted
from uci_bridge.protocol.wire import Wire

PROTOCOL_VERSION = "1"

MAX_LINE_BYTES = 4 << 20
"""Longest line that is read as a request: it holds a transcript of some 2,700 plies."""

MAX_ANSWER_BYTES = 1 << 18
"""Longest line that is read as an answer."""

MAX_ERROR = 4096
"""Characters of an engine's refusal that are kept."""


# ----------------------------------------------------------------------------------------------------------------------
# reading


def read_request(wire: Wire, line: bytes) -> Request | Push:
    """The request in one line. Raises ProtocolError, with the ids that could be read: the line is not a request."""
    message = _object(line)
    try:
        wire.check_game(message)
        question = wire.mark in message
        if not question and "observation" not in message:
            raise ProtocolError(
                f'got neither "{wire.mark}" (a question) nor "observation" (a push) in the message, expected one of '
                "them"
            )
        _check_version(message, required=question)
        if question:
            return _request(wire, fitted(message, wire.request))
        raw: Any = fitted(message, wire.push)
        return Push(_ids(raw), shapes.COLORS[raw.color], wire.read_seen(raw.observation))
    except ProtocolError as error:
        error.ids.update(_readable_ids(message))
        raise


def read_reply(wire: Wire, line: bytes) -> Reply:
    """An engine's reply to a request. Raises ProtocolError: the line is not a reply."""
    message = _object(line)
    if message.get("error") is not None:
        if not isinstance(message["error"], str):
            raise bad("error", message["error"], "a text")
        need = "transcript" if message.get("need") == "transcript" else None
        return Refusal(_readable_ids(message), printable(message["error"], MAX_ERROR), need)
    _check_version(message)
    keys = [key for key in wire.answers if key in message]
    if len(keys) > 1:
        raise ProtocolError(f"reply: got {' and '.join(keys)}, expected one of them")
    for key in keys:
        raw = fitted(message, wire.answers[key])
        return Answer(_ids(raw), key, wire.read_answer(key, raw), fit_to_keep(raw.diagnostics or {}))
    if message.get("received") is True:
        return Received(_ids(fitted(message, shapes.Received)))
    raise ProtocolError(f"reply: expected one of {', '.join(wire.answers)}, error and received")


def _request(wire: Wire, raw: Any) -> Request:
    transcript = delta = None
    if raw.observationTranscript is not None:
        transcript = tuple(map(wire.read_seen, raw.observationTranscript))
    if raw.latestObservationDelta is not None:
        delta = wire.read_seen(raw.latestObservationDelta)
        if transcript is not None and transcript[-1] != delta:
            raise ProtocolError(
                "latestObservationDelta: got another observation than the transcript's last, expected it"
            )
    last = delta if transcript is None else transcript[-1]
    if last is None:
        raise ProtocolError(
            "got neither observationTranscript nor latestObservationDelta, expected one of them", need="transcript"
        )
    if last.ply != raw.ply:
        raise ProtocolError(f"ply: got {raw.ply} with a last observation of ply {last.ply}, expected the same")
    return Request(
        ids=_ids(raw),
        seat=shapes.COLORS[raw.color],
        ply=raw.ply,
        question=wire.read_question(raw),
        setup=wire.read_setup(raw),
        seed=raw.engineSeed,
        clock=raw.clock,
        transcript=transcript,
        delta=delta if transcript is None else None,
        budget_ms=raw.budget_ms,
        nodes=raw.nodes,
    )


def _object(line: bytes) -> dict[str, Any]:
    """The JSON object in one line. Raises ProtocolError: it is not one."""
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
    """Check the version; called before other fields are read, since another version's fields are unknown."""
    value = message.get("protocolVersion")
    if value != PROTOCOL_VERSION and (required or value is not None):
        raise bad("protocolVersion", value, f'"{PROTOCOL_VERSION}"')


def _readable_ids(message: Mapping[str, Any]) -> dict[str, str]:
    """The well-formed ids of a message."""
    found = {key: message.get(key) for key in ("gameId", "sessionId")}
    return {key: value for key, value in found.items() if isinstance(value, str) and len(value) <= shapes.MAX_ID}


def _ids(raw: shapes.Request | shapes.Push | shapes.Received) -> Ids:
    return Ids(raw.gameId, raw.sessionId, raw.engineId)


# ----------------------------------------------------------------------------------------------------------------------
# writing


def write_request(wire: Wire, request: Request | Push) -> bytes:
    """The request as one line with its newline. Equal requests give equal bytes."""
    ids = request.ids
    message: dict[str, Any] = {"protocolVersion": PROTOCOL_VERSION}
    if wire.game is not None:
        message["game"] = wire.game
    message |= {"gameId": ids.game_id, "engineId": ids.engine_id, "sessionId": ids.session_id}
    message["color"] = shapes.COLOR_NAMES[request.seat]
    if isinstance(request, Push):
        return _line(message | {"ply": request.seen.ply, "observation": wire.seen_json(request.seen)})
    message |= {"ply": request.ply, "engineSeed": request.seed, "clock": request.clock}
    message |= wire.question_json(request.question)
    if request.transcript is not None:
        message["observationTranscript"] = [wire.seen_json(each) for each in request.transcript]
    elif request.delta is not None:
        message["latestObservationDelta"] = wire.seen_json(request.delta)
    for key, value in (("budget_ms", request.budget_ms), ("nodes", request.nodes)):
        if value is not None:
            message[key] = value
    return _line(message | wire.setup_json(request.setup))


def write_reply(wire: Wire, reply: Reply) -> bytes:
    """The reply as one line with its newline."""
    message: dict[str, Any] = {"protocolVersion": PROTOCOL_VERSION}
    if isinstance(reply, Refusal):
        message |= {**reply.ids, "error": reply.error}
        return _line(message if reply.need is None else message | {"need": reply.need})
    message |= {"gameId": reply.ids.game_id, "sessionId": reply.ids.session_id}
    if isinstance(reply, Received):
        return _line(message | {"received": True})
    value = wire.answer_json(reply.key, reply.value)
    return _line(message | {reply.key: value, "diagnostics": plain(reply.diagnostics)})


def _line(message: dict[str, Any]) -> bytes:
    text = json.dumps(message, separators=(",", ":"), allow_nan=False, default=msgspec.to_builtins)
    return text.encode("ascii") + b"\n"
