"""What a human is given, and the first board that is drawn before the referee exists."""

from __future__ import annotations

import chess

from darkchess.fog.game.referee import Referee
from klss_app.cli.fog.human import events
from klss_app.cli.fog.screen import START_VISIBLE
from klss_app.cli.human import clock_text


def shown(color: chess.Color, *moves: str, fen: str | None = None) -> str:
    """What ``color`` is given after the last of ``moves``."""
    game = Referee.replay([chess.Move.from_uci(move) for move in moves], fen)
    before, view = game.views(color)[-2:]
    return " ".join(events(before, view))


def test_the_first_board_shows_what_the_referee_would_show() -> None:
    view = Referee().view(chess.WHITE)
    assert view.visible == START_VISIBLE
    assert dict(view.pieces) == {
        sq: piece for sq, piece in chess.Board().piece_map().items() if piece.color == chess.WHITE
    }


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
