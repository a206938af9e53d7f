"""The engine protocol's messages: what is written is docs/engine-protocol.md's, what is malformed is refused."""

from __future__ import annotations

import copy
import io
import json
import re
from dataclasses import replace
from typing import Any

import chess
import pytest
from msgspec import structs

from darkchess.fog.game.referee import Referee
from klss.play.messages import Answer, GameOver, ProtocolError, Push, Received, Refusal
from tests.uci_bridge.protocol_games import game_of, push, random_game, turn
from uci_bridge.protocol.codec import read_reply, read_request, write_reply, write_request
from uci_bridge.protocol.engine import bounded_lines
from uci_bridge.protocol.fog import FOG as WIRE

CASTLED = "r3k2r/pppppppp/8/8/8/8/PPPPPPPP/R3K2R w KQkq - 0 1"
PROMOTING = "1n2k3/P7/8/8/8/8/p7/1N2K3 w - - 0 1"
EN_PASSANT = ("e2e4", "a7a6", "e4e5", "d7d5", "e5d6")


def line(message: Any) -> bytes:
    return json.dumps(message).encode()


def test_what_is_written_is_what_the_document_asks_for() -> None:
    random_games = random_game(1, 61), random_game(2, 30, CASTLED), random_game(3, 8, PROMOTING)
    for game in (Referee(), *random_games, game_of(*EN_PASSANT)):
        for color in chess.COLORS:
            sent = push(game, color)
            assert json.loads(write_request(WIRE, read_request(WIRE, line(sent)))) == sent
        if game.outcome is None:
            sent = turn(game, rules={"no_move": "loss"})
            assert json.loads(write_request(WIRE, read_request(WIRE, line(sent)))) == sent


def test_legal_moves_are_written_sorted_by_from_to_promotion_whatever_their_order() -> None:
    game = Referee(PROMOTING)
    sent = turn(game)
    transcript = WIRE.transcript(chess.WHITE, game.setup)
    transcript.begin()
    transcript.given[0] = replace(transcript.given[0], legal_moves=game.legal_moves()[::-1])
    request = structs.replace(read_request(WIRE, line(sent)), **transcript.asks("move"))
    moves = json.loads(write_request(WIRE, request))["legalMoves"]
    order = {None: 0, "knight": 1, "bishop": 2, "rook": 3, "queen": 4}
    keys = [
        (chess.parse_square(move["from"]), chess.parse_square(move["to"]), order[move.get("promotion")])
        for move in moves
    ]
    assert keys == sorted(keys) and len(keys) == 16  # 4 promotions on a8, 4 on b8, 5 king moves, 3 of the knight


def test_a_message_takes_one_line_of_ascii() -> None:
    refusal = write_reply(WIRE, Refusal(gameId="g\n\u2028é\ud800", error="line\nbreak"))
    assert refusal.isascii() and refusal.count(b"\n") == 1 and refusal.endswith(b"\n")
    assert json.loads(refusal)["error"] == "line\nbreak"


def test_replies_are_read_as_they_were_written() -> None:
    ids, move = {"gameId": "g", "sessionId": "s"}, chess.Move.from_uci("a7b8q")
    replies = [
        Answer(**ids, key="move", value=move, diagnostics={"nodes": 3, "value": 0.25}),
        Received(**ids),
        Refusal(**ids, error="what", need="transcript"),
        Refusal(error="what"),
    ]
    for reply in replies:
        assert read_reply(WIRE, write_reply(WIRE, reply)) == reply


def test_diagnostics_are_json_whatever_is_in_them() -> None:
    import numpy as np

    odd = {"nan": float("nan"), "inf": -np.inf, "n": np.int32(4), "x": np.float64(0.5), "deep": [{"y": (1, None)}]}
    odd["o"] = 1j
    written = json.loads(write_reply(WIRE, Answer(key="move", value=chess.Move.from_uci("e2e4"), diagnostics=odd)))
    assert written["diagnostics"] == {"nan": None, "inf": None, "n": 4, "x": 0.5, "deep": [{"y": [1, None]}], "o": None}
    said = b'{"move":{"from":"e2","to":"e4"},"diagnostics":{"a":NaN,"b":-Infinity,"c":-%s,"d":-7}}' % (b"9" * 5000)
    assert read_reply(WIRE, said).diagnostics == {"a": None, "b": None, "c": None, "d": -7}


def test_what_a_reply_may_leave_out() -> None:
    assert read_reply(WIRE, b'{"move":{"from":"e2","to":"e4"}}') == Answer(
        key="move", value=chess.Move.from_uci("e2e4"), diagnostics={}
    )
    assert read_reply(WIRE, b'{"error":null,"received":true}') == Received()


@pytest.mark.parametrize(
    "garbage",
    [b"", b"e2e4", b"[]", b"null", b"{}", b'{"received":false}', b'{"move":null}', b'{"move":"e2e4"}', b'{"error":3}',
     b'{"move":{"from":"e2","to":"e9"}}', b'{"move":{"from":"e2","to":"e4"},"diagnostics":[]}', b"\xff", b'{"move"',
     b'{"move":NaN}', b'{"protocolVersion":"2","received":true}', b'{"gameId":4,"received":true}', b"[" * 100_000],
)  # fmt: skip
def test_a_reply_that_is_none_is_refused(garbage: bytes) -> None:
    with pytest.raises(ProtocolError):
        read_reply(WIRE, garbage)


