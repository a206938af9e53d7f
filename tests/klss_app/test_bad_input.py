"""Bad input, for every command: exit code 2, nothing on stdout, one line on stderr. Its wording is no law."""

from __future__ import annotations

import json
import os
import shlex
from importlib import resources
from pathlib import Path
from typing import Any

import pytest

POLICY = '{"players": [{"infosets": %s}, {"infosets": {}}]}'
FILES = {
    "good.pgn": "1. e4 e5 2. Qh5 Nc6 3. Qxf7+ a6 4. Qxe8# 1-0\n",
    "unfinished.pgn": "1. e4 e5 *\n",
    "many.pgn": '1. e4 *\n\n[Variant "Atomic"]\n\n1. e4 e9 *\n\n[White "nobody moved"]\n\n*\n',
    "bytes.pgn": b"\xff\xfe\x00",
    "still.pgn": '[White "human"]\n[Black "random"]\n\n1. e4 e4e4 *\n',
    "deep.toml": f"cap = {'[' * 3000}{']' * 3000}\n",
    "long.toml": f"cap = {'9' * 5000}\n",
    "caution.toml": f"caution = {'9' * 400}\n",
    "deep.json": "[" * 100_000,
    "long.json": b"[" + b"0," * (9 << 20) + b"0]",
    "shape.json": POLICY % '{"0": 3}',
}
BAD = r"""

paly
--version --xml
play --fen garbled
play --black klss2012
play --black nowhere.toml
play --black deep.toml
play --black long.toml
play --black caution.toml
play --black cmd:no-such-program
play --white human --black human
play --evaluator stokfish
play --stockfish /no/such/engine
play --time 0
play --time 1e9
play --nodes 100000001
play --black random --clock 1e10+0
play --game 7
rbc play --game openspiel:kuhn_poker
play --rules papper
play --pgn no/such/folder/game.pgn
play e4
play --resume many.pgn
play --resume still.pgn
play --game openspiel:kuhn_poker --fen '8/8 w'
rbc
rbc play --rules paper
rbc play --history /no/such/folder/g.json
rbc play --resume nowhere.json
rbc track long.json
rbc analyse good.json --turn 1 --fen '4k3/8/8/8/8/8/8/4K3 w - - 0 1'
rbc match kluss rbc-random
rbc match dsmcp,network=missing.onnx rbc-random --games 2 --nodes 5
rbc match rbc-random dsmcp,network=torn.onnx --games 2 --nodes 5
rbc play --black dsmcp,network=packed
rbc engine --configuration dsmcp,network=torn.onnx
board game.json
board --game 1
board --no-open --port 70000
board --white greedy --black random
board --resume none.pgn
board --no-open --host no.such.host.invalid
board --game rbc nowhere.json
board --game tests.table.hidden_tictactoe:KIT nowhere.json
analyse none.json --game tests.table.hidden_tictactoe:KIT
track --game tests.table.hidden_tictactoe:KIT good.pgn
match second first --game tests.table.hidden_tictactoe:KIT
match a b --game tests.table.hidden_tictactoe:TIK
match a b --game no.such:KIT
match a b --game chess
engine --evaluator nothing
engine --evaluator no_such_module_here:X
engine --evaluator pathlib:Path
engine --evaluator pathlib:Absent
engine --configuration klss2021,evaluator=nothing
engine --nodes 5
engine --configuration cmd:cat
engine --configuration klss2021,ponder=true
match greedy cmd:
match greedy random --nodes 1 --out /dev/null/x
match greedy random --openings 0
match greedy random --openings 201
match greedy random --sprt 5,0
match greedy random --scheduler tcp://127.0.0.1:9
track --moves 'e4 e5 Ke3'
track --moves e4 --pgn good.pgn
track --moves e4 --game 1
bench serch
bench tracker --time 1
bench equilibrium --seed 1
bench equilibrium --configuration kluss
bench search --configuration greedy
track --pgn missing.pgn
track --pgn bytes.pgn
track --pgn still.pgn
track --pgn many.pgn --game 5
openings 'e4 e4e4'
openings 'a3 h5 h4 a6'
openings 'e4 f6 Qh5 a6 Qxe8 a5'
puzzles --number 9999
puzzles --theme mate
games missing.pgn
analyse missing.pgn --ply 1
analyse /dev/zero --ply 1 --color white
analyse /dev/zero --all --game rbc
analyse still.pgn
analyse unfinished.pgn --all
analyse unfinished.pgn --ply 1 --once-over
analyse many.pgn --game 3 --ply 0
analyse good.pgn --ply 8
analyse good.pgn --ply 4 --color black
analyse good.pgn --ply -1
analyse good.pgn --ply 4 --configuration greedy
analyse good.pgn --clock 1+1
analyse good.pgn --pgn good.pgn
analyse good.pgn --out no/a.json
analyse good.pgn --out /dev/zero
analyse good.pgn --player ann
analyse good.pgn --all --game 1
analyse good.pgn --all --pgn a.pgn
solve tiny_hanabi
solve 'kuhn_poker(players=3)'
solve leduc_poker --max-nodes 500
solve kuhn_poker --subgame nowhere
solve kuhn_poker --player 1
solve kuhn_poker --exact --method pcfr+
solve kuhn_poker --memory-mb 1
solve kuhn_poker --export kuhn.txt
solve kuhn_poker --out none/such/file
tables --search kuhn_poker --out /proc/file
tables --search kuhn_poker --out deep.json
exploit kuhn_poker --policy shape.json
tables
tables 1 --search
tables 2 --nodes 5
tables --search --game kuhn
tables 1 --game leduc_pokr
tables 1 --nesting allocated --order 3
tables 1 --order 3 --method 1-kluss
tables 1 --nesting update --method 2-kluss
tables 2 --epsilon 0.1
tables 2 --game kuhn --memory-mb 1
"""


