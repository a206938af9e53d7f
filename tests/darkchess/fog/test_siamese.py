"""``darkchess.fog.belief.siamese``: what the observation is made of, and weights over the members of a position set."""

from __future__ import annotations

from pathlib import Path

import chess
import numpy as np
import pytest

from darkchess import Referee
from darkchess.board.position import Position
from darkchess.fog.belief.position_set import PositionSet
from darkchess.fog.belief.siamese import (
    BLOCKS,
    FADE,
    FEATURES,
    MOST_FEATURES,
    NUMBERS,
    SHAPES,
    Observer,
    Siamese,
    SiameseError,
    board_features,
    grids_of,
)  # fmt: skip
from klss.networks.towers import POINT, UNITS, Towers

SICILIAN = ["e2e4", "c7c5", "g1f3", "d7d6", "d2d4", "c5d4", "f3d4", "g8f6", "b1c3", "a7a6", "c1e3", "e7e5"]


def towers(seed: int = 0) -> Towers:
    """Weights of no meaning."""
    generator = np.random.default_rng(seed)
    (_, _, planes), (scalars,), (shares, map_size) = SHAPES
    shapes: dict[str, tuple[int, ...]] = {
        "conv0": (3, 3, planes, 4), "conv0_bias": (8, 8, 4), "scalars": (scalars, 4), "kinds": (4, 6),
        "pooled": (4, 2), "dense": (128, 5), "others": (5, 2), "map_bias": (FEATURES,),
        "shares": (2 * shares, map_size), "point": (5, POINT), "point_bias": (POINT,), "embedding": (FEATURES, UNITS),
        "first_bias": (UNITS,), "second": (UNITS, POINT), "second_bias": (POINT,),
    }  # fmt: skip
    return Towers({name: generator.normal(0, 0.2, shape) for name, shape in shapes.items()}, 2.0, {})


def played(moves: list[str], color: chess.Color, threads: int = 1) -> tuple[PositionSet, Observer, Referee]:
    """A player's set and observer after ``moves``."""
    game = Referee()
    known = PositionSet(game.view(color), game.position, threads=threads)
    observer = Observer(known)
    for move in moves:
        game.push(chess.Move.from_uci(move))
        known.observe(game.view(color))
        observer.observe(known)
    return known, observer, game


def enemy_men(position: Position, viewer: chess.Color) -> set[tuple[int, int]]:
    """(piece, square seen from the viewer's side) of the enemy's pieces."""
    return {
        (piece.piece_type - 1, square if viewer else square ^ 56)
        for square, piece in position.pieces.items()
        if piece.color != viewer
    }


