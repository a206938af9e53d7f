"""Our player served: sessions, deltas, repeats, gaps, contradictions; one process outlives whatever it is sent."""

from __future__ import annotations

import copy
import json
import os
import random
import threading
import time
from collections.abc import Iterator
from typing import Any

import chess
import pytest

from darkchess.evaluation.evaluator import BuiltinEvaluator
from darkchess.fog.belief.position_set import PositionSet
from darkchess.fog.game.referee import Referee
from darkchess.fog.players import configuration as fog_players
from darkchess.fog.players.configuration import configuration
from darkchess.fog.players.player import KlssPlayer
from klss.table.limits import Limit
from klss.table.outcome import Outcome
from tests.darkchess.fog.position_set_games import STARTS, choose
from tests.uci_bridge.protocol_games import game_of, ids, move_json, observation_json, push, random_game, turn
from uci_bridge.evaluators import EvaluatorChoice
from uci_bridge.kits.fog import FOG
from uci_bridge.protocol import engine as engine_module
from uci_bridge.protocol.codec import read_request
from uci_bridge.protocol.engine import Engine
from uci_bridge.protocol.serve import serve
from uci_bridge.stockfish.evaluator import StockfishEvaluator

IN_SUM = "every man of the opponent's is a king"
"""Each observation holds good; that no position agrees with all of them is found when it is to move."""

EN_PASSANT = "4k3/3p4/8/2P1P3/8/8/8/4K3 b - - 0 1"


class Client:
    """Asks an engine, line by line."""

    def __init__(self, text: str = "klss2021", **rest: Any) -> None:
        self.engine = Engine(FOG, configuration(text), **rest)

    def ask(self, message: Any) -> dict[str, Any]:
        answer = self.engine.answer(message if isinstance(message, bytes) else json.dumps(message).encode())
        assert answer.count(b"\n") == 1 and answer.endswith(b"\n") and answer.isascii()
        found: dict[str, Any] = json.loads(answer)
        assert found["protocolVersion"] == "1"
        return found

    def move(self, message: dict[str, Any]) -> chess.Move:
        """The move of an answer, which is checked."""
        answer = self.ask(message)
        assert "error" not in answer, answer
        assert (answer["gameId"], answer["sessionId"]) == (message["gameId"], message["sessionId"])
        assert answer["move"] in message["legalMoves"]
        promotion = {"queen": "q", "rook": "r", "bishop": "b", "knight": "n"}.get(answer["move"].get("promotion"), "")
        return chess.Move.from_uci(answer["move"]["from"] + answer["move"]["to"] + promotion)


@pytest.fixture
def client() -> Client:
    return Client()


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


def played(client: Client, game: Referee, color: bool, plies: int, rng: random.Random, **fields: Any) -> None:
    """Play on by the protocol: transcript first, deltas and pushes after, the opponent moving at random."""
    first = True
    while game.outcome is None and game.ply < plies:
        if game.turn == color:
            game.push(client.move(turn(game, delta=not first, **fields)))
            first = False
            pushed = client.ask(push(game, color))
            assert pushed == {"protocolVersion": "1", "gameId": "g1", "sessionId": "s1", "received": True}
        else:
            game.push(choose(game, rng))


@pytest.mark.parametrize("color", chess.COLORS)
def test_the_position_set_advances_once_an_observation(
    client: Client, observed_views: list[tuple[int, int]], color: bool
) -> None:
    game = Referee()
    played(client, game, color, 14, random.Random(4))
    assert [ply for _, ply in observed_views] == list(range(1, len(observed_views) + 1))
    assert len({which for which, _ in observed_views}) == 1 and len(observed_views) >= 10


@pytest.mark.parametrize("name", STARTS)
def test_whole_games_from_every_start_pass_with_random_players_on_both_sides(name: str) -> None:
    """Captures, en passant, castling, promotions and ends of games, from transcripts, deltas and pushes alike."""
    for seed in range(3):
        rng = random.Random(f"{name} {seed}")
        clients = {color: Client("random") for color in chess.COLORS}
        game = Referee(STARTS[name])
        asked = dict.fromkeys(chess.COLORS, False)
        while game.outcome is None and game.ply < 40:
            color = game.turn
            request = turn(game, delta=asked[color], fen=STARTS[name])
            clients[color].move(request)
            asked[color] = True
            game.push(choose(game, rng))
            assert clients[color].ask(push(game, color)).get("received") is True
        for color in chess.COLORS:
            if asked[color]:
                assert clients[color].ask(push(game, color)).get("received") is True


