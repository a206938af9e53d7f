"""What kind of opponent it is: the posterior of laws and of plain counts."""

from __future__ import annotations

import chess
import numpy as np
import pytest

from darkchess.board.position import START_FEN, Position
from darkchess.evaluation.evaluator import BuiltinEvaluator
from darkchess.rbc import Referee
from darkchess.rbc.belief.kinds import KINDS, Kinds
from darkchess.rbc.belief.position_set import PositionSet
from darkchess.rbc.game.requests import after_move, played, requests

NAMES = list(KINDS)


def watched(
    moves: list[str | None], senses: list[int | None], answers: list[str | None], fen: str = START_FEN
) -> tuple[PositionSet, Kinds, Referee]:
    """What Black holds of White's moves after its own looks and answers, the last answer not played."""
    game = Referee(fen)
    known = PositionSet(chess.BLACK, game.position)
    kinds = Kinds(known, 0.5)
    for turn, (move, square) in enumerate(zip(moves, senses, strict=True)):
        game.sense(None)
        game.move(None if move is None else chess.Move.from_uci(move))
        notice = game.notice
        known.noticed(notice)
        kinds.noticed(notice, known)
        sensed = game.sense(square)
        known.sensed(sensed)
        kinds.sensed(sensed, known)
        if turn + 1 < len(moves):
            answer = answers[turn]
            moved = game.move(None if answer is None else chess.Move.from_uci(answer))
            known.moved(moved)
            kinds.moved(moved, known)
    return known, kinds, game


def test_a_rush_is_known_for_one_by_its_third_move() -> None:
    _, kinds, _ = watched(["b1c3", "c3b5", "b5d6"], [chess.C3, chess.B5, chess.D6], ["h7h6", "a7a6"])
    assert NAMES[int(kinds.shares.argmax())] == "rush"


@pytest.mark.parametrize(
    "moves",
    [["b1c3", "c3b5", "b5d6"], ["b1c3", "c3e4", "e4f6"], ["g1h3", "h3f4", "f4h5", "h5f6"]],
    ids=lambda moves: moves[-1][2:],
)
def test_a_knight_that_takes_the_king_next_is_expected_though_nobody_looked(moves: list[str | None]) -> None:
    # The scripts of reconchess's attacker: a knight may go sideways, or come no nearer on the board, and be a move
    # nearer.
    known, kinds, _ = watched(moves, [chess.E4] + [None] * (len(moves) - 1), ["h7h6", "a7a6", "b7b6"])
    weights = kinds.weights(known, np.arange(known.size)) @ kinds.shares
    square = chess.parse_square(str(moves[-1])[2:])
    there = [position.piece_at(square) == chess.Piece(chess.KNIGHT, chess.WHITE) for position in known]
    assert weights[there].sum() > 0.006


def test_one_that_passes_is_known_for_it_and_no_kind_is_ever_ruled_out() -> None:
    _, kinds, _ = watched(
        [None] * 8, [chess.B2, chess.E2, chess.G2, chess.E2] * 2, ["h7h6", "h6h5", None, "a7a6"] + [None] * 4
    )
    assert kinds.shares[NAMES.index("idle")] > 0.9
    assert (kinds.shares > 0.0).all() and kinds.shares.sum() == pytest.approx(1.0)


def test_a_king_is_thought_unguarded_only_where_something_was_seen_of_that() -> None:
    known = PositionSet(chess.WHITE, Referee().position)
    # However little is expected of opponents, a piece is not staked on it at once.
    assert Kinds(known, 0.85).careless == Kinds(known, 0.3).careless < 0.2 < 0.85 * (1.0 + 0.3 + 0.8) / 4
    assert Kinds(known, 0.1).careless == pytest.approx(0.1 * (1.0 + 0.3 + 0.8) / 4)
    _, idle, _ = watched([None] * 8, [chess.B2, chess.E2, chess.G2, chess.E2] * 2, ["h7h6", "h6h5"] + [None] * 6)
    assert idle.careless > 0.9


