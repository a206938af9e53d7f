"""Our players served: sessions, deltas, repeats, gaps, contradictions; one process outlives whatever it is sent."""

from __future__ import annotations

import copy
import json
import os
import random
import re
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import chess
import pytest

import uci_bridge.kits.fog
from darkchess.evaluation.evaluator import BuiltinEvaluator
from darkchess.fog.belief.position_set import PositionSet
from darkchess.fog.game.referee import Referee
from darkchess.rbc.game.referee import Referee as BlindReferee
from darkchess.rbc.players import scripted
from klss.play.contest import Decision
from klss.play.kit import Kit
from klss.play.limits import Limit
from klss.play.messages import Answer
from klss.play.outcome import Outcome
from tests.darkchess.fog.position_set_games import STARTS, choose
from tests.darkchess.fog.test_pondering import pondering
from tests.uci_bridge import blind_games
from tests.uci_bridge.blind_games import question
from tests.uci_bridge.protocol_games import game_of, push, random_game, turn
from uci_bridge.evaluators import EvaluatorChoice
from uci_bridge.kits.fog import FOG
from uci_bridge.kits.rbc import RBC
from uci_bridge.protocol import engine as engine_module
from uci_bridge.protocol.codec import read_reply, read_request
from uci_bridge.protocol.engine import Engine, serve
from uci_bridge.stockfish.evaluator import StockfishEvaluator

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "engine-protocol.md"

IN_SUM = "every man of the opponent's is a king"
"""Each observation holds good; that no position agrees with all of them is found when it is to move."""

EN_PASSANT = "4k3/3p4/8/2P1P3/8/8/8/4K3 b - - 0 1"
ELSEWHERE = "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1"


@dataclass(frozen=True)
class Side:
    """One game's part of these tests."""

    kit: Kit
    random: str  # a player that answers at once
    referee: Callable[..., Any]
    ask: Callable[..., dict[str, Any]]  # the request that is due in a game
    push: Callable[..., dict[str, Any]]
    random_game: Callable[..., Any]

    def client(self, text: str | None = None, **rest: Any) -> Client:
        return Client(self.kit, text or self.random, **rest)


class Client:
    """Asks an engine, line by line."""

    def __init__(self, kit: Kit, text: str, **rest: Any) -> None:
        self.kit, self.engine = kit, Engine(kit, kit.spec(text), **rest)

    def ask(self, message: Any) -> dict[str, Any]:
        answer = self.engine.answer(message if isinstance(message, bytes) else json.dumps(message).encode())
        assert answer.count(b"\n") == 1 and answer.endswith(b"\n") and answer.isascii()
        found: dict[str, Any] = json.loads(answer)
        assert found["protocolVersion"] == "1"
        return found

    def answer(self, message: dict[str, Any]) -> Any:
        """The value of an answer, which is checked."""
        answer = self.ask(message)
        assert "error" not in answer, answer
        assert (answer["gameId"], answer["sessionId"]) == (message["gameId"], message["sessionId"])
        reply = read_reply(self.kit.wire, json.dumps(answer).encode())
        assert isinstance(reply, Answer)
        assert set(answer) == {"protocolVersion", "gameId", "sessionId", reply.key, "diagnostics"}
        assert reply.key != "move" or answer["move"] is None or answer["move"] in message["legalMoves"]
        return reply.value


SIDES = {
    "fog": Side(FOG, "random", Referee, turn, push, random_game),
    "rbc": Side(RBC, "rbc-random", BlindReferee, question, blind_games.push, blind_games.random_game),
}


@pytest.fixture(params=SIDES)
def side(request: pytest.FixtureRequest) -> Side:
    return SIDES[request.param]


@pytest.fixture
def client() -> Client:
    return Client(FOG, "klss2021")


# Both games


@pytest.mark.parametrize(("block", "name"), [*enumerate(SIDES)])
def test_the_transcript_in_the_document_is_what_the_engine_says(block: int, name: str) -> None:
    text = re.findall(r"^```text\n(.*?)^```", DOCUMENT.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)[block]
    lines, engine = text.splitlines(), SIDES[name].client().engine
    assert len(lines) >= 12 and all(word in text for word in ("need", '"move":', '"received":', "error"))
    for sent, said in zip(lines[::2], lines[1::2], strict=True):
        assert engine.answer(sent.removeprefix("> ").encode()).decode() == said.removeprefix("< ") + "\n"


