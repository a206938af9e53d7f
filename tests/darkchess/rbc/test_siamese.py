"""``darkchess.rbc.belief.anchors`` and ``siamese``: what the pair of networks reads; a board's point is its own."""

from __future__ import annotations

import chess
import numpy as np
import pytest

from darkchess.rbc import Referee
from darkchess.rbc.belief.anchors import ANCHOR, BOARD, NAMES, OF_TURN, TURNS, Anchor, boards_of, request_plane
from darkchess.rbc.belief.position_set import PositionSet
from darkchess.rbc.belief.siamese import POINT, Siamese, softmin
from klss.support.inference import grids_of

EVERYWHERE = set(chess.SQUARES)

# Two own turns of Black: it loses a pawn, takes one back; then its rook runs into a knight that it did not see.
FEN = "r3k3/8/8/3p4/4P3/8/8/N3K3 w q - 0 1"
TURNS_PLAYED: list[tuple[int | None, str | None]] = [
    (None, "e4d5"), (chess.D5, "e8d7"), (None, "d5d6"), (chess.B2, "a8a2"), (None, "a1c2"),
]  # fmt: skip


def anchor_after(turns: list[tuple[int | None, str | None]], color: chess.Color, opponent: str = "") -> Anchor:
    game = Referee(FEN)
    known = PositionSet(color, game.position)
    anchor = Anchor(known, opponent)
    for square, text in turns:
        mine = game.turn == color
        told = game.notice, game.sense(square), game.move(None if text is None else chess.Move.from_uci(text))
        for name, each in zip(("noticed", "sensed", "moved"), told, strict=True):
            if mine:
                getattr(known, name)(each)
                getattr(anchor, name)(each, known)
    known.noticed(game.notice)
    anchor.noticed(game.notice, known)
    return anchor


def squares(word: np.uint64, color: chess.Color) -> set[int]:
    """The real squares of a plane, by python-chess's own mirror."""
    return {square if color else chess.square_mirror(square) for square in chess.SquareSet(int(word))}


def test_an_anchor_holds_what_was_told_in_each_turn() -> None:
    anchor = anchor_after(TURNS_PLAYED, chess.BLACK, "trout")
    turns, names = anchor.words[: TURNS * OF_TURN].reshape(TURNS, OF_TURN), anchor.words[TURNS * OF_TURN :]
    held = [{at: squares(word, chess.BLACK) for at, word in enumerate(turn) if word} for turn in turns]
    # The requests up Black's board, whose files are White's: the rook six steps up, plane 5; the king one step up and
    # to the left, plane 7 · 7.
    around = {square for square in chess.SQUARES if chess.square_distance(square, chess.D5) <= 1}
    corner = {square for square in chess.SQUARES if chess.square_distance(square, chess.B2) <= 1}
    assert held[0] == {79: {chess.A2}, 81: {chess.D7}}
    assert held[1] == {1 + 5: {chess.A8}, 79: {chess.A8}, 81: {chess.D7}, 82: corner, 84: {chess.A1}}
    assert held[2] == {
        0: {chess.D5}, 1 + 7 * 7: {chess.E8}, 79: {chess.A8}, 81: {chess.E8}, 82: around, 83: {chess.D5}
    }  # fmt: skip
    assert not any(held[3:]) and {at for at, word in enumerate(names) if word} == {NAMES.index("trout")}
    assert not anchor_after(TURNS_PLAYED, chess.BLACK, "somebody").words[TURNS * OF_TURN :].any()


def test_a_capture_and_a_request_that_failed_are_told() -> None:
    white = anchor_after([(None, "e4d5"), (None, None), (None, "d5c6"), (None, None)], chess.WHITE)
    turns = [
        {at: squares(word, True) for at, word in enumerate(turn) if word}
        for turn in white.words.reshape(-1)[:270].reshape(3, 90)
    ]
    own = {76: {chess.D5}, 77: {chess.A1}, 81: {chess.E1}, 89: EVERYWHERE}
    assert turns[0] == own and turns[1] == own | {1 + 7 * 7: {chess.D5}, 75: EVERYWHERE}
    assert turns[2] == own | {76: {chess.E4}, 1 + 7 * 7: {chess.E4}, 74: {chess.D5}}


def test_every_request_of_a_queen_a_knight_and_a_pawn_has_a_plane_of_its_own() -> None:
    found = {}
    for piece in ("Q", "N"):
        for move in chess.Board(f"k7/8/8/8/3{piece}4/8/8/7K w - - 0 1").legal_moves:
            if move.from_square == chess.D4:
                found[move] = request_plane(move)
    for move in chess.Board("k1n1n3/3P4/8/8/8/8/8/7K w - - 0 1").legal_moves:
        if move.promotion not in (None, chess.QUEEN):
            found[move] = request_plane(move)
    assert len(set(found.values())) == len(found) == 27 + 8 + 9 and max(found.values()) <= 72


@pytest.mark.parametrize("color", chess.COLORS)
def test_a_boards_planes_are_the_pieces_of_both_sides(color: chess.Color) -> None:
    fens = ["r3k2r/ppp2ppp/8/8/3Pn3/8/PPP2PPP/R1BQK2R b KQkq - 0 1", "4k3/8/8/8/8/8/1P6/4K3 w - - 0 1"]
    found = boards_of(np.array([Referee(fen).position.row for fen in fens]), color)
    for fen, words in zip(fens, found, strict=True):
        board = chess.Board(fen)
        wanted = [set(board.pieces(kind, side)) for side in (color, not color) for kind in chess.PIECE_TYPES]
        assert [squares(word, color) for word in words] == wanted
        grid = grids_of(words)
        assert {(p, 8 * r + f) for p, r, f in np.argwhere(grid)} == {
            (p, square) for p, word in enumerate(words) for square in chess.SquareSet(int(word))
        }


def test_a_boards_point_does_not_depend_on_its_batch() -> None:
    generator, pair = np.random.default_rng(3), Siamese.packaged()
    boards = generator.integers(0, 1 << 62, (41, BOARD), dtype=np.uint64) & generator.integers(
        0, 1 << 62, (41, BOARD), dtype=np.uint64
    )
    points = pair.points(boards)
    assert points.shape == (41, POINT) and np.isfinite(points).all()
    order = generator.permutation(41)
    assert pair.points(boards[order]).tobytes() == points[order].tobytes()
    assert pair.points(boards[7:8]).tobytes() == points[7].tobytes()
    anchor = np.zeros(ANCHOR, dtype=np.uint64)
    distances = pair.distances(anchor, boards)
    assert pair.distances(anchor, boards[order]).tobytes() == distances[order].tobytes()
    weights = softmin(distances, 2.0)
    np.testing.assert_allclose(np.log(weights[0] / weights[1]), (distances[1] - distances[0]) / 2, rtol=1e-6)
