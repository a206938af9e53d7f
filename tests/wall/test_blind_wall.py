"""The wall of Reconnaissance Blind Chess: two true games in which a player is given the same give its engine the same
bytes, and get the same answers. Driven through referee, arbiter, host and a process. In the suite the bytes of all
twins and the answers to forty of them; ``make slow`` asks for all, and who plans on synopses for eight; ``make soak``
asks at more turns, and for all of who plans.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import chess
import pytest

from darkchess.board.position import Position
from darkchess.rbc.game.contest import Player
from darkchess.rbc.game.observation import Moved, Notice, Observation, Sensed
from darkchess.rbc.game.referee import Referee
from klss.play.arbiter import Arbiter
from klss.play.contest import Decision, Resignation
from klss.play.limits import Limit, TimeControl
from klss.play.outcome import Outcome
from tests.wall.blind_twins import Turns, Twins, load, read_turn, replayed, tags
from uci_bridge.protocol.engine_process import EngineProcess, Patience
from uci_bridge.protocol.host import HostedPlayer
from uci_bridge.protocol.rbc import RBC as WIRE

TWINS = load()
ROOT = Path(__file__).resolve().parents[2]
RECORDER = ROOT / "tests" / "uci_bridge" / "foreign_engine.py"
SUITE = TWINS[:: len(TWINS) // 40][:40]
CALM = Patience(start_s=120.0, push_s=60.0, close_s=2.0)


class Scripted(Player):
    """Looks and asks as in a game, then resigns."""

    def __init__(self, turns: Turns) -> None:
        self._turns = turns
        self._ply = 0

    def start(self, color: chess.Color, start: Position) -> None:
        self._ply = (0 if start.turn == color else 1) - 2

    def notice(self, notice: Notice) -> None:
        self._ply += 2

    def choose_sense(self, limit: Limit) -> Decision:
        if self._ply >= len(self._turns):
            raise Resignation
        return Decision(read_turn(self._turns[self._ply])[0])

    def sensed(self, sensed: Sensed) -> None:
        pass

    def choose_move(self, limit: Limit) -> Decision:
        return Decision(read_turn(self._turns[self._ply])[1])

    def moved(self, moved: Moved) -> None:
        pass


class Hosted(Scripted):
    """Tells a hosted engine everything, asks it at its turns from ``since`` on, keeps its answers, and plays the turns
    of the game.
    """

    def __init__(self, turns: Turns, hosted: HostedPlayer, since: int = 0) -> None:
        super().__init__(turns)
        self._since = since
        self.answers: list[Decision] = []
        self._hosted = hosted

    def begin(self, seat: chess.Color, setup: Position) -> None:
        super().begin(seat, setup)
        self._hosted.begin(seat, setup)

    def observe(self, observation: Observation) -> None:
        super().observe(observation)
        self._hosted.observe(observation)

    def choose_sense(self, limit: Limit) -> Decision:
        if self._ply >= self._since:
            self.answers.append(self._hosted.answer("sense", limit))
        return super().choose_sense(limit)

    def choose_move(self, limit: Limit) -> Decision:
        if self._ply >= self._since:
            self.answers.append(self._hosted.answer("move", limit))
        return super().choose_move(limit)

    def end(self, outcome: Outcome) -> None:
        self._hosted.end(outcome)


def drive(engine: EngineProcess, turns: Turns, pair: Twins, budget: TimeControl, since: int = 0) -> list[Decision]:
    """One game through referee, arbiter, host and engine; the engine's answers. It resigns at its last turn."""
    hosted = HostedPlayer(engine, WIRE, seed=3, key=f"{pair.fen} {pair.a[0]}")
    player = Hosted(turns, hosted, since)
    players: dict[chess.Color, Player] = {pair.color: player, not pair.color: Scripted(turns)}
    Arbiter(Referee(pair.fen), players, {pair.color: budget, not pair.color: TimeControl()}).play()
    assert hosted.last_fault is None, hosted.last_fault
    return player.answers


