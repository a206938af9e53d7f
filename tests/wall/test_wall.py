"""The wall: two true games that look the same to a player give its engine the same bytes, and get the same answers.

Driven through referee, arbiter, host and a process. In the suite the bytes of all twins and the answers to twenty of
them, of one player; ``make slow`` asks for all and asks others too, ``make soak`` with more nodes and more turns.
"""

from __future__ import annotations

import json
import os
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import chess
import pytest

from darkchess.board.position import Position
from darkchess.fog.game.contest import Player, Setup
from darkchess.fog.game.referee import Referee
from darkchess.fog.game.rules import PAPER, Ruleset
from darkchess.fog.game.view import View
from klss.play.arbiter import Arbiter
from klss.play.contest import Decision, Resignation
from klss.play.limits import Limit, Progress, TimeControl
from klss.play.outcome import Outcome
from tests.wall.twins import Twins, load, replayed, tags
from uci_bridge.protocol.engine_process import Patience
from uci_bridge.protocol.fog import FOG as WIRE
from uci_bridge.protocol.host import EngineProcess, HostedPlayer

TWINS = load()
RECORDER = Path(__file__).parents[1] / "uci_bridge" / "foreign_engine.py"
CALM = Patience(start_s=120.0, push_s=60.0, close_s=2.0)
SUITE = TWINS[:: len(TWINS) // 20][:20]


class Scripted(Player):
    """Plays the moves of a game, then resigns."""

    def __init__(self, moves: tuple[str, ...]) -> None:
        self._moves = moves
        self._ply = 0

    def start(self, view: View, start: Position, ruleset: Ruleset = PAPER) -> None:
        self._ply = 0

    def observe(self, view: View) -> None:
        self._ply = view.ply

    def choose(self, limit: Limit, progress: Progress | None = None) -> Decision:
        if self._ply >= len(self._moves):
            raise Resignation
        return Decision(chess.Move.from_uci(self._moves[self._ply]), {})


class Asked(Scripted):
    """Asks a hosted engine at its turns from ``since`` on, keeps the answers, and plays the moves of the game."""

    def __init__(self, moves: tuple[str, ...], hosted: HostedPlayer, since: int = 0) -> None:
        super().__init__(moves)
        self.answers: list[tuple[int, Decision]] = []
        self._hosted = hosted
        self._since = since

    def begin(self, seat: chess.Color, setup: Setup) -> None:
        super().begin(seat, setup)
        self._hosted.begin(seat, setup)

    def observe(self, view: View) -> None:
        super().observe(view)
        self._hosted.observe(view)

    def choose(self, limit: Limit, progress: Progress | None = None) -> Decision:
        if self._ply >= self._since:
            self.answers.append((self._ply, self._hosted.answer("move", limit)))
        return super().choose(limit)

    def end(self, outcome: Outcome) -> None:
        self._hosted.end(outcome)


def drive(
    engine: EngineProcess,
    moves: tuple[str, ...],
    pair: Twins,
    budget: TimeControl,
    *,
    since: int = 0,
    pause_s: float = 0.0,
) -> list[tuple[int, Decision]]:
    """One game through referee, arbiter, host and engine; the engine's answers."""
    hosted = HostedPlayer(engine, WIRE, seed=3, key=f"{pair.fen} {pair.a[0]}")
    player, opponent = Asked(moves, hosted, since), Scripted(moves)
    if pause_s:
        original = opponent.choose
        opponent.choose = lambda *rest: (time.sleep(pause_s), original(*rest))[1]  # type: ignore[method-assign]
    Arbiter(
        Referee(pair.fen),
        {pair.color: player, not pair.color: opponent},
        {pair.color: budget, not pair.color: TimeControl()},
    ).play()
    assert hosted.last_fault is None
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

    def sent(self, moves: tuple[str, ...], pair: Twins, budget: TimeControl, **rest: Any) -> bytes:
        """The bytes that reach the engine in one game."""
        before = self.file.stat().st_size if self.file.exists() else 0
        drive(self.engine, moves, pair, budget, **rest)
        with open(self.file, "rb") as file:
            file.seek(before)
            return file.read()


@pytest.fixture(scope="module")
def recorder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Recorder]:
    found = Recorder(tmp_path_factory.mktemp("wall"))
    yield found
    found.engine.close()


