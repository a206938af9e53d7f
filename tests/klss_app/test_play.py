"""``klss play`` and ``klss rbc play`` without a terminal: what is typed comes from a pipe, what is shown is text."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import chess
import pytest

from darkchess.fog.game.record import read_pgn
from darkchess.fog.game.referee import Referee
from darkchess.fog.players.named_fog_players import CONFIGURATIONS
from darkchess.rbc.game.referee import Referee as BlindReferee
from klss_app.cli.game_option import FOG
from klss_app.known.fog import START, events
from klss_app.known.known import Unread
from klss_app.known.rbc import move_letters, request_of
from tests.klss_app.conftest import EngineHere

ROOT = Path(__file__).resolve().parents[2]

START_FEN = chess.STARTING_FEN
FOREIGN = f"cmd:{sys.executable} -S -E {ROOT / 'tests' / 'uci_bridge' / 'foreign_engine.py'} good"
ENDGAME = "4k3/pppp4/8/8/8/8/PPPP4/4K3 w - - 0 1"
KINGS_FILE = "4k3/8/8/8/8/8/4q3/Q3K3 w - - 0 1"


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
    assert first.out == second.out and "klss-games" in first.err
    assert not re.search(r"\.pgn|\.json|\d+\.\d+ ?s\b|\d:\d\d", first.out), "neither times nor paths"
    assert re.search(r"^(White wins|Black wins|Draw): ", first.out, re.MULTILINE)


def test_beside_an_engines_name_stands_what_values_its_positions(klss: Any, tmp_path: Path) -> None:
    ran = klss("play", "--white", "greedy", "--black", "random", "--nodes", "1", "--fen", ENDGAME, "--pgn", "g.pgn")
    assert ran.out.startswith("White: greedy (built-in evaluator)   Black: random\n")
    (record,) = read_pgn((tmp_path / "g.pgn").read_text())
    assert (record.headers["White"], record.headers["WhiteEvaluator"]) == ("greedy", "built-in evaluator")
    assert record.headers["Black"] == "random" and "BlackEvaluator" not in record.headers, "who values nothing"
    seen = klss("play", "--black", "greedy", "--evaluator", "builtin", "--fen", ENDGAME, typed="resign\n")
    assert "Black: greedy (built-in evaluator)" in seen.out


STUCK = "kb6/prp5/PpP5/1P6/8/8/8/7K w - - 0 1"
"""Black's pieces block each other: pawns a7, b6, c7 stand before White's, the others behind them (docs/rules.md, 2)."""
ROOK = "4k3/8/8/8/8/8/4R3/4K3 w - - 0 1"
RBC = ("--game", "rbc", "--nodes", "10", "--seed", "3", "--ascii")


@pytest.mark.parametrize(
    ("arguments", "typed", "code", "says"),
    [
        ("--black random --rules paper --fen", f"{STUCK}|Kg1", 0, ["Black has no move left. 1-0 after 1 ply."]),
        ("--black random --rules pychess --fen", f"{STUCK}|Kg1", 0, ["Draw: no move is left. 1/2-1/2"]),
        (
            "--black random --fen",
            f"{KINGS_FILE}|help|moves|Qh7|xyzzy|e4e4|resign",
            0,
            ["Type a move as SAN", r"\n Q\w+(  \w+)*  Kxe2", "illegal move: got 'Qh7', expected", "got 'e4e4'",
             "misspelt move: got 'xyzzy', expected", "Black wins: White resigned. 0-1 after 0 plies."],
        ),
        # seed 2 lets the queen through; in the review each ply once, then the third again, of two views and the board
        ("--black random --fen", f"{START_FEN}|e4|Qh5|Qf7|Qe8|3|quit", 0,
         ["You captured the king on e8.", "1-0 after 7 plies.",
          r"(?s)(\n\d+\.(\.\.)? \S+\n  White sees .*){7}\n2\. Qh5\n  White sees"]),
        # asked after White's move, the own side below
        ("--white random --ascii --fen", f"{START_FEN}|resign", 0,
         ["(?s)White: random.* h g f e d c b a.*Black: you.* your move", "Black resigned. 1-0 after 1 ply."]),
        ("--black random --fen", f"{ENDGAME}|a4|quit", 0, ["left before the end"]),
        ("--black random --fen", f"{ENDGAME}|a4", 1, ["got the end of input after 2 plies, expected a move"]),
        ("--black rbc-random --fen", f"{START_FEN}|help|z9|e2|moves|e5e6|exd3|flip||pass|history||quit", 0,
         ["left before the end", "A turn has two parts.", "'z9' is not a square", "pass  Na3", "You passed.",
          "illegal move: got 'e5e6'", "You asked for exd3, and nothing was played", "1. e2: – ?",
          "You captured 0 pieces; you lost nothing."]),
        ("--black rbc-random --fen", f"{ROOK}|e7|Re8|1|quit", 0,
         ["White looks at e7, asks for Re8, takes on e8.", "White knew", "the board", "Black knew"]),
        ("--black rbc-random --fen", "4k3/8/8/8/8/8/4P3/4K3 b - - 0 30|e5|pass|resign|1|2|quit", 0,
         ["31. look at:", "30... Black looks", "31. White looks at e5, passes."]),
        ("--black rbc-random --fen", f"{START_FEN}||resign", 0, ["White resigned. 0-1 after 0 turns."]),
        ("--black rbc-random --fen", f"{START_FEN}|e4", 1, ["end of input after 0 turns"]),
        ("--white rbc-attacker --black human --clock 60+1 --fen", f"{START_FEN}||pass|resign", 0,
         ["Black: you   1:0", "White wins: Black resigned"]),
    ],
)  # fmt: skip
def test_what_is_typed_is_answered_and_the_game_is_kept(
    klss: Any, tmp_path: Path, arguments: str, typed: str, code: int, says: list[str]
) -> None:
    (fen, *lines), blind = typed.split("|"), "rbc" in arguments
    of_game = RBC if blind else ("--seed", "2")
    ran = klss("play", *arguments.split(), fen, *of_game, typed="".join(f"{line}\n" for line in lines))
    assert ran.code == code and ran.err.count("\n") <= 3, ran.err
    for text in says:
        assert re.search(text if "\\" in text or "(?s)" in text else re.escape(text), ran.out + ran.err), text
    kept = list((tmp_path / "klss-games").glob("*"))
    assert [each.suffix for each in kept] == ([".json"] if blind else [".pgn"]) * (" after 0 " not in ran.err)


def test_the_board_shows_only_what_she_sees(klss: Any) -> None:
    # The queen on a1 sees the a-file, rank 1 and the long diagonal, the king on e1 the squares around it; the king on
    # e8 is hidden.
    ran = klss("play", "--black", "random", "--fen", KINGS_FILE, "--ascii", typed="resign\n")
    ranks = [line.strip() for line in ran.out.splitlines() if re.match(r" [1-8] ", line)][:8]
    assert ranks[0] == "8 . ? ? ? ? ? ? ."
    assert ranks[6] == "2 . . ? . q . ? ?"
    assert ranks[7] == "1 Q . . . K . ? ?"


def test_a_clock_that_runs_out_loses(klss: Any) -> None:
    ran = klss("play", "--white", "klss2021", "--black", "random", "--clock", "0.000001+0", "--fen", ENDGAME)
    assert "Black wins: White ran out of time. 0-1 after 0 plies." in ran.out


@pytest.mark.parametrize(("flags", "ponders"), [(("--clock", "2+0"), True), (("--time", "0.05"), False)])
def test_against_a_human_an_engine_ponders_where_a_clock_runs(klss: Any, flags: tuple[str, str], ponders: bool) -> None:
    ran = klss("play", "--black", "kluss,particles=7", *flags, "--fen", ENDGAME, typed="a4\nresign\n")
    assert ran.code == 0 and any("ponder=True" in word for word in EngineHere.started[-1]) == ponders, ran.err


def test_a_closed_stdin_does_not_matter_where_no_human_plays(tmp_path: Path) -> None:
    command = f"exec {sys.executable} -m klss play --white '{FOREIGN}' --black '{FOREIGN}' --fen '{ENDGAME}' <&-"
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(["sh", "-c", command], cwd=tmp_path, env=environment, capture_output=True, timeout=300)
    assert done.returncode == 0 and re.search(rb"(wins|Draw): ", done.stdout)


def test_the_names_that_are_not_looked_up_before_the_first_board_are_there() -> None:
    assert set(FOG.known) <= set(CONFIGURATIONS)


# ---------------------------------------------------------------- what a human is told
def test_the_first_board_shows_what_the_referee_would_show() -> None:
    view = Referee().view(chess.WHITE)
    assert (dict(view.pieces), view.visible) == (START.pieces, START.seen)


PROMOTES, PASSES = "k7/4P3/8/8/8/8/P7/4K3 w - - 0 1", "e2e4 a7a6 e4e5 d7d5"


@pytest.mark.parametrize(
    ("color", "moves", "fen", "says"),
    [
        ("white", "e2e4 b8c6", None, "Black moved."),  # an unseen move is a move and nothing more
        ("white", "e2e4 d7d5", None, "Black moved. Now in sight: pawn d5."),
        # what was captured and where, but not by what
        ("white", "g1f3 e7e6 a2a3 d8f6 a3a4 f6f3", None, "Your knight on f3 was captured. Now in sight: *"),
        ("white", "e2e4 d7d5 e4d5", None, "You captured a pawn on d5.*"),
        ("white", "e2e4 f7f6 d1h5 a7a6 h5e8", None, "You captured the king on e8.*"),
        ("black", "e2e4 f7f6 d1h5 a7a6 h5e8", None, "Your king on e8 was captured.*"),
        # what a move showed, and what is in sight now
        ("white", "e7e8q", PROMOTES, "Your move showed: king a8."),
        ("white", "e7e8q a8b7", PROMOTES, "Black moved."),
        ("white", PASSES, None, "* You can capture en passant on d6."),
        ("white", f"{PASSES} e5d6", None, "You captured a pawn en passant on d6. *"),
        ("black", f"{PASSES} e5d6", None, "Your pawn on d5 was captured en passant. *"),
    ],
)
def test_what_she_is_told(color: str, moves: str, fen: str | None, says: str) -> None:
    game = Referee.replay([chess.Move.from_uci(move) for move in moves.split()], fen)
    before, view = game.views(color == "white")[-2:]
    assert fnmatchcase(" ".join(events(before, view)), says)


# ---------------------------------------------------------------- Reconnaissance Blind Chess
PROMOTING = "r3k2r/P7/8/8/8/8/8/R3K2R w KQkq - 0 1"


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
    with pytest.raises(Unread, match="ambiguous move: got 'Rd1'"):
        request_of("Rd1", game.requests(), game.position.pieces)


def test_a_move_in_letters_is_read_as_that_move() -> None:
    rows = ("4k3/8/8/8/R7/8/1N3N2/R2QK2R w KQ - 0 1", "4k3/8/P7/8/2N5/N7/PPPP4/R3K2R w KQ - 0 1")
    for fen in rows:
        game = BlindReferee(fen)
        pieces = game.position.pieces
        for move in game.requests():
            assert request_of(move_letters(move, pieces), game.requests(), pieces) == move, move


def test_a_game_that_was_left_goes_on_with_its_look(klss: Any, tmp_path: Path) -> None:
    """Who left after a look does not look again, and sees what was seen before, at once and not ply by ply."""
    ran = klss("play", *RBC, "--black", "rbc-random", "--clock", "600+5", typed="e5\nNc3\nd5\nquit\n")
    assert ran.code == 0 and "rbc play --resume klss-games/" in ran.err
    (path,) = (tmp_path / "klss-games").iterdir()
    before = json.loads(path.read_text())
    assert before["look"] == chess.D5 and before["tags"]["WhiteClock"]
    ran = klss("play", *RBC, "--resume", "last", typed="Nb5\n\nresign\n")
    assert ran.code == 0 and ran.out.index("2. your move: ") < ran.out.index("3. look at: "), ran.err
    assert "Around e5" not in ran.out and ran.out.count("You played Nc3.") == 1 and "1. look" not in ran.out
    after = json.loads(path.read_text())
    assert after["senses"]["true"][:2] == [chess.E5, chess.D5] and after["win_reason"]["value"] == "RESIGN"
    assert "look" not in after and after["fens_after_move"]["true"][0] == before["fens_after_move"]["true"][0]
    ran = klss("play", *RBC, "--resume", path.stem)
    assert ran.code == 2 and "a game that is over" in ran.err and ran.err.count("\n") == 1