class Recorder:
    """An engine that keeps what it is sent, in a file."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "sent"
        self.engine = EngineProcess(
            [sys.executable, "-S", "-E", str(RECORDER), "good"],
            environment={**os.environ, "KEEP": str(self.file)},
            patience=CALM,
        )

    def sent(self, turns: Turns, pair: Twins, budget: TimeControl) -> bytes:
        """The bytes that reach the engine in one game."""
        before = self.file.stat().st_size if self.file.exists() else 0
        drive(self.engine, turns, pair, budget)
        with open(self.file, "rb") as file:
            file.seek(before)
            return file.read()


@pytest.fixture(scope="module")
def recorder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Recorder]:
    found = Recorder(tmp_path_factory.mktemp("wall"))
    yield found
    found.engine.close()


def two_of(configuration: str) -> Iterator[list[EngineProcess]]:
    """Two processes of our engine, one for each of two games that are given alike."""
    command = [sys.executable, "-m", "klss", "rbc", "engine", "--configuration", configuration]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    found = [EngineProcess(command, environment=environment, patience=CALM) for _ in range(2)]
    for engine in found:
        engine.start()
    yield found
    for engine in found:
        engine.close()


@pytest.fixture(scope="module")
def engines() -> Iterator[list[EngineProcess]]:
    yield from two_of("rbc-expect,boards=16,cap=100000")


@pytest.fixture(scope="module")
def planners() -> Iterator[list[EngineProcess]]:
    yield from two_of("dsmcp,particles=8,cap=100000")


@pytest.mark.usefixtures("engines")
def test_the_twins_are_twins_and_what_is_rare_is_among_them() -> None:
    """Different turns and positions, the same reported, both colours; at least 200 pairs."""
    colors: Counter[bool] = Counter()
    things: Counter[str] = Counter()
    for pair in TWINS:
        a, b = replayed(pair.a, pair.fen), replayed(pair.b, pair.fen)
        assert a.observations(pair.color) == b.observations(pair.color) and a.position != b.position
        assert a.turn == b.turn == pair.color and a.outcome is None and b.outcome is None
        colors[pair.color] += 1
        things.update({*tags(a, pair.color), *tags(b, pair.color)})
    assert len(TWINS) >= 200 and len(set(TWINS)) == len(TWINS) and min(colors.values()) >= 90
    for whose in ("own", "the enemy's"):
        for thing, least in (("capture", 50), ("en passant", 20), ("promotion", 20), ("pass", 40), ("castling", 9)):
            assert things[f"{whose}: {thing}"] >= least, things
        assert things[f"{whose}: failed or cut short"] >= 100


@pytest.mark.usefixtures("engines")
def test_two_games_that_are_told_the_same_reach_the_engine_as_the_same_bytes(recorder: Recorder) -> None:
    for pair in TWINS:
        said = recorder.sent(pair.a, pair, TimeControl(nodes=10))
        assert said == recorder.sent(pair.b, pair, TimeControl(nodes=10)), pair
        plies = [json.loads(line)["ply"] for line in said.splitlines() if b'"phase":"sense"' in line]
        assert plies == list(range(len(pair.a) % 2, len(pair.a) + 1, 2))


def test_a_game_that_is_told_differently_reaches_it_as_other_bytes(recorder: Recorder) -> None:
    """The comparison can fail: another look or request of its own, or what it sees of the opponent's, is enough."""
    pair = next(pair for pair in TWINS if pair.fen is None and pair.color == chess.WHITE)
    budget = TimeControl(nodes=10)
    shown = recorder.sent(("e5 e2e4", "- d7d5", "d5 e4d5", "- -"), pair, budget)
    for other in (
        ("e4 e2e4", "- d7d5", "d5 e4d5", "- -"),
        ("e5 e2e4", "- d7d6", "d5 e4d5", "- -"),
        ("e5 e2e4", "- d7d5", "d5 e4e5", "- -"),
        ("e5 e2e4", "- d7d5", "d5 e4d5", "- d8d5"),
    ):
        assert shown != recorder.sent(other, pair, budget), other
    assert shown == recorder.sent(("e5 e2e4", "b2 d7d5", "d5 e4d5", "h8 a7a6"), pair, budget)


