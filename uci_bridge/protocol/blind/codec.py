"""The messages of Reconnaissance Blind Chess: read with every field checked and bounded, written one a line.

Source: docs/engine-protocol.md, "Reconnaissance Blind Chess". Nothing here knows the game: whether what is told follows
from what was told before is asked of :mod:`darkchess.rbc.game.following`.
"""

from __future__ import annotations

from typing import Any

import chess

from darkchess.board.move import encode
from darkchess.rbc.game.observation import Moved, Notice, Sensed, window
from klss.table.outcome import Outcome
from uci_bridge.errors import ProtocolError
from uci_bridge.protocol.blind import shapes
from uci_bridge.protocol.blind.messages import (
    BlindObservation,
    BlindPush,
    BlindReply,
    BlindRequest,
    MoveAnswer,
    SenseAnswer,
)
from uci_bridge.protocol.common import (
    COLORS,
    PIECES,
    PROTOCOL_VERSION,
    check_version,
    color_name,
    ids_of,
    line_of,
    move_json,
    move_of,
    object_of,
    plain,
    readable_ids,
    received_of,
    refusal_line,
    refusal_of,
)
from uci_bridge.protocol.diagnostics import fit_to_keep
from uci_bridge.protocol.fitting import bad, fitted
from uci_bridge.protocol.messages import Clock, Received, Refusal

__all__ = ["GAME", "read_reply", "read_request", "write_reply", "write_request"]

GAME = "rbc"
"""``game`` of every message to an engine."""


# ----------------------------------------------------------------------------------------------------------------------
# reading


def read_request(line: bytes) -> BlindRequest | BlindPush:
    """The request of one line.

    Raises
    ------
    ProtocolError
        The line is no request; carries the ids that could be read.
    """
    message = object_of(line)
    try:
        if "phase" not in message and "observation" not in message and "legalMoves" not in message:
            raise ProtocolError(
                'got neither "phase" (a question) nor "observation" (a push) in the message, expected one of them'
            )
        push = "phase" not in message and "observation" in message
        check_version(message, required=not push)
        if message.get("game") != GAME:
            raise bad("game", message.get("game"), f'"{GAME}" (Fog of War has none, and klss engine plays it)')
        return _push(fitted(message, shapes.BlindPush)) if push else _request(fitted(message, shapes.BlindRequest))
    except ProtocolError as error:
        error.ids.update(readable_ids(message))
        raise


def read_reply(line: bytes) -> BlindReply:
    """An engine's reply to a request.

    Raises
    ------
    ProtocolError
        The line is none.
    """
    message = object_of(line)
    refusal = refusal_of(message)
    if refusal is not None:
        return refusal
    check_version(message)
    if "sense" in message and "move" in message:
        raise ProtocolError('reply: got both "sense" and "move", expected one of them')
    if "sense" in message:
        looked = fitted(message, shapes.SenseAnswer)
        return SenseAnswer(ids_of(looked), looked.sense, fit_to_keep(looked.diagnostics or {}))
    if "move" in message:
        asked = fitted(message, shapes.MoveAnswer)
        request = None if asked.move is None else move_of(asked.move)
        return MoveAnswer(ids_of(asked), request, fit_to_keep(asked.diagnostics or {}))
    received = received_of(message)
    if received is not None:
        return received
    raise ProtocolError('reply: got neither "sense" nor "move" nor "error" nor "received": true, expected one of them')


def _request(told: shapes.BlindRequest) -> BlindRequest:
    transcript = delta = None
    if told.observationTranscript is not None:
        transcript = tuple(map(_observation, told.observationTranscript))
    if told.latestObservationDelta is not None:
        delta = _observation(told.latestObservationDelta)
        if transcript is not None and transcript[-1] != delta:
            raise ProtocolError(
                "latestObservationDelta: got another observation than the transcript's last, expected it"
            )
    last = delta if transcript is None else transcript[-1]
    if last is None:
        raise ProtocolError(
            "got neither observationTranscript nor latestObservationDelta, expected one of them", need="transcript"
        )
    if last.ply != told.ply:
        raise ProtocolError(f"ply: got {told.ply} with a last observation of ply {last.ply}, expected the same")
    return BlindRequest(
        ids=ids_of(told),
        color=COLORS[told.color],
        ply=told.ply,
        phase=told.phase,
        seed=told.engineSeed,
        clock=Clock(told.clock.remaining_ms, told.clock.increment_ms),
        requests=tuple(map(move_of, told.legalMoves)),
        senses=tuple(told.senseActions or ()),
        transcript=transcript,
        delta=delta if transcript is None else None,
        budget_ms=told.budget_ms,
        nodes=told.nodes,
        fen=told.fen,
    )