def test_a_cold_start_in_mid_game_gives_a_move_from_the_whole_transcript(
    client: Client, observed_views: list[tuple[int, int]]
) -> None:
    game = random_game(11, 12)
    client.move(turn(game))
    assert [ply for _, ply in observed_views] == list(range(1, 13))


def test_the_same_session_from_deltas_or_from_the_transcript_holds_the_same_positions(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sizes: list[int] = []
    original = KlssPlayer.choose

    def choose_(self: KlssPlayer, limit: Limit, progress: Any = None) -> Any:
        decision = original(self, limit, progress)
        assert self.position_set is not None
        sizes.append(self.position_set.size)
        return decision

    monkeypatch.setattr(KlssPlayer, "choose", choose_)
    warm = Client()
    game = Referee(EN_PASSANT)
    rng = random.Random(5)
    for _ in range(12):
        if game.turn == chess.WHITE and game.outcome is None:
            warm.move(turn(game, delta=game.ply > 1, fen=EN_PASSANT))
            Client().move(turn(game, fen=EN_PASSANT))
            assert sizes[-1] == sizes[-2]
        if game.outcome is None:
            game.push(choose(game, rng))
            if game.turn == chess.BLACK:
                warm.ask(push(game, chess.WHITE))
    assert len(sizes) >= 8


@pytest.mark.parametrize("name", STARTS)
def test_a_cold_start_from_any_point_of_a_game_holds_the_true_position(name: str) -> None:
    """Also where the transcript cannot tell whether it could have taken en passant some plies ago."""
    for seed in range(2):
        rng = random.Random(f"cold {name} {seed}")
        client, game = Client(), Referee(STARTS[name])
        while game.outcome is None and game.ply < 14:
            game.push(choose(game, rng))
            if game.outcome is None and game.ply % 3 == seed:
                session = f"{game.ply}"
                client.move(turn(game, session=session, fen=STARTS[name], nodes=1))
                player = client.engine._sessions[session].player
                assert player is not None and player.position_set is not None
                assert player.position_set.capped_by is None and player.position_set.contains(game.position.row)


def test_a_repeated_request_gets_the_same_answer_and_no_second_search(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    searches = []
    original = KlssPlayer.choose
    monkeypatch.setattr(KlssPlayer, "choose", lambda self, *rest: (searches.append(1), original(self, *rest))[1])
    game = game_of("e2e4", "e7e5")
    answers = [client.ask(turn(game)) for _ in range(3)] + [client.ask(turn(game, delta=True))]
    assert answers == [answers[0]] * 4 and len(searches) == 1


def test_pushes_may_come_twice_and_again_in_the_next_request(
    client: Client, observed_views: list[tuple[int, int]]
) -> None:
    game = Referee()
    game.push(client.move(turn(game)))
    for _ in range(3):
        assert client.ask(push(game, chess.WHITE)).get("received") is True
    game.push(chess.Move.from_uci("e7e5"))
    for _ in range(2):
        assert client.ask(push(game, chess.WHITE)).get("received") is True
    client.move(turn(game, delta=True))
    client.move(turn(game))
    assert [ply for _, ply in observed_views] == [1, 2]


def test_a_delta_with_a_gap_asks_for_the_transcript_and_gets_it(client: Client) -> None:
    game = Referee()
    client.move(turn(game))
    game.push(chess.Move.from_uci("e2e4"))
    game.push(chess.Move.from_uci("e7e5"))
    refused = client.ask(turn(game, delta=True))
    assert refused["need"] == "transcript" and "ply 2" in refused["error"]
    assert (refused["gameId"], refused["sessionId"]) == ("g1", "s1")
    client.move(turn(game))
    game.push(chess.Move.from_uci("g1f3"))
    assert client.ask(push(game, chess.WHITE)).get("received") is True
    game.push(chess.Move.from_uci("b8c6"))
    client.move(turn(game, delta=True))


def test_a_delta_that_does_not_follow_asks_for_the_transcript_and_a_transcript_does_not(client: Client) -> None:
    client.move(turn(game_of("e2e4", "e7e5")))
    other = game_of("d2d4", "e7e5", "d4e5", "d7d6")
    assert client.ask(push(other, chess.WHITE, ply=3))["need"] == "transcript"
    assert "need" not in client.ask(turn(other, fen=EN_PASSANT))
    client.move(turn(other))


def test_a_delta_or_a_push_of_a_session_that_is_not_known_asks_for_the_transcript(client: Client) -> None:
    game = game_of("e2e4", "e7e5")
    assert client.ask(turn(game, delta=True))["need"] == "transcript"
    assert client.ask(push(game, chess.WHITE))["need"] == "transcript"
    client.move(turn(game))
    for other in ({"gameId": "g2"}, {"color": "black"}, {"fen": EN_PASSANT}, {"rules": {"no_move": "draw"}}):
        assert client.ask({**turn(game, delta=True), **other})["need"] == "transcript"
    for other in ({"gameId": "g2"}, {"color": "black"}, {"sessionId": "s2"}):
        assert client.ask({**push(game, chess.WHITE), **other})["need"] == "transcript"


def test_the_first_observation_alone_is_a_whole_transcript(client: Client) -> None:
    client.move(turn(Referee(), delta=True))
    assert client.ask(turn(game_of("e2e4"), delta=True, session="s2"))["need"] == "transcript"


def test_a_transcript_that_does_not_extend_the_one_known_restarts_the_session(
    client: Client, observed_views: list[tuple[int, int]]
) -> None:
    client.move(turn(game_of("e2e4", "e7e5")))
    client.move(turn(game_of("d2d4", "e7e5")))
    client.move(turn(game_of("d2d4", "e7e5", "d4e5", "d7d6")))
    client.move(turn(game_of("d2d4", "e7e5")))  # moves were taken back
    assert [ply for _, ply in observed_views] == [1, 2, 1, 2, 3, 4, 1, 2]
    assert client.engine.sessions == ("s1",)


def test_what_is_out_of_order_is_refused_and_changes_nothing(client: Client) -> None:
    game = game_of("e2e4", "e7e5", "g1f3", "b8c6")
    client.move(turn(game))
    for late in (turn(game, ply=2, delta=True), push(game_of("e2e4", "e7e6"), chess.WHITE)):
        late["observation" if "observation" in late else "legalMoves"] = (
            {**late["observation"], "visibility_mask": "0x00000000ffffffff"}
            if "observation" in late
            else late["legalMoves"]
        )
        refused = client.ask(late)
        assert "error" in refused and refused["need"] == "transcript"
    assert client.ask(push(game, chess.WHITE, ply=2)).get("received") is True  # a late repeat
    game.push(chess.Move.from_uci("d2d4"))
    assert client.ask(push(game, chess.WHITE)).get("received") is True
    game.push(chess.Move.from_uci("e5d4"))
    client.move(turn(game, delta=True))


def impossible() -> dict[str, dict[str, Any]]:
    """Well-formed turn requests that no game gives."""
    game = game_of("e2e4", "e7e5", "d1h5", "b8c6")
    good = turn(game)

    def with_last(**fields: Any) -> dict[str, Any]:
        message = copy.deepcopy(good)
        message["observationTranscript"][-1] |= fields
        return message

    pieces = good["observationTranscript"][-1]["visible_pieces"]
    return {
        "a legal move is missing": {**good, "legalMoves": good["legalMoves"][1:]},
        "a move that is not legal": {**good, "legalMoves": [*good["legalMoves"], {"from": "a1", "to": "a8"}]},
        "a legal move twice": {**good, "legalMoves": [*good["legalMoves"], good["legalMoves"][0]]},
        "not her turn": turn(game, color="black"),
        "own man vanished": with_last(visible_pieces=[each for each in pieces if each[0] != chess.A2]),
        "own man appeared": with_last(visible_pieces=sorted([*pieces, [chess.E3, {"type": "Q", "color": "white"}]])),
        "a man on an unseen square": with_last(visible_pieces=[*pieces, [chess.A8, {"type": "R", "color": "black"}]]),
        "seeing too much": with_last(visibility_mask="0xffffffffffffffff"),
        "seeing too little": with_last(visibility_mask="0x0000000000000000"),
        "a loss where nothing stood": with_last(own_capture_square=chess.E3),
        "a move of the opponent's instead of its own": {
            **good,
            "observationTranscript": [
                {**each, "kind": {"own_move": "opp_move", "opp_move": "own_move"}.get(each["kind"], each["kind"])}
                for each in good["observationTranscript"]
            ],
        },
        "an own move that was not legal": {
            **good,
            "observationTranscript": [
                {**each, "own_move": {"from": "d1", "to": "a5"}} if each["ply"] == 3 else each
                for each in good["observationTranscript"]
            ],
        },
        "the game is over": with_last(game_over={"winner": "white", "reason": "resign"}),
        "a game that goes on after its end": {
            **good,
            "observationTranscript": [
                {**each, "game_over": {"winner": None, "reason": "x"}} if each["ply"] == 2 else each
                for each in good["observationTranscript"]
            ],
        },
        "another start position": {**good, "fen": EN_PASSANT},
        "a garbled start position": {**good, "fen": "rnbqkbnr/8 w"},
        IN_SUM: with_last(
            visible_pieces=[
                [square, {"type": "K", "color": "black"}] if piece["color"] == "black" else [square, piece]
                for square, piece in pieces
            ]
        ),
    }


@pytest.mark.parametrize("what", impossible())
def test_what_no_game_gives_is_refused_with_a_reason_and_the_process_lives_on(client: Client, what: str) -> None:
    refused = client.ask(impossible()[what])
    assert set(refused) <= {"protocolVersion", "gameId", "sessionId", "error", "need"}
    assert len(refused["error"]) > 10 and "internal" not in refused["error"]
    assert (refused["gameId"], refused["sessionId"]) == ("g1", "s1")
    client.move(turn(game_of("e2e4", "e7e5", "d1h5", "b8c6")))


@pytest.mark.parametrize("what", [what for what in impossible() if what != IN_SUM])
def test_a_refused_request_leaves_its_session_as_it_was(
    client: Client, observed_views: list[tuple[int, int]], what: str
) -> None:
    game = game_of("e2e4", "e7e5")
    client.move(turn(game))
    client.ask(impossible()[what])
    game.push(chess.Move.from_uci("d1h5"))
    client.ask(push(game, chess.WHITE))
    game.push(chess.Move.from_uci("b8c6"))
    client.move(turn(game, delta=True))
    assert [ply for _, ply in observed_views] == [1, 2, 3, 4]


def test_one_process_keeps_many_sessions_apart(client: Client) -> None:
    games = {f"s{i}": Referee() for i in range(4)}
    for step in range(3):
        for session, game in games.items():
            alone = Client()
            request = turn(game, delta=step > 0, session=session)
            move = client.move(request)
            if step == 0:
                assert alone.move(request) == move
            game.push(move)
            client.ask(push(game, chess.WHITE, session=session))
            game.push(game.legal_moves()[int(session[1:])])
    assert client.engine.sessions == tuple(games)


def test_a_game_told_twice_under_other_ids_gets_the_same_answers_whatever_goes_on_beside_it(client: Client) -> None:
    games = [random_game(6, 10), random_game(7, 10)]
    first = [client.ask(turn(game, session=f"first {i}", gameId="a")) for i, game in enumerate(games)]
    second = [client.ask(turn(game, session=f"second {i}", gameId="b")) for i, game in enumerate(games)]
    for one, other in zip(first, second, strict=True):
        assert (one["move"], one["diagnostics"]) == (other["move"], other["diagnostics"])
        assert one["diagnostics"]["nodes"] > 0


def test_stockfish_named_values_the_leaves_and_with_nodes_the_answers_can_be_repeated(require_stockfish: str) -> None:
    answers = []
    for _ in range(2):
        client = Client(choice=EvaluatorChoice("stockfish", require_stockfish))
        game = random_game(6, 10)
        answers.append([client.ask(turn(game, session=session))["diagnostics"] for session in ("a", "b")])
        assert {type(evaluator) for evaluator in client.engine._evaluators.values()} == {StockfishEvaluator}
        client.move(turn(game, session="a", delta=True, nodes=..., budget_ms=200))  # a repeat: no second search
        assert len(client.engine._evaluators) == 1
        client.engine.close()
    assert answers[0] == answers[1] and answers[0][0] == answers[0][1]


def test_past_the_limit_the_session_silent_longest_is_dropped_and_asked_for_its_transcript() -> None:
    client = Client("random", max_sessions=3)
    game = Referee()
    for session in ("a", "b", "c", "a", "d"):
        client.move(turn(game, session=session))
    assert client.engine.sessions == ("c", "a", "d")
    game.push(chess.Move.from_uci("e2e4"))
    refused = client.ask(push(game, chess.WHITE, session="b"))
    assert refused["need"] == "transcript" and "3 sessions" in refused["error"]


def test_the_end_of_a_game_frees_its_player_and_may_be_told_after_the_last_ply(client: Client) -> None:
    game = game_of("e2e4", "e7e5")
    client.move(turn(game))
    game.end(Outcome(chess.BLACK, "flag"))
    for _ in range(2):
        assert client.ask(push(game, chess.WHITE)).get("received") is True
    assert client.engine._sessions["s1"].player is None
    assert "over" in client.ask(turn(game_of("e2e4", "e7e5"), delta=True))["error"]
    client.move(turn(game_of("e2e4", "e7e5")))  # the whole transcript begins it anew


def test_no_move_draws_where_the_rules_say_so(client: Client) -> None:
    game = Referee()
    client.move(turn(game, rules={"no_move": "draw"}))
    assert client.engine._sessions["s1"].setup.ruleset.no_move == "draw"


@pytest.mark.parametrize("seed", [0, 2**63, 2**64 - 1, -1, -(2**63)])
def test_any_seed_of_64_bits_will_do(client: Client, seed: int) -> None:
    client.move(turn(game_of("e2e4", "e7e5"), engineSeed=seed))


def test_the_same_seed_and_nodes_give_the_same_bytes_and_other_seeds_other_moves() -> None:
    def answer(seed: int, text: str) -> bytes:
        return Engine(FOG, configuration(text)).answer(json.dumps(turn(Referee(), engineSeed=seed)).encode())

    for text in ("klss2021", "greedy", "random"):
        assert answer(1, text) == answer(1, text)
    assert len({json.dumps(json.loads(answer(seed, "random"))["move"]) for seed in range(8)}) > 1


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"nodes": 40, "budget_ms": 9, "clock": {"remaining_ms": 5, "increment_ms": 1}}, Limit(nodes=40)),
        ({"nodes": None, "budget_ms": 900, "clock": {"remaining_ms": 5, "increment_ms": 1}}, Limit(time_s=0.9)),
        ({"nodes": ..., "clock": {"remaining_ms": 60_000, "increment_ms": 2000}}, Limit(clock=(60.0, 2.0))),
        ({"nodes": ...}, Limit()),
    ],
)
def test_nodes_go_before_the_budget_the_budget_before_the_clock_and_else_5_seconds_stand(
    monkeypatch: pytest.MonkeyPatch, fields: dict[str, Any], expected: Limit
) -> None:
    limits: list[Limit] = []
    monkeypatch.setattr(engine_module.time, "monotonic", lambda: 1000.0)
    client = Client("random")
    original = fog_players.make_player

    def make(*arguments: Any, **rest: Any) -> Any:
        player = original(*arguments, **rest)
        chosen = player.choose
        player.choose = lambda limit, progress: (limits.append(limit), chosen(limit))[1]  # type: ignore[method-assign]
        return player

    monkeypatch.setattr(fog_players, "make_player", make)
    client.move(turn(Referee(), **fields))
    assert limits == [expected]


