"""The referee against reconchess: another program, written by others."""

from __future__ import annotations

import json
import random

import chess
import pytest

from darkchess.errors import IllegalMove
from darkchess.rbc.game.history import history_text
from darkchess.rbc.game.observation import INNER, window
from darkchess.rbc.game.referee import Referee
from darkchess.rbc.game.rules import Limits

reconchess = pytest.importorskip("reconchess", exc_type=ImportError)


def lively(rng: random.Random, board: chess.Board, requests: list[chess.Move]) -> chess.Move | None:
    """A request at random, captures, castlings and passes among them."""
    taking = [move for move in requests if board.piece_at(move.to_square)]
    castling = [move for move in requests if board.is_castling(move)]
    if taking and rng.random() < 0.15:
        return rng.choice(taking)
    if castling and rng.random() < 0.5:
        return rng.choice(castling)
    return rng.choice([None, *requests])


@pytest.mark.parametrize("seed", range(12))
def test_a_game_goes_as_reconchess_plays_it(seed: int) -> None:
    rng = random.Random(seed)
    theirs, ours = reconchess.LocalGame(seconds_per_player=None), Referee()
    theirs.store_players("A", "B")
    theirs.start()
    while not theirs.is_over():
        requests = theirs.move_actions()
        assert sorted(map(str, requests)) == sorted(map(str, ours.requests()))
        assert theirs.opponent_move_results() == ours.notice.square
        square = rng.choice([None, *chess.SQUARES])
        assert tuple(map(tuple, theirs.sense(square))) == ours.sense(square).contents
        asked = lively(rng, theirs.board, requests)
        seen = ours.move(asked)
        assert theirs.move(asked) == (seen.requested, seen.taken, seen.capture_square)
        assert theirs.board.board_fen() == ours.position.fen().split()[0]
        theirs.end_turn()
        assert theirs.is_over() == (ours.outcome is not None)
    theirs.end()
    assert ours.outcome is not None and theirs.get_winner_color() == ours.outcome.winner
    from reconchess.history import GameHistoryEncoder

    assert json.loads(json.dumps(theirs.get_game_history(), cls=GameHistoryEncoder)) == json.loads(
        history_text(ours, "A", "B")
    )


@pytest.mark.parametrize("seed", range(3))
def test_a_game_goes_as_openspiel_plays_it(seed: int) -> None:
    """Boards and rights, by the requests that both have: OpenSpiel wants a promotion, and draws by repetition."""
    rng = random.Random(seed)
    theirs, ours = pytest.importorskip("pyspiel").load_game("rbc").new_initial_state(), Referee()
    while not theirs.is_terminal() and ours.outcome is None:
        theirs.apply_action(rng.choice(theirs.legal_actions()))  # a random look; its result is not used
        ours.sense(None)
        names = {theirs.action_to_string(action): action for action in theirs.legal_actions()}
        both = [move for move in ours.requests() if move.uci() in names]
        move = rng.choice([None, *both] if "pass" in names else both)
        theirs.apply_action(names["pass" if move is None else move.uci()])
        ours.move(move)
        fields = 3 if ours.outcome is None else 2  # OpenSpiel keeps the castling rights of a lost king
        assert ours.position.fen().split()[:fields] == str(theirs).split()[:fields]


def test_turn_limits_are_those_of_reconchess() -> None:
    for limits, other in ((Limits(full_turns=3), {"full_turn_limit": 3}), (Limits(7), {"reversible_moves_limit": 7})):
        theirs, ours = reconchess.LocalGame(seconds_per_player=None, **other), Referee(limits=limits)
        theirs.start()
        while not theirs.is_over():
            assert ours.outcome is None
            theirs.move(None)
            theirs.end_turn()
            ours.move(None)
        assert ours.outcome is not None and ours.outcome.winner is None


def test_the_inner_squares_show_all_that_any_square_shows() -> None:
    shown = {frozenset(window(square)) for square in INNER}
    assert len(shown) == 36
    assert all(any(set(window(square)) <= inner for inner in shown) for square in chess.SQUARES)


def test_what_cannot_be_asked_for_is_refused() -> None:
    game = Referee()
    with pytest.raises(IllegalMove, match="expected one of the 34 requests of white, or a pass"):
        game.move(chess.Move.from_uci("e2e5"))
    with pytest.raises(IllegalMove, match="expected a square"):
        game.sense(64)
    game.sense(None)
    with pytest.raises(IllegalMove, match="second sense"):
        game.sense(None)
    game.resign(chess.WHITE)
    with pytest.raises(IllegalMove, match="over"):
        game.move(None)


def test_a_pawn_may_leave_its_promotion_open() -> None:
    game = Referee("4k3/P7/8/8/8/8/8/4K3 w - - 0 1")
    assert game.move(chess.Move.from_uci("a7a8")).taken == chess.Move.from_uci("a7a8q")
