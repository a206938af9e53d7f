"""OpenSpiel's ``dark_chess`` as an oracle of moves, SAN, views and results, ply by ply over random games.

OpenSpiel differs from our rules around en passant (docs/rules.md, "Independent oracles"), and only there; what it
writes is predicted exactly, not left out:

- the side that can capture en passant is also shown the pawn that it would capture;
- if a pawn of the waiting side stands where it would attack that side's own en passant square, the side is shown the
  square and sees it and the home square behind, as though its pawn could capture its own pawn en passant. That leaks.
  At the edge of the board it looks around the corner (``ToDarkFEN`` in its chess_board.cc reads file -1 as the h-file
  of the rank below, file 8 as the a-file of the rank above), and then tells the square without showing it.

Its players are numbered 0 Black, 1 White; a player who cannot move draws; its observation string holds the true
halfmove counter, which is not ours to show.
"""

from __future__ import annotations

import random
from dataclasses import replace

import chess
import pytest

from darkchess import Referee, Ruleset, View
from darkchess.fog.game.san import san
from tests.oracles.starts import STARTS, next_move

pyspiel = pytest.importorskip("pyspiel")

PLIES = 19_500
RULES = Ruleset("openspiel", no_move="draw")


def as_openspiel_shows(view: View, referee: Referee) -> View:
    """``view`` with OpenSpiel's two deviations, which concern nothing but a possible en passant capture."""
    target = referee.position.ep_square
    if target is None:
        return view
    if view.to_move == view.color:
        pawn = target + (-8 if view.color else 8)
        pieces = {**view.pieces, pawn: chess.Piece(chess.PAWN, not view.color)}
        return replace(view, visible=view.visible | 1 << pawn, pieces=pieces)
    home = target + (8 if referee.turn else -8)
    beside = [s for s in (home - 1, home + 1) if view.piece_at(s) == chess.Piece(chess.PAWN, view.color)]
    if any(chess.square_distance(square, home) == 1 for square in beside):
        return replace(view, visible=view.visible | 1 << target | 1 << home, ep_square=target)
    return replace(view, ep_square=target) if beside else view


@pytest.mark.slow
def test_openspiel_agrees_on_moves_views_and_results_and_differs_on_en_passant_as_documented() -> None:
    plies = shown_pawns = told_squares = seen_squares = 0
    reasons = set()
    rng = random.Random(20261)
    game_number = 0
    while plies < PLIES:
        fen = STARTS[game_number % len(STARTS)]
        game_number += 1
        state = pyspiel.load_game("dark_chess", {"fen": fen}).new_initial_state()
        referee = Referee(fen, RULES)
        for _ in range(250):
            for color in chess.COLORS:
                if referee.outcome is not None and referee.outcome.reason == "king_captured":
                    continue  # OpenSpiel has no view of a board without a king
                ours = referee.view(color)
                shown = as_openspiel_shows(ours, referee)
                theirs = state.observation_string(int(color)).split()
                # Board, side to move, own castling rights, en passant square; the counters are the true game's.
                assert theirs[:4] == shown.fog_fen().split()[:4], referee.position.fen()
                if shown != ours:
                    shown_pawns += ours.to_move == color
                    told_squares += shown.ep_square != ours.ep_square
                    seen_squares += ours.to_move != color and shown.visible != ours.visible
            assert state.is_terminal() == (referee.outcome is not None), referee.position.fen()
            if referee.outcome is not None:
                winner = referee.outcome.winner
                assert state.returns()[1] == (0 if winner is None else 1 if winner else -1), referee.position.fen()
                reasons.add(referee.outcome.reason)
                break
            actions = {state.action_to_string(action): action for action in state.legal_actions()}
            assert set(actions) == {san(referee.position, move) for move in referee.legal_moves()}
            chosen = next_move(rng, referee)
            state.apply_action(actions[san(referee.position, chosen)])
            referee.push(chosen)
            plies += 1
    # The games reached what they are for: every way of ending but a flag, and both deviations, each a real difference.
    assert reasons == {"king_captured", "no_move", "repetition", "fifty_moves"}
    assert min(shown_pawns, told_squares, seen_squares) >= 20, (shown_pawns, told_squares, seen_squares)
