"""``klss play`` and ``klss rbc play`` without a terminal: what is typed comes from a pipe, what is shown is text."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import chess
import pytest

from darkchess.fog.game.record import read_pgn
from darkchess.fog.game.referee import Referee
from darkchess.fog.players import player
from darkchess.fog.players.configuration import CONFIGURATIONS
from darkchess.rbc.game.observation import Moved
from darkchess.rbc.game.referee import Referee as BlindReferee
from klss.search import Budget
from klss.search.pondering import Pondering
from klss_app.cli.games import FOG
from klss_app.cli.human import clock_text
from klss_app.known.fog import START, events
from klss_app.known.known import Unread
from klss_app.known.rbc import move_letters, moved_text, request_of

ROOT = Path(__file__).resolve().parents[2]

ENDGAME = "4k3/pppp4/8/8/8/8/PPPP4/4K3 w - - 0 1"
KINGS_FILE = "4k3/8/8/8/8/8/4q3/Q3K3 w - - 0 1"


def test_a_scripted_game_against_random_ends_with_the_captured_king_and_a_review(klss: Any, tmp_path: Path) -> None:
    # Seed 2 makes `random` answer g5, a5, Nf6: found by playing; the game is then checked by its own record.
    ran = klss("play", "--black", "random", "--seed", "2", "--pgn", "g.pgn", typed="e4\nQh5\nQf7\nQe8\n3\nquit\n")
    assert ran.code == 0, ran.err
    (record,) = read_pgn((tmp_path / "g.pgn").read_text())
    assert record.headers["White"] == "human" and record.headers["Black"] == "random"
    assert len(record.moves) == 7
    plies = re.findall(r"^\d+\.(?:\.\.)? \S+$", ran.out, re.MULTILINE)
    assert plies[:7] == ["1. e4", *plies[1:7]] and plies[7:] == [plies[2]]  # each ply once, then the third again
    assert ran.out.count("White sees") == 9  # the start position as well


@pytest.mark.parametrize(
    "game",
    [
        ("play", "--white", "klss2021", "--black", "greedy", "--nodes", "60"),
        ("rbc", "play", "--white", "rbc-attacker", "--black", "rbc-random", "--nodes", "10"),
    ],
)
def test_the_moves_of_a_game_are_the_same_for_the_same_seed_and_nodes(klss: Any, game: tuple[str, ...]) -> None:
    first, second = (klss(*game, "--seed", "7", "--fen", ENDGAME) for _ in range(2))
    assert first.code == second.code == 0, first.err
    assert first.out == second.out
    assert re.search(r"^(White wins|Black wins|Draw): ", first.out, re.MULTILINE)


def test_a_game_between_engines_prints_neither_times_nor_paths(klss: Any) -> None:
    ran = klss("play", "--white", "random", "--black", "random", "--nodes", "1", "--seed", "3")
    assert ".pgn" not in ran.out and "klss-games" in ran.err
    assert not re.search(r"\d+\.\d+ ?s\b|\d:\d\d", ran.out)


def test_beside_an_engines_name_stands_what_values_its_positions(klss: Any, tmp_path: Path) -> None:
    ran = klss("play", "--white", "greedy", "--black", "random", "--nodes", "1", "--fen", ENDGAME, "--pgn", "g.pgn")
    assert ran.out.startswith("White: greedy (built-in evaluator)   Black: random\n")
    (record,) = read_pgn((tmp_path / "g.pgn").read_text())
    assert (record.headers["White"], record.headers["WhiteEvaluator"]) == ("greedy", "built-in evaluator")
    assert record.headers["Black"] == "random" and "BlackEvaluator" not in record.headers, "who values nothing"
    seen = klss("play", "--black", "greedy", "--evaluator", "builtin", "--fen", ENDGAME, typed="resign\n")
    assert "Black: greedy (built-in evaluator)" in seen.out


@pytest.mark.parametrize(
    ("rules", "end"),
    [("paper", "White wins: Black has no move left. 1-0"), ("pychess", "Draw: no move is left. 1/2-1/2")],
)
def test_who_cannot_move_loses_by_the_paper_and_draws_by_pychess(klss: Any, rules: str, end: str) -> None:
    # Black's pieces block each other: pawns a7, b6, c7 stand before White's, the others behind them (docs/rules.md, 2).
    stuck = "kb6/prp5/PpP5/1P6/8/8/8/7K w - - 0 1"
    ran = klss("play", "--black", "random", "--fen", stuck, "--rules", rules, typed="Kg1\n")
    assert ran.code == 0
    assert f"{end} after 1 ply." in ran.out


def test_help_and_moves_are_answered_and_the_game_goes_on(klss: Any) -> None:
    ran = klss("play", "--black", "random", "--seed", "1", "--fen", KINGS_FILE, typed="help\nmoves\nresign\n")
    assert ran.code == 0
    assert "Type a move as SAN" in ran.out
    assert re.search(r"^ Q\w+(  \w+)*  Kxe2", ran.out, re.MULTILINE)
    assert "Black wins: White resigned. 0-1 after 0 plies." in ran.out


def test_a_slip_is_answered_with_what_was_got_and_expected_and_costs_nothing(klss: Any) -> None:
    ran = klss("play", "--black", "random", "--fen", KINGS_FILE, typed="Qh7\nxyzzy\ne4e4\nresign\n")
    assert "got 'e4e4'" in ran.out
    assert "illegal move: got 'Qh7', expected" in ran.out and "misspelt move: got 'xyzzy', expected" in ran.out
    assert "0-1 after 0 plies" in ran.out


def test_the_board_shows_only_what_she_sees(klss: Any) -> None:
    # The queen on a1 sees the a-file, rank 1 and the long diagonal, the king on e1 the squares around it; the king on
    # e8 is hidden.
    ran = klss("play", "--black", "random", "--fen", KINGS_FILE, "--ascii", typed="resign\n")
    ranks = [line.strip() for line in ran.out.splitlines() if re.match(r" [1-8] ", line)][:8]
    assert ranks[0] == "8 . ? ? ? ? ? ? ."
    assert ranks[6] == "2 . . ? . q . ? ?"
    assert ranks[7] == "1 Q . . . K . ? ?"


def test_a_human_as_black_is_asked_after_whites_move_and_sits_at_the_bottom(klss: Any) -> None:
    ran = klss("play", "--white", "random", "--black", "human", "--seed", "2", "--ascii", typed="resign\n")
    assert "White wins: Black resigned. 1-0 after 1 ply." in ran.out
    first = ran.out.split("your move")[0]
    assert first.index("White: random") < first.index("h g f e d c b a") < first.index("Black: you")


def test_the_end_of_input_in_mid_game_is_one_line_exit_1_and_keeps_the_game(klss: Any, tmp_path: Path) -> None:
    ran = klss("play", "--black", "random", "--seed", "1", "--pgn", "kept.pgn", "--fen", ENDGAME, typed="a4\n")
    assert ran.code == 1
    assert ran.err.count("\n") == 1 and "got the end of input after 2 plies, expected a move" in ran.err
    (record,) = read_pgn((tmp_path / "kept.pgn").read_text())
    assert record.result == "*" and len(record.moves) == 2


def test_a_closed_stdin_is_one_line_and_no_traceback(program: Any) -> None:
    ran = program("play", "--black", "random")
    assert ran.code == 1
    assert ran.err == "klss play: got the end of input after 0 plies, expected a move or a command\n"
    assert "your move" in ran.out


def test_quit_leaves_cleanly_and_keeps_the_game(klss: Any, tmp_path: Path) -> None:
    ran = klss("play", "--black", "random", "--fen", ENDGAME, "--pgn", "kept.pgn", typed="a4\nquit\n")
    assert ran.code == 0 and ran.err.count("\n") == 1
    assert len(read_pgn((tmp_path / "kept.pgn").read_text())[0].moves) == 2


def test_a_clock_that_runs_out_loses(klss: Any) -> None:
    ran = klss("play", "--white", "klss2021", "--black", "random", "--clock", "0.000001+0", "--fen", ENDGAME)
    assert "Black wins: White ran out of time. 0-1 after 0 plies." in ran.out


@pytest.mark.parametrize(("flags", "ponders"), [(("--clock", "2+0"), True), (("--time", "0.05"), False)])
def test_against_a_human_an_engine_ponders_where_a_clock_runs(
    klss: Any, monkeypatch: pytest.MonkeyPatch, flags: tuple[str, str], ponders: bool
) -> None:
    begun: list[Pondering] = []

    class Noted(Pondering):
        def __init__(self, work: Callable[[Budget], object]) -> None:
            begun.append(self)
            super().__init__(work)

    monkeypatch.setattr(player, "Pondering", Noted)
    ran = klss("play", "--black", "kluss", *flags, "--fen", ENDGAME, typed="a4\nresign\n")
    assert ran.code == 0 and len(begun) == ponders, ran.err
    assert not [thread for thread in threading.enumerate() if thread.name == "ponders"]


def test_a_closed_stdin_does_not_matter_where_no_human_plays(tmp_path: Path) -> None:
    command = f"exec {sys.executable} -m klss play --white greedy --black random --nodes 1 --seed 1 <&-"
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(["sh", "-c", command], cwd=tmp_path, env=environment, capture_output=True, timeout=300)
    assert done.returncode == 0 and b" wins: " in done.stdout


def test_the_names_that_are_not_looked_up_before_the_first_board_are_there() -> None:
    assert set(FOG.known) <= set(CONFIGURATIONS)


# ---------------------------------------------------------------- what a human is told
def shown(color: chess.Color, *moves: str, fen: str | None = None) -> str:
    """What ``color`` is given after the last of ``moves``."""
    game = Referee.replay([chess.Move.from_uci(move) for move in moves], fen)
    before, view = game.views(color)[-2:]
    return " ".join(events(before, view))


def test_the_first_board_shows_what_the_referee_would_show() -> None:
    view = Referee().view(chess.WHITE)
    assert (dict(view.pieces), view.visible) == (START.pieces, START.seen)


def test_she_is_told_what_was_captured_and_where_but_not_by_what() -> None:
    moves = ("g1f3", "e7e6", "a2a3", "d8f6", "a3a4", "f6f3")
    assert shown(chess.WHITE, *moves).startswith("Your knight on f3 was captured.")
    assert "queen" not in shown(chess.WHITE, *moves).split("Now in sight")[0]


def test_an_unseen_move_is_told_as_a_move_and_nothing_more() -> None:
    assert shown(chess.WHITE, "e2e4", "b8c6") == "Black moved."


def test_what_comes_into_sight_is_named() -> None:
    assert shown(chess.WHITE, "e2e4", "d7d5") == "Black moved. Now in sight: pawn d5."


def test_what_a_move_showed_and_what_is_in_sight_now_are_two_things() -> None:
    fen = "k7/4P3/8/8/8/8/P7/4K3 w - - 0 1"
    assert shown(chess.WHITE, "e7e8q", fen=fen) == "Your move showed: king a8."
    assert shown(chess.WHITE, "e7e8q", "a8b7", fen=fen) == "Black moved."


def test_her_own_capture_is_named() -> None:
    assert shown(chess.WHITE, "e2e4", "d7d5", "e4d5").startswith("You captured a pawn on d5.")


def test_en_passant_is_offered_told_to_who_takes_and_to_who_loses_the_pawn() -> None:
    moves = ("e2e4", "a7a6", "e4e5", "d7d5")
    assert "You can capture en passant on d6." in shown(chess.WHITE, *moves)
    assert "You captured a pawn en passant on d6." in shown(chess.WHITE, *moves, "e5d6")
    assert "Your pawn on d5 was captured en passant." in shown(chess.BLACK, *moves, "e5d6")


def test_the_captured_king_is_told_to_both() -> None:
    moves = ("e2e4", "f7f6", "d1h5", "a7a6", "h5e8")
    assert "You captured the king on e8." in shown(chess.WHITE, *moves)
    assert "Your king on e8 was captured." in shown(chess.BLACK, *moves)


def test_a_clock_shows_tenths_only_at_the_end_and_never_less_than_nothing() -> None:
    assert [clock_text(seconds) for seconds in (3600.0, 59.9, 9.99, 0.0, -1.0)] == [
        "60:00", "0:59", "0:09.9", "0:00.0", "0:00.0",
    ]  # fmt: skip


# ---------------------------------------------------------------- Reconnaissance Blind Chess
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
    game = BlindReferee(PROMOTING)
    found = request_of(text, game.requests(), game.position.pieces)
    assert (found and found.uci()) == move


def test_what_means_two_things_is_asked_again() -> None:
    game = BlindReferee("4k3/8/8/8/8/8/4K3/R6R w - - 0 1")
    with pytest.raises(Unread, match="'Rd1' means a1d1 or h1d1; type one of them"):
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
        game = BlindReferee(fen)
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
