"""The bot against a server that speaks the dialect and misbehaves: every game is played to its end and recorded."""

from __future__ import annotations

import asyncio
import itertools
import json
from pathlib import Path
from typing import Any

import chess
import pytest

from darkchess.fog.game.record import GameRecord
from klss.play.outcome import Outcome
from tests.uci_bridge.bot_bench import ENGINE, GOOD, PLENTY, RandomSeat, play, play_games, recorded
from tests.uci_bridge.fake_server import TOKEN, FakeServer, Faults, Opponent
from tests.wall.test_wall import ALLOWED
from uci_bridge.bot.config import AcceptRules, EngineConfig
from uci_bridge.bot.dialect import Challenge
from uci_bridge.bot.engine import EngineSeat
from uci_bridge.bot.record import Records, RecordsError
from uci_bridge.bot.true_game import TrueGame
from uci_bridge.protocol.engine_process import EngineProcess

# Games.


def test_every_game_with_faults_on_is_played_by_the_rules_and_recorded(tmp_path: Path) -> None:
    faults = Faults(cut=0.02, half=0.02, repeat=0.1, garbage=0.02, late_full=0.3, double_full=0.3, refuse=0.04,
                    lose_move=0.02, take_back=0.005, delay_s=0.002, seed=3)  # fmt: skip
    with FakeServer(faults, old_stream_s=0.1) as server:
        play_games(server, tmp_path, [Opponent(end="resign", end_ply=20) for _ in range(3)])
        games = server.games
        assert len(games) == 3 and all(game.outcome for game in games.values())
        assert not any(game.lost_by_illegal_move for game in games.values())
        assert server.quiet_violations == 0
        done = recorded(tmp_path)
        assert set(done) == set(games)
        for game_id, game in games.items():
            shown = [move.uci() for move in done[game_id].moves]
            # The move that ends a game by the rules is not shown; ours is known even so. Nor is what was taken back
            # just before it: then the record is what the server said last.
            said = max(game.told, key=lambda moves: game.told[moves]).split() if game.take_backs else game.moves[:-1]
            assert shown == game.moves or (shown in (game.moves[:-1], said) and game.referee.outcome is not None)
    assert json.loads((tmp_path / "under_way.json").read_text()) == {}


@pytest.mark.parametrize("end", ["resign", "abandon", "abort", "draw", "flag"])
def test_an_end_that_the_server_does_not_explain_is_recorded_as_open(tmp_path: Path, end: str) -> None:
    with FakeServer() as server:
        # Moves without any contact, so that no king hangs when the opponent ends the game.
        script = Opponent(moves=["a7a6", "a6a5"], end=end, end_ply=4)
        server.start(bot_white=True, moves=["e2e4", "e7e6"], script=script)
        play(server, tmp_path, lambda bot: bot.finished == 1)
    (game,) = recorded(tmp_path).values()
    assert (game.result, game.outcome) == ("*", None)
    assert game.headers["Ending"] == "not told by the server"


class Scripted(RandomSeat):
    """Plays what it is asked to."""

    moves: tuple[str, ...] = ()

    async def choose(self, views, clock):  # type: ignore[no-untyped-def]
        mine = [move for move in self.moves if chess.Move.from_uci(move) in views[-1].legal_moves]
        played = {view.own_move.uci() for view in views if view.own_move is not None}
        return chess.Move.from_uci(next(move for move in mine if move not in played))


def test_our_capture_of_the_king_is_recorded_though_the_server_never_shows_it(tmp_path: Path) -> None:
    class Seat(Scripted):
        moves = ("d1h5", "h5e8")

    with FakeServer() as server:
        server.start(bot_white=True, moves=["e2e4", "f7f6"], script=Opponent(moves=["a7a6"]))
        play(server, tmp_path, lambda bot: bot.finished == 1, seat=Seat)
    (game,) = recorded(tmp_path).values()
    assert (game.result, game.outcome) == ("1-0", Outcome(chess.WHITE, "king_captured"))
    assert [move.uci() for move in game.moves] == ["e2e4", "f7f6", "d1h5", "a7a6", "h5e8"]


def test_a_draw_by_repetition_is_recorded_with_its_last_move(tmp_path: Path) -> None:
    class Seat(RandomSeat):
        async def choose(self, views, clock):  # type: ignore[no-untyped-def]
            at_home = views[-1].piece_at(chess.G8) is not None
            return chess.Move.from_uci("g8f6" if at_home else "f6g8")

    with FakeServer() as server:
        server.start(bot_white=False, script=Opponent(moves=["g1f3", "f3g1"] * 4))
        play(server, tmp_path, lambda bot: bot.finished == 1, seat=Seat)
    (game,) = recorded(tmp_path).values()
    # The start position counts: it is there for the third time after 8 plies.
    assert (game.outcome, len(game.moves)) == (Outcome(None, "repetition"), 8)


