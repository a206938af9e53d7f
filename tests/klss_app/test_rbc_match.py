"""``klss rbc match`` and ``klss rbc engine``: the document, the files, resuming, players of every kind."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from darkchess.rbc.game.contest import Player
from darkchess.rbc.players.scripted import RandomPlayer
from tests.uci_bridge.blind_games import question

ENGINE = Path(__file__).parents[1] / "uci_bridge" / "foreign_engine.py"
HERE = ("rbc", "match", "rbc-attacker", "rbc-random", "--nodes", "5", "--seed", "4", "--check-truth")
TURN = {"game", "ply", "player", "sense", "move", "taken", "seconds_wall", "seconds_sense"}


def _rows(folder: Path, name: str) -> list[dict[str, Any]]:
    """The lines of a file, without times."""
    rows = [json.loads(line) for line in (folder / name).read_text().splitlines()]
    return [{key: value for key, value in row.items() if not key.startswith("seconds")} for row in rows]


def test_the_document_and_the_files_are_those_of_a_match(klss: Any, tmp_path: Path) -> None:
    document = json.loads(klss(*HERE, "--games", "4", "--out", "m", "--json").out)
    assert document["games"] == document["wins"] + document["draws"] + document["losses"] == 4
    assert document["configurations"]["a"]["player"] == "attacker" and document["truth"]["lost"] == 0
    lines, turns = _rows(tmp_path / "m", "games.jsonl"), _rows(tmp_path / "m", "moves.jsonl")
    assert [line["white"] for line in lines] == ["rbc-attacker", "rbc-random"] * 2
    assert {frozenset(turn) for turn in turns} == {frozenset(TURN - {"seconds_wall", "seconds_sense"})}
    for line in lines:
        history = json.loads((tmp_path / "m" / f"game-0000{line['game']}.json").read_text())
        assert (history["type"], history["white_name"]) == ("GameHistory", line["white"])
        mine = [turn for turn in turns if turn["game"] == line["game"]]
        assert line["plies"] == len(mine) == sum(map(len, history["senses"].values()))
        asked = [turn["move"] for turn in mine if turn["ply"] % 2 == 1]
        assert asked == [move and move["value"] for move in history["requested_moves"]["true"]]
    assert json.loads((tmp_path / "m" / "match.json").read_text())["game"] == "rbc"
    assert any(turn["move"] != turn["taken"] for turn in turns) and any(turn["move"] is None for turn in turns)


@pytest.mark.slow
def test_a_match_goes_on_where_it_was_left_and_is_the_same_in_processes_of_their_own(klss: Any, tmp_path: Path) -> None:
    klss(*HERE, "--games", "1", "--out", "a")
    klss(*HERE, "--games", "2", "--out", "a")
    klss(*[flag for flag in HERE if flag != "--check-truth"], "--games", "2", "--out", "b")
    ours = [
        {key: value for key, value in line.items() if key != "truth"} for line in _rows(tmp_path / "a", "games.jsonl")
    ]
    assert ours == _rows(tmp_path / "b", "games.jsonl") and len(ours) == 2
    assert _rows(tmp_path / "a", "moves.jsonl") == _rows(tmp_path / "b", "moves.jsonl")
    for name in ("game-00000.json", "game-00001.json"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


def test_a_match_of_one_game_is_not_resumed_as_one_of_the_other(klss: Any) -> None:
    klss(*HERE, "--games", "1", "--out", "m")
    ran = klss("match", "random", "random", "--nodes", "1", "--seed", "4", "--games", "1", "--out", "m")
    assert "holds another match" in ran.err and "game" in ran.err


def test_a_program_that_fails_loses_its_games_and_the_match_goes_on(klss: Any, tmp_path: Path) -> None:
    player = f"cmd:{sys.executable} -S -E {ENGINE} dead 4"
    klss("rbc", "match", player, "rbc-random", "--nodes", "5", "--games", "2", "--check-truth", "--out", "m")
    lines = _rows(tmp_path / "m", "games.jsonl")
    assert [line["reason"] for line in lines] == ["forfeit"] * 2 and [line["winner"] for line in lines] == ["b"] * 2
    assert all("out of memory" in line["fault"] for line in lines)


def test_a_player_of_reconchess_is_made_with_the_budget(
    klss: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[tuple[Any, ...]] = []

    class Bot:
        name = "bot.py"

        def fields(self) -> dict[str, Any]:
            return {"name": self.name, "source": "bot"}

        def make(self, seed: int, nodes: int | None, time_s: float | None, stockfish: str | None) -> Player:
            made.append((nodes, time_s, stockfish))
            player = RandomPlayer(seed=seed % 1000)
            player.last_fault = "its engine was started again"
            return player

    bridge = SimpleNamespace(foreign=lambda text: Bot() if text == "bot.py" else None)
    monkeypatch.setitem(sys.modules, "uci_bridge.reconchess", bridge)  # type: ignore[arg-type]
    klss("rbc", "match", "bot.py", "rbc-attacker", "--nodes", "7", "--games", "2", "--check-truth", "--out", "m")
    assert made == [(7, None, None)] * 2
    lines = _rows(tmp_path / "m", "games.jsonl")
    assert lines[0]["white"] == "bot.py" and lines[0]["trouble"] == {"a": "its engine was started again"}


def test_the_engine_is_a_program(tmp_path: Path) -> None:
    """One line for each, whatever comes; the end of the input ends it."""
    from darkchess.rbc.game.referee import Referee

    good = json.dumps(question(Referee())).encode()
    command = [sys.executable, "-m", "klss", "rbc", "engine", "--configuration", "rbc-random"]
    ran = subprocess.run(
        command,
        input=b"\n".join([b"hello", good, b"{}", good]),
        capture_output=True,
        timeout=300,
        cwd=Path(__file__).parents[2],
    )
    answers = [json.loads(line) for line in ran.stdout.splitlines()]
    assert ran.returncode == 0 and ["error" in answer for answer in answers] == [True, False, True, False]
    assert answers[1] == answers[3] and 0 <= answers[1]["sense"] < 64