def two_of(configuration: str) -> Iterator[Callable[[], list[EngineProcess]]]:
    """Two processes of our engine, one for each of two games that are given alike; they load while others test."""
    command = [sys.executable, "-m", "klss", "engine", "--configuration", configuration]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[2])}
    found = [EngineProcess(command, environment=environment, patience=CALM) for _ in range(2)]
    for engine in found:
        engine.start()
    yield lambda: found
    for engine in found:
        engine.close()


@pytest.fixture(scope="module")
def engines() -> Iterator[Callable[[], list[EngineProcess]]]:
    yield from two_of("klss2021,cap=50000")


@pytest.fixture(scope="module")
def believers() -> Iterator[Callable[[], list[EngineProcess]]]:
    """``kluss``, with its learned belief."""
    yield from two_of("kluss,cap=50000")


def test_the_twins_are_twins_and_what_is_rare_is_among_them() -> None:
    """Different moves, the same views, both colours, captures, en passant, castling; ≥ 200 pairs."""
    colors: Counter[bool] = Counter()
    sources: Counter[bool] = Counter()
    things: Counter[str] = Counter()
    apart = 0
    for pair in TWINS:
        a, b = replayed(pair.a, pair.fen), replayed(pair.b, pair.fen)
        assert pair.a != pair.b and a.moves != b.moves
        assert a.views(pair.color) == b.views(pair.color)
        assert a.turn == pair.color and a.outcome is None and b.outcome is None
        apart += a.position != b.position
        colors[pair.color] += 1
        sources[pair.source == "engine"] += 1
        things.update(tags(pair.a, pair.fen, pair.color) | tags(pair.b, pair.fen, pair.color))
        things.update(
            f"in one of both: {tag}" for tag in tags(pair.a, pair.fen, pair.color) ^ tags(pair.b, pair.fen, pair.color)
        )
    assert len(TWINS) >= 200 and len(set(TWINS)) == len(TWINS) and apart >= 200
    assert min(colors.values()) >= 90 and sources[True] >= 100
    for whose in ("own", "the enemy's"):
        for thing, least in (("capture", 100), ("castling", 30), ("en passant", 10), ("promotion", 30)):
            assert things[f"{whose}: {thing}"] >= least, things
    assert things["in one of both: the enemy's: castling"] >= 10


@pytest.mark.usefixtures("engines")
def test_two_games_that_look_the_same_reach_the_engine_as_the_same_bytes(recorder: Recorder) -> None:
    for pair in TWINS:
        said = recorder.sent(pair.a, pair, TimeControl(nodes=10))
        assert said == recorder.sent(pair.b, pair, TimeControl(nodes=10)), pair
        turns = [json.loads(line) for line in said.splitlines() if b'"legalMoves"' in line]
        assert [turn["ply"] for turn in turns] == [
            ply for ply in range(len(pair.a) + 1) if ply % 2 == turns[0]["ply"] % 2
        ]


def test_a_game_that_looks_different_reaches_it_as_other_bytes(recorder: Recorder) -> None:
    """The comparison can fail: one move of its own, or one seen move of the opponent's, is enough."""
    pair = next(pair for pair in TWINS if pair.fen is None and pair.color == chess.WHITE)
    shown = recorder.sent(("e2e4", "d7d5"), pair, TimeControl(nodes=10))
    assert shown != recorder.sent(("e2e3", "d7d5"), pair, TimeControl(nodes=10))
    assert shown != recorder.sent(("e2e4", "a7a6"), pair, TimeControl(nodes=10))
    unseen = recorder.sent(("e2e4", "b7b6"), pair, TimeControl(nodes=10))
    assert unseen == recorder.sent(("e2e4", "h7h6"), pair, TimeControl(nodes=10))


ALLOWED = {
    "": {"protocolVersion", "gameId", "engineId", "sessionId", "color", "ply", "engineSeed", "clock", "legalMoves",
         "observationTranscript", "latestObservationDelta", "observation", "budget_ms", "nodes", "fen", "rules"},
    "clock": {"remaining_ms", "increment_ms"},
    "rules": {"no_move"},
    "move": {"from", "to", "promotion"},
    "observation": {"ply", "kind", "own_move", "visibility_mask", "visible_pieces", "own_capture_square",
                    "opp_capture_landing_square", "game_over"},
    "piece": {"type", "color"},
    "game_over": {"winner", "reason"},
}  # fmt: skip
"""Every key of docs/engine-protocol.md's shapes, by the object that it stands in."""

