"""``klss rbc play``: what a human types and sees, and where its game is kept."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import chess
import pytest

from darkchess.rbc.game.observation import Moved
from darkchess.rbc.game.referee import Referee
from klss_app.rbc_spoken import UnknownRequest, move_letters, moved_text, request_of

PROMOTING = "r3k2r/P7/8/8/8/8/8/R3K2R w KQkq - 0 1"


@pytest.fixture
def typed(klss: Any) -> Callable[..., tuple[int, str, str]]:
    """Run it with lines on stdin; its exit code, stdout, stderr."""

    def run(lines: str, *arguments: str) -> tuple[int, str, str]:
        ran = klss("rbc", "play", "--nodes", "10", "--seed", "3", *arguments, typed=lines)
        return ran.code, ran.out, ran.err

    return run


def test_what_is_typed_and_what_is_said(typed: Callable[..., tuple[int, str, str]], tmp_path: Path) -> None:
    lines = "help\nz9\ne2\nmoves\ne5e6\nexd3\nflip\n\npass\n\nquit\n"
    code, out, err = typed(lines, "--black", "rbc-random", "--ascii")
    assert code == 0 and "left before the end" in err and "klss-games" in err
    assert "A turn has two parts." in out and "'z9' is not a square" in out and "pass  Na3" in out
    assert "'e5e6' is not a move that you may ask for" in out and "You passed." in out
    assert "You asked for exd3, and nothing was played" in out and out.isascii()
    (kept,) = (tmp_path / "klss-games").glob("*.json")
    assert json.loads(kept.read_text())["winner_color"] is None


def test_resigning_and_the_end_of_the_input(typed: Callable[..., tuple[int, str, str]]) -> None:
    code, out, _ = typed("\nresign\n", "--black", "rbc-random")
    assert code == 0 and "Black wins: White resigned. 0-1 after 0 turns." in out
    code, _, err = typed("e4\n", "--black", "rbc-random")
    assert code == 1 and "end of input after 0 turns" in err
    code, out, _ = typed("\npass\nresign\n", "--white", "rbc-attacker", "--black", "human", "--clock", "60+1")
    assert code == 0 and "Black: you   1:0" in out and "White wins: Black resigned" in out


@pytest.mark.parametrize(
    ("text", "move"),
    [("O-O", "e1g1"), ("o-o-o", "e1c1"), ("Kf1", "e1f1"), ("a8=N", "a7a8n"), ("a8", "a7a8q"), ("axb8", "a7b8q"),
     ("a7b8r", "a7b8r"), ("Rad1", "a1d1"), ("R1b1", "a1b1"), ("Rb1", "a1b1"), ("0000", None), ("-", None)],
)  # fmt: skip
def test_what_may_be_typed(text: str, move: str | None) -> None:
    game = Referee(PROMOTING)
    found = request_of(text, game.requests(), game.position.pieces)
    assert (found and found.uci()) == move


def test_what_means_two_things_is_asked_again() -> None:
    game = Referee("4k3/8/8/8/8/8/4K3/R6R w - - 0 1")
    with pytest.raises(UnknownRequest, match="'Rd1' means a1d1 or h1d1; type one of them"):
        request_of("Rd1", game.requests(), game.position.pieces)


def test_what_came_of_a_request_in_words() -> None:
    pieces_there = chess.Board().piece_map()
    asked, taken = chess.Move.from_uci("f1a6"), chess.Move.from_uci("f1c4")
    assert moved_text(Moved(asked, taken, chess.C4), pieces_there) == (
        "You asked for Ba6: it went as far as c4 and captured on c4."
    )
    step = chess.Move.from_uci("e2d3")
    assert moved_text(Moved(step, step, chess.D2), pieces_there) == "You played exd3 and captured en passant on d2."


def test_a_move_in_letters_is_read_as_that_move() -> None:
    rows = ("4k3/8/8/8/R7/8/1N3N2/R2QK2R w KQ - 0 1", "4k3/8/P7/8/2N5/N7/PPPP4/R3K2R w KQ - 0 1")
    for fen in rows:
        game = Referee(fen)
        pieces = game.position.pieces
        for move in game.requests():
            assert request_of(move_letters(move.uci(), pieces), game.requests(), pieces) == move, move


def test_a_game_that_was_left_goes_on_with_its_look(typed: Callable[..., tuple[int, str, str]], tmp_path: Path) -> None:
    """Who left after a look does not look again, and sees what was seen before, at once and not ply by ply."""
    code, _, err = typed("e5\nNc3\nd5\nquit\n", "--black", "rbc-random", "--ascii", "--clock", "600+5")
    assert code == 0 and "rbc play --resume klss-games/" in err
    (path,) = (tmp_path / "klss-games").iterdir()
    before = json.loads(path.read_text())
    assert before["look"] == chess.D5 and before["tags"]["WhiteClock"]
    code, out, err = typed("Nb5\n\nresign\n", "--resume", "last", "--ascii")
    assert code == 0 and out.index("2. your move: ") < out.index("3. look at: "), err
    seen = out.partition(" The board:")[0]
    assert "Around e5" not in seen and seen.count("You played Nc3.") == 2 and "1. look" not in seen
    after = json.loads(path.read_text())
    assert after["senses"]["true"][:2] == [chess.E5, chess.D5] and after["win_reason"]["value"] == "RESIGN"
    assert "look" not in after and after["fens_after_move"]["true"][0] == before["fens_after_move"]["true"][0]
    code, _, err = typed("", "--resume", path.stem)
    assert code == 2 and "a game that is over" in err and err.count("\n") == 1
