"""``darkchess.rbc.belief.tower``: what the observation is made of, and weights over the members of a position set."""

from __future__ import annotations

import random
from typing import Any

import chess
import numpy as np
import pytest

from darkchess.board.position import Position
from darkchess.rbc import Moved, Referee
from darkchess.rbc.belief.kinds import KINDS, Kinds
from darkchess.rbc.belief.position_set import PositionSet
from darkchess.rbc.belief.tower import BLOCKS, FADE, Observer, Tower, log_prior
from darkchess.rbc.game.observation import INNER
from darkchess.weighting.enemy_features import MOST_FEATURES, features_of
from tests.darkchess.tower_oracle import features, shares

SHARES = len(KINDS)
"""Numbers of an observation's scalars that are the kinds' probabilities."""
STEPS = "4k3/2p1p1p1/8/3P1P2/8/8/1P1P1P1P/R3K2R w KQ - 0 1"


class Followed:
    """A player's set, filter and observer through a game."""

    def __init__(self, game: Referee, color: chess.Color) -> None:
        self.game, self.known = game, PositionSet(color, game.position)
        self.kinds = Kinds(self.known, 0.8)
        self.observer = Observer(self.known, self.kinds)

    def told(self, name: str, what: Any) -> Any:
        getattr(self.known, name)(what)
        for each in (self.kinds, self.observer):
            getattr(each, name)(what, self.known)
        return what

    def notice(self) -> None:
        self.told("noticed", self.game.notice)

    def sense(self, square: int | None) -> None:
        self.told("sensed", self.game.sense(square))

    def move(self, text: str | None) -> Moved:
        moved: Moved = self.told("moved", self.game.move(None if text is None else chess.Move.from_uci(text)))
        return moved


def played(turns: list[tuple[int | None, str | None]], color: chess.Color, fen: str | None = None) -> Followed:
    """What a player holds before its sense, after turns of a sense and a request each."""
    game = Referee(fen)
    sides = {side: Followed(game, side) for side in chess.COLORS}
    for square, text in turns:
        mine = sides[game.turn]
        mine.notice()
        mine.sense(square)
        mine.move(text)
    assert game.turn == color
    sides[color].notice()
    return sides[color]


@pytest.mark.parametrize("color", chess.COLORS)
def test_a_boards_features_are_the_enemys_pieces_rights_and_double_step(color: chess.Color) -> None:
    turns = [(None, "b2b3")] if not color else [(None, "b2b3"), (None, "g7g5")]
    known = played(turns, color, STEPS).known
    rows, counts = features_of(known.halves)
    assert rows.shape == (known.size, MOST_FEATURES)
    for position, row, count in zip(known, rows, counts, strict=True):
        assert sorted(row[:count].tolist()) == sorted(features(position, color))
    steps = (np.where(np.arange(MOST_FEATURES) < counts[:, None], rows, 0) >= 386).sum()
    assert steps == (3 if color else 0)