def _push(told: shapes.BlindPush) -> BlindPush:
    return BlindPush(ids_of(told), COLORS[told.color], _observation(told.observation))


def _observation(told: shapes.BlindObservation) -> BlindObservation:
    found: Notice | Sensed | Moved | Outcome
    if told.kind == "capture_notice":
        found = Notice(told.own_capture_square)
    elif told.kind == "sense_result":
        contents = {
            square: None if man is None else chess.Piece(PIECES[man.type], COLORS[man.color])
            for square, man in told.sensed_squares or []
        }
        order = () if told.sense is None else window(told.sense)
        first = [square for square in order if square in contents]
        found = Sensed(told.sense, tuple((each, contents[each]) for each in dict.fromkeys([*first, *contents])))
    elif told.kind == "move_result":
        requested, taken = (None if move is None else move_of(move) for move in (told.requested, told.taken))
        found = Moved(requested, taken, told.capture_square)
    else:
        over = told.game_over
        assert over is not None
        found = Outcome(COLORS[over.winner] if over.winner else None, over.reason)
    return BlindObservation(told.ply, found)


# ----------------------------------------------------------------------------------------------------------------------
# writing


def write_request(request: BlindRequest | BlindPush) -> bytes:
    """One line, its end included. The same request gives the same bytes."""
    ids = request.ids
    message: dict[str, Any] = {
        "protocolVersion": PROTOCOL_VERSION,
        "game": GAME,
        "gameId": ids.game_id,
        "engineId": ids.engine_id,
        "sessionId": ids.session_id,
        "color": chess.COLOR_NAMES[request.color],
    }
    if isinstance(request, BlindPush):
        message["ply"] = request.observation.ply
        message["observation"] = _observation_json(request.observation)
        return line_of(message)
    message |= {"ply": request.ply, "phase": request.phase, "engineSeed": request.seed}
    message["clock"] = {"remaining_ms": request.clock.remaining_ms, "increment_ms": request.clock.increment_ms}
    if request.phase == "sense":
        message["senseActions"] = sorted(request.senses)
    message["legalMoves"] = [move_json(move) for move in sorted(request.requests, key=encode)]
    if request.transcript is not None:
        message["observationTranscript"] = [_observation_json(each) for each in request.transcript]
    elif request.delta is not None:
        message["latestObservationDelta"] = _observation_json(request.delta)
    for key, value in (("budget_ms", request.budget_ms), ("nodes", request.nodes), ("fen", request.fen)):
        if value is not None:
            message[key] = value
    return line_of(message)


def write_reply(reply: BlindReply) -> bytes:
    """One line, its end included."""
    if isinstance(reply, Refusal):
        return refusal_line(reply)
    message: dict[str, Any] = {
        "protocolVersion": PROTOCOL_VERSION,
        "gameId": reply.ids.game_id,
        "sessionId": reply.ids.session_id,
    }
    if isinstance(reply, Received):
        message["received"] = True
    elif isinstance(reply, SenseAnswer):
        message |= {"sense": reply.square, "diagnostics": plain(reply.diagnostics)}
    else:
        move = None if reply.request is None else move_json(reply.request)
        message |= {"move": move, "diagnostics": plain(reply.diagnostics)}
    return line_of(message)


def _observation_json(seen: BlindObservation) -> dict[str, Any]:
    told = seen.told
    if isinstance(told, Notice):
        return {"ply": seen.ply, "kind": "capture_notice", "own_capture_square": told.square}
    if isinstance(told, Sensed):
        squares = [[square, _man_json(piece)] for square, piece in told.contents]
        return {"ply": seen.ply, "kind": "sense_result", "sense": told.square, "sensed_squares": squares}
    if isinstance(told, Moved):
        return {
            "ply": seen.ply,
            "kind": "move_result",
            "requested": None if told.requested is None else move_json(told.requested),
            "taken": None if told.taken is None else move_json(told.taken),
            "capture_square": told.capture_square,
        }
    over = {"winner": color_name(told.winner), "reason": told.reason}
    return {"ply": seen.ply, "kind": "game_over", "game_over": over}


def _man_json(piece: chess.Piece | None) -> dict[str, str] | None:
    return None if piece is None else {"type": piece.symbol().upper(), "color": chess.COLOR_NAMES[piece.color]}
