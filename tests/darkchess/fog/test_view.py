"""Views: rule 4 of docs/rules.md, the laws that tie a view to the truth, and views rebuilt from observations."""

from __future__ import annotations

import random
from dataclasses import replace

import chess
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from darkchess import Position, Referee, View
from darkchess.board.kernels.board import META
from darkchess.board.kernels.tables import TABLES
from darkchess.errors import ViewError
from darkchess.fog.game._kernels import vision
from darkchess.fog.game.view import known_moves, observed, view_of
from tests.oracles import brute_force
from tests.oracles.starts import STARTS, next_move


def random_games(count: int, plies: int, seed: int) -> list[Referee]:
    rng = random.Random(seed)
    games = []
    for number in range(count):
        game = Referee(STARTS[number % len(STARTS)])
        while game.outcome is None and game.ply < plies:
            game.push(next_move(rng, game))
        games.append(game)
    return games


GAMES = random_games(44, 70, seed=41)


def rebuilt(game: Referee, color: chess.Color, *, send_moves: bool, show_pawn: bool = False) -> list[View]:
    """The views that a player's side makes of what the engine protocol sends, with no end where a king is captured."""
    views = [view_of(game.positions[0], color, game.views(color)[0].game_over)]
    for view in game.views(color)[1:]:
        visible, pieces, over = view.visible, dict(view.pieces), view.game_over
        if show_pawn and view.ep_square is not None:
            pawn = view.ep_square + (-8 if color else 8)
            visible |= 1 << pawn
            pieces[pawn] = chess.Piece(chess.PAWN, not color)
        sent = view.legal_moves if send_moves and view.to_move == color and view.game_over is None else None
        views.append(
            observed(
                views[-1],
                kind=view.kind,
                visible=visible,
                pieces=pieces,
                own_move=view.own_move,
                own_capture_square=view.own_capture_square,
                opp_capture_landing_square=view.opp_capture_landing_square,
                game_over=over if over is None or over.reason != "king_captured" else None,
                legal_moves=sent,
            )
        )
    return views


# --------------------------------------------------------------------------------------------------- what is seen


def test_en_passant_is_told_to_the_side_that_can_capture_and_to_no_one_else() -> None:
    game = Referee("4k3/2p5/8/3P4/8/8/8/4K3 b - - 0 1")
    game.push(chess.Move.from_uci("c7c5"))
    taker, stepper = game.view(chess.WHITE), game.view(chess.BLACK)
    assert taker.ep_square == chess.C6 and taker.sees(chess.C6) and taker.piece_at(chess.C6) is None
    assert not taker.sees(chess.C5)  # the pawn itself is known by inference only
    assert stepper.ep_square is None and not stepper.sees(chess.C6)
    game.push(chess.Move.from_uci("d5c6"))
    victim = game.view(chess.BLACK)
    assert (victim.own_capture_square, victim.opp_capture_landing_square) == (chess.C5, None)


def test_she_is_not_told_her_captor_the_enemys_rights_or_the_true_counter() -> None:
    game = Referee("r3k2r/8/8/8/8/2b5/8/R3K2R b KQkq - 7 9")
    game.push(chess.Move.from_uci("c3a1"))
    view = game.view(chess.WHITE)
    assert view.own_capture_square == view.opp_capture_landing_square == chess.A1
    assert not view.sees(chess.A1) and view.castling == "K"
    assert view.fog_fen().endswith(" w K - 0 10")


# ------------------------------------------------------------------------------------------------------------ laws


def test_a_view_is_what_the_oracle_shows_of_the_truth() -> None:
    for game in GAMES[:22]:
        for position, mine, theirs in zip(
            game.positions, game.views(chess.WHITE), game.views(chess.BLACK), strict=True
        ):
            for view, side in ((mine, "w"), (theirs, "b")):
                look = brute_force.look(brute_force.parse(position.fen()), side)
                assert view.visible == sum(1 << square for square in look.seen)
                assert tuple((square, piece.symbol()) for square, piece in view.pieces.items()) == look.pieces


def test_the_key_of_a_view_is_the_observation_key_of_the_truth() -> None:
    for game in GAMES:
        for color in chess.COLORS:
            for position, view in zip(game.positions, game.views(color), strict=True):
                side = 0 if color else 1
                masked = position.row & np.uint64(view.visible)
                masked[META] = vision.known_meta(position.row, side)
                assert view.row().tolist() == masked.tolist()
                assert view.key() == vision.observation_key(position.row, side, TABLES)


def test_different_views_of_one_player_have_different_keys() -> None:
    seen: dict[int, tuple[int, bytes]] = {}
    for game in GAMES:
        for view in game.views(chess.WHITE):
            content = (view.visible, view.row().tobytes())
            assert seen.setdefault(view.key(), content) == content
    assert len(seen) > 1000


def test_her_exact_legal_moves_follow_from_the_view_alone() -> None:
    for game in GAMES:
        for color in chess.COLORS:
            for position, view in zip(game.positions, game.views(color), strict=True):
                assert known_moves(view) == view.legal_moves
                if position.turn == color and view.game_over is None:
                    assert view.legal_moves == position.legal_moves()