def test_a_reply_nested_however_deep_is_an_answer_or_refused() -> None:
    for depth in range(1, 1200, 3):
        text = f'{{"move":{{"from":"e2","to":"e4"}},"diagnostics":{{"a":{"[" * depth}{"]" * depth}}}}}'
        try:
            assert isinstance(read_reply(WIRE, text.encode()), Answer)
        except ProtocolError as refused:
            assert "deep" in str(refused) or "recursion" in str(refused)


# (path of the field, what stands there instead, what the error names); ... removes the field
MALFORMED: list[tuple[str, Any, str]] = [
    ("protocolVersion", ..., "protocolVersion"), ("protocolVersion", "2", "protocolVersion"),
    ("gameId", ..., "gameId"), ("gameId", "", "gameId"), ("gameId", "x" * 257, "gameId"),
    ("sessionId", ["s"], "sessionId"), ("engineId", {}, "engineId"), ("color", "White", "color"),
    ("ply", -1, "ply"), ("ply", True, "ply"), ("ply", 10**30, "ply"), ("ply", 1, "ply"),
    ("engineSeed", 0.5, "engineSeed"), ("engineSeed", 2**64, "engineSeed"), ("engineSeed", -(10**400), "engineSeed"),
    ("clock", 5, "clock"), ("clock", {"increment_ms": -1}, "clock.increment_ms"), ("clock", {}, "clock.increment_ms"),
    ("legalMoves", [], "legalMoves"), ("legalMoves", [{"from": "e2", "to": "e9"}], "legalMoves[0].to"),
    ("legalMoves", [{"from": "\ud800", "to": "e4"}], "from"),
    ("legalMoves", [{"from": "e2", "to": "e4", "promotion": "king"}], "legalMoves[0].promotion"),
    ("legalMoves", [{"from": "e2", "to": "e4"}] * 449, "legalMoves"),
    ("observationTranscript", ..., "observationTranscript"), ("observationTranscript", [], "observationTranscript"),
    ("budget_ms", 10**12, "budget_ms"), ("nodes", 0, "nodes"), ("nodes", 10**9, "nodes"), ("fen", "x" * 121, "fen"),
    ("rules", {"no_move": "win"}, "rules.no_move"),
    ("observationTranscript.2.ply", 3, "ply"),
    ("observationTranscript.2.visibility_mask", "0x1_0", "visibility_mask"),
    ("observationTranscript.2.visible_pieces", [[0, {"type": "P", "color": "white"}]] * 2, "visible_pieces"),
    ("observationTranscript.2.visible_pieces", [[64, {"type": "P", "color": "white"}]], "visible_pieces[0][0]"),
    ("observationTranscript.2.game_over", {"winner": None, "reason": "x" * 65}, "game_over.reason"),
    ("latestObservationDelta", {"ply": 2}, "latestObservationDelta.kind"),
]  # fmt: skip


def changed(message: dict[str, Any], path: str, value: Any) -> dict[str, Any]:
    """``message`` with another value at ``path``."""
    message = copy.deepcopy(message)
    *way, last = path.split(".")
    part: Any = message
    for step in way:
        part = part[int(step) if step.isdigit() else step]
    if value is ...:
        del part[last]
    else:
        part[last] = value
    return message


@pytest.mark.parametrize(("path", "value", "names"), MALFORMED)
def test_a_malformed_field_is_refused_by_its_name_with_the_ids_that_could_be_read(
    path: str, value: Any, names: str
) -> None:
    good = turn(game_of("e2e4", "e7e5"))
    read_request(WIRE, line(good))
    with pytest.raises(ProtocolError) as refused:
        read_request(WIRE, line(changed(good, path, value)))
    assert (
        all(name in str(refused.value) for name in re.findall(r"[A-Za-z_]+", names)) and len(str(refused.value)) < 400
    )
    expected = {"gameId": "g1", "sessionId": "s1"}
    assert {key: shown for key, shown in expected.items() if key != path}.items() <= refused.value.ids.items()


@pytest.mark.parametrize(
    "text",
    [b"", b"\x00", b"{", b"[]", b'"x"', b"12", b"null", b"{}", b'{"gameId":"g"}', b"\xff\xfe{}", b"[" * 500_000,
     b'{"legalMoves":' * 50_000, b'{"ply":1e999,"legalMoves":[]}', b'{"ply":NaN}', b"9" * 10_000, b'{"a":1}{"b":2}'],
)  # fmt: skip
def test_a_line_that_is_no_request_is_refused(text: bytes) -> None:
    with pytest.raises(ProtocolError):
        read_request(WIRE, text)


def test_unknown_fields_are_ignored() -> None:
    sent = turn(game_of("e2e4"), gameSpecId="dark-chess", extra={"deep": [1]})
    sent["clock"]["delay_ms"] = 3
    for seen in sent["observationTranscript"]:
        seen["shrouded"] = []
    assert read_request(WIRE, line(sent)) == read_request(WIRE, line(turn(game_of("e2e4"))))


def test_reasons_that_are_not_ours_are_accepted() -> None:
    sent = push(game_of("e2e4"), chess.WHITE)
    sent["observation"]["game_over"] = {"winner": None, "reason": "server_restart"}
    read = read_request(WIRE, line(sent))
    assert isinstance(read, Push) and read.observation.game_over == GameOver(reason="server_restart")


def test_a_line_that_is_too_long_is_none_and_costs_no_other() -> None:
    text = b"one\n\ntwo three\r\n" + b"x" * 50 + b"\nfour\n" + b"y" * 17 + b"\n" + b"z" * 16 + b"\nlast"
    found = [*bounded_lines(io.BytesIO(text), 16)]
    assert found == [b"one", b"", b"two three\r", None, b"four", None, b"z" * 16, b"last"]