def test_for_the_random_kind_a_position_is_as_likely_as_the_requests_that_lead_to_it() -> None:
    fen = "4k3/3p4/8/2B5/8/8/4P3/R3K3 w Q - 0 1"
    position = Position.from_fen(fen)
    known, kinds, _ = watched([None], [None], [], fen)
    taken = {None, *(played(position, request) for request in requests(position))}
    quiet = [move for move in taken if move is None or position.piece_at(move.to_square) is None]
    everything = kinds.weights(known, np.arange(known.size))[:, NAMES.index("random")]
    for move in quiet:
        assert known.contains(after_move(position, move).row)
    assert known.size == len(quiet)
    np.testing.assert_allclose(everything, 1.0 / known.size)
    # That nothing was taken is itself observed: the random kind had one capture among all its moves.
    before = np.array([0.5, *[0.125] * 4])
    assert kinds.shares[NAMES.index("random")] < before[NAMES.index("random")] + 0.02


def test_the_truth_has_weight_for_every_kind_and_none_lies_outside_the_set() -> None:
    moves: list[str | None] = ["e2e4", "f1c4", "d1h5", "h5e5"]
    known, kinds, game = watched(moves, [chess.E4, None, chess.G5, None], ["e7e5", "b8c6", "d7d6"])
    weights = kinds.weights(known, np.arange(known.size))
    np.testing.assert_allclose(weights.sum(axis=0), 1.0)
    place = next(i for i, held in enumerate(known) if (held.row[:8] == game.position.row[:8]).all())
    assert (weights[place] > 0.0).all()


def test_a_sensible_opponent_does_not_give_its_queen_away() -> None:
    fen = "rnbqkbnr/pppppp1p/6p1/8/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2"
    known, kinds, _ = watched([None], [None], [], fen)
    weights = kinds.weights(known, np.arange(known.size))[:, NAMES.index("sensible")]
    at = {name: sum(weight for weight, held in zip(weights, known, strict=True)
                    if held.piece_at(chess.parse_square(name)) == chess.Piece(chess.QUEEN, chess.WHITE))
          for name in ("f3", "h5")}  # fmt: skip
    # On h5 the pawn of g6 takes it.
    assert at["h5"] < 0.1 * at["f3"]


@pytest.mark.parametrize("viewer", chess.COLORS)
def test_moves_are_valued_as_the_evaluator_values_the_positions_after_them(viewer: chess.Color) -> None:
    # The rook can take the king; the others can take a knight or a pawn, or castle.
    fen = "r3k1r1/2p5/3b4/8/1N6/8/5PP1/4K1N1 b q - 0 1"
    if viewer == chess.BLACK:
        fen = chess.Board(fen).mirror().fen()
    position = Position.from_fen(fen)
    kinds = Kinds(PositionSet(viewer, position), 0.5)
    offsets, after, taken = kinds._expanded(kinds._halves)
    assert offsets.tolist() == [0, len(after)]
    children = [after_move(position, move) for move in {None, *(played(position, each) for each in requests(position))}]
    values = -BuiltinEvaluator().values(np.array([child.row for child in children]))
    np.testing.assert_allclose(np.sort(kinds._values(after, taken, len(after))), np.sort(values), atol=1e-6)


def test_a_captured_king_is_worth_the_game_even_if_the_captor_can_be_taken() -> None:
    position = Position.from_fen("4k3/8/8/8/8/8/3PrP2/4K3 b - - 0 1")
    kinds = Kinds(PositionSet(chess.WHITE, position), 0.5)
    _, after, taken = kinds._expanded(kinds._halves)
    values = kinds._values(after, taken, len(after))
    assert values[taken == chess.BB_E1].tolist() == [1.0]
    assert (values[taken == 0] < 1.0).all()