ALLOWED = {
    "": {"protocolVersion", "game", "gameId", "engineId", "sessionId", "color", "ply", "phase", "engineSeed", "clock",
         "senseActions", "legalMoves", "observationTranscript", "latestObservationDelta", "observation", "budget_ms",
         "nodes", "fen"},
    "clock": {"remaining_ms", "increment_ms"},
    "move": {"from", "to", "promotion"},
    "observation": {"ply", "kind", "own_capture_square", "sense", "sensed_squares", "requested", "taken",
                    "capture_square", "game_over"},
    "piece": {"type", "color"},
    "game_over": {"winner", "reason"},
}  # fmt: skip
"""Every key of docs/engine-protocol.md's shapes, by the object that it stands in."""

KINDS = {
    "legalMoves": "move", "requested": "move", "taken": "move", "observationTranscript": "observation",
    "observation": "observation", "latestObservationDelta": "observation", "sensed_squares": "piece",
}  # fmt: skip

TEXTS = {
    "protocolVersion": "1", "game": "rbc", "gameId": "[0-9a-f]{24}", "engineId": "engine", "sessionId": "[0-9a-f]{24}",
    "color": "white|black", "winner": "white|black", "from": "[a-h][1-8]", "to": "[a-h][1-8]", "phase": "sense|move",
    "promotion": "queen|rook|bishop|knight", "kind": "capture_notice|sense_result|move_result|game_over",
    "type": "[PNBRQK]", "reason": "resign",
}  # fmt: skip


def check_keys(value: Any, kind: str, key: str, fen: str | None) -> None:
    """Every key is allowed where it stands, and every text is what its key says."""
    if isinstance(value, dict):
        assert set(value) <= ALLOWED[kind], f"{set(value) - ALLOWED[kind]} in {kind}"
        for name, each in value.items():
            check_keys(each, KINDS.get(name, name), name, fen)
    elif isinstance(value, list):
        for each in value:
            check_keys(each, kind, key, fen)
    elif isinstance(value, str):
        assert value == fen if key == "fen" else re.fullmatch(TEXTS[key], value), (key, value)
    else:
        assert value is None or (isinstance(value, int) and not isinstance(value, bool)), (key, value)


def test_every_key_that_reaches_the_engine_is_on_the_list(recorder: Recorder) -> None:
    for pair in TWINS[::20]:
        for budget in (TimeControl(nodes=10), TimeControl(time_s=2.0), TimeControl(clock=(60.0, 1.0))):
            for line in recorder.sent(pair.a, pair, budget).splitlines():
                message = json.loads(line)
                check_keys(message, "", "", pair.fen)
                moves = [
                    (chess.parse_square(each["from"]), chess.parse_square(each["to"]))
                    for each in message.get("legalMoves", [])
                ]
                assert moves == sorted(moves)


def same_answers(engines: list[EngineProcess], pairs: list[Twins], turns: int) -> None:
    """Ask both processes at the last turns of both games of each pair, the first time in mid-game."""
    for pair in pairs:
        a, b = (
            drive(engine, said, pair, TimeControl(nodes=10), since=len(said) - 2 * (turns - 1))
            for engine, said in zip(engines, (pair.a, pair.b), strict=True)
        )
        assert len(a) >= 1 and a == b, pair


def test_two_games_that_are_told_the_same_get_the_same_answers(engines: list[EngineProcess]) -> None:
    """Looks, requests and diagnostics of forty pairs, with one seed and a node budget; two processes: nothing is
    remembered.
    """
    same_answers(engines, SUITE, turns=2)


@pytest.mark.slow
def test_who_plans_on_synopses_gives_the_same_answers_too(planners: list[EngineProcess]) -> None:
    """Particles are drawn, playouts made, and the network asked, of what was given alone."""
    same_answers(planners, SUITE[::5], turns=2)


@pytest.mark.slow
def test_all_games_that_are_told_the_same_get_the_same_answers(engines: list[EngineProcess]) -> None:
    same_answers(engines, TWINS, turns=2)


@pytest.mark.soak
def test_all_games_that_are_told_the_same_get_the_same_answers_in_more_turns(engines: list[EngineProcess]) -> None:
    same_answers(engines, TWINS, turns=5)


@pytest.mark.soak
@pytest.mark.parametrize("name", ["dsmcp", "dsmcp,mixing=1", "rbc-rl"])
def test_all_games_that_are_told_the_same_get_the_same_answers_of_who_plans_on_synopses(name: str) -> None:
    for planners in two_of(f"{name},particles=8,cap=100000"):
        same_answers(planners, TWINS, turns=3)