def test_an_enemy_who_moves_unseen_changes_nothing_but_the_ply() -> None:
    """The wall: two true histories with the same views give the same views, byte for byte."""
    first, second = Referee(), Referee()
    for game, reply in ((first, "b7b6"), (second, "g8h6")):
        game.push(chess.Move.from_uci("e2e3"))
        game.push(chess.Move.from_uci(reply))
        game.push(chess.Move.from_uci("e3e4"))
    assert repr(first.views(chess.WHITE)) == repr(second.views(chess.WHITE))
    assert first.view(chess.BLACK) != second.view(chess.BLACK)


# ----------------------------------------------------------------------------------------- views from observations


@pytest.mark.parametrize("show_pawn", [False, True], ids=["our mask", "mask with the en passant pawn"])
def test_observations_with_legal_moves_rebuild_every_view_exactly(show_pawn: bool) -> None:
    found = 0
    for game in GAMES:
        for color in chess.COLORS:
            assert rebuilt(game, color, send_moves=True, show_pawn=show_pawn) == list(game.views(color))
            found += sum(view.ep_square is not None for view in game.views(color))
    assert found >= 10


def test_observations_without_legal_moves_rebuild_every_view_or_say_that_en_passant_is_open() -> None:
    views = unsure = chances = 0
    for game in GAMES:
        for color in chess.COLORS:
            for mine, truth in zip(rebuilt(game, color, send_moves=False), game.views(color), strict=True):
                views += 1
                chances += truth.ep_square is not None
                if mine.ep_known:
                    assert mine == truth
                else:
                    unsure += 1
                    assert (
                        replace(mine, ep_known=True, ep_square=truth.ep_square, legal_moves=truth.legal_moves) == truth
                    )
    assert chances >= 10 and unsure < views / 50


START = view_of(Position.start(), chess.WHITE)
AFTER = Referee.replay([chess.Move.from_uci("e2e4")]).view(chess.WHITE)


def sent(**changes: object) -> dict[str, object]:
    """The observation of White's 1. e4, with changes."""
    return {"kind": "own_move", "own_move": AFTER.own_move, "visible": AFTER.visible, "pieces": AFTER.pieces} | changes


@pytest.mark.parametrize(
    "changes",
    [
        {"kind": "opp_move", "own_move": None},
        {"own_move": None},
        {"own_move": chess.Move.from_uci("e2e5")},
        {"own_move": chess.Move.from_uci("d2d4")},
        {"own_capture_square": chess.A2},
        {"opp_capture_landing_square": chess.A2},
        {"visible": 1 << 64},
        {"visible": -1},
        {"visible": AFTER.visible & ~chess.BB_A6},
        {"visible": AFTER.visible | chess.BB_H8},
        {"pieces": {64: chess.Piece(chess.PAWN, True)}},
        {"pieces": {**AFTER.pieces, chess.H8: chess.Piece(chess.ROOK, False)}},
        {"pieces": {**AFTER.pieces, chess.A3: chess.Piece(chess.QUEEN, True)}},
    ],
)
def test_an_observation_that_contradicts_itself_is_refused(changes: dict) -> None:
    with pytest.raises(ViewError, match=r"observation of ply 1: got .* expected"):
        observed(START, **sent(**changes))  # type: ignore[arg-type]


@settings(max_examples=200, deadline=None)
@given(
    st.integers(-1, 1 << 65),
    st.dictionaries(st.integers(-1, 64), st.sampled_from([chess.Piece.from_symbol(sign) for sign in "PNBRQKpnbrqk"])),
    st.sampled_from([None, *range(-1, 65)]),
)
def test_any_observation_is_a_view_or_refused(visible: int, pieces: dict, square: int | None) -> None:
    for content in (
        sent(visible=visible & AFTER.visible),
        sent(visible=visible),
        sent(visible=AFTER.visible | 1 << 40, pieces={**AFTER.pieces, **pieces}),
        sent(own_capture_square=square, opp_capture_landing_square=square),
        {"kind": "opp_move", "visible": visible, "pieces": pieces, "own_capture_square": square},
    ):
        for previous in (START, AFTER):
            try:
                view = observed(previous, **content)
            except ViewError:
                continue
            assert view.visible == AFTER.visible and previous == START


def test_legal_moves_that_do_not_follow_from_the_view_are_refused() -> None:
    game = Referee.replay([chess.Move.from_uci(text) for text in ("e2e4", "e7e6")])
    view = game.view(chess.WHITE)
    content = {"kind": "opp_move", "visible": view.visible, "pieces": view.pieces}
    assert observed(AFTER, **content, legal_moves=reversed(view.legal_moves)) == view  # in any order
    with pytest.raises(ViewError, match="differ in e4e5"):
        observed(AFTER, **content, legal_moves=[move for move in view.legal_moves if move.uci() != "e4e5"])
    with pytest.raises(ViewError, match="differ in e4d5"):
        observed(AFTER, **content, legal_moves=[*view.legal_moves, chess.Move.from_uci("e4d5")])
