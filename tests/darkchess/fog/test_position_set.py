"""The position set against an enumerator that looks at every successor of every position."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace

import chess
import numpy as np
import pytest

from darkchess import Position, Referee
from darkchess.board.kernels import halves, moves
from darkchess.board.kernels.tables import TABLES
from darkchess.board.move import encode
from darkchess.board.position import upward
from darkchess.errors import ViewError
from darkchess.fog.belief._kernels import position_set
from darkchess.fog.belief.position_set import PositionSet
from tests.darkchess.fog.position_set_games import STARTS, choose, compare, followed, move_of, text
from tests.oracles import brute_force


def texts(known: PositionSet) -> set[brute_force.Position]:
    return {text(row) for row in known.rows(np.arange(known.size))}


@pytest.mark.slow
def test_after_every_ply_the_set_is_what_the_enumerator_finds() -> None:
    tally: Counter[str] = Counter()
    assert sum(compare(fen, seed, tally) for fen in STARTS.values() for seed in range(10)) > 3000
    for whose in ("own", "the enemy's"):
        for kind in ("capture", "en passant", "promotion", "castling", "double step"):
            assert tally[f"{whose}: {kind}"] > 3, (whose, kind, tally)
    for event in ("en passant told", "a blocked pawn", "a blocked double step"):
        assert tally[event] > 10, (event, tally)


@pytest.mark.soak
def test_that_holds_in_larger_sets() -> None:
    seeds = range(1000, 1020)
    assert sum(compare(fen, seed, Counter(), 80, 600) for fen in STARTS.values() for seed in seeds) > 10_000


def test_the_truth_is_never_lost_over_hundreds_of_plies() -> None:
    plies = 0
    for seed, fen in enumerate(name for name in STARTS.values() if name and "Q" not in name.split()[2]):
        rng, game = random.Random(seed), Referee(fen)
        known = {color: PositionSet(game.view(color), game.position, seed=seed) for color in chess.COLORS}
        while game.outcome is None and max(one.size for one in known.values()) < 20_000:
            game.push(choose(game, rng, spice=0.05))
            for color, one in known.items():
                one.observe(game.view(color))
                if game.outcome is None:
                    assert one.contains(game.position.row), (game.position.fen(), color)
                    assert one.capped_by is None
                    assert not one.sampled
            plies += 1
    assert plies > 200


def test_members_are_positions_of_the_game_as_it_stands() -> None:
    game, known = followed(("e2e4", "d7d5", "e4d5", "d8d5", "b1c3"), chess.WHITE)
    view = game.view(chess.WHITE)
    positions = list(known)
    assert len(positions) == len(known) == known.size == len({position.key() for position in positions})
    for position in positions:
        assert position.turn == game.turn
        assert position.fullmove == view.fullmove
        assert Position.from_fen(position.fen()).key() == position.key()


def test_contains_tells_castling_rights_side_to_move_and_en_passant_apart() -> None:
    game = Referee("r3k2r/8/8/8/2p5/8/1P6/R3K2R w KQkq - 0 1")
    known = PositionSet(game.view(chess.WHITE), game.position)
    assert known.contains(game.position.row)
    for fen in ("r3k2r/8/8/8/2p5/8/1P6/R3K2R b KQkq - 0 1", "r3k2r/8/8/8/2p5/8/1P6/R3K2R w KQk - 0 1",
                "r3k2r/8/8/8/2p5/8/1P6/R3K2R w Qkq - 0 1", "r3k2r/8/8/8/2n5/8/1P6/R3K2R w KQkq - 0 1"):  # fmt: skip
        assert not known.contains(Position.from_fen(fen).row)
    game.push(chess.Move.from_uci("b2b4"))
    known.observe(game.view(chess.WHITE))
    assert game.position.ep_square == chess.B3
    assert known.contains(game.position.row)
    assert not known.contains(Position.from_fen("r3k2r/8/8/8/1Pp5/8/8/R3K2R b KQkq - 0 1").row)


def test_where_the_view_cannot_tell_en_passant_its_double_steps_stay_possible() -> None:
    game = Referee("3nk3/3p4/8/4P3/8/8/8/4K3 b - - 0 1")
    known = PositionSet(game.view(chess.WHITE), game.position)
    game.push(chess.Move.from_uci("d7d5"))
    shown = game.view(chess.WHITE)
    assert shown.ep_square == chess.D6
    known.observe(replace(shown, ep_square=None, ep_known=False))
    assert any(position.piece_at(chess.D5) == chess.Piece(chess.PAWN, chess.BLACK) for position in known)
    game.push(chess.Move.from_uci("e5d6"))
    after, before = game.view(chess.WHITE), texts(known)
    with pytest.raises(ViewError, match="agrees with none"):
        known.observe(replace(after, pieces={**after.pieces, chess.D7: chess.Piece(chess.QUEEN, chess.BLACK)}))
    assert texts(known) == before
    known.observe(after)
    assert texts(known) == {text(game.position.row)}, "the capture tells that it was a pawn"


def test_a_view_that_contradicts_the_views_before_it_is_refused_and_leaves_the_set_alone() -> None:
    game, known = followed(["e2e4"], chess.WHITE)
    game.push(chess.Move.from_uci("e7e5"))
    view = game.view(chess.WHITE)
    with pytest.raises(ViewError, match="agrees with none of the 1 positions"):
        known.observe(replace(view, own_capture_square=chess.A1, opp_capture_landing_square=chess.A1))
    known.observe(view)
    assert known.contains(game.position.row)
    with pytest.raises(ViewError, match="expected white's of ply 3"):
        known.observe(view)


def test_the_end_of_the_game_leaves_the_set_as_it_was() -> None:
    game = Referee()
    known = {color: PositionSet(game.view(color), game.position) for color in chess.COLORS}
    for uci in ("e2e4", "f7f6", "d1h5", "a7a6", "h5e8"):
        sizes = {color: one.size for color, one in known.items()}
        game.push(chess.Move.from_uci(uci))
        for color, one in known.items():
            one.observe(game.view(color))
    assert {color: one.size for color, one in known.items()} == sizes
    with pytest.raises(ViewError, match="a game that goes on"):
        known[chess.WHITE].observe(replace(game.view(chess.WHITE), ply=6))


def test_a_position_in_which_the_enemy_cannot_move_is_out_because_the_game_goes_on() -> None:
    # Black's pieces but the d-pawn are locked in. White sees neither d6 nor d5; from d5 the pawn could not move on.
    game = Referee("5brk/3pp1pb/4P1p1/6P1/3N4/8/8/K7 b - - 0 1")
    known = PositionSet(game.view(chess.WHITE), game.position)
    sizes = []
    for uci in ("d7d6", "a1b1"):
        game.push(chess.Move.from_uci(uci))
        known.observe(game.view(chess.WHITE))
        sizes.append(known.size)
    assert sizes == [2, 1]
    assert known.contains(game.position.row)


def test_information_is_the_entropy_of_what_the_enumerator_would_see() -> None:
    game, known = followed(("e2e4", "h7h6", "d1g4", "a7a6"), chess.WHITE)
    legal = game.view(chess.WHITE).legal_moves
    entropies = known.information([encode(move) for move in legal], limit=100_000)
    positions = texts(known)
    for move, entropy in zip(legal, entropies):
        seen = Counter(brute_force.look(brute_force.play(position, move_of(move)), "w") for position in positions)
        shares = np.array(list(seen.values())) / len(positions)
        assert entropy == pytest.approx(-(shares * np.log2(shares)).sum(), abs=1e-12)
    assert entropies.min() < 0.5 < 1.0 < entropies.max()


@pytest.mark.parametrize(
    ("fen", "can"),
    [  # king, rook, bishops and pawns that block one another; then with one way out each
        ("5brk/4p1pb/4P1p1/6P1/8/8/8/K7 b - - 0 1", False),
        ("5brk/4p1pb/4P3/6p1/6P1/8/8/K7 b - - 0 1", True),
        ("5brk/4p1pb/4P1p1/5PP1/8/8/8/K7 b - - 0 1", True),
        ("5b1k/4p1pb/4P1p1/6P1/8/8/8/K7 b - - 0 1", True),
        ("5brk/3np1pb/4P1p1/6P1/8/8/8/K7 b - - 0 1", True),
        ("5brk/4p1pb/4P1p1/6P1/1Pp5/2B5/8/K7 b - b3 0 1", True),
        ("5brk/4p1pb/4P1p1/6P1/1Pp5/2B5/8/K7 b - - 0 1", False),
    ],
)
def test_a_half_can_move_iff_the_oracle_finds_a_move(fen: str, can: bool) -> None:
    position = Position.from_fen(fen)
    half = np.empty(2, dtype=np.uint64)
    halves.encode_half(upward(position.row, flipped=False), half)
    captors = chess.BB_C4 if position.ep_square is not None else 0
    assert bool(position_set.can_move(*half, position.row[6], np.uint64(captors), TABLES)) == can
    assert brute_force.has_move(brute_force.parse(fen)) == bool(moves.has_move(position.row, TABLES)) == can