@pytest.mark.parametrize("name", STARTS)
def test_whole_games_from_every_start_pass_with_random_players_on_both_sides(side: Side, name: str) -> None:
    """Captures, en passant, castling, promotions and ends of games, from transcripts, deltas and pushes alike."""
    rng, asked = random.Random(f"{name} 0"), dict.fromkeys(chess.COLORS, False)
    clients, game = {color: side.client() for color in chess.COLORS}, side.referee(STARTS[name])
    while game.outcome is None and game.ply < 40:
        color, ply = game.turn, game.ply
        while game.outcome is None and game.ply == ply:
            warm = asked[color] and rng.random() < 0.8
            game.answer(clients[color].answer(side.ask(game, delta=warm, fen=STARTS[name], engineSeed=0)))
            asked[color] = True
        assert clients[color].ask(side.push(game, color)).get("received") is True
    for color in chess.COLORS:
        if game.outcome is not None and asked[color]:
            for _ in range(2):
                assert clients[color].ask(side.push(game, color)).get("received") is True
            assert clients[color].engine._sessions["s1"].player is None


def test_a_repeated_request_gets_the_same_answer_and_no_second_search(
    side: Side, monkeypatch: pytest.MonkeyPatch
) -> None:
    client, game, answers = side.client(), side.random_game(5, 6), []
    original = client.engine._decide
    monkeypatch.setattr(client.engine, "_decide", lambda *rest: (answers.append(1), original(*rest))[1])
    found = [client.ask(side.ask(game)) for _ in range(3)] + [client.ask(side.ask(game, delta=True))]
    assert found == [found[0]] * 4 and len(answers) == 1


def test_the_same_seed_and_nodes_give_the_same_bytes_and_other_seeds_others(side: Side) -> None:
    def answer(seed: int) -> bytes:
        return side.client().engine.answer(json.dumps(side.ask(side.referee(), engineSeed=seed)).encode())

    assert answer(1) == answer(1) and len({answer(seed) for seed in range(8)}) > 1
    for seed in (0, 2**63, 2**64 - 1, -1, -(2**63)):
        assert b"error" not in answer(seed)


def test_gaps_and_unknown_sessions_ask_for_the_transcript_and_get_it(side: Side) -> None:
    client, game = side.client(), side.referee()
    assert client.ask(side.push(side.random_game(1, 2), True))["need"] == "transcript"
    while game.ply == 0:
        game.answer(client.answer(side.ask(game)))
    while game.ply < 2:
        game.answer(side.client().answer(side.ask(game)))
    refused = client.ask(side.ask(game, delta=True))  # what became of its move was never reported
    assert refused["need"] == "transcript" and (refused["gameId"], refused["sessionId"]) == ("g1", "s1")
    client.answer(side.ask(game))
    for other in ({"gameId": "g2"}, {"color": "black"}, {"fen": ELSEWHERE}):
        assert client.ask({**side.ask(game, delta=True), **other})["need"] == "transcript"


def test_past_the_limit_the_session_silent_longest_is_dropped_and_asked_for_its_transcript(side: Side) -> None:
    client, game = side.client(max_sessions=2), side.referee()
    for session in ("a", "b", "a", "c"):
        client.answer(side.ask(game, session=session))
    assert client.engine.sessions == ("a", "c")
    assert client.ask(side.push(side.random_game(1, 3), True, session="b"))["need"] == "transcript"


