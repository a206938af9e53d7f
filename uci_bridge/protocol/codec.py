"""Read and write the engine protocol's messages, one JSON object per line; on reading every field is checked.

Types and bounds are those of :mod:`klss.play.messages` and of a game's :class:`~klss.play.wire.Wire`. This module
recognises the kind of a message, and does what is the same in every game. An engine's own texts (errors, diagnostics)
are made printable by :mod:`klss.support.text`.

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
from itertools import islice

import msgspec
from msgspec import structs

from klss.play.messages import MAX_ID, Answer, ProtocolError, Push, Received, Refusal, Reply, Request, Seen, bad, fitted
from klss.play.wire import AnyWire
from klss.support.text import Document, printable

PROTOCOL_VERSION = "1"

MAX_LINE_BYTES = 4 << 20
"""Longest line that is read as a request: it holds a transcript of some 2,700 plies."""

MAX_ANSWER_BYTES = 1 << 18
"""Longest line that is read as an answer."""

MAX_ERROR = 4096
"""Characters of an engine's refusal that are kept."""

MAX_DEPTH = 4
"""Most levels of nested lists and objects."""

MAX_ENTRIES = 512
"""Most entries of one list or object; the rest is dropped."""

MAX_WORDS = 300
"""Most characters of a text or a key."""

MAX_NUMBER = 2**63
"""Bound on the absolute value of numbers: smaller ones can be read by every program."""


# ---------------------------------------------------------------------------------------- reading


def read_request(wire: AnyWire, line: bytes) -> Request[Seen] | Push[Seen]:
    """The request in one line. Raises ProtocolError, with the ids that could be read: the line is not a request."""
    message = _object(line)
    try:
        wire.check_game(message)
        question = wire.asked in message
        if not question and "observation" not in message:
            raise ProtocolError(
                f'got neither "{wire.asked}" (a question) nor "observation" (a push) in the message, expected one '
                "of them"
            )
        _check_version(message, required=question)
        if not question:
            return fitted(message, wire.push)
        request = fitted(message, wire.request)
        _check_last(request)
        return request
    except ProtocolError as error:
        error.ids.update(_readable_ids(message))
        raise


def read_reply(wire: AnyWire, line: bytes) -> Reply:
    """An engine's reply to a request. Raises ProtocolError: the line is not a reply."""
    message = _object(line, strict=False)
    if message.get("error") is not None:
        if not isinstance(message["error"], str):
            raise bad("error", message["error"], "a text")
        need = "transcript" if message.get("need") == "transcript" else None
        return Refusal(**_readable_ids(message), error=printable(message["error"], MAX_ERROR), need=need)
    _check_version(message)
    keys = [key for key in wire.answers if key in message]
    if len(keys) > 1:
        raise ProtocolError(f"reply: got {' and '.join(keys)}, expected one of them")
    for key in keys:
        try:
            raw = fitted(message | {"key": key, "value": message[key]}, wire.answers[key])
        except ProtocolError as error:
            raise ProtocolError(str(error).replace("$.value", f"$.{key}")) from None
        return structs.replace(raw, value=wire.answer(key, raw.value), diagnostics=fit_to_keep(raw.diagnostics or {}))
    if message.get("received") is True:
        return fitted(message, Received)
    raise ProtocolError(f"reply: expected one of {', '.join(wire.answers)}, error and received")


def _check_last(request: Request[Seen]) -> None:
    """Check that a request has observations, of which the last is of its ply."""
    whole, last = request.observationTranscript, request.latestObservationDelta
    if whole is not None and last is not None and whole[-1] != last:
        raise ProtocolError("latestObservationDelta: got another observation than the transcript's last, expected it")
    if whole is not None:
        last = whole[-1]
    if last is None:
        raise ProtocolError(
            "got neither observationTranscript nor latestObservationDelta, expected one of them", need="transcript"
        )
    if last.ply != request.ply:
        raise ProtocolError(f"ply: got {request.ply} with a last observation of ply {last.ply}, expected the same")