@pytest.mark.parametrize("same", [True, False])
def test_take_backs_of_which_nothing_is_told_leave_no_game_hanging(tmp_path: Path, same: bool) -> None:
    with FakeServer(Faults(take_back=0.15, seed=5)) as server:
        play_games(server, tmp_path, [Opponent(end="resign", end_ply=30, same_after_take_back=same)] * 2)
        assert sum(game.take_backs for game in server.games.values()) >= 1
        assert not any(game.lost_by_illegal_move for game in server.games.values())


def test_a_game_found_in_mid_position_goes_on_from_there(tmp_path: Path) -> None:
    fen = "4k3/8/8/8/8/8/PPP5/4K3 b - - 0 20"
    with FakeServer() as server:
        game_id = server.start(
            bot_white=False, fen=fen, moves=["e8e7", "a2a4"], script=Opponent(end="resign", end_ply=9)
        )
        play(server, tmp_path, lambda bot: bot.finished == 1)
        game = recorded(tmp_path)[game_id]
    assert game.fen == fen and [move.uci() for move in game.moves][:2] == ["e8e7", "a2a4"] and len(game.moves) >= 8


def test_moves_that_make_no_sense_are_given_up_so_that_everybody_learns_of_it(tmp_path: Path) -> None:
    with FakeServer() as server:
        game_id = server.start(bot_white=True, moves=["e2e4", "e7e5"])
        game = server.games[game_id]
        nonsense = {"type": "gameState", "moves": "e2e5", "wtime": 300_000, "btime": 300_000.0}
        server.call(setattr, game, "state", lambda: nonsense)
        play(server, tmp_path, lambda bot: bot.finished == 1)
        assert game.resigned and game.over.is_set()


def test_a_greeting_is_said_once_with_the_form_fields_that_the_server_wants(tmp_path: Path) -> None:
    with FakeServer(Faults(cut=0.1, seed=2)) as server:
        server.start(bot_white=True, script=Opponent(end="resign", end_ply=20))
        play(server, tmp_path, lambda bot: bot.finished == 1, greeting="good luck")
        assert [game.chat for game in server.games.values()] == [[("player", "good luck")]]


@pytest.mark.slow
def test_a_game_whose_server_stays_away_for_longer_than_the_clocks_run_is_given_up_and_recorded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("uci_bridge.bot.game._LATE_S", 0.05)
    with FakeServer() as server:
        server.holding.set()
        accept = {**PLENTY, "initial_s": [0, 600]}
        game_id = server.start(bot_white=True, moves=["e2e4", "e7e5"], initial_s=2.0, increment_s=0.0)

        def leave() -> None:
            assert server.wait(lambda: server.games[game_id].referee.ply == 3)
            server.refuse_all = 503
            server.call(server.drop_streams)

        play(server, tmp_path, lambda bot: bot.finished == 1, during=leave, accept=accept)
    assert recorded(tmp_path)[game_id].result in ("*", "1-0")


# Which games.


def challenge(**changed: object) -> Challenge:
    standard = {"id": "x", "player": "p", "player_is_bot": False, "variant": "fogofwar", "chess960": False,
                "rated": False, "initial_s": 300.0, "increment_s": 2.0}  # fmt: skip
    return Challenge(**{**standard, **changed})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("rules", "changed", "reason"),
    [
        (AcceptRules(), {}, None),
        (AcceptRules(), {"variant": "standard"}, "variant"),
        (AcceptRules(), {"chess960": True}, "variant"),
        (AcceptRules(), {"rated": True}, "casual"),
        (AcceptRules(rated=[True]), {}, "rated"),
        (AcceptRules(rated=["rated", False]), {"rated": True}, None),
        (AcceptRules(), {"player_is_bot": True}, "noBot"),
        (AcceptRules(bots=True, humans=False), {}, "onlyBot"),
        (AcceptRules(), {"initial_s": None, "increment_s": None}, "timeControl"),
        (AcceptRules(initial_s=(60, 600)), {"initial_s": 30.0}, "tooFast"),
        (AcceptRules(initial_s=(60, 600)), {"initial_s": 601.0}, "tooSlow"),
        (AcceptRules(increment_s=(1, 5)), {"increment_s": 0.0}, "tooFast"),
    ],
)
def test_challenges_are_declined_with_the_key_of_the_reason(
    rules: AcceptRules, changed: dict[str, object], reason: str | None
) -> None:
    assert rules.decline_reason(challenge(**changed), "fogofwar") == reason


