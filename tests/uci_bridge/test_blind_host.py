"""Foreign engines of Reconnaissance Blind Chess hosted: whatever they do, the game ends with the right result."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import chess
import pytest

from darkchess.rbc.game.referee import Referee
from darkchess.rbc.game.rules import Limits
from darkchess.rbc.players.scripted import RandomPlayer
from klss.table.arbiter import Arbiter
from klss.table.limits import TimeControl
from klss.table.outcome import Outcome
from uci_bridge.protocol.engine_process import EngineProcess, Patience
from uci_bridge.protocol.host import HostedPlayer, rehearse
from uci_bridge.protocol.rbc import RBC as WIRE

SCRIPT = str(Path(__file__).with_name("foreign_engine.py"))
HASTY = Patience(grace_s=0.3, nodes_s=0.3, start_s=0.5, push_s=0.3, close_s=0.2)
CALM = Patience(grace_s=20.0, start_s=20.0, push_s=10.0, close_s=0.5)

Start = Callable[..., EngineProcess]


@pytest.fixture
def start() -> Iterator[Start]:
    engines: list[EngineProcess] = []

    def make(*arguments: str, patience: Patience = CALM, keep: Path | None = None) -> EngineProcess:
        environment = {**os.environ, **({"KEEP": str(keep)} if keep else {})}
        command = [sys.executable, "-S", "-E", SCRIPT, *arguments]
        engines.append(EngineProcess(command, environment=environment, patience=patience))
        return engines[-1]

    yield make
    for engine in engines:
        engine.close()


def play(
    engine: EngineProcess, budget: TimeControl, turns: int = 6, color: bool = chess.WHITE, **rest: Any
) -> tuple[Referee, HostedPlayer]:
    """A game of the engine against a random player, drawn after some turns."""
    game = Referee(limits=Limits(full_turns=turns))
    hosted = HostedPlayer(engine, WIRE, seed=5, **rest)
    players = {color: hosted, not color: RandomPlayer(seed=1)}
    Arbiter(game, players, {color: budget, not color: TimeControl()}).play()
    return game, hosted


# what it does, after how many good answers, what the fault says
FAULTS = [
    ("garbage", 0, "not JSON"),
    ("wrong shape", 1, "move"),
    ("illegal", 1, "a1h8"),
    ("move for sense", 0, "no sense"),
    ("off the board", 0, "sense: got 64"),
    ("dead", 3, "out of memory, sorry"),
    ("error", 2, "I resign"),
    ("always needs", 0, "what?"),
    ("wrong session", 1, "another"),
    ("flood", 0, "nobody asked for"),
]


@pytest.mark.parametrize(("how", "well", "says"), FAULTS)
def test_a_fault_forfeits_the_game_and_is_named(start: Start, how: str, well: int, says: str) -> None:
    color = well != 2
    game, hosted = play(start(how, str(well)), TimeControl(nodes=10), color=color)
    assert game.outcome == Outcome(not color, "forfeit")
    assert game.ply == (well // 2) * 2 + (not color)
    assert hosted.last_fault is not None and says in hosted.last_fault


def test_silence_forfeits_without_a_clock_and_flags_with_one(start: Start) -> None:
    game, hosted = play(start("silent", "1", patience=HASTY), TimeControl(nodes=1))
    assert game.outcome == Outcome(chess.BLACK, "forfeit")
    assert hosted.last_fault is not None and "no answer" in hosted.last_fault
    game, _ = play(start("silent", "1"), TimeControl(clock=(0.4, 0.0)))
    assert game.outcome == Outcome(chess.BLACK, "flag")


@pytest.mark.parametrize("how", ["good", "no pushes", "forgets", "blank lines", "moves on pushes"])
def test_who_behaves_plays_to_the_end_however_it_takes_pushes(start: Start, how: str) -> None:
    game, hosted = play(start(how, patience=Patience(push_s=0.2)), TimeControl(nodes=10))
    assert game.outcome is not None and game.outcome.reason in ("turn_limit", "king_captured") and not hosted.last_fault


def test_what_is_sent_are_a_transcript_then_deltas_and_pushes_and_the_end(start: Start, tmp_path: Path) -> None:
    play(start("good", keep=tmp_path / "sent"), TimeControl(clock=(60.0, 1.0)), turns=3)
    sent = [json.loads(line) for line in (tmp_path / "sent").read_text().splitlines()]
    shape = [(message.get("phase", "push"), "observationTranscript" in message) for message in sent]
    turn = [("sense", False), ("move", False), ("push", False)]
    assert shape == [("sense", True), *turn[1:], *turn * 2, ("push", False)]
    kinds = [
        (message.get("latestObservationDelta") or message.get("observation") or {}).get("kind") for message in sent
    ]
    assert kinds[1:] == ["sense_result", "move_result", "capture_notice"] * 2 + [
        "sense_result",
        "move_result",
        "game_over",
    ]
    assert all(message["game"] == "rbc" and "clock" in message for message in sent if "phase" in message)


def test_with_restarts_it_goes_on_from_the_whole_transcript(start: Start) -> None:
    engine = start("dead", "3")
    game, hosted = play(engine, TimeControl(nodes=10), turns=3, restarts=5)
    assert game.outcome is not None and game.outcome.reason in ("turn_limit", "king_captured")
    assert engine.starts == 2 and hosted.last_fault is not None


def test_a_rehearsal_is_a_turn_of_a_game_and_never_raises(start: Start, tmp_path: Path) -> None:
    rehearse(start("good", keep=tmp_path / "sent"), WIRE)
    assert (tmp_path / "sent").read_text().count("\n") == 4
    rehearse(start("garbage"), WIRE)
    rehearse(start("dead", "1"), WIRE)