def _object(line: bytes, *, strict: bool = True) -> Document:
    """The JSON object in one line. Raises ProtocolError: it is not one, or, if ``strict``, has NaN, an infinite number
    or one of thousands of digits; else that is cut, but still too large for every field.
    """
    try:
        message = json.loads(
            line.decode("utf-8"),
            parse_constant=_no_constant if strict else float,
            parse_int=None if strict else lambda digits: int(digits[:400]),
        )
    except (ValueError, RecursionError) as error:
        raise ProtocolError(f"not JSON: {str(error)[:80]}; expected one JSON object a line") from None
    if not isinstance(message, dict):
        raise bad("message", message, "one JSON object a line")
    return message


def _no_constant(name: str) -> float:
    raise ValueError(f"got {name}, which JSON does not have")


def _check_version(message: Mapping[str, object], *, required: bool = False) -> None:
    """Check the version; called before other fields are read, since another version's fields are unknown."""
    value = message.get("protocolVersion")
    if value != PROTOCOL_VERSION and (required or value is not None):
        raise bad("protocolVersion", value, f'"{PROTOCOL_VERSION}"')


def _readable_ids(message: Mapping[str, object]) -> dict[str, str]:
    """The well-formed ids of a message."""
    found = {key: message.get(key) for key in ("gameId", "sessionId")}
    return {key: value for key, value in found.items() if isinstance(value, str) and len(value) <= MAX_ID}


# ---------------------------------------------------------------------------------------- writing


def write_request(wire: AnyWire, request: Request[Seen] | Push[Seen]) -> bytes:
    """The request as one line with its newline. Equal requests give equal bytes."""
    fields = {"game": wire.game} | msgspec.to_builtins(request)
    return _line({name: value for name, value in fields.items() if value is not None})


def write_reply(wire: AnyWire, reply: Reply) -> bytes:
    """The reply as one line with its newline."""
    message: Document = {"gameId": reply.gameId, "sessionId": reply.sessionId}
    if isinstance(reply, Refusal):
        message = {key: value for key, value in message.items() if value} | {"error": reply.error}
        return _line(message if reply.need is None else message | {"need": reply.need})
    if not isinstance(reply, Answer):
        return _line(message | {"received": True})
    value = msgspec.to_builtins(wire.answer_value(reply.key, reply.value))
    return _line(message | {reply.key: value, "diagnostics": fit_to_keep(reply.diagnostics or {})})


def _line(message: Document) -> bytes:
    text = json.dumps({"protocolVersion": PROTOCOL_VERSION} | message, separators=(",", ":"), allow_nan=False)
    return text.encode("ascii") + b"\n"


# ---------------------------------------------------------------------------------------- an engine's report


def fit_to_keep(said: Mapping[str, object]) -> Document:
    """``said`` cut to the bounds above, numpy's numbers made Python's; a value that is too large, not finite, or not
    JSON becomes None. Idempotent. The protocol does not restrict an engine's report about its move, and a later reader
    (a resumed match, a table) must not fail by it.

    >>> fit_to_keep({"nodes": 10**400, "value": float("inf"), "pv": ["e2e4", [1.5, True]], "name": "a\\x1b[31m"})
    {'nodes': None, 'value': None, 'pv': ['e2e4', [1.5, True]], 'name': 'a?[31m'}
    """
    return _kept(said, MAX_DEPTH)


def _kept(said: Mapping[str, object], depth: int) -> Document:
    return {
        printable(str(key), MAX_WORDS): _kept_value(value, depth) for key, value in islice(said.items(), MAX_ENTRIES)
    }


def _kept_value(value: object, depth: int) -> object:
    if isinstance(value, str):
        return printable(value, MAX_WORDS)
    if hasattr(value, "item"):
        value = value.item()
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int | float):
        return value if -MAX_NUMBER < value < MAX_NUMBER else None
    if depth > 1 and isinstance(value, list | tuple):
        return [_kept_value(each, depth - 1) for each in islice(value, MAX_ENTRIES)]
    if depth > 1 and isinstance(value, Mapping):
        return _kept(value, depth - 1)
    return None
