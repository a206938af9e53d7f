"""The referee: how games end, in which order the tests come, rulesets, and what both players observe of the end."""

from __future__ import annotations

import chess
import pytest

from darkchess import PAPER, PYCHESS, Referee, Ruleset
from darkchess.errors import IllegalMove
from klss.play.outcome import Outcome

WALLED_IN = "8/5k2/8/8/p1p5/P1Pp4/PB1P4/KNB5 b - - 0 1"  # White has no move, whatever Black's king does


def play(game: Referee, *moves: str) -> Referee:
    for move in moves:
        game.push(chess.Move.from_uci(move))
    return game


def test_capturing_the_king_wins_at_once() -> None:
    game = play(Referee(), "e2e4", "f7f6", "d1h5", "a7a6", "h5e8")
    assert game.outcome == Outcome(chess.WHITE, "king_captured") and game.outcome.result == "1-0"
    assert game.legal_moves() == ()
    for color in chess.COLORS:
        assert game.view(color).game_over == game.outcome and game.view(color).legal_moves == ()
    assert game.view(chess.BLACK).own_capture_square == chess.E8
    with pytest.raises(IllegalMove, match="king_captured"):
        play(game, "a6a5")


def test_the_third_occurrence_draws_and_the_start_counts() -> None:
    shuffle = ("g1f3", "g8f6", "f3g1", "f6g8")
    game = play(Referee(), *shuffle)
    assert game.outcome is None
    assert play(game, *shuffle).outcome == Outcome(None, "repetition")
    assert game.ply == 8


def test_lost_castling_rights_make_another_position() -> None:
    game = Referee("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1")
    shuffle = ("a1b1", "a8b8", "b1a1", "b8a8")
    play(game, *shuffle, *shuffle)
    # The same board a third time; but all four rights stood with it once only, two of them twice.
    assert game.outcome is None
    assert play(game, "a1b1").outcome is None
    assert play(game, "a8b8").outcome == Outcome(None, "repetition")  # plies 2, 6 and 10, each with the rights Kk


def test_an_en_passant_chance_makes_another_position_only_when_real() -> None:
    cycle = ("e8d8", "e1d1", "d8e8", "d1e1")
    # A black pawn on d4 may capture after ply 1 and no more after plies 5 and 9: that board three times, the position
    # twice.
    game = play(Referee("4k3/8/8/8/3p4/8/4P3/4K3 w - - 0 1"), "e2e4", *cycle, *cycle)
    assert game.ply == 9 and game.outcome is None
    # A knight there may not: the third occurrence.
    game = play(Referee("4k3/8/8/8/3n4/8/4P3/4K3 w - - 0 1"), "e2e4", *cycle, *cycle)
    assert game.ply == 9 and game.outcome == Outcome(None, "repetition")


def test_fifty_moves_each_without_pawn_move_or_capture_draw() -> None:
    game = play(Referee("k7/8/8/8/8/8/8/K7 w - - 98 70"), "a1b1")
    assert game.outcome is None and game.position.quiet_plies == 99
    assert play(game, "a8b8").outcome == Outcome(None, "fifty_moves")


def test_a_pawn_move_or_a_capture_starts_the_fifty_moves_anew() -> None:
    game = play(Referee("k7/8/8/8/8/8/P7/K7 w - - 99 70"), "a2a3")
    assert game.outcome is None and game.position.quiet_plies == 0
    game = play(Referee("k7/8/8/8/8/8/r7/K7 w - - 99 70"), "a1a2")
    assert game.outcome is None and game.position.quiet_plies == 0


def test_the_order_of_tests_is_king_no_move_repetition_fifty_moves() -> None:
    # The hundredth quiet ply may not be a capture, so king and fifty moves never meet; the others do.
    game = play(Referee(WALLED_IN.replace(" 0 1", " 99 80")), "f7f6")
    assert game.outcome == Outcome(chess.BLACK, "no_move")
    game = Referee("k7/8/8/8/8/8/8/K7 w - - 92 70")
    shuffle = ("a1b1", "a8b8", "b1a1", "b8a8")
    assert play(game, *shuffle, *shuffle).outcome == Outcome(None, "repetition")
    assert game.position.quiet_plies == 100


@pytest.mark.parametrize(
    ("fen", "rules", "outcome"),
    [
        (WALLED_IN.replace(" b ", " w "), PAPER, Outcome(chess.BLACK, "no_move")),
        (WALLED_IN.replace(" b ", " w "), PYCHESS, Outcome(None, "no_move")),
        ("k7/8/8/8/8/8/8/K7 w - - 100 90", PAPER, Outcome(None, "fifty_moves")),
        ("k7/8/8/8/8/8/8/K7 w - - 99 90", PAPER, None),
        ("k7/R7/8/8/8/8/8/K7 w - - 0 1", PAPER, None),  # a king that can be taken is not yet taken
    ],
)
def test_a_start_position_may_already_be_over(fen: str, rules: Ruleset, outcome: Outcome | None) -> None:
    game = Referee(fen, rules)
    assert game.outcome == outcome
    assert game.view(chess.WHITE).game_over == outcome
    assert bool(game.legal_moves()) == (outcome is None)


def test_a_ply_limit_draws_and_the_paper_has_none() -> None:
    assert (PYCHESS.ply_limit, PAPER.ply_limit) == (600, None)
    for rules in (PYCHESS, PAPER):
        game = Referee("k7/p7/8/8/8/8/7P/K7 w - - 0 1", Ruleset("test", rules.no_move, 6 if rules.ply_limit else None))
        play(game, "a1b1", "a8b8", "b1c1", "b8c8", "c1d1", "c8d8")
        assert (game.outcome == Outcome(None, "ply_limit")) == (rules is PYCHESS)


def test_resigning_and_flagging_lose_and_both_last_views_tell() -> None:
    for end, reason in ((Referee.resign, "resign"), (Referee.flag, "flag")):
        game = play(Referee(), "e2e4")
        end(game, chess.BLACK)
        assert game.outcome == Outcome(chess.WHITE, reason)
        for color in chess.COLORS:
            assert game.view(color).game_over == game.outcome and game.view(color).legal_moves == ()
            assert game.views(color)[0].game_over is None
        with pytest.raises(IllegalMove, match="over"):
            game.resign(chess.WHITE)


def test_an_illegal_move_changes_nothing_and_tells_nothing_of_the_board() -> None:
    game = Referee()
    with pytest.raises(IllegalMove, match="got e7e5, expected one of the 20 moves of white") as caught:
        play(game, "e7e5")
    assert "rnbq" not in str(caught.value)
    assert game.ply == 0 and len(game.views(chess.WHITE)) == 1


def test_replay_is_the_same_game() -> None:
    game = play(Referee(), "e2e4", "d7d5", "e4d5")
    assert Referee.replay(game.moves).views(chess.WHITE) == game.views(chess.WHITE)