def test_what_breaks_inside_is_told_and_costs_the_session_only(
    side: Side, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    client = side.client()
    client.answer(side.ask(side.referee(), session="other"))
    with monkeypatch.context() as broken:
        broken.setattr(type(client.engine._sessions["other"].player), "answer", lambda *_: 1 / 0)
        refused = client.ask(side.ask(side.referee()))
    assert "ZeroDivisionError" in refused["error"] and refused["need"] == "transcript"
    assert "Traceback" in caplog.text and client.engine.sessions == ("other",)
    client.answer(side.ask(side.referee()))


def test_noise_of_all_kinds_never_ends_the_process(side: Side) -> None:
    """Random bytes, and requests and pushes with parts torn out or swapped: each gets one answer."""
    rng, client, game = random.Random(9), side.client(), side.random_game(4, 8)
    kinds = [json.dumps(message).encode() for message in (side.ask(game), side.push(game, not game.turn))]
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
    client.answer(side.ask(game, session="s9"))


def test_a_swapped_value_is_refused_or_read_but_never_an_internal_error(side: Side) -> None:
    """Leaves of a request are replaced by what JSON may hold; the shapes or the game say no."""
    rng, client, game = random.Random(2), side.client(), side.random_game(6, 6)
    odd = [None, -1, 64, 10**30, 1.5, "x", "", True, [], {}, [[]], {"from": "a1", "to": "a1"}]

    def leaves(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
        items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
        return [path, *(leaf for key, each in items for leaf in leaves(each, (*path, key)))]

    good = side.ask(game)
    for path in rng.sample(leaves(good)[1:], 120):
        message = copy.deepcopy(good)
        place: Any = message
        for key in path[:-1]:
            place = place[key]
        place[path[-1]] = rng.choice(odd)
        assert "internal" not in client.ask(message).get("error", ""), path


def test_the_end_of_a_game_frees_its_player_and_may_be_told_after_the_last_ply(side: Side) -> None:
    client, game = side.client(), side.random_game(3, 4)
    color = game.turn
    client.answer(side.ask(game))
    game.end(Outcome(not color, "flag"))
    for _ in range(2):
        assert client.ask(side.push(game, color)).get("received") is True
    assert client.engine._sessions["s1"].player is None
    assert "over" in client.ask(side.ask(side.random_game(3, 4), delta=True))["error"]
    client.answer(side.ask(side.random_game(3, 4)))  # the whole transcript begins it anew


def test_one_game_is_not_taken_for_the_other() -> None:
    assert "game" in SIDES["rbc"].client().ask(turn(Referee()))["error"]
    assert "klss engine --game rbc" in SIDES["fog"].client().ask(question(BlindReferee()))["error"]


def with_observation(base: dict[str, Any], number: int, **fields: Any) -> dict[str, Any]:
    message = copy.deepcopy(base)
    message["observationTranscript"][number] |= fields
    return message


def impossible() -> dict[str, dict[str, Any]]:
    """Well-formed requests of Fog of War that no game gives; tests/darkchess/fog/test_view.py has more of one view."""
    game = game_of("e2e4", "e7e5", "d1h5", "b8c6")
    good = turn(game)

    with_seen, with_last = partial(with_observation, good), partial(with_observation, good, -1)
    pieces = good["observationTranscript"][-1]["visible_pieces"]
    mask = int(good["observationTranscript"][-1]["visibility_mask"], 16)
    return {
        "a legal move is missing": {**good, "legalMoves": good["legalMoves"][1:]},
        "a legal move twice": {**good, "legalMoves": [*good["legalMoves"], good["legalMoves"][0]]},
        "not her turn": turn(game, color="black"),
        "a loss where nothing stood": with_last(own_capture_square=chess.E3),
        "a rook that is captured en passant": with_last(
            own_capture_square=chess.A1, visible_pieces=pieces[1:], visibility_mask=f"{mask & ~chess.BB_A1:#x}"
        ),
        "a ply that comes twice": with_seen(1, ply=2),
        "a start in the middle": with_seen(1, kind="initial"),
        "a start that is none": with_seen(0, kind="opp_move"),
        "a move to where it stands": {**good, "legalMoves": [*good["legalMoves"], {"from": "e2", "to": "e2"}]},
        "the game is over": with_last(game_over={"winner": "white", "reason": "resign"}),
        "a game that goes on after its end": with_seen(2, game_over={"winner": None, "reason": "x"}),
        "another start position": {**good, "fen": EN_PASSANT},
        "a garbled start position": {**good, "fen": "rnbqkbnr/8 w"},
        IN_SUM: with_last(
            visible_pieces=[
                [square, {"type": "K", "color": "black"}] if piece["color"] == "black" else [square, piece]
                for square, piece in pieces
            ]
        ),
    }


def blind_impossible() -> dict[str, dict[str, Any]]:
    """Well-formed requests of Reconnaissance Blind Chess that no game gives."""
    game = BlindReferee()
    for look, move in ((chess.E7, "e2e4"), (chess.E2, "d7d5"), (chess.D5, "e4d5"), (None, "d8d5")):
        game.sense(look)
        game.move(chess.Move.from_uci(move))
    sense = question(game)
    game.sense(chess.D5)
    move = question(game)

    def sensed(**piece: str) -> list[Any]:
        return [[square, piece] for square, _ in shown]

    requests, shown = move["legalMoves"], move["observationTranscript"][-1]["sensed_squares"]
    near_e2 = (19, 20, 21, 11, 12, 13, 3, 4, 5)
    over = {"ply": 4, "kind": "game_over", "game_over": {"winner": "white", "reason": "resign"}}
    pawns = [[square, {"type": "P", "color": "black"}] for square in (59, 60, 61, 51, 52, 53)]
    return {
        "a request is missing": {**move, "legalMoves": requests[1:]},
        "a request that is none": {**move, "legalMoves": [*requests, {"from": "a1", "to": "a8"}]},
        "a request twice": {**sense, "legalMoves": [*requests, requests[0]]},
        "the other question": {**move, "phase": "sense", "senseActions": list(range(64))},
        "a move before she looked": {**{k: v for k, v in sense.items() if k != "senseActions"}, "phase": "move"},
        "few squares to look at": {**sense, "senseActions": [27]},
        "a loss where nothing stood": with_observation(sense, -1, own_capture_square=chess.E5),
        "the loss of the king": with_observation(sense, -1, own_capture_square=chess.E1),
        "a loss before the game": with_observation(sense, 0, own_capture_square=chess.E2),
        "an own man unseen": with_observation(move, 1, sense=chess.E2, sensed_squares=[[s, None] for s in near_e2]),
        "an own man too many": with_observation(move, -1, sensed_squares=sensed(type="Q", color="white")),
        "two enemy kings": with_observation(move, -1, sensed_squares=sensed(type="K", color="black")),
        "a square too few": with_observation(move, -1, sensed_squares=shown[1:]),
        "a square elsewhere": with_observation(move, -1, sensed_squares=[[0, None], *shown[1:]]),
        "a pawn on the last rank": with_observation(move, 1, sense=chess.E8, sensed_squares=pawns),
        "a request of nobody's": with_observation(sense, 2, requested={"from": "e7", "to": "e5"}),
        "another move than its own": with_observation(sense, 2, taken={"from": "d2", "to": "d4"}),
        "a capture straight on": with_observation(sense, 2, capture_square=chess.E4),
        "a pass that moved": with_observation(sense, 2, requested=None),
        "a sense too late": with_observation(sense, 1, ply=2),
        "plies of the opponent's": with_observation(sense, 3, ply=3),
        "the game is over": {**sense, "observationTranscript": [*sense["observationTranscript"][:-1], over]},
        "another start": {**sense, "fen": ELSEWHERE},
        "not her turn": {**sense, "color": "black"},
    }


IMPOSSIBLE = {"fog": impossible, "rbc": blind_impossible}


@pytest.mark.parametrize(
    ("name", "what"), [(name, what) for name, cases in IMPOSSIBLE.items() for what in cases() if what != IN_SUM]
)
def test_what_no_game_gives_is_refused_with_a_reason_and_changes_nothing(name: str, what: str) -> None:
    side = SIDES[name]
    client, game = side.client(), side.referee()
    while game.ply == 0:
        game.answer(client.answer(side.ask(game)))
    seen = copy.deepcopy(client.engine._sessions["s1"].transcript.seen)
    refused = client.ask(IMPOSSIBLE[name]()[what])
    assert set(refused) <= {"protocolVersion", "gameId", "sessionId", "error", "need"}
    assert len(refused["error"]) > 10 and "internal" not in refused["error"], refused
    assert (refused["gameId"], refused["sessionId"]) == ("g1", "s1")
    assert client.engine._sessions["s1"].transcript.seen == seen
    assert client.ask(side.push(game, chess.WHITE)).get("received") is True


def test_what_contradicts_itself_only_in_sum_is_found_by_the_set_and_drops_the_session(client: Client) -> None:
    """Men of Fog of War that are all kings; nine queens around e5 after one move of the enemy's in blind chess."""
    assert len(client.ask(impossible()[IN_SUM])["error"]) > 10 and client.engine.sessions == ()
    client.answer(turn(game_of("e2e4", "e7e5", "d1h5", "b8c6")))
    blind, game = Client(RBC, "rbc-expect,boards=16"), BlindReferee()
    for answer in (None, None, None, None, chess.E5):
        game.answer(answer)
    message = question(game)
    for square in message["observationTranscript"][-1]["sensed_squares"]:
        square[1] = {"type": "Q", "color": "black"}
    assert "contradicting" in blind.ask(message)["error"] and blind.engine.sessions == ()
    blind.answer(question(game))


def test_an_answer_that_may_not_be_played_is_an_internal_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scripted.RandomPlayer, "choose_sense", lambda *_: Decision(99))
    assert "internal error" in SIDES["rbc"].client().ask(question(BlindReferee()))["error"]


# Sessions and the position set of Fog of War


@pytest.fixture
def observed_views(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int]]:
    """(the set, the ply) of every observation that any position set takes in."""
    seen: list[tuple[int, int]] = []
    original = PositionSet.observe

    def observe(self: PositionSet, view: Any, **rest: Any) -> None:
        seen.append((id(self), view.ply))
        original(self, view, **rest)

    monkeypatch.setattr(PositionSet, "observe", observe)
    return seen


