"""``darkchess.fog.belief.tower``: what the observation is made of, and weights over the members of a position set."""

from __future__ import annotations

import chess
import numpy as np
import pytest

from darkchess import Referee
from darkchess.board.position import Position
from darkchess.fog.belief import tower as module
from darkchess.fog.belief.filter import Filter
from darkchess.fog.belief.policy import Policy
from darkchess.fog.belief.position_set import PositionSet
from darkchess.fog.belief.tower import BLOCKS, FADE, Tower, log_prior
from klss.support.arrays import Words
from tests.darkchess.fog.position_set_games import followed
from tests.darkchess.tower_oracle import features, shares

CAPTURES = ("e2e4", "d7d5", "e4d5", "d8d5", "b1c3", "d5d2", "c1d2", "b8c6")


def played(moves: tuple[str, ...], color: chess.Color, *, learned: bool = True) -> tuple[Referee, PositionSet]:
    """The game after moves, and what a player knows then."""
    weigher = Filter(Policy.packaged(), tower=Tower.packaged() if learned else None)
    return followed(moves, color, weigher=weigher)


@pytest.mark.parametrize("color", chess.COLORS)
def test_the_observation_is_made_of_what_was_told(color: chess.Color) -> None:
    moves = CAPTURES if color else CAPTURES[:-1]
    game, known = played(moves, color)
    _, earlier = played(moves[:-2], color)
    numbers, side, view = known.numbers, 0 if color else 56, game.view(color)
    assert numbers is not None
    assert (numbers[BLOCKS["own"]] == shares([game.position], color, color, np.ones(1))).all()
    even = np.full(known.size, 1 / known.size)
    likely, before = (shares(each, color, not color, each.filter_weights) for each in (known, earlier))
    np.testing.assert_allclose(numbers[BLOCKS["now"]], shares(known, color, not color, even), atol=1e-6)
    np.testing.assert_allclose(numbers[BLOCKS["likely"]], likely, atol=1e-6)
    np.testing.assert_allclose(numbers[BLOCKS["before"]], before, atol=1e-6)
    shown = {
        name: [int(square) ^ side for square in np.flatnonzero(numbers[BLOCKS[name]])]
        for name in ("seen", "lost", "taken", "from", "to")
    }
    assert sorted(shown["seen"]) == [square for square in chess.SQUARES if view.sees(square)]
    # White's last move was Bc1xd2; Black's was Qd5xd2, and its queen was taken there.
    wanted = ([], [chess.D2], [chess.C1], [chess.D2]) if color else ([chess.D2], [chess.D2], [chess.D5], [chess.D2])
    assert tuple(shown[name] for name in ("lost", "taken", "from", "to")) == wanted
    scalars = numbers[BLOCKS["scalars"]]
    assert scalars[0] == float(color) and scalars[-2:].tolist() == [1.0, 1.0]
    assert scalars[1] == np.float32(np.log(known.size) / 10) and scalars[2] == np.float32(np.log(earlier.size) / 10)


def test_where_an_enemy_certainly_stood_fades_and_is_forgotten_where_it_is_seen_to_be_gone() -> None:
    _, known = played(("e2e4", "d7d5", "a2a3", "b8c6"), chess.WHITE)
    assert known.numbers is not None
    trace = known.numbers[BLOCKS["trace"]].reshape(6, 64)
    # The pawn is seen on d5; the knight was on b8 while the pawn moved, one of White's turns ago, and may have left it.
    assert trace[chess.PAWN - 1, chess.D5] == 1
    assert trace[chess.KNIGHT - 1, chess.B8] == pytest.approx(FADE)
    _, known = played(("b1c3", "d7d5", "a2a3", "d5d4"), chess.WHITE)
    assert known.numbers is not None
    assert known.numbers[BLOCKS["trace"]].reshape(6, 64)[chess.PAWN - 1, chess.D5] == 0


def test_weights_are_the_filters_times_what_the_network_says() -> None:
    _, known = played(CAPTURES, chess.WHITE)
    assert known.numbers is not None
    learned = Tower.packaged()
    logits = learned.map_of(known.numbers)
    logs = np.array([logits[list(features(position, chess.WHITE))].sum() for position in known])
    wanted = np.exp(logs + log_prior(known.filter_weights))
    np.testing.assert_allclose(known.weights, wanted / wanted.sum(), rtol=1e-4)
    assert known.weights.sum() == pytest.approx(1.0)


def test_learned_weights_change_neither_the_set_nor_the_filter_and_go_on_after_an_own_move() -> None:
    for end in range(1, len(CAPTURES) + 1):
        _, known = played(CAPTURES[:end], chess.WHITE)
        _, plain = played(CAPTURES[:end], chess.WHITE, learned=False)
        assert known.halves.tobytes() == plain.halves.tobytes()
        assert known.filter_weights.tobytes() == plain.weights.tobytes()
        if end == 1:  # no turn of the player was seen yet
            assert known.weights.tobytes() == plain.weights.tobytes()
    # White moves its king, which tells nothing: the positions that are left keep their ratios.
    _, before = played(CAPTURES, chess.WHITE)
    _, after = played((*CAPTURES, "e1e2"), chess.WHITE)
    at = before.indices(np.array(_with_king_on(after, chess.E1)))
    assert (at >= 0).all()
    kept = before.weights[at]
    np.testing.assert_allclose(after.weights, kept / kept.sum(), rtol=1e-6)


def _with_king_on(known: PositionSet, square: int) -> list[Words]:
    """Rows of the set's positions with White's king, castling rights and turn as they were before it moved."""
    rows = []
    for position in known:
        board = chess.Board(position.fen())
        king = board.king(chess.WHITE)
        assert king is not None
        board.remove_piece_at(king)
        board.set_piece_at(square, chess.Piece(chess.KING, chess.WHITE))
        board.turn, board.castling_rights = chess.WHITE, board.castling_rights | chess.BB_A1 | chess.BB_H1
        board.ep_square = None
        rows.append(Position.from_fen(board.fen()).row)
    return rows


def test_of_a_large_set_the_likeliest_are_scored_and_the_others_get_the_mean(monkeypatch: pytest.MonkeyPatch) -> None:
    _, known = played(("a2a3", "a7a6", "h2h3", "h7h6", "a3a4", "g8f6"), chess.WHITE)
    assert known.numbers is not None and known.size > 1000
    learned = Tower.packaged()
    whole = learned.corrected(known.numbers, known.halves, known.filter_weights)
    monkeypatch.setattr(module, "_SCORED", known.size // 2)
    found = learned.corrected(known.numbers, known.halves, known.filter_weights)
    order = np.argsort(-known.filter_weights, kind="stable")
    top, rest = order[: known.size // 4], order[-known.size // 4 :]
    np.testing.assert_allclose(found[top] / found[top[0]], whole[top] / whole[top[0]], rtol=1e-6)
    prior = np.exp(log_prior(known.filter_weights))
    np.testing.assert_allclose(found[rest] / found[rest[0]], prior[rest] / prior[rest[0]], rtol=1e-6)
    assert found.sum() == pytest.approx(1.0)


def test_what_a_player_was_not_told_changes_nothing() -> None:
    found = [played(("a2a3", text, "h2h3", "h7h6"), chess.WHITE) for text in ("a7a6", "g8f6", "b8c6")]
    assert len({game.position.row.tobytes() for game, _ in found}) == 3
    assert len({known.numbers.tobytes() for _, known in found if known.numbers is not None}) == 1
    assert len({known.weights.tobytes() for _, known in found}) == 1
