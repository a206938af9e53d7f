"""The arbiter: who is shown what, when, and whose clock pays for it."""

from __future__ import annotations

import time
from typing import Any

import chess
import pytest

from darkchess.fog.game.contest import Player, Setup
from darkchess.fog.game.referee import Referee
from darkchess.fog.game.view import View
from darkchess.fog.players.tracking import RandomPlayer
from klss.play.arbiter import Arbiter
from klss.play.contest import Decision, Forfeit, OutOfTime, Resignation, TruthCount
from klss.play.limits import Limit
from klss.play.outcome import Outcome

SCHOLAR = ("e2e4", "f7f6", "d1h5", "a7a6", "h5e8")


class Scripted(Player):
    """Plays given moves, then raises; notes all that it is given."""

    def __init__(self, moves: tuple[str, ...], then: type[Exception] = Resignation) -> None:
        self.moves = list(moves)
        self.then = then
        self.limits: list[Limit] = []

    def begin(self, seat: chess.Color, setup: Setup) -> None:
        self.given: list[Any] = []
        self.started = setup

    def observe(self, view: View) -> None:
        self.given.append(view)

    def answer(self, question: str, limit: Limit) -> Decision:
        self.limits.append(limit)
        if not self.moves:
            raise self.then
        return Decision(chess.Move.from_uci(self.moves.pop(0)), {})


def arbiter(white: Scripted, black: Scripted, budget: Limit | None = None, **rest: Any) -> Arbiter:
    players = {chess.WHITE: white, chess.BLACK: black}
    return Arbiter(Referee(), players, dict.fromkeys(chess.COLORS, budget or Limit()), **rest)


def test_each_player_is_given_each_of_her_own_views_once_in_order_and_nothing_else() -> None:
    white, black = Scripted(SCHOLAR[::2]), Scripted(SCHOLAR[1::2])
    game = arbiter(white, black)
    game.play()
    for color, player in ((chess.WHITE, white), (chess.BLACK, black)):
        assert player.given == list(game.referee.views(color)[1:])
        assert player.started == game.referee.setup
    assert white.given[-1].game_over == Outcome(chess.WHITE, "king_captured")


@pytest.mark.parametrize(("then", "reason"), [(Resignation, "resign"), (OutOfTime, "flag"), (Forfeit, "forfeit")])
def test_every_end_is_reported_to_both_players_once(then: type[Exception], reason: str) -> None:
    class Listening(Scripted):
        def end(self, outcome: Outcome) -> None:
            self.ends = [*getattr(self, "ends", []), outcome]

    for white, black, ended in (
        (Listening(("e2e4",)), Listening((), then=then), reason),
        (Listening(SCHOLAR[::2]), Listening(SCHOLAR[1::2]), "king_captured"),
    ):
        game = arbiter(white, black)
        game.play()
        assert white.ends == black.ends == [game.referee.outcome] == [Outcome(chess.WHITE, ended)]


def test_a_clock_is_charged_and_given_its_increment() -> None:
    white, black = Scripted(SCHOLAR[::2]), Scripted(SCHOLAR[1::2])
    game = arbiter(white, black, Limit(clock=(1000.0, 7.0)))
    game.play()
    assert 999.0 < white.limits[0].clock[0] <= 1000.0 and white.limits[0].clock[1] == 7.0
    assert 1000.0 < white.limits[1].clock[0] <= 1007.0 and 1007.0 < white.limits[2].clock[0] <= 1014.0  # type: ignore[index]


def test_an_illegal_move_is_an_error_not_a_result() -> None:
    game = arbiter(Scripted(("e2e5",)), Scripted(()))
    with pytest.raises(ValueError, match="illegal move: got e2e5"):
        game.play()


def test_what_was_played_before_is_shown_before_any_clock_runs() -> None:
    class Slow(RandomPlayer):
        seen: int = 0

        def observe(self, view: View) -> None:
            self.seen += 1
            time.sleep(0.05)
            super().observe(view)

    referee = Referee.replay([chess.Move.from_uci(move) for move in ("e2e4", "e7e5", "g1f3")])
    players = {color: Slow(seed=1) for color in chess.COLORS}
    game = Arbiter(referee, players, dict.fromkeys(chess.COLORS, Limit(clock=(0.1, 0.0))))
    game.begin()
    assert [player.seen for player in players.values()] == [3, 3] and game.remaining_s[chess.BLACK] == 0.1
    game.play_turn()
    assert referee.ply == 4 and referee.outcome is None


def test_a_lost_truth_is_counted() -> None:
    class Blind:
        capped_by = None

        def contains(self, row: Any) -> bool:
            return False

    class Deluded(RandomPlayer):
        position_set = Blind()  # type: ignore[assignment]

    truth = TruthCount()
    players = {chess.WHITE: Deluded(seed=1), chess.BLACK: RandomPlayer(seed=2)}
    game = Arbiter(Referee(), players, dict.fromkeys(chess.COLORS, Limit(nodes=1)), truth=truth)
    game.begin()
    game.play_turn()
    game.play_turn()
    assert truth == TruthCount(checks=4, lost=2, sampled=0)
