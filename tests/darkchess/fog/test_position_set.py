"""The position set against an enumerator that looks at every successor of every position."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace

import chess
import numpy as np
import pytest

from darkchess import Position, Referee
from darkchess.board.move import encode
from darkchess.errors import ViewError
from darkchess.fog.belief.position_set import PositionSet
from tests.darkchess.fog.position_set_games import STARTS, choose, happened, move_of, text
from tests.oracles import brute_force

GAMES_A_START = 10
ENOUGH = 60
"""The enumerator gives up on a player once this many positions are possible (it has then compared that many)."""


def texts(known: PositionSet) -> set[brute_force.Position]:
    return {text(row) for row in known.rows(np.arange(known.size))}


def blocked(game: Referee, color: chess.Color) -> list[str]:
    """What stands before its pawns, out of sight."""
    view, found = game.view(color), []
    ahead = 8 if color else -8
    for square, piece in view.pieces.items():
        if piece == chess.Piece(chess.PAWN, color):
            at_home = chess.square_rank(square) == (1 if color else 6)
            if not view.sees(square + ahead):
                found.append("a blocked pawn")
            elif at_home and view.piece_at(square + ahead) is None and not view.sees(square + 2 * ahead):
                found.append("a blocked double step")
    return found


def compare(fen: str | None, seed: int, tally: Counter[str], plies: int = 20, enough: int = ENOUGH) -> int:
    """Play a game; both players' sets equal the enumerator's after every ply, as far as it goes.

    Returns the number of comparisons.
    """
    rng = random.Random(seed)
    game = Referee(fen)
    truth = brute_force.parse(game.fen())
    known = {color: PositionSet(game.view(color), game.position) for color in chess.COLORS}
    oracle = {color: {truth} for color in chess.COLORS}
    comparisons = 0
    for _ in range(plies):
        move = choose(game, rng)
        mover, played = game.turn, move_of(move)
        for color in oracle:
            happened(game, move, tally, color)
        lost = brute_force.taken(truth, played)
        truth = brute_force.play(truth, played)
        game.push(move)
        if game.outcome is not None or not oracle:
            break
        for color in list(oracle):
            side = "w" if color else "b"
            if color == mover:
                look, own = brute_force.look(truth, side), played
            else:
                look, own = brute_force.look(truth, side, lost, lost if lost == played[1] else -1), None
            tally["en passant told"] += look.ep >= 0
            tally.update(blocked(game, color))
            oracle[color] = brute_force.step(oracle[color], side, own, look)
            known[color].observe(game.view(color))
            assert known[color].size == len(oracle[color]), (fen, seed, game.ply, color)
            assert texts(known[color]) == oracle[color], (fen, seed, game.ply, color)
            assert known[color].contains(game.position.row)
            comparisons += 1
            if len(oracle[color]) > enough:
                del oracle[color]
    return comparisons


@pytest.mark.slow
def test_after_every_ply_the_set_is_what_the_enumerator_finds() -> None:
    tally: Counter[str] = Counter()
    comparisons = 0
    for fen in STARTS.values():
        for seed in range(GAMES_A_START):
            comparisons += compare(fen, seed, tally)
    assert GAMES_A_START * len(STARTS) >= 200
    assert comparisons > 3000
    for whose in ("own", "the enemy's"):
        for kind in ("capture", "en passant", "promotion", "castling", "double step"):
            assert tally[f"{whose}: {kind}"] > 3, (whose, kind, tally)
    for event in ("en passant told", "a blocked pawn", "a blocked double step"):
        assert tally[event] > 10, (event, tally)


@pytest.mark.soak
def test_after_every_ply_the_set_is_what_the_enumerator_finds_in_larger_sets() -> None:
    tally: Counter[str] = Counter()
    comparisons = 0
    for fen in STARTS.values():
        for seed in range(1000, 1020):
            comparisons += compare(fen, seed, tally, plies=80, enough=600)
    assert comparisons > 10_000


def test_sizes_from_the_start_are_the_enumerator_s() -> None:
    # Sizes by tests/oracles/brute_force.py on this line, plies 0 to 4. After 1.e4 Black sees no white man: all twenty
    # first moves are possible (they end on ranks 3 and 4). After 1...e5 both have a blocked e-pawn, and only a double
    # step explains that.
    game = Referee()
    truth = brute_force.parse(game.fen())
    known = {color: PositionSet(game.view(color), game.position) for color in chess.COLORS}
    oracle = {color: {truth} for color in chess.COLORS}
    sizes: dict[chess.Color, list[int]] = {color: [1] for color in chess.COLORS}
    for uci in ("e2e4", "e7e5", "g1f3", "b8c6"):
        move = chess.Move.from_uci(uci)
        mover = game.turn
        truth = brute_force.play(truth, move_of(move))
        game.push(move)
        for color in chess.COLORS:
            own = move_of(move) if color == mover else None
            side = "w" if color else "b"
            oracle[color] = brute_force.step(oracle[color], side, own, brute_force.look(truth, side))
            known[color].observe(game.view(color))
            sizes[color].append(known[color].size)
            assert texts(known[color]) == oracle[color]
    assert sizes == {chess.WHITE: [1, 1, 1, 1, 19], chess.BLACK: [1, 20, 1, 20, 20]}


def test_the_truth_is_never_lost_over_hundreds_of_plies() -> None:
    plies = 0
    for seed, fen in enumerate(name for name in STARTS.values() if name and "Q" not in name.split()[2]):
        rng = random.Random(seed)
        for _ in range(3):
            game = Referee(fen)
            known = {color: PositionSet(game.view(color), game.position, seed=seed) for color in chess.COLORS}
            while game.outcome is None and max(one.size for one in known.values()) < 20_000:
                game.push(choose(game, rng, spice=0.05))
                for color, one in known.items():
                    one.observe(game.view(color))
                    if game.outcome is None:
                        assert one.contains(game.position.row), (game.fen(), color)
                        assert one.capped_by is None
                        assert not one.sampled
                plies += 1
    assert plies > 1000


def test_members_are_positions_of_the_game_as_it_stands() -> None:
    game = Referee()
    known = PositionSet(game.view(chess.WHITE), game.position)
    for uci in ("e2e4", "d7d5", "e4d5", "d8d5", "b1c3"):
        game.push(chess.Move.from_uci(uci))
        known.observe(game.view(chess.WHITE))
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
    known.observe(game.view(chess.WHITE))
    assert texts(known) == {text(game.position.row)}, "the capture tells that it was a pawn"


def test_a_view_that_contradicts_the_views_before_it_is_refused_and_leaves_the_set_alone() -> None:
    game = Referee()
    known = PositionSet(game.view(chess.WHITE), game.position)
    game.push(chess.Move.from_uci("e2e4"))
    known.observe(game.view(chess.WHITE))
    game.push(chess.Move.from_uci("e7e5"))
    view = game.view(chess.WHITE)
    with pytest.raises(ViewError, match="agrees with none of the 1 positions"):
        known.observe(replace(view, own_capture_square=chess.A1, opp_capture_landing_square=chess.A1))
    known.observe(view)
    assert known.contains(game.position.row)
    with pytest.raises(ViewError, match="expected white's of ply 3"):
        known.observe(view)


def test_the_first_view_has_to_be_one_of_the_start_position() -> None:
    game = Referee()
    with pytest.raises(ViewError, match="first view"):
        PositionSet(game.view(chess.WHITE), Position.from_fen("4k3/8/8/8/8/8/8/4K3 b - - 0 1"))
    with pytest.raises(ValueError, match="cap: got 0"):
        PositionSet(game.view(chess.WHITE), game.position, cap=0)
    with pytest.raises(ValueError, match="threads: got 3"):
        PositionSet(game.view(chess.WHITE), game.position, threads=3)


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
    lenient = PositionSet(game.view(chess.WHITE), game.position, no_move_ends=False)
    sizes = []
    for uci in ("d7d6", "a1b1"):
        game.push(chess.Move.from_uci(uci))
        for one in (known, lenient):
            one.observe(game.view(chess.WHITE))
            sizes.append(one.size)
    assert sizes == [2, 2, 1, 2]
    assert known.contains(game.position.row)


def test_information_is_the_entropy_of_what_the_enumerator_would_see() -> None:
    game = Referee()
    known = PositionSet(game.view(chess.WHITE), game.position)
    for uci in ("e2e4", "h7h6", "d1g4", "a7a6"):
        game.push(chess.Move.from_uci(uci))
        known.observe(game.view(chess.WHITE))
    legal = game.view(chess.WHITE).legal_moves
    entropies = known.information([encode(move) for move in legal], limit=100_000)
    positions = texts(known)
    for move, entropy in zip(legal, entropies):
        seen = Counter(brute_force.look(brute_force.play(position, move_of(move)), "w") for position in positions)
        shares = np.array(list(seen.values())) / len(positions)
        assert entropy == pytest.approx(-(shares * np.log2(shares)).sum(), abs=1e-12)
    assert entropies.min() < 0.5 < 1.0 < entropies.max()


def test_information_under_weights_is_the_entropy_of_the_weighed_observations() -> None:
    game = Referee()
    known = PositionSet(game.view(chess.WHITE), game.position)
    for uci in ("e2e4", "h7h6", "d1g4", "a7a6"):
        game.push(chess.Move.from_uci(uci))
        known.observe(game.view(chess.WHITE))
    legal = game.view(chess.WHITE).legal_moves
    codes = [encode(move) for move in legal]
    weights = np.random.default_rng(1).exponential(size=known.size) ** 2
    weights[::7] = 0.0
    weights /= weights.sum()
    exact = known.information(codes, limit=100_000, weights=weights)
    positions = [text(row) for row in known.rows(np.arange(known.size))]
    for move, entropy in zip(legal, exact):
        seen: dict[object, float] = {}
        for position, weight in zip(positions, weights.tolist()):
            look = brute_force.look(brute_force.play(position, move_of(move)), "w")
            seen[look] = seen.get(look, 0.0) + weight
        shares = np.array([share for share in seen.values() if share])
        assert entropy == pytest.approx(-(shares * np.log2(shares)).sum(), abs=1e-12)
    alike = np.full(known.size, 1.0 / known.size)
    assert np.allclose(known.information(codes, 100_000, weights=alike), known.information(codes, 100_000), atol=1e-12)
    # Drawn, they are an estimate.
    few = np.mean([known.information(codes, known.size // 2, seed, weights=weights) for seed in range(10)], axis=0)
    assert np.abs(few - exact).max() < 0.1 < np.ptp(exact)