def test_time_that_a_request_waited_is_taken_off_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    request = read_request(FOG.wire, json.dumps(turn(Referee(), nodes=..., budget_ms=900)).encode())
    assert engine_module._limit(request, 0.4).time_s == pytest.approx(0.5)
    assert engine_module._limit(request, 5.0).time_s == pytest.approx(0.01)
    request = read_request(
        FOG.wire, json.dumps(turn(Referee(), nodes=..., clock={"remaining_ms": 3000, "increment_ms": 0})).encode()
    )
    assert engine_module._limit(request, 1.0).clock == pytest.approx((2.0, 0.0))


def test_the_pawn_that_may_be_taken_en_passant_may_be_shown_and_need_not_be() -> None:
    for show in (False, True):
        for name, fen, moves, pawn in (
            ("later", EN_PASSANT, ("d7d5",), chess.D5),
            ("at once", "4k3/8/8/2PpP3/8/8/8/4K3 w - d6 0 1", (), chess.D5),
        ):
            game = game_of(*moves, fen=fen)
            request = turn(game, fen=fen, session=name)
            assert {"from": "c5", "to": "d6"} in request["legalMoves"]
            seen = request["observationTranscript"][-1]
            if show:
                seen["visibility_mask"] = f"0x{int(seen['visibility_mask'], 16) | 1 << pawn:016x}"
                seen["visible_pieces"].append([pawn, {"type": "P", "color": "black"}])
            Client().move(request)


