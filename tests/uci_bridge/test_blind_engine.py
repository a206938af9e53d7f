"""Our player of Reconnaissance Blind Chess served: whole games, cold starts, gaps, contradictions, noise."""

from __future__ import annotations

import copy
import json
import random
import re
from pathlib import Path
from typing import Any

import chess
import pytest

from darkchess.fog.players.configuration import configuration as fog_configuration
from darkchess.rbc.game.referee import Referee
from darkchess.rbc.players import scripted
from darkchess.rbc.players.configuration import configuration
from klss.table.contest import Decision
from tests.darkchess.fog.position_set_games import STARTS
from tests.uci_bridge.blind_games import head, push, question, random_game, random_turn, told_json
from tests.uci_bridge.protocol_games import turn
from uci_bridge.errors import ProtocolError
from uci_bridge.kits.fog import FOG
from uci_bridge.kits.rbc import RBC
from uci_bridge.protocol.codec import read_reply, read_request, write_reply, write_request
from uci_bridge.protocol.engine import Engine
from uci_bridge.protocol.messages import Answer, Ids, Received, Refusal, Request
from uci_bridge.protocol.rbc import RBC as WIRE

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "engine-protocol.md"


ELSEWHERE = "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1"


class Client:
    """Asks an engine, line by line."""

    def __init__(self, text: str = "rbc-random", **rest: Any) -> None:
        self.engine = Engine(RBC, configuration(text), **rest)

    def ask(self, message: Any) -> dict[str, Any]:
        answer = self.engine.answer(message if isinstance(message, bytes) else json.dumps(message).encode())
        assert answer.count(b"\n") == 1 and answer.endswith(b"\n") and answer.isascii()
        found: dict[str, Any] = json.loads(answer)
        assert found["protocolVersion"] == "1"
        return found

    def play(self, game: Referee, message: dict[str, Any]) -> None:
        """Play the answer to a question of the game."""
        answer = self.ask(message)
        assert "error" not in answer, answer
        assert (answer["gameId"], answer["sessionId"]) == (message["gameId"], message["sessionId"])
        if message["phase"] == "sense":
            assert set(answer) == {"protocolVersion", "gameId", "sessionId", "sense", "diagnostics"}
            game.sense(answer["sense"])
            return
        assert answer["move"] is None or answer["move"] in message["legalMoves"]
        asked = json.dumps(answer).encode()
        reply = read_reply(WIRE, asked)
        assert isinstance(reply, Answer)
        game.move(reply.value)


@pytest.fixture
def client() -> Client:
    return Client()


