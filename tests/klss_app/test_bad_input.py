"""Bad input: exit code 2, nothing on stdout, one line on stderr that says what, got, expected."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from darkchess.evaluation.registry import EVALUATORS
from darkchess.fog.players.configuration import CONFIGURATIONS, Configuration, main_names
from klss_app.cli.main import main
from uci_bridge.kits.fog import FOG

ROOT = Path(__file__).resolve().parents[2]

BAD = [
    # (arguments, what the line names, what it says was got or helps with)
    ([], "no command", "play"),
    (["paly"], "'paly'", "did you mean play?"),
    (["play", "--fen", "garbled"], "--fen", "'garbled'"),
    (["play", "--fen", "4k3/8/8/8/8/8/8/8 w - - 0 1"], "--fen", "got 0 kings of white"),
    (["play", "--fen", "4k3/8/8/8/8/8/8/P3K3 w - - 0 1"], "--fen", "got a pawn on a1"),
    (["play", "--fen", "4k3/8/8/8/8/8/8/4K3 w K - 0 1"], "--fen", "castling right 'K'"),
    (["play", "--black", "klss2012"], "'klss2012'", "did you mean klss2021?"),
    (["play", "--black", "klss2021,particle=3"], "'particle'", "did you mean particles?"),
    (["play", "--black", "klss2021,particles=many"], "particles", "'many'"),
    (["play", "--black", "nowhere.toml"], "nowhere.toml", "TOML"),
    (["play", "--white", "human", "--black", "human"], "--white and --black", "human"),
    (["play", "--evaluator", "stokfish"], "--evaluator", "'stokfish'"),
    (["play", "--stockfish", "/no/such/engine"], "Stockfish", "'/no/such/engine'"),
    (["play", "--time", "0"], "--time", "'0'"),
    (["board", "game.json"], "'game.json'", "--game rbc"),
    (["board", "--game", "rbc", "nowhere.json"], "'nowhere.json'", "expected a game's history"),
    (["board", "--game", "tests.table.hidden_tictactoe:KIT"], "hidden_tictactoe", "fog or rbc"),
    (["board", "--game", "openspiel:kuhn_poker"], "openspiel:kuhn_poker", "fog or rbc"),
    (["play", "--game", "openspiel:kuhn_poker", "--fen", "8/8 w"], "'--fen'", "expected"),
    (["play", "--time", "nan"], "--time", "'nan'"),
    (["play", "--clock", "180"], "--clock", "'180'"),
    (["play", "--clock", "180+x"], "--clock", "'180+x'"),
    (["play", "--nodes", "-5"], "--nodes", "'-5'"),
    (["play", "--seed", "1.5"], "--seed", "'1.5'"),
    (["play", "--rules", "papper"], "--rules", "'papper'"),
    (["play", "--pgn", "no/such/folder/game.pgn"], "--pgn", "'no/such/folder/game.pgn'"),
    (["play", "--tmie", "3"], "'--tmie'", "did you mean --time?"),
    (["play", "e4"], "'e4'", "expected"),
    (["match", "klss2021"], "required", "B"),
    (["match", "klss2021", "randm"], "'randm'", "did you mean random?"),
    (["match", "greedy", "random", "--games", "0"], "--games", "'0'"),
    (["match", "greedy", "random", "--nodes", "1", "--out", "/dev/null/x"], "--out", "'/dev/null/x'"),
    (["track"], "--moves", "required"),
    (["track", "--moves", "e4 e5 Ke3"], "ply 3", "'Ke3'"),
    (["track", "--moves", "e4 xyz"], "ply 2", "'xyz'"),
    (["track", "--moves", "e4e4"], "ply 1", "'e4e4'"),
    (["openings", "e4 e4e4"], "ply 2", "'e4e4'"),
    (["track", "--moves", "e4", "--cap", "0"], "--cap", "'0'"),
    (["track", "--moves", "e4", "--fen", "8/8 w"], "--fen", "'8/8 w'"),
    (["track", "--pgn", "missing.pgn"], "--pgn", "'missing.pgn'"),
    (["track", "--pgn", "."], "--pgn", "'.'"),
    (["games", "missing.pgn"], "missing.pgn", "expected a file of games"),
    (["games", "/dev/null"], "'/dev/null'", "got no game"),
    (["games", "/dev/zero"], "'/dev/zero'", "no text"),
    (["track", "--moves", "e4", "--pgn", "x.pgn"], "--pgn", "--moves"),
    (["track", "--pgn", "/dev/zero"], "--pgn", "no text"),
    (["track", "--pgn", "a\udcff.pgn"], "'a\\udcff.pgn'", "UTF-8"),
    (["analyse", "/dev/zero", "--ply", "1", "--color", "white"], "'/dev/zero'", "no text"),
    (["match", "greedy", "random", "--openings", "/dev/zero"], "--openings", "too large"),
]


@pytest.mark.parametrize(("arguments", "names", "says"), BAD, ids=[" ".join(case[0]) or "nothing" for case in BAD])
def test_bad_input_exits_2_with_one_line_and_nothing_on_stdout(
    klss: Any, arguments: list[str], names: str, says: str
) -> None:
    ran = klss(*arguments)
    assert ran.code == 2
    assert ran.out == ""
    assert ran.err.startswith("klss") and ran.err.count("\n") == 1 and ran.err.endswith("\n"), ran.err
    assert names in ran.err and says in ran.err


def test_a_file_that_is_no_pgn_exits_2_with_one_line(klss: Any, tmp_path: Path) -> None:
    (tmp_path / "bad.pgn").write_text('[Variant "Atomic"]\n\n1. e4 *\n')
    (tmp_path / "bytes.pgn").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "empty.pgn").write_text("")
    for name in ("bad.pgn", "bytes.pgn", "empty.pgn"):
        ran = klss("track", "--pgn", name)
        assert ran.code == 2 and ran.out == "" and ran.err.count("\n") == 1, ran.err
        assert name in ran.err


@pytest.mark.parametrize("command", ["games", "analyse", "board --no-open", "track --pgn", "play --resume"])
def test_a_move_from_a_square_to_itself_is_refused_as_any_other(klss: Any, tmp_path: Path, command: str) -> None:
    (tmp_path / "g.pgn").write_text('[White "human"]\n[Black "random"]\n\n1. e4 e4e4 *\n')
    ran = klss(*command.split(), "g.pgn")
    assert ran.code in (1, 2)
    assert "ply 2: illegal move: got 'e4e4'" in ran.err and "Traceback" not in ran.err


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="a system without named pipes")
@pytest.mark.parametrize("command", ["play", "rbc play", "board", "rbc board"])
def test_a_game_does_not_go_on_in_a_pipe(klss: Any, tmp_path: Path, command: str) -> None:
    os.mkfifo(tmp_path / "pipe")
    for name in ("pipe", "/dev/null", "."):
        ran = klss(*command.split(), "--resume", name)
        assert ran.code == 2 and ran.out == "" and "--resume" in ran.err and ran.err.count("\n") == 1, ran.err


def test_a_history_that_is_too_long_or_empty_is_said_to_be_so(klss: Any, tmp_path: Path) -> None:
    (tmp_path / "long.json").write_bytes(b"[" + b"0," * (9 << 20) + b"0]")
    ran = klss("rbc", "track", "long.json")
    assert ran.code == 2 and "too large" in ran.err and ran.err.count("\n") == 1
    # A game of reconchess that was lost on time before the first request.
    sides: dict[str, Any] = {"true": [], "false": []}
    keys = ("senses", "sense_results", "requested_moves", "taken_moves", "capture_squares")
    game = dict.fromkeys([*keys, "fens_before_move", "fens_after_move"], sides)
    about = {"type": "GameHistory", "white_name": "Ann", "black_name": "Bob", "winner_color": False}
    (tmp_path / "g.json").write_text(
        json.dumps(about | game | {"win_reason": {"type": "WinReason", "value": "TIMEOUT"}})
    )
    assert klss("rbc", "track", "g.json", "--json").document == {"turns": []}
    assert klss("rbc", "analyse", "g.json").code == 0


def test_a_file_nested_too_deep_or_with_too_large_a_number_exits_2_with_one_line(klss: Any, tmp_path: Path) -> None:
    (tmp_path / "deep.toml").write_text(f"cap = {'[' * 3000}{']' * 3000}\n")
    (tmp_path / "long.toml").write_text(f"cap = {'9' * 5000}\n")
    (tmp_path / "cap.toml").write_text(f"cap = {'9' * 400}\n")
    (tmp_path / "caution.toml").write_text(f"caution = {'9' * 400}\n")
    for name in ("deep.toml", "long.toml"):
        ran = klss("play", "--black", name)
        assert ran.code == 2 and ran.out == "" and ran.err.count("\n") == 1 and name in ran.err
    for name in ("cap.toml", "caution.toml"):
        ran = klss("play", "--black", name)
        assert ran.code == 2 and ran.out == "" and ran.err.count("\n") == 1 and f"{name[:-5]} is 999" in ran.err


PROGRAMS = {
    "dies at once": ("#!/bin/sh\nexit 3\n", "it ended"),
    "dies when it is asked": ("#!/bin/sh\nread a; read b; echo uciok; echo readyok; read c; exit 3\n", "it ended"),
    "no program": ("garbage", "can't be started"),
    "no engine": ("#!/bin/sh\nexec cat\n", "no move within"),
}


@pytest.mark.parametrize("how", PROGRAMS)
@pytest.mark.parametrize(
    "command",
    [
        "match klss2021 greedy --games 1 --evaluator stockfish",
        "match klss2021,evaluator=stockfish greedy --games 1",
        "play --white klss2021 --black random",
        "analyse game.pgn --ply 0 --color white",
        "engine",
        "bench search",
    ],
)
def test_a_program_that_is_no_stockfish_exits_2_with_one_line_before_the_first_move(
    klss: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str, how: str
) -> None:
    monkeypatch.setattr("uci_bridge.stockfish.uci._START_S", 0.3)
    text, says = PROGRAMS[how]
    broken = tmp_path / "stockfish"
    broken.write_text(text)
    broken.chmod(0o755)
    (tmp_path / "game.pgn").write_text("1. e4 e5 *\n")
    ran = klss(*command.split(), "--stockfish", str(broken))
    assert ran.code == 2 and ran.out == "" and ran.err.count("\n") == 1, ran.err
    assert str(broken) in ran.err and says in ran.err


def test_stockfish_asked_for_and_not_there_exits_2_with_one_line(klss: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KLSS_STOCKFISH", "/no/such/engine")
    ran = klss("play", "--evaluator", "stockfish", "--white", "klss2021", "--black", "random")
    assert ran.code == 2 and ran.out == "" and ran.err.count("\n") == 1
    assert "Stockfish" in ran.err and "/no/such/engine" in ran.err


def test_no_error_is_a_traceback_when_run_as_a_program(program: Any) -> None:
    ran = program("play", "--fen", "garbled")
    assert ran.code == 2
    assert "Traceback" not in ran.err and ran.err.count("\n") == 1


def test_help_and_version_need_nothing_heavy_and_exit_0(program: Any) -> None:
    assert program("--help").code == 0
    assert program("--version").out.startswith("klss ")
    assert "--white" in program("play", "--help").out


def test_a_new_player_or_evaluator_is_in_the_helps_and_the_complaints(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(CONFIGURATIONS, "novelty", Configuration("novelty", "random"))
    monkeypatch.setitem(CONFIGURATIONS, "novelty-variant", Configuration("novelty-variant", "random"))
    monkeypatch.setattr(FOG, "configurations", main_names())
    monkeypatch.setitem(EVALUATORS, "oracle", EVALUATORS["builtin"])
    for command, columns in itertools.product(("play", "match", "engine"), range(70, 90)):
        monkeypatch.setenv("COLUMNS", str(columns))  # wherever lines end, no name is broken at its hyphen
        assert main([command, "--help"]) == 0
        shown = " ".join(capsys.readouterr().out.split())
        assert "baseline, best-guess, greedy, random, novelty; NAME" in shown
        assert "builtin or stockfish or oracle or module:Class: builtin, always there" in shown
    for command in (["play"], ["engine"], ["match", "greedy", "random"]):
        assert main([*command, "--evaluator", "nothing"]) == 2
        assert "got 'nothing', expected builtin or stockfish or oracle or module:Class" in capsys.readouterr().err


def test_help_is_shown_where_the_terminal_knows_ascii_only(tmp_path: Path) -> None:
    environment = os.environ | {"PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "ascii"}
    command = [sys.executable, "-m", "klss", "play", "--help"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, timeout=300)
    assert done.returncode == 0 and done.stderr == b""