def test_challenges_beyond_the_limits_are_declined_and_repeated_ones_answered_once(tmp_path: Path) -> None:
    with FakeServer() as server:
        server.holding.set()  # opponents think for ever

        def ask() -> None:
            first = server.challenge("anna", color="white")
            assert server.wait(lambda: first in server.games)
            body = {"id": first, "challenger": {"name": "anna"}, "variant": {"key": "fogofwar"}, "rated": False}
            line = {"type": "challenge", "challenge": {**body, "timeControl": {"type": "clock", "limit": 300}}}
            server.event(json.dumps(line) + "\n")
            second = server.challenge("anna", color="white")
            third = server.challenge("bob", color="white", timeControl={"type": "correspondence", "daysPerTurn": 3})
            fourth, fifth = server.challenge("bob"), server.challenge("cleo")
            assert server.wait(lambda: len(server.declined) == 3)
            assert server.declined == {second: "later", third: "timeControl", fifth: "later"}
            assert set(server.games) == {first, fourth}
            server.event('{"type": "terminated"}\n{"type": "chatLine", "text": 3}\n{"type": "analysisStart"}\n')
            for game in server.games.values():
                game.script.end, game.script.end_ply = "resign", 0
            server.holding.clear()

        play(server, tmp_path, lambda bot: bot.finished == 2, during=ask, accept={"concurrency": 2, "per_player": 1})
        assert server.done["challenge"] == 5  # calls: two accepted, three declined, none twice


def test_a_flood_of_challenges_is_answered_a_few_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("uci_bridge.bot.account._MOST_TASKS", 2)
    tasks, how = list[int](), {"accept": {**PLENTY, "concurrency": 1}, "grace_s": 0.1}
    with FakeServer() as server:
        server.holding.set()
        for number in range(6):
            server.challenge(f"human{number}")
        play(server, tmp_path, lambda bot: tasks.append(len(bot._tasks)) or len(server.declined) == 5, **how)
    assert max(tasks) == 2


@pytest.mark.parametrize(
    ("started", "accept", "aborted"),
    [
        ({}, PLENTY, False),
        ({"initial_s": 30.0}, {**PLENTY, "initial_s": [60, 600]}, True),
        ({"increment_s": 9.0}, {**PLENTY, "increment_s": [0, 5]}, True),
        ({"variant": "standard"}, PLENTY, True),
    ],
)
def test_a_game_that_starts_without_a_challenge_is_called_off_if_the_rules_refuse_it(
    tmp_path: Path, started: dict[str, object], accept: dict[str, object], aborted: bool
) -> None:
    with FakeServer() as server:
        game_id = server.start(script=Opponent(end="resign", end_ply=6), **started)  # type: ignore[arg-type]
        play(server, tmp_path, lambda bot: bot.finished == 1, accept=accept)
        assert (server.games[game_id].outcome == Outcome(None, "aborted")) == aborted
    assert (game_id in recorded(tmp_path)) != aborted


def seats(most: list[int]) -> type[RandomSeat]:
    """Seats that count how many of them are open at once; ``most`` gets the largest number."""
    open_seats: set[int] = set()

    class Counted(RandomSeat):
        def __init__(self, *given: Any) -> None:
            super().__init__(*given)
            open_seats.add(id(self))
            most[0] = max(most[0], len(open_seats))

        async def close(self) -> None:
            await asyncio.sleep(0.05)
            open_seats.discard(id(self))

    return Counted


@pytest.mark.parametrize("moves", [[], ["e2e4", "e7e5", "g1f3"]])
@pytest.mark.parametrize("dialect", ["pychess", "lichess"])
def test_games_that_a_server_starts_beyond_the_limit_are_called_off_and_get_no_engine(
    tmp_path: Path, dialect: str, moves: list[str]
) -> None:
    most = [0]
    with FakeServer(dialect=dialect) as server:
        server.holding.set()
        ids = [server.start(f"human{number}", bot_white=True, moves=moves) for number in range(10)]
        games = server.games

        def look() -> None:
            assert server.wait(lambda: sum(game.outcome is not None for game in games.values()) == 8)
            for game in games.values():
                game.script.end, game.script.end_ply = "resign", 0
            server.holding.clear()

        accept = {**PLENTY, "concurrency": 2}
        play(server, tmp_path, lambda bot: bot.finished == 2, during=look, accept=accept, seat=seats(most))
    assert most == [2] and set(recorded(tmp_path)) <= set(ids) and len(recorded(tmp_path)) == 2
    others = [game for game_id, game in games.items() if game_id not in recorded(tmp_path)]
    assert {game.outcome.reason for game in others if game.outcome} == {"resign" if moves else "aborted"}