@pytest.mark.parametrize("color", chess.COLORS)
def test_the_position_set_advances_once_an_observation(
    client: Client, observed_views: list[tuple[int, int]], color: bool
) -> None:
    game, rng = Referee(), random.Random(7)
    while game.outcome is None and game.ply < 12:
        if game.turn == color:
            game.push(client.answer(turn(game, delta=game.ply > 1)))
            for _ in range(2):  # a push may come twice
                assert client.ask(push(game, color)).get("received") is True
        else:
            game.push(choose(game, rng))
    assert [ply for _, ply in observed_views] == list(range(1, len(observed_views) + 1))
    assert len({which for which, _ in observed_views}) == 1 and len(observed_views) >= 8


@pytest.mark.parametrize("name", STARTS)
def test_a_cold_start_from_any_point_of_a_game_holds_the_true_position(name: str) -> None:
    """Also where the transcript cannot tell whether it could have taken en passant some plies ago."""
    rng = random.Random(f"cold {name} 0")
    client, game = Client(FOG, "klss2021"), Referee(STARTS[name])
    while game.outcome is None and game.ply < 14:
        game.push(choose(game, rng))
        if game.outcome is None and game.ply % 3 == 0:
            session = f"{game.ply}"
            client.answer(turn(game, session=session, fen=STARTS[name], nodes=1))
            player = client.engine._sessions[session].player
            assert player is not None and player.position_set is not None
            assert player.position_set.capped_by is None and player.position_set.contains(game.position.row)