def test_the_transcript_in_the_document_is_what_the_engine_says(client: Client) -> None:
    _, block = re.findall(r"^```text\n(.*?)^```", DOCUMENT.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    lines = block.splitlines()
    assert len(lines) >= 12
    for sent, said in zip(lines[::2], lines[1::2], strict=True):
        assert client.engine.answer(sent.removeprefix("> ").encode()).decode() == said.removeprefix("< ") + "\n"
    assert "need" in block and '"sense":' in block and '"move":' in block and "game_over" in block


@pytest.mark.parametrize("name", STARTS)
def test_whole_games_pass_from_transcripts_deltas_and_pushes(name: str) -> None:
    """Two random players through two engines, from starts in which castling, en passant and promotions are near."""
    for seed in range(2):
        rng = random.Random(f"{name} {seed}")
        clients, game = {color: Client() for color in chess.COLORS}, Referee(STARTS[name])
        asked = dict.fromkeys(chess.COLORS, False)
        while game.outcome is None and game.ply < 50:
            color = game.turn
            for _ in ("sense", "move"):
                warm = asked[color] and rng.random() < 0.8
                clients[color].play(game, question(game, delta=warm, fen=STARTS[name], engineSeed=seed))
                asked[color] = True
            if game.outcome is None:
                assert clients[color].ask(push(game, color)).get("received") is True
        if game.outcome is not None:
            for color in chess.COLORS:
                for _ in range(2):
                    assert clients[color].ask(push(game, color)).get("received") is True
                assert clients[color].engine._sessions["s1"].player is None


def test_a_cold_start_from_any_point_of_a_game_is_answered(client: Client) -> None:
    for name, fen in STARTS.items():
        game, rng = Referee(fen), random.Random(name)
        while game.outcome is None and game.ply < 12:
            asked = client.ask(question(game, session=f"{game.ply}", fen=fen))
            assert "sense" in asked, asked
            random_turn(game, rng)


def test_what_is_written_is_what_the_document_asks_for_and_is_read_again() -> None:
    for seed in range(4):
        game = random_game(seed, 9)
        for _ in range(2):
            if game.outcome is None:
                sent = question(game)
                assert json.loads(write_request(WIRE, read_request(WIRE, json.dumps(sent).encode()))) == sent
            if game.outcome is None and game.question == "sense":
                game.sense(27)
        sent = push(game, not game.turn)
        assert json.loads(write_request(WIRE, read_request(WIRE, json.dumps(sent).encode()))) == sent
    ids = Ids("g", "s")
    for reply in (
        Answer(ids, "sense", None, {}), Answer(ids, "sense", 27, {"n": 3}), Answer(ids, "move", None, {}),
        Answer(ids, "move", chess.Move.from_uci("a7b8q"), {"value": 0.5}), Received(ids),
        Refusal({"gameId": "g"}, "what"),
    ):  # fmt: skip
        assert read_reply(WIRE, write_reply(WIRE, reply)) == reply


@pytest.mark.parametrize(
    "garbage",
    [b"", b"[]", b"{}", b'{"sense":64}', b'{"sense":"e4"}', b'{"sense":true}', b'{"move":"e2e4"}',
     b'{"received":false}', b'{"sense":3,"move":null}', b'{"move":{"from":"e2","to":"e9"}}',
     b'{"sense":3,"diagnostics":[]}', b"\xff"],
)  # fmt: skip
def test_a_reply_that_is_none_is_refused(garbage: bytes) -> None:
    with pytest.raises(ProtocolError):
        read_reply(WIRE, garbage)


def test_one_game_is_not_taken_for_the_other(client: Client) -> None:
    from darkchess.fog.game.referee import Referee as FogReferee

    fog = turn(FogReferee())
    assert "game: got nothing" in client.ask(fog)["error"]
    answer = json.loads(Engine(FOG, fog_configuration("random")).answer(json.dumps(question(Referee())).encode()))
    assert "klss engine --game rbc" in answer["error"]


def test_a_repeated_question_gets_the_same_answer_and_no_second_search(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = []
    original = scripted.RandomPlayer.choose_sense
    monkeypatch.setattr(scripted.RandomPlayer, "choose_sense", lambda *rest: (looks.append(1), original(*rest))[1])
    game = random_game(5, 6)
    answers = [client.ask(question(game)) for _ in range(3)] + [client.ask(question(game, delta=True))]
    assert answers == [answers[0]] * 4 and len(looks) == 1


def test_the_same_seed_and_nodes_give_the_same_bytes_and_other_seeds_others() -> None:
    def answer(seed: int) -> bytes:
        return Client().engine.answer(json.dumps(question(Referee(), engineSeed=seed)).encode())

    assert answer(1) == answer(1) and len({answer(seed) for seed in range(8)}) > 1
    for seed in (0, 2**64 - 1, -(2**63)):
        assert b"sense" in answer(seed)


def test_gaps_and_unknown_sessions_ask_for_the_transcript_and_get_it(client: Client) -> None:
    game = Referee()
    assert client.ask(push(random_game(1, 2), True))["need"] == "transcript"
    client.play(game, question(game))
    client.play(game, question(game, delta=True))
    random_turn(game, random.Random(1))
    refused = client.ask(question(game, delta=True))  # what became of its move was never reported
    assert refused["need"] == "transcript"
    client.play(game, question(game))
    for other in ({"gameId": "g2"}, {"color": "black"}, {"fen": ELSEWHERE}):
        assert client.ask({**question(game, delta=True), **other})["need"] == "transcript"


def test_past_the_limit_the_session_silent_longest_is_dropped() -> None:
    client, game = Client(max_sessions=2), Referee()
    for session in ("a", "b", "a", "c"):
        client.ask(question(game, session=session))
    assert client.engine.sessions == ("a", "c")


def impossible() -> dict[str, dict[str, Any]]:
    """Well-formed questions that no game gives."""
    game = Referee()
    for look, move in ((chess.E7, "e2e4"), (chess.E2, "d7d5"), (chess.D5, "e4d5"), (None, "d8d5")):
        game.sense(look)
        game.move(chess.Move.from_uci(move))
    sense = question(game)
    game.sense(chess.D5)
    move = question(game)

    def given_text(base: dict[str, Any], number: int, **fields: Any) -> dict[str, Any]:
        message = copy.deepcopy(base)
        message["observationTranscript"][number] |= fields
        return message

    requests, shown = move["legalMoves"], move["observationTranscript"][-1]["sensed_squares"]
    near_e2 = (19, 20, 21, 11, 12, 13, 3, 4, 5)
    black_pawn = {"type": "P", "color": "black"}
    return {
        "a request is missing": {**move, "legalMoves": requests[1:]},
        "a request that is none": {**move, "legalMoves": [*requests, {"from": "a1", "to": "a8"}]},
        "a request twice": {**sense, "legalMoves": [*requests, requests[0]]},
        "the other question": {**move, "phase": "sense", "senseActions": list(range(64))},
        "a move before she looked": {**{k: v for k, v in sense.items() if k != "senseActions"}, "phase": "move"},
        "few squares to look at": {**sense, "senseActions": [27]},
        "a loss where nothing stood": given_text(sense, -1, own_capture_square=chess.E5),
        "the loss of the king": given_text(sense, -1, own_capture_square=chess.E1),
        "a loss before the game": given_text(sense, 0, own_capture_square=chess.E2),
        "an own man unseen": given_text(move, 1, sense=chess.E2, sensed_squares=[[s, None] for s in near_e2]),
        "an own man too many": given_text(move, -1, sensed_squares=[[s, {"type": "Q", "color": "white"}] for s, _ in
        shown]), "two enemy kings": given_text(move, -1, sensed_squares=[[s, {"type": "K", "color": "black"}] for s, _
        in shown]), "a square too few": given_text(move, -1, sensed_squares=shown[1:]), "a square elsewhere":
        given_text(move, -1, sensed_squares=[[0, None], *shown[1:]]), "a pawn on the last rank": given_text(
            move, 1, sense=chess.E8, sensed_squares=[[s, black_pawn] for s in (59, 60, 61, 51, 52, 53)]
        ),
        "a request of nobody's": given_text(sense, 2, requested={"from": "e7", "to": "e5"}),
        "another move than its own": given_text(sense, 2, taken={"from": "d2", "to": "d4"}),
        "a capture straight on": given_text(sense, 2, capture_square=chess.E4),
        "a pass that moved": given_text(sense, 2, requested=None),
        "a sense too late": given_text(sense, 1, ply=2),
        "plies of the opponent's": given_text(sense, 3, ply=3),
        "the game is over": {**sense, "observationTranscript": [
            *sense["observationTranscript"][:-1],
            {"ply": 4, "kind": "game_over", "game_over": {"winner": "white", "reason": "resign"}},
        ]},
        "another start": {**sense, "fen": ELSEWHERE},
        "a garbled start": {**sense, "fen": "rnbqkbnr/8 w"},
        "not her turn": {**sense, "color": "black"},
    }  # fmt: skip


@pytest.mark.parametrize("what", impossible())
def test_what_no_game_gives_is_refused_with_a_reason_and_changes_nothing(client: Client, what: str) -> None:
    game = Referee()
    client.play(game, question(game))
    client.play(game, question(game))
    sessions = copy.deepcopy(client.engine._sessions["s1"].transcript.seen)
    refused = client.ask(impossible()[what])
    assert set(refused) <= {"protocolVersion", "gameId", "sessionId", "error", "need"}
    assert len(refused["error"]) > 10 and "internal" not in refused["error"], refused
    assert (refused["gameId"], refused["sessionId"]) == ("g1", "s1")
    assert client.engine._sessions["s1"].transcript.seen == sessions
    assert client.ask(push(game, chess.WHITE)).get("received") is True


def test_what_contradicts_itself_only_in_sum_is_found_by_the_set_and_drops_the_session() -> None:
    """Nine queens of the enemy's around e5 after one move of its own: each could stand there."""
    client, game = Client("rbc-expect,boards=16"), Referee()
    for _ in range(2):
        game.sense(None)
        game.move(None)
    game.sense(chess.E5)
    message = question(game)
    shown = message["observationTranscript"][-1]["sensed_squares"]
    message["observationTranscript"][-1]["sensed_squares"] = [
        [square, {"type": "Q", "color": "black"}] for square, _ in shown
    ]
    assert "contradicting" in client.ask(message)["error"] and client.engine.sessions == ()
    assert "move" in client.ask(question(game))


@pytest.mark.parametrize(
    ("where", "value", "says"),
    [
        ("phase", "look", 'phase: got \'look\', expected "move" or "sense"'),
        ("phase", None, "phase: got nothing"),
        ("game", "chess", "game: got 'chess'"),
        ("senseActions", [], "senseActions"),
        ("senseActions", [64], "senseActions[0]: got 64, expected a square from 0 to 63"),
        ("senseActions", [3, 3], "twice"),
        ("legalMoves", None, "legalMoves"),
        ("legalMoves", [{"from": "a1", "to": "a2"}] * 513, "at most 512"),
        ("ply", 2, "ply"),
        ("engineSeed", 2**64, "engineSeed"),
        ("observationTranscript", [], "observationTranscript"),
        ("observationTranscript", [{"ply": 0, "kind": "initial"}], "kind: got 'initial'"),
        ("observationTranscript", [{"ply": 0, "kind": "sense_result"}], "sensed_squares: got nothing"),
        ("observationTranscript", [{"ply": 0, "kind": "capture_notice", "taken": {"from": "a1", "to": "a2"}}], "taken"),
    ],
)
def test_what_is_malformed_is_refused(client: Client, where: str, value: Any, says: str) -> None:
    assert says in client.ask({**question(Referee()), where: value})["error"]


def test_what_breaks_inside_costs_the_session_only(
    client: Client, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    client.ask(question(Referee(), session="other"))
    with monkeypatch.context() as broken:
        broken.setattr(scripted.RandomPlayer, "choose_sense", lambda *_: 1 / 0)
        refused = client.ask(question(Referee()))
    assert "ZeroDivisionError" in refused["error"] and refused["need"] == "transcript" and "Traceback" in caplog.text
    assert client.engine.sessions == ("other",)
    monkeypatch.setattr(scripted.RandomPlayer, "choose_sense", lambda *_: Decision(99))
    assert "internal error" in client.ask(question(Referee()))["error"]


def test_noise_of_all_kinds_never_ends_the_process(client: Client) -> None:
    """Random bytes, and questions and pushes with parts torn out or swapped: each gets one answer."""
    rng = random.Random(9)
    game = random_game(4, 8)
    kinds = [json.dumps(message).encode() for message in (question(game), push(game, not game.turn))]
    game.sense(27)
    kinds.append(json.dumps(question(game)).encode())
    for _ in range(200):
        noisy = bytearray(rng.choice(kinds))
        for _ in range(rng.randrange(1, 4)):
            at = rng.randrange(len(noisy))
            if rng.random() < 0.5:
                noisy[at] = rng.randrange(256)
            else:
                del noisy[at : at + rng.randrange(1, 40)]
        assert set(client.ask(bytes(noisy))) & {"error", "sense", "move", "received"}
    for junk in (b"", b"\x00" * 50, None, b"[" * 100_000):
        assert "error" in json.loads(client.engine.answer(junk))
    assert "sense" in client.ask(question(random_game(4, 8), session="s9"))


def test_a_swapped_value_is_refused_or_read_but_never_an_internal_error(client: Client) -> None:
    """Every leaf of a question in turn is replaced by what JSON may hold; the shapes or the game say no."""
    rng = random.Random(2)
    game = random_game(6, 6)
    game.sense(20)
    odd = [None, -1, 64, 10**30, 1.5, "x", "", True, [], {}, [[]], {"from": "a1", "to": "a1"}]

    def leaves(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
        items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
        return [path, *(leaf for key, each in items for leaf in leaves(each, (*path, key)))]

    good = question(game)
    for path in rng.sample(leaves(good)[1:], 120):
        message = copy.deepcopy(good)
        place: Any = message
        for key in path[:-1]:
            place = place[key]
        place[path[-1]] = rng.choice(odd)
        answer = client.ask(message)
        assert "internal" not in answer.get("error", ""), (path, answer)


def test_the_end_of_a_game_in_mid_turn_is_taken_in(client: Client) -> None:
    game = Referee()
    client.play(game, question(game))
    game.resign(chess.BLACK)
    assert game.outcome is not None
    message = {**head(chess.WHITE), "ply": 0, "observation": told_json(0, game.outcome)}
    assert client.ask(message).get("received") is True
    assert "over" in client.ask(question(Referee(), delta=True))["error"]
    assert isinstance(read_request(WIRE, json.dumps(question(Referee())).encode()), Request)