def test_games_under_way_that_find_no_room_at_the_next_start_wait_for_it(tmp_path: Path) -> None:
    most = [0]
    with FakeServer() as server:
        script = Opponent(end="resign", end_ply=10)
        ids = [server.start(f"human{number}", moves=["e2e4", "e7e5"], script=script, tell=False) for number in range(4)]
        (tmp_path / "under_way.json").write_text(json.dumps({game_id: {"since": 1} for game_id in ids}))
        accept = {**PLENTY, "concurrency": 1}
        play(server, tmp_path, lambda bot: bot.finished == 4, accept=accept, seat=seats(most))
        assert all(game.outcome and game.outcome.reason == "resign" for game in server.games.values())
    assert most == [1] and set(recorded(tmp_path)) == set(ids)


def test_a_game_whose_start_was_never_told_is_played_because_its_challenge_was_accepted(tmp_path: Path) -> None:
    with FakeServer() as server:
        server._tell_start = lambda game_id: None  # type: ignore[method-assign]
        play_games(server, tmp_path, [Opponent(end="resign", end_ply=8)])
    assert len(recorded(tmp_path)) == 1


# The records.


def test_a_month_s_file_that_somebody_has_written_into_is_added_to(tmp_path: Path) -> None:
    records = Records(tmp_path)
    path = records.save("one", GameRecord((chess.Move.from_uci("e2e4"),)))
    theirs = path.read_bytes().replace(b"\n", b"\r\n") + b"{ caf\xe9 }\r\n"
    path.write_bytes(theirs)
    for game_id in ("one", "two"):
        records.save(game_id, GameRecord((chess.Move.from_uci("d2d4"),)))
    records.close()
    held = path.read_bytes()
    assert held.startswith(theirs) and held.count(b'[GameId "one"]') == held.count(b'[GameId "two"]') == 1


def test_a_folder_of_records_belongs_to_one_bot_at_a_time(tmp_path: Path) -> None:
    records = Records(tmp_path)
    with pytest.raises(RecordsError, match="belongs to a bot that is running"):
        Records(tmp_path)
    records.close()
    Records(tmp_path).close()


# The engine's side of the wall.


def test_the_engine_gets_views_under_made_up_ids_and_nothing_of_the_servers(tmp_path: Path) -> None:
    log = tmp_path / "log"
    with FakeServer() as server:
        engine = {"command": [*GOOD, "--keep", str(log)], "nodes": 5}
        play_games(server, tmp_path / "records", [Opponent(end="resign", end_ply=12)], seat=None, engine=engine)
        (game,) = server.games.values()
    text = log.read_text()
    requests = [json.loads(line) for line in text.splitlines()]
    assert len(requests) > 6
    assert set().union(*map(set, requests)) <= ALLOWED["fog"]
    for secret in (game.id, "human0", TOKEN, server.url, "klssbot"):
        assert secret not in text
    hidden = {move.uci() for move in game.referee.moves[:: 2 if game.bot_color == chess.BLACK else 1]}
    assert hidden and '"moves"' not in text


def lines_for(histories: list[list[str]], folder: Path, name: str) -> str:
    """What reaches the engine of White where the server's states are ``histories``, one after the other."""
    log = folder / name

    async def work() -> None:
        seat = EngineSeat(EngineProcess([*GOOD, "--keep", str(log)]), EngineConfig(nodes=3), seed=1, key="fixed")
        game = TrueGame()
        for moves in histories:
            game.follow(moves)
            if game.referee.turn == chess.WHITE:
                await seat.choose(game.referee.views(chess.WHITE), (60.0, 0.0))
            else:
                await seat.tell(game.referee.views(chess.WHITE))
        await seat.close()

    asyncio.run(work())
    return log.read_text()


def test_a_take_back_that_she_cannot_see_does_not_reach_the_engine(tmp_path: Path) -> None:
    same = [["e2e4"], ["e2e4", "c7c6"], ["e2e4", "c7c6"], ["e2e4", "c7c6", "d2d4"]]
    other = [["e2e4"], ["e2e4", "c7c6"], ["e2e4"], ["e2e4", "g7g6"], ["e2e4", "g7g6", "d2d4"]]
    assert lines_for(same, tmp_path, "same") == lines_for(other, tmp_path, "other")