@pytest.mark.parametrize("color", chess.COLORS)
def test_a_boards_features_are_the_enemys_men_and_rights(color: chess.Color) -> None:
    known, _, _ = played(SICILIAN[: 8 if color else 9], color)
    rows, counts = board_features(known.halves)
    assert rows.shape == (known.size, MOST_FEATURES)
    rights = ("q", "k") if color else ("Q", "K")
    for position, row, count in zip(known, rows, counts, strict=True):
        found = set(row[:count].tolist())
        assert {(each // 64, each % 64) for each in found if each < 384} == enemy_men(position, color)
        assert {rights[each - 384] for each in found if each >= 384} == {
            right for right in rights if right in position.castling_rights
        }


@pytest.mark.parametrize("color", chess.COLORS)
def test_the_observation_is_made_of_views_and_shares(color: chess.Color) -> None:
    moves = SICILIAN[:8] if color else SICILIAN[:9]
    known, observer, _ = played(moves, color)
    view, numbers = known.view, observer.numbers
    side = 0 if color else 56
    own = np.zeros((6, 64))
    for square, piece in view.pieces.items():
        if piece.color == color:
            own[piece.piece_type - 1, square ^ side] = 1
    assert (numbers[BLOCKS["own"]].reshape(6, 64) == own).all()
    assert [bool(seen) for seen in numbers[BLOCKS["seen"]]] == [view.sees(square ^ side) for square in range(64)]
    shares = np.zeros((6, 64))
    for position in known:
        for piece, square in enemy_men(position, color):
            shares[piece, square] += 1 / known.size
    np.testing.assert_allclose(numbers[BLOCKS["now"]].reshape(6, 64), shares, atol=1e-6)
    _, before, _ = played(moves[:-2], color)
    assert (numbers[BLOCKS["before"]] == before.numbers[BLOCKS["now"]]).all()
    trace = np.where(numbers[BLOCKS["seen"]], 0, FADE * before.numbers[BLOCKS["trace"]].reshape(6, 64))
    trace[numbers[BLOCKS["now"]].reshape(6, 64) == 1] = 1
    np.testing.assert_allclose(numbers[BLOCKS["trace"]].reshape(6, 64), trace, atol=1e-6)
    shown = {name: np.flatnonzero(numbers[BLOCKS[name]]).tolist() for name in ("lost", "taken", "from", "to")}
    if color:  # 4. Nxd4 Nf6
        assert shown == {"lost": [], "taken": [chess.D4], "from": [chess.F3], "to": [chess.D4]}
    else:  # 4… Nf6 5. Nc3
        assert shown == {"lost": [], "taken": [], "from": [chess.G1], "to": [chess.F3]}
    _, lost, _ = played(SICILIAN[:6], chess.WHITE)
    assert np.flatnonzero(lost.numbers[BLOCKS["lost"]]).tolist() == [chess.D4]


def test_what_a_player_cannot_see_changes_nothing() -> None:
    one, first, _ = played(["a2a3", "g7g6", "h2h3", "b7b6"], chess.WHITE)
    other, second, _ = played(["a2a3", "b7b6", "h2h3", "g7g6"], chess.WHITE)
    assert first.numbers.tobytes() == second.numbers.tobytes()
    siamese = Siamese(towers())
    assert siamese.log_weights(one, first).tobytes() == siamese.log_weights(other, second).tobytes()


def test_weights_are_the_towers_scores_of_each_member_whatever_else_is_asked_for() -> None:
    known, observer, _ = played(SICILIAN, chess.WHITE)
    siamese = Siamese(towers())
    weights = siamese.log_weights(known, observer)
    assert weights.dtype == np.float64 and weights.shape == (known.size,)
    shown = siamese.towers.observe(*(part[0] for part in grids_of(observer.numbers[None])))
    for index in (0, known.size // 2, known.size - 1):
        rows, counts = board_features(known.halves[index : index + 1])
        out = np.empty(1, dtype=np.float32)
        siamese.towers.score(rows, counts, shown, out)
        assert weights[index] == np.float64(out[0]) / 2.0
    order = np.random.default_rng(0).permutation(known.size)[:1000]
    assert siamese.log_weights(known, observer, order).tobytes() == weights[order].tobytes()
    assert siamese.log_weights(known, observer, np.zeros(0, dtype=np.int64)).shape == (0,)
    many = np.resize(order, 40_000)
    one, two = (siamese.log_weights(known, observer, many, threads=threads) for threads in (1, 2))
    assert one.tobytes() == two.tobytes() == weights[many].tobytes()


def test_a_set_and_its_observer_are_at_the_same_turn_of_hers() -> None:
    known, observer, game = played(["e2e4", "c7c5"], chess.WHITE)
    siamese = Siamese(towers())
    with pytest.raises(IndexError, match="bad index"):
        siamese.log_weights(known, observer, np.array([known.size]))
    with pytest.raises(ValueError, match="of ply 2, expected white's of ply 3"):
        observer.observe(known)
    with pytest.raises(ValueError, match="of ply 0"):
        Observer(known)
    game.push(chess.Move.from_uci("g1f3"))
    known.observe(game.view(chess.WHITE))
    with pytest.raises(ValueError, match="bad observer"):
        siamese.log_weights(known, observer)
    observer.observe(known)
    with pytest.raises(ValueError, match="bad observer"):
        siamese.log_weights(known, observer)


def test_the_packaged_weights_are_small_tell_who_played_and_weigh() -> None:
    siamese = Siamese.packaged()
    assert {"matches", "arm", "commit", "epochs"} <= set(siamese.towers.history)
    assert all({"players", "budgets", "seed", "games"} <= set(match) for match in siamese.towers.history["matches"])
    known, observer, game = played(SICILIAN, chess.WHITE)
    weights = siamese.log_weights(known, observer)
    assert np.isfinite(weights).all() and weights.std() > 0
    # A truth of everyday chess is likelier than the member that a uniform belief would draw.
    truth = next(i for i, position in enumerate(known) if (position.row[:8] == game.position.row[:8]).all())
    assert (weights < weights[truth]).mean() > 0.5


def test_files_that_cannot_be_loaded_are_refused_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "weights.npz"
    for content, said in (
        (None, "No such file"),
        (b"dear sir,\n", "two towers"),
        (b"\0" * ((1 << 23) + 1), "at most"),
    ):
        if content is not None:
            path.write_bytes(content)
        with pytest.raises(SiameseError, match=said) as caught:
            Siamese.load(path)
        assert str(caught.value).startswith(str(path)) and "\n" not in str(caught.value)
    held = dict(towers().arrays)
    held["scalars"] = np.zeros((3, 4), dtype=np.float32)
    Towers(held, 1.0, {}).write(path)
    with pytest.raises(SiameseError, match="expected"):
        Siamese.load(path)
    towers().write(path)
    assert Siamese.load(path).towers.temperature == 2.0
    assert sum(block.stop - block.start for block in BLOCKS.values()) == NUMBERS