def test_what_breaks_inside_is_told_and_costs_the_session_only(
    client: Client, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    client.move(turn(Referee(), session="other"))
    with monkeypatch.context() as broken:
        broken.setattr(KlssPlayer, "choose", lambda *_: 1 / 0)
        refused = client.ask(turn(Referee()))
    assert "ZeroDivisionError" in refused["error"] and refused["need"] == "transcript"
    assert "Traceback" in caplog.text
    assert client.engine.sessions == ("other",)
    client.move(turn(Referee()))


def test_noise_of_all_kinds_never_ends_the_process(client: Client) -> None:
    """Random bytes and requests with random fields torn out or swapped: each gets one answer."""
    rng = random.Random(9)
    game = random_game(4, 8)
    good = json.dumps(turn(game)).encode()
    for _ in range(150):
        noisy = bytearray(good)
        for _ in range(rng.randrange(1, 4)):
            at = rng.randrange(len(noisy))
            if rng.random() < 0.5:
                noisy[at] = rng.randrange(256)
            else:
                del noisy[at : at + rng.randrange(1, 40)]
        assert set(client.ask(bytes(noisy))) & {"error", "move"}
    for junk in (b"", b"\x00" * 50, None):
        assert "error" in json.loads(client.engine.answer(junk))
    client.move(turn(game))


def test_moves_and_ids_come_back_in_the_shape_they_went() -> None:
    game = Referee("8/P7/8/8/8/8/k6p/4K3 w - - 0 1")
    answer = Client("greedy").ask(turn(game, fen="8/P7/8/8/8/8/k6p/4K3 w - - 0 1"))
    assert answer["move"] in [move_json(move) for move in game.legal_moves()]
    assert set(answer) == {"protocolVersion", "gameId", "sessionId", "move", "diagnostics"}
    assert set(ids()) - {"engineId"} <= set(answer)
    assert observation_json(game.view(chess.WHITE))["kind"] == "initial"


# The opponent's time.


def pondering() -> int:
    return sum(thread.name == "ponders" for thread in threading.enumerate())


@pytest.fixture
def ponderer() -> Iterator[Client]:
    client = Client("kluss,particles=20,cap=5000,ponder=true")
    yield client
    client.engine.close()
    assert not pondering()


def moved(client: Client, session: str = "s1", **limit: Any) -> Referee:
    """A game after the engine's first move and the push of it."""
    game = Referee()
    game.push(client.move(turn(game, session=session, **({"nodes": ..., "budget_ms": 30} | limit))))
    assert client.ask(push(game, chess.WHITE, session=session))["received"] is True
    return game


def test_after_the_answer_to_a_push_of_her_move_she_ponders_until_her_turn(ponderer: Client) -> None:
    game = moved(ponderer)
    assert not pondering(), "the answer comes first"
    ponderer.engine.idle()
    assert pondering() == 1
    game.push(chess.Move.from_uci("e7e5"))
    ponderer.move(turn(game, delta=True, nodes=..., budget_ms=30))
    ponderer.engine.idle()
    assert not pondering()


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


def test_a_session_that_is_to_move_has_the_cores_for_itself(ponderer: Client) -> None:
    moved(ponderer)
    ponderer.engine.idle()
    assert pondering() == 1
    ponderer.move(turn(Referee(), session="s2", nodes=..., budget_ms=30))
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
    ponderer.move(turn(game, nodes=..., budget_ms=30))