def test_a_transcript_that_does_not_extend_the_one_known_restarts_the_session(
    client: Client, observed_views: list[tuple[int, int]]
) -> None:
    client.answer(turn(game_of("e2e4", "e7e5")))
    client.answer(turn(game_of("d2d4", "e7e5")))
    client.answer(turn(game_of("d2d4", "e7e5", "d4e5", "d7d6")))
    client.answer(turn(game_of("d2d4", "e7e5")))  # moves were taken back
    assert [ply for _, ply in observed_views] == [1, 2, 1, 2, 3, 4, 1, 2]
    assert client.engine.sessions == ("s1",)


def test_what_is_out_of_order_is_refused_and_changes_nothing() -> None:
    client, game = SIDES["fog"].client(), game_of("e2e4", "e7e5", "g1f3", "b8c6")
    client.answer(turn(game))
    other = push(game_of("e2e4", "e7e6"), chess.WHITE)
    other["observation"]["visibility_mask"] = "0x00000000ffffffff"
    for late in (turn(game, ply=2, delta=True), other, push(game_of("d2d4", "e7e5", "d4e5"), chess.WHITE)):
        refused = client.ask(late)
        assert "error" in refused and refused["need"] == "transcript"
    assert "need" not in client.ask(turn(game, fen=EN_PASSANT)), "a transcript is all that there is"
    assert client.ask(push(game, chess.WHITE, ply=2)).get("received") is True  # a late repeat
    game.push(chess.Move.from_uci("d2d4"))
    assert client.ask(push(game, chess.WHITE)).get("received") is True
    game.push(chess.Move.from_uci("e5d4"))
    client.answer(turn(game, delta=True))


