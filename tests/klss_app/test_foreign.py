"""``cmd:…`` where a player is asked for: other programs in ``klss play`` and ``klss match``."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NoReturn

import pytest

from darkchess.fog.game.record import read_pgn
from tests.alive import is_alive

SCRIPT = Path(__file__).parents[1] / "uci_bridge" / "foreign_engine.py"
FEN = "4k3/pppp4/8/8/8/8/PPPP4/4K3 w - - 0 1"


def foreign(how: str) -> str:
    return f"cmd:{sys.executable} -S -E {SCRIPT} '{how}'"


def test_a_foreign_engine_plays_a_game_and_its_record_names_it(klss: Any, tmp_path: Path) -> None:
    ran = klss("play", "--white", "random", "--black", foreign("good"), "--seed", "1", "--fen", FEN, "--nodes", "5",
               "--pgn", "game.pgn")  # fmt: skip
    assert ran.code == 0 and str(SCRIPT.parent) not in ran.out and "foreign_engine.py" in ran.out
    (record,) = read_pgn((tmp_path / "game.pgn").read_text())
    assert record.headers["Black"] == foreign("good") and "BlackEvaluator" not in record.headers
    assert record.outcome is not None and record.outcome.reason != "forfeit" and len(record.moves) > 4


NO_ENGINES = [(foreign("dead"), "exit code 3"), (foreign("garbage"), "not JSON"), (foreign("closes"), "stdout"),
              ("cmd:sh -c 'echo no licence >&2; exit 5'", "no licence"), ("cmd:true", "exit code 0")]  # fmt: skip


@pytest.mark.usefixtures("played_here")
@pytest.mark.parametrize(
    ("program", "says", "limit"),
    [*((*each, ("--nodes", "5")) for each in NO_ENGINES), (*NO_ENGINES[0], ("--clock", "20+0"))],
)
def test_a_match_with_a_program_that_never_answers_ends_with_its_words_and_scores_nothing(
    klss: Any, tmp_path: Path, program: str, says: str, limit: tuple[str, ...]
) -> None:
    ran = klss("match", "random", program, "--fen", FEN, "--games", "3", *limit, "--out", "out", "--json")
    assert ran.code == 1 and ran.out == ""
    assert ran.err.count("\n") == 1 and says in ran.err and program.removeprefix("cmd:")[:8] in ran.err
    kept = tmp_path / "out" / "games.jsonl"
    assert not kept.exists() or kept.read_text() == ""


@pytest.mark.slow
def test_a_match_of_two_workers_with_a_program_that_never_answers_ends_too(klss: Any, tmp_path: Path) -> None:
    ran = klss("match", foreign("dead"), "random", "--fen", FEN, "--nodes", "5", "--workers", "2", "--out", "out")
    assert ran.code == 1 and "exit code 3" in ran.err and (tmp_path / "out" / "games.jsonl").read_text() == ""


@pytest.mark.parametrize("command", ["match random greedy", "rbc match rbc-random rbc-attacker"])
def test_where_the_machine_has_too_little_for_an_engine_nobody_loses(
    klss: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, command: str
) -> None:
    def short(*_: Any, **__: Any) -> None:
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    monkeypatch.setattr(subprocess, "Popen", short)
    ran = klss(*command.split(), "--nodes", "5", "--games", "2", "--out", "out")
    assert ran.code == 1 and ran.out == "" and ran.err.endswith("Too many open files\n") and ran.err.count("\n") == 1
    assert not (tmp_path / "out" / "games.jsonl").exists() or (tmp_path / "out" / "games.jsonl").read_text() == ""


# ---------------------------------------------------------------- a hostile engine, seen from outside the process
def hostile(pids: Path) -> str:
    """It plays by rule twice, then resigns by an error; meanwhile it says and leaves behind what nobody wants."""
    return f"cmd:{sys.executable} -S -E {SCRIPT} hostile 2 --leave {pids}"


def assert_seen(text: str) -> None:
    """Nothing in it that is not seen, but for the ends of lines."""
    odd = {sign for sign in text if not (sign.isprintable() or sign == "\n")}
    assert not odd, (odd, text)


def refuse(constant: str) -> NoReturn:
    raise ValueError(constant)


@pytest.mark.slow
def test_a_hostile_engine_s_words_are_seen_as_text_only_and_its_processes_end_with_the_match(
    program: Any, tmp_path: Path
) -> None:
    pids = tmp_path / "pids"
    flags = ("--nodes", "1", "--fen", FEN, "--seed", "3", "--check-truth", "--out", "m")
    for games in (1, 2):  # the second goes on from the files of the first
        ran = program("match", hostile(pids), "random", *flags, "--games", str(games))
        assert ran.code == 0 and "I resign ?]0;owned?" in ran.out
        assert_seen(ran.out + ran.err)
        left = [int(pid) for pid in pids.read_text().split()]
        assert len(left) == 2 * games
        assert not any(map(is_alive, left))
    for path in sorted((tmp_path / "m").iterdir()):
        assert_seen(path.read_text())
    moves = [json.loads(line, parse_constant=refuse) for line in (tmp_path / "m" / "moves.jsonl").open()]
    shown = next(move for move in moves if move["player"] == "a")
    assert shown["positions"] is shown["depth"] is shown["fallbacks"] is None and shown["nodes"] == [None]
    assert shown["game"] == 0 and shown["seconds"] == {"a": {"b": {"c": None}}}
    assert all(word.isprintable() for word in [*shown, shown["gadget"]])
    for line in (tmp_path / "m" / "games.jsonl").open():
        for text in json.loads(line).values():
            assert not isinstance(text, str) or text.isprintable()


def test_a_match_whose_files_hold_what_no_json_has_goes_on(klss: Any, tmp_path: Path) -> None:
    match = ("match", "random", "random", "--nodes", "1", "--fen", FEN, "--seed", "3", "--out", "m", "--check-truth")
    assert klss(*match, "--games", "1").code == 0
    moves = tmp_path / "m" / "moves.jsonl"
    first = moves.read_text().splitlines()[0]
    with moves.open("a") as file:
        file.write(first[:-1] + ', "positions": 1' + "0" * 400 + ', "nodes": [Infinity], "depth": NaN}\n')
    assert klss(*match, "--games", "2").code == 0
    assert json.loads(moves.read_text().splitlines()[-1], parse_constant=refuse)
    assert not [line for line in moves.read_text().splitlines() if "Infinity" in line or "NaN" in line]


def test_a_hostile_engine_s_game_in_play_is_shown_and_kept_clean(program: Any, tmp_path: Path) -> None:
    black = hostile(tmp_path / "pids") + " \x1b[31m\u202e"
    flags = ("--nodes", "1", "--fen", FEN, "--pgn", "game.pgn")
    ran = program("play", "--white", foreign("good"), "--black", black, *flags)
    assert ran.code == 0 and "forfeited" in ran.out and "I resign ?]0;owned?" in ran.err
    assert_seen(ran.out + ran.err + (tmp_path / "game.pgn").read_text())
    assert not any(is_alive(int(pid)) for pid in (tmp_path / "pids").read_text().split())
