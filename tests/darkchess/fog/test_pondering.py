"""The player on the opponent's time: only by the clock, never longer than that, and without a trace afterwards."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from typing import Any

import chess
import pytest

from darkchess.evaluation.evaluator import BuiltinEvaluator
from darkchess.fog.game.referee import Referee
from darkchess.fog.players.player import KlssPlayer
from klss.play.limits import Limit
from klss.search import Kluss

SEARCH = Kluss(particles=20)


class Slow(BuiltinEvaluator):
    """An evaluator that one thread may ask at a time."""

    reentrant = False


class Game:
    """White is ours; Black answers with a move that is given."""

    def __init__(self, player: KlssPlayer) -> None:
        self.referee, self.player, self._shown = Referee(), player, 0
        player.begin(chess.WHITE, self.referee.setup)

    def show(self) -> None:
        views = self.referee.views(chess.WHITE)
        for view in views[self._shown + 1 :]:
            self._shown += 1
            self.player.observe(view)

    def move(self, limit: Limit) -> dict[str, Any]:
        decision = self.player.answer("move", limit)
        self.referee.push(decision.answer)
        self.show()
        return {"move": decision.answer.uci(), **decision.diagnostics}

    def answer(self) -> None:
        self.referee.push(min(self.referee.legal_moves(), key=chess.Move.uci))
        self.show()


def pondering() -> int:
    return sum(thread.name == "ponders" for thread in threading.enumerate())


@pytest.fixture(autouse=True)
def no_thread_is_left() -> Iterator[None]:
    yield
    assert not pondering()


def test_the_player_ponders_until_the_opponent_has_moved_and_carries_on_what_it_found() -> None:
    player = KlssPlayer(BuiltinEvaluator(), SEARCH, seed=1, ponder=True)
    game = Game(player)
    game.move(Limit(clock=(8.0, 0.0)))
    assert pondering() == 1
    time.sleep(0.1)
    game.answer()
    assert not pondering()
    assert game.move(Limit(clock=(8.0, 0.0)))["carried"] > 0
    for _ in range(3):  # an opponent who answers at once changes nothing
        game.answer()
        assert game.move(Limit(time_s=0.03))["nodes"] > 0
    player.close()


def test_with_nodes_there_is_none_and_every_byte_is_the_same() -> None:
    answers = []
    for ponder in (False, True):
        player = KlssPlayer(BuiltinEvaluator(), SEARCH, seed=1, ponder=ponder)
        game, moves = Game(player), []
        for _ in range(3):
            moves.append(game.move(Limit(nodes=1500)))
            assert not pondering()
            game.answer()
        answers.append(moves)
        player.close()
    assert answers[0] == answers[1]


@pytest.mark.parametrize("leave", ["close", "end", "start"])
def test_no_thread_outlives_the_game(leave: str) -> None:
    player = KlssPlayer(BuiltinEvaluator(), SEARCH, seed=1, ponder=True)
    game = Game(player)
    game.move(Limit(time_s=0.03))
    assert pondering() == 1
    if leave == "close":
        player.close()
    elif leave == "end":
        game.referee.resign(chess.BLACK)
        player.end(game.referee.view(chess.WHITE))
    else:
        Game(player)
    assert not pondering()


def test_an_evaluator_for_one_thread_is_not_asked_meanwhile() -> None:
    player = KlssPlayer(Slow(), SEARCH, seed=1, ponder=True)
    Game(player).move(Limit(time_s=0.03))
    assert not pondering()
    player.close()
