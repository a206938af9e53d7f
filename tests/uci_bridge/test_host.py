"""Foreign engines hosted, in both games: whatever they do, the game ends with the right result, and nothing is left."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import chess
import pytest

from darkchess.fog.game.referee import Referee
from darkchess.fog.game.rules import PYCHESS, Ruleset
from darkchess.fog.players.tracking import RandomPlayer
from darkchess.rbc.game.referee import Referee as BlindReferee
from darkchess.rbc.game.rules import Limits
from darkchess.rbc.players.scripted import RandomPlayer as BlindRandomPlayer
from klss.play.arbiter import Arbiter
from klss.play.contest import Forfeit, OutOfTime
from klss.play.limits import Limit
from klss.play.outcome import Outcome
from klss.play.wire import AnyWire
from tests.alive import is_alive
from tests.uci_bridge.protocol_games import game_of
from uci_bridge.errors import EngineFailed
from uci_bridge.protocol.engine_process import EngineProcess, Patience
from uci_bridge.protocol.fog import FOG
from uci_bridge.protocol.host import HostedPlayer, rehearse
from uci_bridge.protocol.rbc import RBC

SCRIPT = str(Path(__file__).with_name("foreign_engine.py"))
HASTY = Patience(grace_s=0.1, nodes_s=0.1, start_s=0.2, push_s=0.1, close_s=0.1)
CALM = Patience(grace_s=20.0, start_s=20.0, push_s=10.0, close_s=0.2)

Start = Callable[..., EngineProcess]


@pytest.fixture
def start() -> Iterator[Start]:
    """Starts a scripted engine; all of them are closed at the end, and have to be gone then."""
    engines: list[EngineProcess] = []
    pids: list[int] = []

    def make(*arguments: str, patience: Patience = CALM, keep: Path | None = None) -> EngineProcess:
        environment = {**os.environ, **({"KEEP": str(keep)} if keep else {})}
        engine = EngineProcess(
            [sys.executable, "-S", "-E", SCRIPT, *arguments], environment=environment, patience=patience
        )
        engines.append(engine)
        engine.start()
        assert engine.pid is not None
        pids.append(engine.pid)
        return engine

    yield make
    for engine in engines:
        engine.close()
        assert not engine.alive and engine.pid is None
    for pid in pids:
        assert not Path(f"/proc/{pid}").exists(), "a zombie, or a process that goes on"


def play(
    engine: EngineProcess, budget: Limit, plies: int = 30, color: bool = chess.WHITE, wire: AnyWire = FOG,
    **rest: Any,
) -> tuple[Any, HostedPlayer]:  # fmt: skip
    """A game of the engine against a random player; drawn after some plies."""
    game: Any = Referee(ruleset=Ruleset("short", "loss", plies))
    other: Any = RandomPlayer(seed=1)
    if wire is RBC:
        game, other = BlindReferee(limits=Limits(full_turns=plies // 2)), BlindRandomPlayer(seed=1)
    hosted = HostedPlayer(engine, wire, seed=5, **rest)
    Arbiter(game, {color: hosted, not color: other}, {color: budget, not color: Limit()}).play()
    return game, hosted


# what it does, after how many good answers, what the fault says
FAULTS = [
    (FOG, "garbage", 1, "not JSON"),
    (FOG, "illegal", 0, "a1h8"),
    (FOG, "dead", 1, "out of memory, sorry"),
    (FOG, "signal", 0, "signal 11"),
    (FOG, "closes", 1, "stdout is closed"),
    (FOG, "endless", 1, "line of more than"),
    (FOG, "flood", 0, "nobody asked for"),
    (FOG, "error", 1, "I resign"),
    (FOG, "always needs", 0, "what?"),
    (FOG, "wrong session", 1, "another"),
    (RBC, "illegal", 1, "a1h8"),
    (RBC, "move for sense", 0, "no sense"),
    (RBC, "off the board", 0, "sense"),
    (RBC, "dead", 3, "out of memory, sorry"),
]


@pytest.mark.parametrize(("wire", "how", "well", "says"), FAULTS)
def test_a_fault_forfeits_the_game_and_is_named(start: Start, wire: AnyWire, how: str, well: int, says: str) -> None:
    color, answers_a_turn = well > 0, len(wire.answers)
    game, hosted = play(start(how, str(well)), Limit(nodes=10), color=color, wire=wire)
    assert game.outcome == Outcome(not color, "forfeit")
    assert game.ply == well // answers_a_turn * 2 + (not color)
    assert hosted.last_fault is not None and says in hosted.last_fault


@pytest.mark.parametrize(
    ("how", "budget"),
    [
        ("silent", Limit(nodes=10)),
        ("silent", Limit(time_s=0.1)),
        ("half", Limit(time_s=0.1)),
        ("deaf", Limit(nodes=10)),
        ("acknowledges", Limit(time_s=0.1, nodes=5)),
    ],
)
def test_silence_forfeits_where_no_clock_runs(start: Start, how: str, budget: Limit) -> None:
    game, hosted = play(start(how, patience=HASTY), budget)
    assert game.outcome == Outcome(chess.BLACK, "forfeit") and game.ply == 0
    assert hosted.last_fault is not None and "no answer" in hosted.last_fault


@pytest.mark.parametrize("wire", [FOG, RBC])
@pytest.mark.parametrize("how", ["silent", "late", "half", "deaf"])
def test_silence_and_lateness_flag_where_a_clock_runs(start: Start, how: str, wire: AnyWire) -> None:
    game, _ = play(start(how), Limit(clock=(0.25, 0.0)), wire=wire)
    assert game.outcome == Outcome(chess.BLACK, "flag") and game.ply == 0


def test_an_engine_that_cannot_be_started_forfeits(tmp_path: Path) -> None:
    for program in (str(tmp_path / "none"), str(tmp_path)):
        game, hosted = play(EngineProcess([program]), Limit(nodes=5))
        assert game.outcome == Outcome(chess.BLACK, "forfeit") and game.ply == 0
        assert hosted.last_fault is not None and program in hosted.last_fault
        with pytest.raises(EngineFailed, match="can't start"):
            EngineProcess([program]).start()


@pytest.mark.parametrize(
    "how", ["good", "talks", "ignores eof", "no pushes", "moves on pushes", "forgets", "blank lines"]
)
@pytest.mark.parametrize(("wire", "color"), [(FOG, chess.WHITE), (RBC, chess.BLACK)])
def test_an_engine_with_habits_of_its_own_plays_to_the_end(start: Start, how: str, wire: AnyWire, color: bool) -> None:
    patience = Patience(push_s=0.3, close_s=0.2)
    game, hosted = play(start(how, patience=patience), Limit(nodes=10), 12, color, wire)
    assert hosted.last_fault is None
    assert game.outcome is not None and game.outcome.reason not in ("forfeit", "flag", "resign")


@pytest.mark.parametrize("how", ["acknowledges late", "no pushes"])
def test_an_acknowledgement_owed_by_the_game_before_costs_nothing_in_the_next(start: Start, how: str) -> None:
    engine = start(how, patience=Patience(push_s=0.1, close_s=0.2))
    assert rehearse(engine, FOG) is None
    for _ in range(2):
        game, hosted = play(engine, Limit(nodes=10), plies=6)
        assert hosted.last_fault is None and game.ply == 6 and engine.starts == 1


def test_a_flood_of_acknowledgements_for_another_session_ends_with_its_engine(start: Start) -> None:
    game, hosted = play(start("flood", "1"), Limit(nodes=10), plies=3)
    assert game.ply == 3 and "nobody asked for" in (hosted.last_fault or "")


def test_signs_of_life_on_stderr_prolong_the_wait_for_the_first_answer(start: Start) -> None:
    game, hosted = play(start("slow start", patience=Patience(grace_s=0.3, start_s=0.8)), Limit(time_s=0.01), plies=4)
    assert hosted.last_fault is None and game.ply == 4


def test_an_engine_s_children_end_with_it(start: Start) -> None:
    engine = start("child")
    play(engine, Limit(nodes=5), plies=4)
    child = int(engine.stderr_tail)
    assert is_alive(child)
    engine.close()
    deadline = time.monotonic() + 5.0
    while is_alive(child) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not is_alive(child)


def test_an_engine_is_killed_when_the_interpreter_ends(tmp_path: Path) -> None:
    program = (
        "import sys\nfrom uci_bridge.protocol.host import EngineProcess\n"
        f"engine = EngineProcess([sys.executable, '-S', '-E', {SCRIPT!r}, 'ignores eof'])\n"
        "engine.start(); print(engine.pid, flush=True)\n"
    )
    root = Path(__file__).resolve().parents[2]
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, cwd=root, check=True
    )
    assert not Path(f"/proc/{int(done.stdout)}").exists()


@pytest.mark.parametrize(
    ("how", "says", "expected"),
    [
        ("dead", "exit code 3", [(True, 0), (False, 2), (False, 4), (True, 4), (False, 6)]),
        ("leaves", "had enough", [(True, 0), (True, 2), (True, 4), (True, 6)]),  # between two questions
    ],
)
def test_a_dead_engine_is_started_again_in_mid_game_where_that_is_allowed(
    start: Start, tmp_path: Path, how: str, says: str, expected: list[tuple[bool, int]]
) -> None:
    keep = tmp_path / "sent"
    engine = start(how, "2", keep=keep)
    game, hosted = play(engine, Limit(nodes=5), plies=8, restarts=1)
    assert game.outcome == Outcome(None, "ply_limit")
    assert hosted.last_fault is not None and says in hosted.last_fault
    turns = [json.loads(line) for line in keep.read_bytes().splitlines()]
    asked = [("observationTranscript" in each, each["ply"]) for each in turns if "legalMoves" in each]
    assert asked == expected and engine.starts == sum(whole for whole, _ in expected)


def test_a_hung_engine_is_started_again_then_given_up_long_before_its_clock_runs_out(start: Start) -> None:
    engine = start("silent", "1", patience=Patience(grace_s=0.5, close_s=0.2))
    game, _ = play(engine, Limit(clock=(8.0, 0.0)), restarts=1)
    assert (game.ply, game.outcome, engine.starts) == (4, Outcome(chess.BLACK, "forfeit"), 2)


def test_closing_from_another_thread_ends_the_wait_and_starts_nothing(start: Start) -> None:
    engine = start("silent", patience=HASTY)
    game = Referee()
    hosted = HostedPlayer(engine, FOG, restarts=5)
    hosted.begin(chess.WHITE, game.setup)
    threading.Timer(0.2, lambda: (hosted.close(), engine.close())).start()
    with pytest.raises(Forfeit):
        hosted.answer("move", Limit(time_s=60.0))
    assert engine.starts == 1 and not engine.alive


def test_what_is_sent_are_transcripts_then_deltas_and_pushes_and_the_end_of_the_game(
    start: Start, tmp_path: Path
) -> None:
    keep = tmp_path / "sent"
    game, _ = play(start("good", keep=keep), Limit(time_s=1.5), plies=5)
    shown = [json.loads(line) for line in keep.read_bytes().splitlines()]
    kinds = [
        ("turn" if "legalMoves" in each else "push", "observationTranscript" in each, each["ply"]) for each in shown
    ]
    assert kinds == [
        ("turn", True, 0), ("push", False, 1), ("turn", False, 2), ("push", False, 3), ("turn", False, 4),
        ("push", False, 5),
    ]  # fmt: skip
    assert shown[-1]["observation"]["game_over"] == {"winner": None, "reason": "ply_limit"}
    assert all(each["budget_ms"] == 1500 and "nodes" not in each for each in shown if "legalMoves" in each)
    assert all("fen" not in each and each["engineSeed"] == 5 for each in shown if "legalMoves" in each)
    assert game.outcome == Outcome(None, "ply_limit")


def test_two_questions_a_turn_are_sent_in_blind_chess_and_the_result_is_pushed(start: Start, tmp_path: Path) -> None:
    play(start("good", keep=tmp_path / "sent"), Limit(clock=(60.0, 1.0)), 6, wire=RBC)
    sent = [json.loads(line) for line in (tmp_path / "sent").read_text().splitlines()]
    shape = [(message.get("phase", "push"), "observationTranscript" in message) for message in sent]
    turn = [("sense", False), ("move", False), ("push", False)]
    assert shape == [("sense", True), *turn[1:], *turn * 2, ("push", False)]
    told = [message.get("latestObservationDelta") or message.get("observation") for message in sent[1:]]
    kinds = ["sense_result", "move_result", "capture_notice"] * 3
    assert [seen["kind"] for seen in told] == [*kinds[:-1], "game_over"]
    assert all(message["game"] == "rbc" and "clock" in message for message in sent if "phase" in message)


def test_an_end_that_is_no_ply_is_pushed_too(start: Start, tmp_path: Path) -> None:
    keep = tmp_path / "sent"
    game = Referee()
    engine = start("good", keep=keep)
    players = {chess.WHITE: HostedPlayer(engine, FOG), chess.BLACK: HostedPlayer(start("dead"), FOG)}
    Arbiter(game, players, dict.fromkeys(chess.COLORS, Limit(nodes=3))).play()
    shown = [json.loads(line) for line in keep.read_bytes().splitlines()]
    assert [each["ply"] for each in shown] == [0, 1, 1]
    assert shown[-1]["observation"]["game_over"] == {"winner": "white", "reason": "forfeit"}


def test_the_start_position_the_rules_and_the_clock_are_told(start: Start, tmp_path: Path) -> None:
    keep = tmp_path / "sent"
    fen = "4k3/8/8/2PpP3/8/8/8/4K3 w - d6 0 1"
    game = Referee(fen, PYCHESS)
    hosted = HostedPlayer(start("good", keep=keep), FOG)
    hosted.begin(chess.WHITE, game.setup)
    decision = hosted.answer("move", Limit(clock=(60.0, 2.5)))
    assert decision.answer in game.legal_moves() and decision.diagnostics == {"engine": "foreign"}
    shown = json.loads(keep.read_bytes())
    assert shown["fen"] == fen and shown["rules"] == {"no_move": "draw"}
    assert 59_000 < shown["clock"]["remaining_ms"] <= 60_000 and shown["clock"]["increment_ms"] == 2500
    hosted.answer("move", Limit(time_s=1e9, clock=(3.2e8, 3.2e8)))  # more than the protocol allows
    assert keep.read_bytes().count(b'_ms":100000000000') == 3


def test_ids_are_opaque_differ_from_game_to_game_and_follow_from_the_key_alone(start: Start, tmp_path: Path) -> None:
    keep = tmp_path / "sent"
    engine = start("good", keep=keep)
    for key in (None, None, "the key", "the key"):
        hosted = HostedPlayer(engine, FOG, key=key)
        hosted.begin(chess.WHITE, Referee().setup)
        hosted.answer("move", Limit(nodes=1))
        hosted.begin(chess.WHITE, Referee().setup)
        hosted.answer("move", Limit(nodes=1))
    shown = [json.loads(line) for line in keep.read_bytes().splitlines()]
    sessions = [each["sessionId"] for each in shown]
    assert len(set(sessions)) == 6 and sessions[4:6] == sessions[6:8]
    for each in shown:
        assert all(len(each[key]) == 24 and int(each[key], 16) >= 0 for key in ("gameId", "sessionId"))
        assert "the key" not in json.dumps(each)


def test_a_clock_used_up_before_the_request_could_be_sent_is_out_of_time(start: Start) -> None:
    game = game_of("e2e4")
    hosted = HostedPlayer(start("deaf", patience=HASTY), FOG)
    hosted.begin(chess.BLACK, game.setup)
    hosted.observe(game.view(chess.BLACK))
    began = time.monotonic()
    with pytest.raises(OutOfTime):
        hosted.answer("move", Limit(clock=(0.2, 0.0)))
    assert time.monotonic() - began >= 0.2


def test_a_warm_up_says_what_is_wrong_and_nothing_where_nothing_is(start: Start) -> None:
    for wire in (FOG, RBC):
        assert rehearse(start("good"), wire) is None
    assert rehearse(start("no pushes", patience=Patience(push_s=0.1)), FOG) is None
    assert "exit code 3" in (rehearse(start("dead"), FOG) or "")
    assert "I resign" in (rehearse(start("error"), FOG) or "")
    assert "no answer" in (rehearse(start("silent", patience=HASTY), FOG) or "")
