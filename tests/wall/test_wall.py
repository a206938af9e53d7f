"""The wall, in both games: two true games in which a player is told the same give its engine the same bytes, and get
the same answers.

Driven through referee, arbiter, host and a process. In the suite the bytes of half of the twins and the answers to
twenty of them, of one player; ``make slow`` asks for all and asks others too, ``make soak`` with more nodes and more
turns.
"""

from __future__ import annotations

import json
import os
import re
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import chess
import pytest

from klss.play.arbiter import Arbiter
from klss.play.contest import Decision, Player, Resignation
from klss.play.limits import Limit
from klss.play.outcome import Outcome
from tests.wall.twins import FOG, RBC, Game, Turns, Twins, load, replayed, tags
from uci_bridge.protocol.engine_process import EngineProcess, Patience
from uci_bridge.protocol.host import HostedPlayer

ROOT = Path(__file__).resolve().parents[2]
RECORDER = ROOT / "tests" / "uci_bridge" / "foreign_engine.py"
CALM = Patience(start_s=120.0, push_s=60.0, close_s=2.0)
TWINS = {game.name: load(game) for game in (FOG, RBC)}
BUDGETS = (Limit(nodes=10), Limit(time_s=2.0), Limit(clock=(60.0, 1.0)))
NODES = BUDGETS[0]

both = pytest.mark.parametrize("game", [FOG, RBC], ids=lambda game: game.name)


def few(game: Game, number: int) -> list[Twins]:
    """So many of the twins, from all parts of the file."""
    return TWINS[game.name][:: len(TWINS[game.name]) // number][:number]


class Scripted(Player):
    """Plays the turns of a game, then resigns. Where it has a hosted engine, that is told everything and asked at the
    turns from ``since`` on, and its answers are kept.
    """

    def __init__(
        self, game: Game, referee: Any, turns: Turns, hosted: HostedPlayer | None = None, since: int = 0,
        pause_s: float = 0.0,
    ) -> None:  # fmt: skip
        self._game, self._referee, self._turns = game, referee, turns
        self._hosted, self._since, self._pause_s = hosted, since, pause_s
        self.answers: list[tuple[int, Decision]] = []

    def begin(self, seat: bool, setup: Any) -> None:
        if self._hosted:
            self._hosted.begin(seat, setup)

    def observe(self, observation: Any) -> None:
        if self._hosted:
            self._hosted.observe(observation)

    def answer(self, question: Any, limit: Limit) -> Decision:
        ply = self._referee.ply
        time.sleep(self._pause_s)
        if self._hosted and ply >= self._since:
            self.answers.append((ply, self._hosted.answer(question, limit)))
        if ply >= len(self._turns):
            raise Resignation
        return Decision(self._game.answers(self._turns[ply])[question])

    def end(self, outcome: Outcome) -> None:
        if self._hosted:
            self._hosted.end(outcome)


def drive(
    game: Game, engine: EngineProcess, turns: Turns, pair: Twins, budget: Limit = NODES, *, since: int = 0,
    pause_s: float = 0.0,
) -> list[tuple[int, Decision]]:  # fmt: skip
    """One game through referee, arbiter, host and engine; the engine's answers."""
    referee = game.referee(pair.fen)
    hosted = HostedPlayer(engine, game.wire, seed=3, key=f"{pair.fen} {pair.a[0]}")
    player = Scripted(game, referee, turns, hosted, since)
    other = Scripted(game, referee, turns, pause_s=pause_s)
    players: dict[bool, Player] = {pair.color: player, not pair.color: other}
    Arbiter(referee, players, {pair.color: budget, not pair.color: Limit()}).play()
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

    def sent(self, game: Game, turns: Turns, pair: Twins, budget: Limit = NODES, **rest: Any) -> bytes:
        """The bytes that reach the engine in one game."""
        before = self.file.stat().st_size if self.file.exists() else 0
        drive(game, self.engine, turns, pair, budget, **rest)
        with open(self.file, "rb") as file:
            file.seek(before)
            return file.read()


@pytest.fixture(scope="module")
def recorder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Recorder]:
    found = Recorder(tmp_path_factory.mktemp("wall"))
    yield found
    found.engine.close()


RARE = {
    "fog": {"capture": 100, "castling": 30, "en passant": 10, "promotion": 30},
    "rbc": {"capture": 50, "castling": 9, "en passant": 20, "promotion": 20, "pass": 40, "failed or cut short": 100},
}
"""In how many games each happens at least, on either side."""


