"""A hostile engine, seen from outside the process: what it says reaches no terminal and no file as it said it, what it
leaves behind ends, and the match goes on."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, NoReturn

import pytest

from darkchess.fog.game.record import read_pgn
from tests.alive import is_alive

SCRIPT = Path(__file__).parents[1] / "uci_bridge" / "hostile_engine.py"
FEN = "4k3/pppp4/8/8/8/8/PPPP4/4K3 w - - 0 1"


def hostile(pids: Path) -> str:
    return f"cmd:{sys.executable} -S -E {SCRIPT} {pids}"


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
    ran = program("play", "--white", "random", "--black", black, "--nodes", "1", "--fen", FEN, "--pgn", "game.pgn")
    assert ran.code == 0 and "forfeited" in ran.out and "I resign ?]0;owned?" in ran.err
    assert_seen(ran.out + ran.err + (tmp_path / "game.pgn").read_text())
    assert not any(is_alive(int(pid)) for pid in (tmp_path / "pids").read_text().split())


def test_headers_of_a_file_are_read_as_text_only() -> None:
    (record,) = read_pgn('[White "a\x1b]0;b\x07\u202e\u2028c"]\n[Termination "\x9bd"]\n\n1. e4 1-0\n')
    assert record.headers["White"] == "a?]0;b?? c"
    assert record.outcome is not None and record.outcome.reason == "?d"