@pytest.mark.parametrize("color", chess.COLORS)
def test_the_observation_is_made_of_what_was_told(color: chess.Color) -> None:
    # 1. e4 d5 2. exd5 Qxd5 3. Nc3: White, then Black, looks back on a turn with captures.
    turns: list[tuple[int | None, str | None]] = [
        (chess.B7, "e2e4"), (chess.E2, "d7d5"), (chess.D6, "e4d5"), (chess.E4, "d8d5"), (chess.D6, "b1c3"),
    ]  # fmt: skip
    turns = turns[:4] if color else turns
    mine = played(turns, color)
    known, numbers = mine.known, mine.observer.numbers
    side = 0 if color else 56
    assert (numbers[BLOCKS["own"]] == shares([mine.game.position], color, color, np.ones(1))).all()
    even = np.full(known.size, 1 / known.size)
    weights = mine.kinds.weights(known, np.arange(known.size)) @ mine.kinds.shares
    np.testing.assert_allclose(numbers[BLOCKS["now"]], shares(known, color, not color, even), atol=1e-6)
    np.testing.assert_allclose(numbers[BLOCKS["likely"]], shares(known, color, not color, weights), atol=1e-6)
    shown = {
        name: [(square ^ side) for square in np.flatnonzero(numbers[BLOCKS[name]])]
        for name in ("lost", "taken", "from", "to", "refused", "losses", "takings")
    }
    if color:
        assert shown["lost"] == shown["taken"] == [chess.D5]
        assert (shown["from"], shown["to"]) == ([chess.E4], [chess.D5])
    else:
        assert shown["lost"] == [] and shown["losses"] == [chess.D5] and shown["taken"] == [chess.D5]
        assert numbers[BLOCKS["losses"]].max() == np.float32(FADE)
        assert (shown["from"], shown["to"]) == ([chess.D8], [chess.D5])
    assert shown["takings"] == [chess.D5] and shown["refused"] == []
    scalars = numbers[BLOCKS["scalars"]]
    np.testing.assert_allclose(scalars[:SHARES], mine.kinds.shares, rtol=1e-6)
    scalars = scalars[SHARES:]
    assert scalars[:2].tolist() == [float(color), 0.0] and scalars[2] == np.float32(np.log(known.size) / 10)
    mine.sense(chess.B2)
    assert mine.observer.numbers[BLOCKS["scalars"]][SHARES + 1] == 1
    window = {square ^ side for square in np.flatnonzero(mine.observer.numbers[BLOCKS["seen"]] == 1)}
    assert window == {16, 17, 18, 8, 9, 10, 0, 1, 2}


def test_a_request_that_failed_is_told_and_a_pass_is() -> None:
    mine = played([(None, "e2e4"), (None, "e7e5")], chess.WHITE)
    mine.sense(None)
    assert mine.move("e4e5").taken is None
    numbers = mine.observer.numbers
    assert np.flatnonzero(numbers[BLOCKS["refused"]]).tolist() == [chess.E5]
    assert numbers[BLOCKS["scalars"]][-4:-2].tolist() == [1, 0] and not numbers[BLOCKS["from"]].any()
    passed = played([(None, None), (None, "e7e5")], chess.WHITE).observer.numbers
    assert passed[BLOCKS["scalars"]][-4:-2].tolist() == [0, 1]


def test_what_a_player_was_not_told_changes_nothing() -> None:
    tower = Tower.packaged()
    for seed in range(4):
        rng = random.Random(seed)
        looks = [rng.choice(INNER[:12]) for _ in range(3)]  # ranks 2 and 3: nothing of Black's is there
        mine = []
        for first, second in (("a7a6", "b7b6"), ("b7b6", "a7a6")):
            turns = [(looks[0], "a2a3"), (None, first), (looks[1], "h2h3"), (rng.choice(INNER), second)]
            mine.append(played([*turns, (looks[2], None), (None, "h7h6")], chess.WHITE))
        one, other = mine
        assert one.observer.numbers.tobytes() == other.observer.numbers.tobytes()
        weights = [tower.log_weights(each.known, each.observer).tobytes() for each in mine]
        assert weights[0] == weights[1]
    # And other truths that look the same: Black's games are never the same here.
    hidden = [played([(None, "a2a3"), (None, text)], chess.WHITE) for text in ("a7a6", "g8f6", "b8c6")]
    assert len({each.game.position.row.tobytes() for each in hidden}) == 3
    assert len({each.observer.numbers.tobytes() for each in hidden}) == 1


def test_weights_are_the_maps_sums_over_each_members_features_whatever_else_is_asked_for() -> None:
    mine = played([(None, "e2e4"), (None, "c7c5"), (None, "g1f3"), (None, "d7d6")], chess.WHITE)
    known, observer, tower = mine.known, mine.observer, Tower.packaged()
    weights = tower.log_weights(known, observer)
    logits = tower.map_of(observer.numbers)
    prior = log_prior(mine.kinds, known, np.arange(known.size))
    assert np.exp(prior).sum() == pytest.approx(1.0)
    for index in (0, known.size // 2, known.size - 1):
        position = Position(known.rows(index)[0])
        wanted = logits[list(features(position, chess.WHITE))].sum()
        assert weights[index] - prior[index] == pytest.approx(wanted, rel=1e-4, abs=1e-4)
    order = np.random.default_rng(0).permutation(known.size)[:100]
    assert tower.log_weights(known, observer, order).tobytes() == weights[order].tobytes()
