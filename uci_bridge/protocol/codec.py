"""The engine protocol's messages: read with every field checked and bounded, written one JSON object a line.

Types and bounds are those of :mod:`uci_bridge.protocol.shapes`; here is which message it is, what it means in chess,
and how it is written. What is the same in every game stands in :mod:`uci_bridge.protocol.common`.

An engine's own words (errors, diagnostics) are read as :mod:`klss.support.text` shows them.

Source: docs/engine-protocol.md, which is this file in prose; the shapes are those of the open engine protocol
v1 of the engine Misty (PyPI ``misty-chess``, module ``fow_chess.engine_protocol``). ``budget_ms``,
``nodes``, ``fen`` and ``rules`` are additions.

Nothing here knows a game: whether an observation follows from the one before is asked of
:mod:`darkchess.fog.game.view`.

Deviations: a push may lack ``engineId`` and ``protocolVersion``, an answer its ids; a mask may have fewer than 16
digits. What is written has everything.
"""

from __future__ import annotations

from typing import Any

import chess

from darkchess.board.move import encode
from klss.table.outcome import Outcome
from uci_bridge.errors import ProtocolError
from uci_bridge.protocol import shapes
from uci_bridge.protocol.common import (
    COLORS,
    MAX_ANSWER_BYTES,
    MAX_LINE_BYTES,
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
from uci_bridge.protocol.messages import (
    Answer,
    Clock,
    Observation,
    ObservationPush,
    Refusal,
    Reply,
    TurnRequest,
)

__all__ = [
    "MAX_ANSWER_BYTES", "MAX_LINE_BYTES", "PROTOCOL_VERSION", "read_reply", "read_request", "write_reply",
    "write_request",
]  # fmt: skip

# ----------------------------------------------------------------------------------------------------------------------
# reading


def read_request(line: bytes) -> TurnRequest | ObservationPush:
    """The request of one line.

    Raises
    ------
    ProtocolError
        The line is no request; carries the ids that could be read.
    """
    message = object_of(line)
    try:
        if message.get("game") == "rbc":
            raise bad("game", "rbc", "Fog of War here, without one (klss rbc engine plays rbc)")
        if "legalMoves" in message:
            check_version(message, required=True)
            return _turn(fitted(message, shapes.TurnRequest))
        if "observation" in message:
            check_version(message)
            return _push(fitted(message, shapes.ObservationPush))
        raise ProtocolError(
            'got neither "legalMoves" (a turn request) nor "observation" (a push) in the message, expected one of them'
        )
    except ProtocolError as error:
        error.ids.update(readable_ids(message))
        raise


def read_reply(line: bytes) -> Reply:
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
    if "move" in message:
        answer = fitted(message, shapes.Answer)
        return Answer(ids_of(answer), move_of(answer.move), fit_to_keep(answer.diagnostics or {}))
    received = received_of(message)
    if received is not None:
        return received
    raise ProtocolError('reply: got neither "move" nor "error" nor "received": true, expected one of them')


def _push(told: shapes.ObservationPush) -> ObservationPush:
    return ObservationPush(ids_of(told), COLORS[told.color], told.ply, _observation(told.observation))


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
        ids=ids_of(told),
        color=COLORS[told.color],
        ply=told.ply,
        seed=told.engineSeed,
        clock=Clock(told.clock.remaining_ms, told.clock.increment_ms),
        legal_moves=tuple(map(move_of, told.legalMoves)),
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
        pieces={square: chess.Piece(PIECES[man.type], COLORS[man.color]) for square, man in told.visible_pieces},
        own_move=None if told.own_move is None else move_of(told.own_move),
        own_capture_square=told.own_capture_square,
        opp_capture_landing_square=told.opp_capture_landing_square,
        game_over=None if over is None else Outcome(COLORS[over.winner] if over.winner else None, over.reason),
    )


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
        return line_of(message)
    message["engineSeed"] = request.seed
    message["clock"] = {"remaining_ms": request.clock.remaining_ms, "increment_ms": request.clock.increment_ms}
    message["legalMoves"] = [move_json(move) for move in sorted(request.legal_moves, key=encode)]
    if request.transcript is not None:
        message["observationTranscript"] = [_observation_json(each) for each in request.transcript]
    elif request.delta is not None:
        message["latestObservationDelta"] = _observation_json(request.delta)
    for key, value in (("budget_ms", request.budget_ms), ("nodes", request.nodes), ("fen", request.fen)):
        if value is not None:
            message[key] = value
    message["rules"] = {"no_move": request.no_move}
    return line_of(message)


def write_reply(reply: Reply) -> bytes:
    """One line, its end included."""
    if isinstance(reply, Refusal):
        return refusal_line(reply)
    message: dict[str, Any] = {"protocolVersion": PROTOCOL_VERSION}
    message |= {"gameId": reply.ids.game_id, "sessionId": reply.ids.session_id}
    if isinstance(reply, Answer):
        message |= {"move": move_json(reply.move), "diagnostics": plain(reply.diagnostics)}
    else:
        message["received"] = True
    return line_of(message)


def _observation_json(seen: Observation) -> dict[str, Any]:
    over = seen.game_over
    return {
        "ply": seen.ply,
        "kind": seen.kind,
        "own_move": None if seen.own_move is None else move_json(seen.own_move),
        "visibility_mask": f"0x{seen.visible:016x}",
        "visible_pieces": [
            [square, {"type": piece.symbol().upper(), "color": chess.COLOR_NAMES[piece.color]}]
            for square, piece in sorted(seen.pieces.items())
        ],
        "own_capture_square": seen.own_capture_square,
        "opp_capture_landing_square": seen.opp_capture_landing_square,
        "game_over": None if over is None else {"winner": color_name(over.winner), "reason": over.reason},
    }
