"""Positions and FEN: rule 6 of docs/rules.md, identity by rule 3. The moves are checked against the oracles."""

from __future__ import annotations

import pickle

import chess
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from darkchess import START_FEN, Position
from darkchess.board.move import decode, encode
from darkchess.errors import FenError

# ------------------------------------------------------------------------------------------------------------ FEN

REFUSED = [
    "",
    START_FEN + " x",
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNRR w KQkq - 0 1",
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQ~KBNR w KQkq - 0 1",
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KK - 0 1",
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - -1 1",
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 ²",
    "8/8/8/8/8/8/8/K7 w - - 0 1",  # no black king
    "kk6/8/8/8/8/8/8/K7 w - - 0 1",
    "k7/8/8/8/8/N7/NNNNNNNN/KNNNNNNN w - - 0 1",  # seventeen men
    "k6P/8/8/8/8/8/8/K7 w - - 0 1",
    "4k3/8/8/8/8/8/8/4K2R w Q - 0 1",  # a right without its rook, or its king
    "4k3/8/8/8/8/8/8/3K3R w K - 0 1",
    "4k3/8/8/8/8/8/8/4K3 w - e3 0 1",  # no double step explains it
    "4k3/8/8/8/8/8/8/4K3 w - e6 0 1",
    "4k3/4n3/8/3Pp3/8/8/8/4K3 w - e6 0 1",
]


@pytest.mark.parametrize("fen", REFUSED)
def test_a_bad_fen_is_refused_with_what_was_expected(fen: str) -> None:
    with pytest.raises(FenError, match="expected"):
        Position.from_fen(fen)


SIGNS = "rnbqkpRNBQKP12345678/ wb-KQkqae36?0"


@settings(max_examples=400, deadline=None)
@given(
    st.one_of(
        st.text(alphabet=SIGNS, max_size=80),
        st.builds(
            lambda at, sign: START_FEN[:at] + sign + START_FEN[at + 1 :],
            st.integers(0, len(START_FEN) - 1),
            st.sampled_from(SIGNS),
        ),
    )
)
def test_any_text_is_a_position_or_a_fen_error(text: str) -> None:
    try:
        position = Position.from_fen(text)
    except FenError:
        return
    assert Position.from_fen(position.fen()) == position


def test_rights_by_the_files_of_rooks_at_home_are_the_usual_ones() -> None:
    for files, usual in (("HAha", "KQkq"), ("AHah", "KQkq"), ("Hh", "Kk"), ("a", "q")):
        assert Position.from_fen(f"r3k2r/8/8/8/8/8/8/R3K2R w {files} - 0 1").castling_rights == usual
    for bad in ("HBhb", "HKha", "HH"):
        with pytest.raises(FenError, match="castling right"):
            Position.from_fen(f"r3k2r/8/8/8/8/8/8/R3K2R w {bad} - 0 1")


def test_missing_castling_rights_are_never_guessed_and_counters_may_be_left_out() -> None:
    position = Position.from_fen("r3k2r/8/8/8/8/8/8/R3K2R w Kq -")
    assert position.castling_rights == "Kq"
    assert position.is_legal(chess.Move.from_uci("e1g1")) and not position.is_legal(chess.Move.from_uci("e1c1"))
    assert Position.from_fen("r3k2r/8/8/8/8/8/8/R3K2R w - - 0 1").castling_rights == ""


# ------------------------------------------------------------------------------------------------------- identity


@pytest.mark.parametrize(
    ("fen", "kept"),
    [
        ("4k3/8/8/3Pp3/8/8/8/4K3 w - e6 0 1", True),
        ("4k3/8/8/4pP2/8/8/8/4K3 w - e6 0 1", True),
        ("4k3/8/8/4p3/8/8/8/4K3 w - e6 0 1", False),  # nobody stands beside
        ("4k3/8/8/3Np3/8/8/8/4K3 w - e6 0 1", False),  # no pawn does
        ("4k3/8/8/4p2P/8/8/8/4K3 w - e6 0 1", False),
        ("4k3/8/7P/p7/8/8/8/4K3 w - a6 0 1", False),  # the board has edges
        ("3rk3/8/8/3Pp3/8/8/8/3K4 w - e6 0 1", True),  # pinned in chess, and free here
    ],
)
def test_en_passant_is_kept_and_is_identity_only_when_it_can_be_captured(fen: str, kept: bool) -> None:
    position = Position.from_fen(fen)
    without = Position.from_fen(fen.replace(" e6 ", " - ").replace(" a6 ", " - "))
    assert (position.ep_square is not None) == kept
    assert (position.key() != without.key()) == kept
    assert (position.fen() == fen) == kept


def test_identity_is_pieces_side_rights_and_en_passant_and_no_counter() -> None:
    base = Position.from_fen("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1")
    assert base.key() == Position.from_fen("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 37 61").key()
    assert base != Position.from_fen("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 37 61")
    for other in ("b KQkq", "w KQk", "w -"):
        assert base.key() != Position.from_fen(f"r3k2r/8/8/8/8/8/8/R3K2R {other} - 0 1").key()
    assert base.key() != Position.from_fen("r3k2r/8/8/8/8/8/8/R3K2B w Qkq - 0 1").key()


def test_positions_are_immutable_hashable_and_survive_pickling() -> None:
    position, same = (Position.start().after(chess.Move.from_uci("e2e4")) for _ in range(2))
    with pytest.raises(ValueError):
        position.row[0] = np.uint64(0)
    assert pickle.loads(pickle.dumps(position)) == position and hash(position) == hash(same)
    row = position.row.copy()
    copy = Position(row, position.fullmove)
    row[0] = 0
    assert copy == position


# ---------------------------------------------------------------------------------------------------------- moves


def test_moves_come_sorted_by_from_to_promotion() -> None:
    for fen in ("n1n5/PPPk4/8/8/8/8/4Kppp/5N1N b - - 0 1", "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1"):
        moves = Position.from_fen(fen).legal_moves()
        assert list(moves) == sorted(moves, key=lambda move: (move.from_square, move.to_square, move.promotion or 0))


@given(st.integers(0, 63), st.integers(0, 63), st.sampled_from([None, 2, 3, 4, 5]))
def test_move_codes_go_there_and_back_in_order(from_square: int, to_square: int, promotion: int | None) -> None:
    move = chess.Move(from_square, to_square, promotion)
    assert decode(encode(move)) == move
    assert encode(move) < encode(chess.Move(from_square, to_square, (promotion or 1) + 1))