@both
def test_the_twins_are_twins_and_what_is_rare_is_among_them(game: Game) -> None:
    """Different turns, mostly different positions, the same observations, both colours; at least 200 pairs."""
    twins, colors, things, apart = TWINS[game.name], Counter[bool](), Counter[str](), 0
    for pair in twins:
        a, b = replayed(pair.a, pair.fen, game), replayed(pair.b, pair.fen, game)
        assert pair.a != pair.b and a.observations(pair.color) == b.observations(pair.color)
        assert a.turn == b.turn == pair.color and a.outcome is None and b.outcome is None
        apart += a.position != b.position
        colors[pair.color] += 1
        one, other = tags(a, pair.color), tags(b, pair.color)
        things.update(one | other)
        things.update(f"in one of both: {tag}" for tag in one ^ other)
    assert len(set(twins)) == len(twins) and apart >= 200 and min(colors.values()) >= 90
    for whose in ("own", "the enemy's"):
        assert all(things[f"{whose}: {thing}"] >= least for thing, least in RARE[game.name].items()), things
    if game is FOG:
        assert sum(pair.source == "engine" for pair in twins) >= 100
        assert things["in one of both: the enemy's: castling"] >= 10


@both
@pytest.mark.parametrize("half", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_two_games_that_are_told_the_same_reach_the_engine_as_the_same_bytes(
    recorder: Recorder, game: Game, half: int
) -> None:
    for pair in TWINS[game.name][half::2]:
        said = recorder.sent(game, pair.a, pair)
        assert said == recorder.sent(game, pair.b, pair), pair
        first = b'"legalMoves"' if game is FOG else b'"phase":"sense"'
        plies = [json.loads(line)["ply"] for line in said.splitlines() if first in line]
        assert plies == list(range(len(pair.a) % 2, len(pair.a) + 1, 2))


@pytest.mark.parametrize(
    ("game", "shown", "same", "others"),
    [
        (FOG, "e2e4 d7d5", "", ["e2e3 d7d5", "e2e4 a7a6"]),
        (FOG, "e2e4 b7b6", "e2e4 h7h6", []),
        (RBC, "e5 e2e4, - d7d5, d5 e4d5, - -", "e5 e2e4, b2 d7d5, d5 e4d5, h8 a7a6", [
            "e4 e2e4, - d7d5, d5 e4d5, - -", "e5 e2e4, - d7d6, d5 e4d5, - -", "e5 e2e4, - d7d5, d5 e4e5, - -",
            "e5 e2e4, - d7d5, d5 e4d5, - d8d5",
        ]),
    ],
)  # fmt: skip
def test_a_game_that_is_told_differently_reaches_it_as_other_bytes(
    recorder: Recorder, game: Game, shown: str, same: str, others: list[str]
) -> None:
    """The comparison can fail: another look or move of its own, or what it sees of the opponent's, is enough."""
    pair = next(pair for pair in TWINS[game.name] if pair.fen is None and pair.color == chess.WHITE)
    found, *rest = [recorder.sent(game, tuple(text.split(game.between)), pair) for text in (shown, *others)]
    assert found not in rest
    assert not same or found == recorder.sent(game, tuple(same.split(game.between)), pair)


ALLOWED = {
    "fog": {"protocolVersion", "gameId", "engineId", "sessionId", "color", "ply", "engineSeed", "clock", "legalMoves",
            "observationTranscript", "latestObservationDelta", "observation", "budget_ms", "nodes", "fen", "rules"},
    "rbc": {"protocolVersion", "game", "gameId", "engineId", "sessionId", "color", "ply", "phase", "engineSeed",
            "clock", "senseActions", "legalMoves", "observationTranscript", "latestObservationDelta", "observation",
            "budget_ms", "nodes", "fen"},
    "clock": {"remaining_ms", "increment_ms"},
    "rules": {"no_move"},
    "move": {"from", "to", "promotion"},
    "fog observation": {"ply", "kind", "own_move", "visibility_mask", "visible_pieces", "own_capture_square",
                        "opp_capture_landing_square", "game_over"},
    "rbc observation": {"ply", "kind", "own_capture_square", "sense", "sensed_squares", "requested", "taken",
                        "capture_square", "game_over"},
    "piece": {"type", "color"},
    "game_over": {"winner", "reason"},
}  # fmt: skip
"""Every key of docs/engine-protocol.md's shapes, by the object that it stands in."""

OBSERVATIONS = {"observationTranscript", "observation", "latestObservationDelta"}
KINDS = {
    "legalMoves": "move", "own_move": "move", "requested": "move", "taken": "move", "visible_pieces": "piece",
    "sensed_squares": "piece",
}  # fmt: skip

TEXTS = {
    "protocolVersion": "1", "game": "rbc", "gameId": "[0-9a-f]{24}", "engineId": "engine", "sessionId": "[0-9a-f]{24}",
    "color": "white|black", "winner": "white|black", "from": "[a-h][1-8]", "to": "[a-h][1-8]", "phase": "sense|move",
    "promotion": "queen|rook|bishop|knight", "visibility_mask": "0x[0-9a-f]{16}", "type": "[PNBRQK]",
    "kind": "initial|own_move|opp_move|capture_notice|sense_result|move_result|game_over", "reason": "resign",
    "no_move": "loss|draw",
}  # fmt: skip


def check_keys(game: Game, value: Any, kind: str, key: str, fen: str | None) -> None:
    """Every key is allowed where it stands, and every text is what its key says."""
    if isinstance(value, dict):
        assert set(value) <= ALLOWED[kind], f"{set(value) - ALLOWED[kind]} in {kind}"
        for name, each in value.items():
            inner = f"{game.name} observation" if name in OBSERVATIONS else KINDS.get(name, name)
            check_keys(game, each, inner, name, fen)
    elif isinstance(value, list):
        for each in value:
            check_keys(game, each, kind, key, fen)
    elif isinstance(value, str):
        assert value == fen if key == "fen" else re.fullmatch(TEXTS[key], value), (key, value)
    else:
        assert value is None or (isinstance(value, int) and not isinstance(value, bool)), (key, value)


@both
def test_every_key_that_reaches_the_engine_is_on_the_list_and_no_text_says_more_than_its_key(
    recorder: Recorder, game: Game
) -> None:
    for pair, budget in zip(few(game, 24), BUDGETS * 8, strict=True):
        for line in recorder.sent(game, pair.a, pair, budget).splitlines():
            message = json.loads(line)
            check_keys(game, message, game.name, "", pair.fen)
            moves = [
                (chess.parse_square(each["from"]), chess.parse_square(each["to"]))
                for each in message.get("legalMoves", [])
            ]
            assert moves == sorted(moves)


@both
def test_only_the_clock_and_the_budget_tell_time(recorder: Recorder, game: Game) -> None:
    """The same game played fast and slowly, by a clock, a budget and both: the rest is the same."""

    def masked(said: bytes) -> bytes:
        return re.sub(rb'"(remaining|budget)_ms":\d+', b"", said)

    pair = next(pair for pair in TWINS[game.name] if len(pair.a) > 8)
    for budget, other in (
        (Limit(clock=(60.0, 1.0)), Limit(clock=(30.0, 1.0))),
        (Limit(time_s=2.0), Limit(time_s=3.0)),
        (NODES, NODES),
    ):
        fast = recorder.sent(game, pair.a, pair, budget)
        slow = recorder.sent(game, pair.b, pair, other, pause_s=0.02)
        assert masked(fast) == masked(slow)
        assert (fast == slow) == (budget == other)


@contextmanager
def two_of(game: Game, configuration: str) -> Iterator[list[EngineProcess]]:
    """Two processes of our engine, one for each of two games that are given alike."""
    command = [sys.executable, "-m", "klss", "engine", "--game", game.name, "--configuration", configuration]
    found = [EngineProcess(command, environment={**os.environ, "PYTHONPATH": str(ROOT)}, patience=CALM) for _ in "ab"]
    try:
        for engine in found:
            engine.start()
        yield found
    finally:
        for engine in found:
            engine.close()


SOAK, SLOW = pytest.mark.soak, pytest.mark.slow


@pytest.mark.parametrize(
    ("game", "configuration", "number", "nodes", "turns"),
    [
        (FOG, "klss2021,cap=50000", 20, 30, 2),
        (RBC, "rbc-expect,boards=16,cap=100000", 20, 10, 2),
        # Weights of the filter, what is drawn by them, and how likely a move looks; particles, playouts, the network.
        pytest.param(FOG, "kluss,cap=50000", 4, 30, 2, marks=SLOW),
        pytest.param(RBC, "dsmcp,particles=8,cap=100000", 8, 10, 2, marks=SLOW),
        pytest.param(FOG, "klss2021,cap=50000", 220, 10, 2, marks=SLOW),
        pytest.param(RBC, "rbc-expect,boards=16,cap=100000", 220, 10, 2, marks=SLOW),
        pytest.param(FOG, "klss2021,cap=50000", 220, 200, 4, marks=SOAK),
        pytest.param(RBC, "rbc-expect,boards=16,cap=100000", 220, 10, 5, marks=SOAK),
        pytest.param(RBC, "dsmcp,particles=8,cap=100000", 220, 10, 3, marks=SOAK),
        pytest.param(RBC, "dsmcp,mixing=1,particles=8,cap=100000", 220, 10, 3, marks=SOAK),
        pytest.param(RBC, "rbc-rl,particles=8,cap=100000", 220, 10, 3, marks=SOAK),
    ],
)
def test_two_games_that_are_told_the_same_get_the_same_answers(
    game: Game, configuration: str, number: int, nodes: int, turns: int
) -> None:
    """Answers and diagnostics at the last turns of so many pairs, the first time in mid-game, with one seed and a node
    budget; two processes: nothing is remembered.
    """
    with two_of(game, configuration) as engines:
        for pair in few(game, number):
            a, b = (
                drive(game, engine, said, pair, Limit(nodes=nodes), since=len(said) - 2 * (turns - 1))
                for engine, said in zip(engines, (pair.a, pair.b), strict=True)
            )
            assert len(a) >= 1 and a == b, pair
