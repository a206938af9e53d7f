"""``experiments.rbc_nested``: what happens in a game is what its trees hold; the same seed gives the same game."""

from __future__ import annotations

from typing import Any

import chess
import numpy as np
import pytest

from blindchess.game.arbiter import Arbiter, Played
from blindchess.game.observation import Moved, Sensed
from blindchess.game.referee import Referee
from blindchess.players.configuration import configuration, make_player
from darkchess.game.arbiter import TimeControl
from experiments.rbc_nested.player import Nested, NestedPlayer

TURNS = 8


class Watched(NestedPlayer):
    """Looks, whenever she is told something, whether her last tree has it, and what it takes it for."""

    met = 0

    def sensed(self, sensed: Sensed) -> None:
        super().sensed(sensed)
        self.check()

    def moved(self, moved: Moved) -> None:
        super().moved(moved)
        self.check()

    def check(self) -> None:
        standing = self._search.standing
        if standing is None or standing.infoset < 0:
            return
        states = standing.trunk.states[standing.trunk.members(standing.infoset)]
        assert (states[:, 1] == np.uint64(self._key)).all()
        self.met += 1


def game(color: bool, seed: int) -> tuple[list[Any], Watched]:
    watched = Watched(Nested(nodes=40, particles=8), seed=seed)
    other = make_player(configuration("rbc-random"), seed=seed)
    turns: list[Played] = []
    limits = dict.fromkeys(chess.COLORS, TimeControl(nodes=5))
    arbiter = Arbiter(Referee(), {color: watched, not color: other}, limits, on_turn=turns.append)
    arbiter.begin()
    while arbiter.referee.outcome is None and len(turns) < TURNS:
        arbiter.play_turn()
    return [(turn.look, turn.asked) for turn in turns], watched


@pytest.mark.parametrize("color", chess.COLORS)
def test_what_she_is_told_is_a_place_in_her_tree(color: bool) -> None:
    """Her key of the game is that of the nodes at the infoset which her observations lead to; after a look it is one of
    the tree, from which the request's search goes on.
    """
    turns, watched = game(color, seed=3)
    own = [asked.diagnostics for _, asked in turns[not color :: 2]]
    searched = [told for told in own if told.get("nodes")]
    assert watched.met >= len(searched) and sum(told["carried"] > 0 for told in searched) >= 2
    assert all(told["nodes"] >= 40 and 1 <= told["actions"] <= 8 for told in searched)


def test_the_same_seed_gives_the_same_game() -> None:
    assert game(chess.WHITE, 4)[0] == game(chess.WHITE, 4)[0]
