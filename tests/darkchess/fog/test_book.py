"""The opening book: pages are found by what a player has seen."""

from __future__ import annotations

import chess

from darkchess.board.position import Position
from darkchess.fog.game.referee import Referee
from darkchess.fog.players.book import PACKAGED, Book, page_key

BOOK = Book.packaged()


def game(*moves: str) -> Referee:
    return Referee.replay([chess.Move.from_uci(move) for move in moves])


def key(color: chess.Color, *moves: str) -> str:
    return page_key(game(*moves).views(color))


def test_games_that_look_the_same_to_a_player_have_one_page() -> None:
    assert len({key(chess.BLACK, move.uci()) for move in Position.start().legal_moves()}) == 1
    assert key(chess.WHITE, "a2a3", "e7e6", "h2h3", "g8f6") == key(chess.WHITE, "a2a3", "g8f6", "h2h3", "e7e6")


def test_another_sight_an_own_move_or_a_capture_is_another_page() -> None:
    keys = [
        key(chess.WHITE),
        key(chess.BLACK),
        key(chess.WHITE, "e2e4", "a7a6"),
        key(chess.WHITE, "e2e4", "d7d5"),  # seen
        key(chess.WHITE, "d2d4", "a7a6"),
        key(chess.WHITE, "e2e4", "d7d5", "a2a3", "d5e4"),
        key(chess.WHITE, "e2e4", "d7d5", "a2a3", "a7a6"),
        key(chess.WHITE, "e2e3", "d7d5", "e3e4", "a7a6"),  # the same position, by other moves
    ]
    assert len({*keys}) == len(keys)


def test_every_page_is_a_mixture_of_moves_in_the_ranges_that_moves_and_values_have() -> None:
    assert len(BOOK.pages) > 100 and PACKAGED.stat().st_size < 300_000
    for page in BOOK.pages.values():
        assert 0.9 < sum(move.probability for move in page.moves) < 1.01, "what is left out is little"
        assert -1.0 <= page.value <= 1.0 and page.people == sum(move.people for move in page.moves)
        assert all(move.value is None or -1.0 <= move.value <= 1.0 for move in page.moves)


def test_moves_of_a_page_are_legal_where_its_player_is_and_the_book_ends_with_its_last_ply() -> None:
    for referee in (game(), game("e2e4")):
        page = BOOK.page(referee.views(referee.turn))
        assert page is not None and {move.move for move in page.moves} <= {*referee.legal_moves()}
    assert BOOK.page(game("a2a3", "a7a6", "b2b3", "b7b6", "c2c3", "c7c6").views(chess.WHITE)) is None