def one_line(ran: Any) -> bool:
    """Whether a command refused its input as it should."""
    return bool(ran.code == 2 and ran.out == "" and ran.err.startswith("klss") and ran.err.count("\n") == 1)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with :data:`FILES`, and with networks that are none of DSMCP's."""
    folder = tmp_path_factory.mktemp("bad")
    for name, content in FILES.items():
        (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    data = resources.files("darkchess.rbc")
    (folder / "torn.onnx").write_bytes(data.joinpath("synoptic/data/network.onnx").read_bytes()[:-300])
    return folder


@pytest.mark.parametrize("line", BAD.splitlines()[1:])
def test_bad_input_exits_2_with_one_line_and_nothing_on_stdout(
    klss: Any, files: Path, monkeypatch: pytest.MonkeyPatch, line: str
) -> None:
    monkeypatch.chdir(files)
    monkeypatch.setattr("uci_bridge.match.workers._CONNECT_S", 0.1)
    ran = klss(*shlex.split(line))
    assert one_line(ran), ran.err


def test_a_name_that_is_no_text_is_refused(klss: Any) -> None:
    assert one_line(klss("track", "--pgn", "a\udcff.pgn"))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="a system without named pipes")
@pytest.mark.parametrize("command", ["play", "rbc play", "board", "rbc board"])
def test_a_game_does_not_go_on_in_a_pipe(klss: Any, tmp_path: Path, command: str) -> None:
    os.mkfifo(tmp_path / "pipe")
    for name in ("pipe", "/dev/null", "."):
        assert one_line(klss(*command.split(), "--resume", name))


def test_a_game_of_reconchess_that_was_lost_before_the_first_request_is_empty(klss: Any, tmp_path: Path) -> None:
    sides: dict[str, Any] = {"true": [], "false": []}
    keys = ("senses", "sense_results", "requested_moves", "taken_moves", "capture_squares")
    game = dict.fromkeys([*keys, "fens_before_move", "fens_after_move"], sides)
    about = {"type": "GameHistory", "white_name": "Ann", "black_name": "Bob", "winner_color": False}
    (tmp_path / "g.json").write_text(
        json.dumps(about | game | {"win_reason": {"type": "WinReason", "value": "TIMEOUT"}})
    )
    assert klss("rbc", "track", "g.json", "--json").document == {"turns": []}
    assert klss("rbc", "analyse", "g.json").code == 0


@pytest.mark.parametrize("program", ["#!/bin/sh\nexit 3\n", "garbage", "#!/bin/sh\nexec cat\n"])
@pytest.mark.parametrize(
    "command",
    [
        "match klss2021,evaluator=stockfish greedy --games 1",
        "play --white klss2021 --black random",
        "analyse game.pgn --ply 0",
        "engine",
        "bench search",
    ],
)
def test_a_program_that_is_no_stockfish_exits_2_with_one_line_before_the_first_move(
    klss: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str, program: str
) -> None:
    monkeypatch.setattr("uci_bridge.stockfish.evaluator._START_S", 0.3)
    broken = tmp_path / "stockfish"
    broken.write_text(program)
    broken.chmod(0o755)
    (tmp_path / "game.pgn").write_text("1. e4 e5 *\n")
    ran = klss(*command.split(), "--stockfish", str(broken))
    assert one_line(ran) and str(broken) in ran.err, ran.err


def test_no_error_is_a_traceback_and_no_help_is_missing_when_run_as_a_program(
    program: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert one_line(program("openings", "--plies", "0"))
    assert program("--version").out.startswith("klss ")
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")
    ran = program("play", "--help")
    assert "--white" in ran.out and ran.err == ""