def test_a_take_back_that_she_can_see_begins_a_session_from_the_whole_transcript(tmp_path: Path) -> None:
    seen = lines_for([["e2e4", "e7e5"], ["e2e4", "e7e5", "g1f3"], ["e2e4", "d7d5"]], tmp_path, "seen")
    turns = [json.loads(line) for line in seen.splitlines() if "legalMoves" in line]
    assert turns[0]["sessionId"] != turns[-1]["sessionId"]
    assert len(turns[-1]["observationTranscript"]) == 3


@pytest.mark.parametrize("fault", ["dead", "silent", "garbage", "illegal"])
def test_an_engine_that_fails_is_started_again_and_no_game_suffers(tmp_path: Path, fault: str) -> None:
    engine: dict[str, object] = {"command": [*ENGINE, fault, "1", "--once", str(tmp_path / "once")], "nodes": 5}
    with FakeServer() as server:
        # The move instead of the failed engine's is any legal one; pawns at the edge keep both kings safe to the end.
        edges = (["a2a3", "h2h3", "a3a4"], ["a7a6", "h7h6", "a6a5"])
        for number, moves in enumerate(edges):
            script = Opponent(end="resign", end_ply=6, moves=moves)
            server.start(f"human{number}", bot_white=bool(number), script=script, initial_s=2.0, increment_s=0.0)
        engine["margin_ms"] = 200
        accept = {**PLENTY, "initial_s": [1, 600]}
        folder = tmp_path / "records"
        play(server, folder, lambda bot: bot.finished == 2, seat=None, engine=engine, accept=accept)
        assert [game.outcome.reason for game in server.games.values() if game.outcome] == ["resign"] * 2


def test_an_engine_that_loads_for_longer_than_the_clock_allows_costs_no_game(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with FakeServer() as server:
        engine = {"command": [*ENGINE, "deaf"], "nodes": 5, "margin_ms": 200}
        server.holding.set()
        game_id = server.start(bot_white=True, moves=["e2e4", "e7e5"], initial_s=2.0, increment_s=0.0)
        game = server.games[game_id]

        def moved() -> None:
            assert server.wait(lambda: game.referee.ply == 3)
            server.call(game.end, Outcome(chess.WHITE, "resign"))

        accept = {**PLENTY, "initial_s": [0, 600]}
        play(server, tmp_path, lambda bot: bot.finished == 1, during=moved, seat=None, engine=engine, accept=accept)
        assert game.clocks[0][-1] > 0.0
    assert not [record for record in caplog.records if record.levelname == "ERROR"]
    assert any(record.getMessage() == "moved without the engine" for record in caplog.records)


# The true game.


def test_a_game_that_shrinks_is_rebuilt_and_one_that_only_grows_is_not_taken_back() -> None:
    game = TrueGame()
    assert not game.follow(["e2e4", "e7e5"])
    assert not game.follow(["e2e4", "e7e5", "g1f3"])
    assert game.follow(["e2e4"]) and game.referee.ply == 1
    assert not game.follow(["e2e4"]) and game.follow(["d2d4"])
    with pytest.raises(ValueError, match="ply 2"):
        game.follow(["d2d4", "e2e4"])
    assert [move.uci() for move in game.referee.moves] == ["d2d4"]


def test_castling_written_as_the_king_taking_its_rook_is_the_same_move() -> None:
    fen = "4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1"
    game = TrueGame(fen)
    game.follow(["e1h1"])
    assert game.referee.moves == (chess.Move.from_uci("e1g1"),)
    assert not game.follow(["e1g1"])  # another spelling takes nothing back


def test_the_server_judges_draws_and_the_game_goes_on_for_as_long_as_it_says() -> None:
    shuffle = list(itertools.islice(itertools.cycle(["g1f3", "g8f6", "f3g1", "f6g8"]), 14))
    game = TrueGame()
    game.follow(shuffle)  # the start position for the fourth time: the papers' referee would have ended it
    assert not game.decided and game.referee.views(chess.WHITE)[-1].legal_moves
    assert game.ending()[1] == Outcome(None, "repetition")
    taken = Outcome(chess.WHITE, "king_captured")
    game.follow([*shuffle, "f3e5", "a7a6", "e5c4", "a6a5", "c4d6", "a5a4"])
    assert game.ending(chess.Move.from_uci("d6e8"))[1] == taken  # also where the server does not show it
    game.follow([*map(chess.Move.uci, game.referee.moves), "d6e8"])
    assert game.ending()[1] == taken
