"""How the games of a match begin."""

from __future__ import annotations

from pathlib import Path

import chess
import pytest

from darkchess.board.position import Position
from darkchess.fog.game.rules import PYCHESS
from uci_bridge.kits.fog import FOG
from uci_bridge.match.openings import FileOpenings, Opening, OpeningError, RandomOpenings, king_hangs, read_openings

FEN = "4k3/pppp4/8/8/8/8/PPPP4/4K3 w - - 0 1"


def test_random_openings_are_legal_go_on_and_leave_no_king_to_be_captured() -> None:
    seen = set()
    for seed in range(60):
        opening = RandomOpenings(7).opening(0, seed)
        referee = FOG.referee(FOG.setup(opening.fen), opening.moves)
        assert referee.ply == 7 and referee.outcome is None
        board = chess.Board(referee.fen())  # python-chess as the oracle: no side's king is attacked
        for color in chess.COLORS:
            king = board.king(color)
            assert king is not None and not board.is_attacked_by(not color, king)
        seen.add(opening)
    assert len(seen) > 55


def test_a_first_move_is_drawn_uniformly() -> None:
    counts: dict[str, int] = {}
    for seed in range(2000):
        (move,) = RandomOpenings(1).opening(0, seed).moves
        counts[move] = counts.get(move, 0) + 1
    # 20 moves, 100 each expected; chi square of 19 degrees of freedom: 43.8 is exceeded once in a thousand.
    assert len(counts) == 20 and sum((count - 100) ** 2 / 100 for count in counts.values()) < 43.8


@pytest.mark.parametrize(
    ("fen", "hangs"),
    [
        (chess.STARTING_FEN, False),
        ("4k3/8/8/8/4R3/8/8/4K3 w - - 0 1", True),  # takes at once
        ("4k3/8/8/8/4R3/8/8/4K3 b - - 0 1", True),  # in a check that it may not see
        ("4k3/8/8/8/4R3/8/8/4K3 b - - 0 1".replace("4R3", "3R4"), False),
        ("4k3/3P4/8/8/8/8/8/4K3 b - - 0 1", True),
    ],
)
def test_a_king_hangs_where_either_side_could_take_it(fen: str, hangs: bool) -> None:
    assert king_hangs(Position.from_fen(fen)) is hangs


def test_where_no_opening_can_be_found_that_is_said() -> None:
    with pytest.raises(OpeningError, match="expected fewer plies"):
        RandomOpenings(5).opening(0, 1, "k7/8/K7/8/8/8/8/8 w - - 97 80")  # fifty moves end it first


@pytest.mark.parametrize("plies", [0, 201])
def test_a_number_of_plies_that_makes_no_sense_is_refused(plies: int) -> None:
    with pytest.raises(OpeningError, match=f"got {plies}"):
        RandomOpenings(plies)


def test_a_file_s_lines_are_moves_or_positions_and_are_used_over_and_over(tmp_path: Path) -> None:
    path = tmp_path / "openings"
    path.write_text(f"# ours\ne2e4 e7e5   # open\n\n{FEN}\n")
    openings = read_openings(path)
    assert openings == FileOpenings((Opening(None, ("e2e4", "e7e5")), Opening(FEN)))
    assert [openings.opening(pair, 9).text() for pair in range(3)] == ["e2e4 e7e5", FEN, "e2e4 e7e5"]
    path.write_text("d2d4\n")
    assert read_openings(path, FEN).opening(0, 0) == Opening(FEN, ("d2d4",))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("e2e4\ne2e5\n", "line 2: illegal move: got e2e5"),
        ("\nNf3\n", "line 2: got 'Nf3', expected moves such as e2e4"),
        ("8/8/8/8 w - - 0 1\n", "line 1"),
        ("f2f3 e7e5 g2g4 d8h4 a2a3 h4e1\n", "line 1: the game is over there .king_captured."),
        ("# nothing\n", "holds no opening"),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, text: str, says: str) -> None:
    (tmp_path / "openings").write_text(text)
    with pytest.raises(OpeningError, match=says):
        read_openings(tmp_path / "openings", ruleset=PYCHESS)


def test_a_position_in_a_file_contradicts_a_start_position(tmp_path: Path) -> None:
    (tmp_path / "openings").write_text(FEN)
    with pytest.raises(OpeningError, match=r"line 1.*--fen"):
        read_openings(tmp_path / "openings", FEN)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(OpeningError, match=r"can't read .*missing"):
        read_openings(tmp_path / "missing")
