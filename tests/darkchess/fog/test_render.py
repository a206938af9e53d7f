"""Boards as text."""

from __future__ import annotations

import chess
import pytest

from darkchess.fog.game.referee import Referee
from darkchess.fog.game.render import ALL_SQUARES, Style, beside, board_lines, width

STYLES = [Style(unicode, color) for unicode in (False, True) for color in (False, True)]


def test_a_view_in_ascii_agrees_with_its_fog_fen() -> None:
    game = Referee()
    for text in ("e2e4", "d7d5", "e4d5", "d8d5"):
        game.push(chess.Move.from_uci(text))
    for color in chess.COLORS:
        view = game.view(color)
        lines = board_lines(view.pieces, view.visible, style=Style(unicode=False))
        board = view.fog_fen().split()[0]
        for digit in "12345678":
            board = board.replace(digit, "." * int(digit))
        assert [line[2:].replace(" ", "") for line in lines[:8]] == board.split("/")


@pytest.mark.parametrize("style", STYLES)
def test_turning_the_board_around_reverses_ranks_and_files(style: Style) -> None:
    pieces = {chess.A1: chess.Piece.from_symbol("R")}
    up = board_lines(pieces, ALL_SQUARES, style=style, bottom=chess.WHITE)
    down = board_lines(pieces, ALL_SQUARES, style=style, bottom=chess.BLACK)
    assert up[7][0] == down[0][0] == "1" and up[0][0] == down[7][0] == "8"
    assert up[8].split() == down[8].split()[::-1] == list("abcdefgh")


@pytest.mark.parametrize("style", STYLES)
def test_fog_looks_like_no_empty_square_and_signs_are_those_of_the_style(style: Style) -> None:
    seen, fog = board_lines({}, ALL_SQUARES, style=style)[0], board_lines({}, 0, style=style)[0]
    assert seen != fog
    lines = "".join(board_lines(Referee().view(chess.BLACK).pieces, 0, style=style))
    assert ("\x1b" in lines, lines.isascii()) == (style.color, not style.unicode)
    assert fog.endswith("\x1b[0m") == style.color


def test_columns_stay_aligned_beside_coloured_boards() -> None:
    board = board_lines({}, 0, style=Style(color=True))
    rows = beside([("one", board), ("two", board)])
    assert {width(row) for row in rows[1:9]} == {2 * width(board[0]) + 4}
