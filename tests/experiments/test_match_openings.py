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
    for seed in range(1000):
        (move,) = RandomOpenings(1).opening(0, seed).moves
        counts[move] = counts.get(move, 0) + 1
    # 20 moves, 50 each expected; chi square of 19 degrees of freedom: 43.8 is exceeded once in a thousand.
    assert len(counts) == 20 and sum((count - 50) ** 2 / 50 for count in counts.values()) < 43.8


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


@pytest.mark.parametrize(
    ("plies", "fen"),
    [(0, None), (201, None), (5, "k7/8/K7/8/8/8/8/8 w - - 97 80")],
    ids=["none", "many", "fifty moves"],
)
def test_where_no_opening_can_be_found_that_is_said(plies: int, fen: str | None) -> None:
    with pytest.raises(OpeningError):
        RandomOpenings(plies).opening(0, 1, fen)


def test_a_file_s_lines_are_moves_or_positions_and_are_used_over_and_over(tmp_path: Path) -> None:
    path = tmp_path / "openings"
    path.write_text(f"# ours\ne2e4 e7e5   # open\n\n{FEN}\n")
    openings = read_openings(path)
    assert openings == FileOpenings((Opening(None, ("e2e4", "e7e5")), Opening(FEN)))
    assert [openings.opening(pair, 9).text() for pair in range(3)] == ["e2e4 e7e5", FEN, "e2e4 e7e5"]
    path.write_text("d2d4\n")
    assert read_openings(path, FEN).opening(0, 0) == Opening(FEN, ("d2d4",))


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("e2e4\ne2e5\n", "line 2"), ("\nNf3\n", "line 2"), ("8/8/8/8 w - - 0 1\n", "line 1"),
        ("f2f3 e7e5 g2g4 d8h4 a2a3 h4e1\n", "line 1"), ("# nothing\n", "openings"), (None, "missing"),
        (FEN, "line 1"),  # contradicts a start position
    ],
)  # fmt: skip
def test_a_bad_line_or_file_is_named(tmp_path: Path, text: str | None, line: str) -> None:
    path = tmp_path / ("missing" if text is None else "openings")
    if text is not None:
        path.write_text(text)
    with pytest.raises(OpeningError, match=line):
        read_openings(path, FEN if text == FEN else None, ruleset=PYCHESS)