def test_the_first_observation_alone_is_a_whole_transcript() -> None:
    client = SIDES["fog"].client()
    client.answer(turn(Referee(), delta=True))
    assert client.ask(turn(game_of("e2e4"), delta=True, session="s2"))["need"] == "transcript"


def test_a_game_told_twice_under_other_ids_gets_the_same_answers_whatever_goes_on_beside_it(client: Client) -> None:
    games = [random_game(6, 10), random_game(7, 10)]
    first = [client.ask(turn(game, session=f"first {i}", gameId="a")) for i, game in enumerate(games)]
    second = [client.ask(turn(game, session=f"second {i}", gameId="b")) for i, game in enumerate(games)]
    for one, other in zip(first, second, strict=True):
        assert (one["move"], one["diagnostics"]) == (other["move"], other["diagnostics"])
        assert one["diagnostics"]["nodes"] > 0


def test_stockfish_named_values_the_leaves_and_with_nodes_the_answers_can_be_repeated(
    require_stockfish: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    make, made = uci_bridge.kits.fog.make_evaluator, list[Any]()
    monkeypatch.setattr(uci_bridge.kits.fog, "make_evaluator", lambda *asked: made.append(make(*asked)) or made[-1])
    answers = []
    for _ in range(2):
        client = Client(FOG, "klss2021", choice=EvaluatorChoice("stockfish", require_stockfish))
        game = random_game(6, 10)
        answers.append([client.ask(turn(game, session=session))["diagnostics"] for session in ("a", "b")])
        client.answer(turn(game, session="a", delta=True, nodes=..., budget_ms=200))  # a repeat: no second search
        client.engine.close()
    assert answers[0] == answers[1] and answers[0][0] == answers[0][1]
    assert [type(each) for each in made] == [StockfishEvaluator] * 2, "one for all sessions of an engine"


def test_no_move_draws_where_the_rules_say_so() -> None:
    client = SIDES["fog"].client()
    client.answer(turn(Referee(), rules={"no_move": "draw"}))
    assert client.engine._sessions["s1"].setup.ruleset.no_move == "draw"


@pytest.mark.parametrize(
    ("fields", "waited_s", "expected"),
    [
        ({"nodes": 40, "budget_ms": 9, "clock": {"remaining_ms": 5, "increment_ms": 1}}, 9.0, Limit(nodes=40)),
        ({"nodes": None, "budget_ms": 750, "clock": {"remaining_ms": 5, "increment_ms": 1}}, 0.5, Limit(time_s=0.25)),
        ({"nodes": None, "budget_ms": 900}, 5.0, Limit(time_s=0.01)),
        ({"nodes": ..., "clock": {"remaining_ms": 3000, "increment_ms": 2000}}, 1.0, Limit(clock=(2.0, 2.0))),
        ({"nodes": ...}, 1.0, Limit()),
    ],
)
def test_nodes_go_before_the_budget_that_before_the_clock_less_the_time_that_a_request_waited(
    fields: dict[str, Any], waited_s: float, expected: Limit
) -> None:
    request = read_request(FOG.wire, json.dumps(turn(Referee(), **fields)).encode())
    assert engine_module._limit(request, waited_s) == expected


@pytest.mark.parametrize("show", [False, True])
@pytest.mark.parametrize(("fen", "moves"), [(EN_PASSANT, ("d7d5",)), ("4k3/8/8/2PpP3/8/8/8/4K3 w - d6 0 1", ())])
def test_the_pawn_that_may_be_taken_en_passant_may_be_shown_and_need_not_be(
    client: Client, fen: str, moves: tuple[str, ...], show: bool
) -> None:
    request = turn(game_of(*moves, fen=fen), fen=fen)
    assert {"from": "c5", "to": "d6"} in request["legalMoves"]
    seen = request["observationTranscript"][-1]
    if show:
        seen["visibility_mask"] = f"0x{int(seen['visibility_mask'], 16) | 1 << chess.D5:016x}"
        seen["visible_pieces"].append([chess.D5, {"type": "P", "color": "black"}])
    client.answer(request)


# The opponent's time


@pytest.fixture
def ponderer() -> Iterator[Client]:
    client = Client(FOG, "kluss,particles=20,cap=5000,ponder=true")
    yield client
    client.engine.close()
    assert not pondering()


def moved(client: Client, **limit: Any) -> Referee:
    """A game after the engine's first move and the push of it."""
    game = Referee()
    game.push(client.answer(turn(game, **({"nodes": ..., "budget_ms": 30} | limit))))
    assert client.ask(push(game, chess.WHITE))["received"] is True
    return game


def test_after_the_answer_to_a_push_of_her_move_she_ponders_until_anybody_is_to_move(ponderer: Client) -> None:
    game = moved(ponderer)
    assert not pondering(), "the answer comes first"
    ponderer.engine.idle()
    assert pondering() == 1
    game.push(chess.Move.from_uci("e7e5"))
    ponderer.answer(turn(game, delta=True, nodes=..., budget_ms=30))
    ponderer.engine.idle()
    assert not pondering()
    moved(ponderer)
    ponderer.engine.idle()
    ponderer.answer(turn(Referee(), session="s2", nodes=..., budget_ms=30))
    assert not pondering(), "another session has the cores for itself"


def test_served_on_pipes_she_ponders_while_no_request_waits(ponderer: Client) -> None:
    (requests, ask), (answers, answer) = os.pipe(), os.pipe()
    with (
        open(requests, "rb", buffering=0) as source,
        open(answer, "wb", buffering=0) as sink,
        open(answers, "rb") as said,
        open(ask, "wb", buffering=0) as asked,
    ):
        serving = threading.Thread(target=serve, args=(ponderer.engine, source, sink))
        serving.start()
        game = Referee()
        asked.write(json.dumps(turn(game, nodes=..., budget_ms=30)).encode() + b"\n")
        move = json.loads(said.readline())["move"]
        game.push(chess.Move.from_uci(move["from"] + move["to"]))
        asked.write(json.dumps(push(game, chess.WHITE)).encode() + b"\n")
        assert json.loads(said.readline())["received"] is True
        until = time.monotonic() + 20.0
        while not pondering() and time.monotonic() < until:
            time.sleep(0.001)
        assert pondering() == 1
        asked.close()
        serving.join()


def test_with_nodes_or_another_configuration_nobody_ponders(client: Client, ponderer: Client) -> None:
    for asked, limit in ((ponderer, {"nodes": 50, "budget_ms": ...}), (client, {})):
        moved(asked, **limit)
        asked.engine.idle()
        assert not pondering()


def test_an_error_while_she_ponders_drops_the_session_and_the_transcript_helps(
    ponderer: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    game = moved(ponderer)
    with monkeypatch.context() as broken:
        broken.setattr(BuiltinEvaluator, "child_values", lambda *_, **__: 1 / 0)
        ponderer.engine.idle()
        while pondering():
            time.sleep(0.001)
    game.push(chess.Move.from_uci("e7e5"))
    refused = ponderer.ask(turn(game, delta=True, nodes=..., budget_ms=30))
    assert "ZeroDivisionError" in refused["error"] and refused["need"] == "transcript"
    ponderer.answer(turn(game, nodes=..., budget_ms=30))
