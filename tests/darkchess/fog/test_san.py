"""SAN among pseudo-legal moves: written, read back, and refused with what was expected."""

from __future__ import annotations

import random

import chess
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from darkchess import Position, Referee
from darkchess.errors import IllegalMove
from darkchess.fog.game.san import parse_move, san
from tests.oracles.starts import STARTS, next_move


def test_positions_read_back_from_their_fen_and_moves_from_san_and_uci_by_the_truth_and_the_movers_view() -> None:
    rng = random.Random(51)
    for fen in STARTS[2:]:
        game = Referee(fen)
        while game.outcome is None and game.ply < 30:
            assert Position.from_fen(game.position.fen()) == game.position
            view = game.view(game.turn)
            texts = {san(game.position, move): move for move in game.legal_moves()}
            assert len(texts) == len(game.legal_moves())
            for text, move in texts.items():
                assert san(view, move) == text and not set("+#") & set(text)
                assert parse_move(game.position, text) == parse_move(view, text) == move
                assert parse_move(view, move.uci()) == move
            game.push(next_move(rng, game))


@pytest.mark.parametrize(
    ("fen", "uci", "text"),
    [
        ("4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1", "e1g1", "O-O"),
        ("4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1", "e1c1", "O-O-O"),
        ("1n2k3/P7/8/8/8/8/8/4K3 w - - 0 1", "a7b8n", "axb8=N"),
        ("4k3/8/8/3Pp3/8/8/8/4K3 w - e6 0 1", "d5e6", "dxe6"),
        ("3qk3/8/8/8/8/8/8/3QK3 w - - 0 1", "d1d8", "Qxd8"),  # no check sign
        ("4k3/8/8/8/8/8/8/R3K2R w - - 0 1", "a1a8", "Ra8"),
        ("4k3/8/8/8/8/8/8/N1N1K3 w - - 0 1", "a1b3", "Nab3"),
        ("4k3/8/8/N7/8/8/8/N3K3 w - - 0 1", "a1b3", "N1b3"),
        ("4k3/8/8/N1N5/8/8/8/N3K3 w - - 0 1", "a5b3", "Na5b3"),
        # In chess the knight on e2 is pinned, and Nc3 needs no file. No piece is pinned here.
        ("4r1k1/8/8/8/8/8/4N3/1N2K3 w - - 0 1", "b1c3", "Nbc3"),
    ],
)
def test_san_is_disambiguated_among_pseudo_legal_moves(fen: str, uci: str, text: str) -> None:
    position = Position.from_fen(fen)
    assert san(position, chess.Move.from_uci(uci)) == text
    assert parse_move(position, text) == chess.Move.from_uci(uci)


LAST_RANK = "2n1k3/1P6/8/8/8/8/8/R3K2R w KQ - 0 1"


@pytest.mark.parametrize(
    ("fen", "text", "uci"),
    [
        *((chess.STARTING_FEN, text, "e2e4") for text in (
            "e4", "e2e4", "E2E4", "e2-e4", " e4 ", "e4!?", "e4±", "e4+=", "e2–e4", "♙e4", "Pe4",
        )),
        *((chess.STARTING_FEN, text, "g1f3") for text in (
            "♘f3", "♞f3", "Ng1f3", "Ng1-f3", "Ngf3", "N1f3", "Nf3+",
        )),
        *((LAST_RANK, text, "e1g1") for text in ("O-O", "O–O", "0-0", "e1g1", "e1h1")),
        *((LAST_RANK, text, "e1c1") for text in ("o-o-o", "OOO", "e1a1")),
        *((LAST_RANK, text, "b7b8q") for text in ("b8=Q", "b8Q", "b8=q")),
        (LAST_RANK, "b8(N)", "b7b8n"), (LAST_RANK, "b8/R", "b7b8r"), (LAST_RANK, "b7b8b", "b7b8b"),
        *((LAST_RANK, text, "b7c8q") for text in ("b×c8=♕", "bxc8=Q#", "bc8Q", "b7xNc8=Q")),
        # A capture may name the piece that it takes, and no other.
        ("4k3/8/2n5/1B6/Q7/8/8/4K3 w - - 0 1", "Bb5xNc6", "b5c6"),
        *(("4k3/8/8/8/Q7/8/8/4K3 w - - 0 1", text, "a4e8") for text in ("Qa4xKe8#", "QxKe8")),
        *(
            ("4k3/8/8/3Pp3/8/8/8/4K3 w - e6 0 1", text, "d5e6")
            for text in ("d5xPe6", "dxe6", "dxe6 e.p.", "dxe6ep", "d5e6")
        ),
        ("4k3/8/4p3/3P4/8/8/8/4K3 w - - 0 1", "dxPe6", "d5e6"),
        ("4k3/8/2n5/1B6/8/8/8/4K3 w - - 0 1", "b5:Nc6", "b5c6"),
        ("4k3/8/2n5/1B6/8/8/8/4K3 w - - 0 1", "Bb5xRc6", None),
        ("4k3/8/8/1B6/8/8/8/4K3 w - - 0 1", "Bb5xNc6", None),
        ("4k3/8/2n5/1B6/8/8/8/4K3 w - - 0 1", "Bb5Nc6", None),
    ],
)  # fmt: skip
def test_loose_spellings_are_read(fen: str, text: str, uci: str | None) -> None:
    position = Position.from_fen(fen)
    if uci is None:
        with pytest.raises(IllegalMove, match="expected"):
            parse_move(position, text)
    else:
        assert parse_move(position, text) == chess.Move.from_uci(uci)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        *((text, "illegal") for text in ("Nf6", "e2e5", "e7e5", "e4e5", "e4e4", "Qd3", "O-O", "exd3", "e4=Q")),
        *((text, "misspelt") for text in ("e9", "nf3", "", "e2e4e5", "--", "0000", "Sf3", "e4" + "+" * 500_000 + "x")),
        ("O-O" + "+" * 60 + "Nf3", "misspelt"),
    ],
)
def test_a_bad_move_is_refused_with_its_kind_and_what_was_expected(text: str, kind: str) -> None:
    with pytest.raises(IllegalMove, match=f"^{kind} move: .*expected ") as caught:
        parse_move(Position.start(), text)
    assert len(str(caught.value)) < 200


@settings(max_examples=300, deadline=None)
@given(st.text(alphabet="abcdefgh12345678NBRQKxO0-=+#qrbn ", max_size=8))
def test_any_text_is_a_legal_move_or_refused(text: str) -> None:
    position = Position.from_fen("2n1k3/1P6/8/3Pp3/8/8/8/R3K2R w KQ e6 0 1")
    try:
        assert parse_move(position, text) in position.legal_moves()
    except IllegalMove as error:
        assert "expected" in str(error)