KINDS = {
    "legalMoves": "move", "own_move": "move", "observationTranscript": "observation", "observation": "observation",
    "latestObservationDelta": "observation", "visible_pieces": "piece",
}  # fmt: skip

TEXTS = {
    "protocolVersion": "1", "gameId": "[0-9a-f]{24}", "engineId": "engine", "sessionId": "[0-9a-f]{24}",
    "color": "white|black", "winner": "white|black", "from": "[a-h][1-8]", "to": "[a-h][1-8]",
    "promotion": "queen|rook|bishop|knight", "kind": "initial|own_move|opp_move", "visibility_mask": "0x[0-9a-f]{16}",
    "type": "[PNBRQK]", "reason": "resign", "no_move": "loss|draw",
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


def test_every_key_that_reaches_the_engine_is_on_the_list_and_no_text_says_more_than_its_key(
    recorder: Recorder,
) -> None:
    for pair in TWINS[::10]:
        for budget in (TimeControl(nodes=10), TimeControl(time_s=2.0), TimeControl(clock=(60.0, 1.0))):
            for line in recorder.sent(pair.a, pair, budget).splitlines():
                message = json.loads(line)
                check_keys(message, "", "", pair.fen)
                moves = [
                    (chess.parse_square(each["from"]), chess.parse_square(each["to"]))
                    for each in message.get("legalMoves", [])
                ]
                assert moves == sorted(moves)


def test_only_the_clock_and_the_budget_tell_time(recorder: Recorder) -> None:
    """The same game played fast and slowly, by a clock, a budget and both: the rest is the same."""

    def masked(said: bytes) -> bytes:
        said = re.sub(rb'"remaining_ms":\d+', b'"remaining_ms":0', said)
        return re.sub(rb'"budget_ms":\d+', b'"budget_ms":0', said)

    pair = next(pair for pair in TWINS if len(pair.a) > 8)
    for budget, other in (
        (TimeControl(clock=(60.0, 1.0)), TimeControl(clock=(30.0, 1.0))),
        (TimeControl(time_s=2.0), TimeControl(time_s=3.0)),
        (TimeControl(nodes=5), TimeControl(nodes=5)),
    ):
        fast, slow = recorder.sent(pair.a, pair, budget), recorder.sent(pair.b, pair, other, pause_s=0.02)
        assert masked(fast) == masked(slow)
        assert (fast == slow) == (budget == other)


def same_answers(engines: list[EngineProcess], pairs: list[Twins], nodes: int, turns: int) -> None:
    """Ask both processes at the last turns of both games of each pair, the first time in mid-game."""
    for pair in pairs:
        since = max(0, len(pair.a) - 2 * (turns - 1))
        answers = [
            drive(engine, moves, pair, TimeControl(nodes=nodes), since=since)
            for engine, moves in zip(engines, (pair.a, pair.b), strict=True)
        ]
        assert len(answers[0]) >= 1 and answers[0] == answers[1], pair


def test_two_games_that_look_the_same_get_the_same_answers(engines: Callable[[], list[EngineProcess]]) -> None:
    """Moves and diagnostics of twenty pairs, with one seed and a node budget; two processes: nothing is remembered."""
    same_answers(engines(), SUITE, nodes=30, turns=2)


@pytest.mark.slow
def test_who_weighs_what_is_possible_gives_the_same_answers_too(believers: Callable[[], list[EngineProcess]]) -> None:
    """Weights of the filter, what is drawn by them, and how likely a move looks."""
    same_answers(believers(), SUITE[::5], nodes=30, turns=2)


@pytest.mark.slow
def test_all_games_that_look_the_same_get_the_same_answers(engines: Callable[[], list[EngineProcess]]) -> None:
    same_answers(engines(), TWINS, nodes=10, turns=2)


@pytest.mark.soak
def test_all_games_that_look_the_same_get_the_same_answers_after_more_thought(
    engines: Callable[[], list[EngineProcess]],
) -> None:
    same_answers(engines(), TWINS, nodes=200, turns=4)
