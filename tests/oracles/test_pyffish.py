"""Fairy-Stockfish (pyffish) as an oracle of moves, positions, views and results, ply by ply over random games.

The variant is not built in: a king that may be captured is Fairy-Stockfish's *commoner* that must not go extinct
(docs/rules.md, "Independent oracles"). It fogs for the side to move only, so the other side's view is asked for with
the turn handed over and no en passant square: rule 4's "if it were its turn". It copies both sides' castling
rights and both counters into a fog FEN; only its board is compared. Nothing else differs, en passant included.
"""

from __future__ import annotations

import random

import chess
import pytest

from darkchess import Referee, Ruleset
from tests.oracles.starts import STARTS, next_move

pyffish = pytest.importorskip("pyffish")

RULES = Ruleset("pyffish", no_move="draw")
VARIANT = "fogofwar"
CONFIG = """[fogofwar:chess]
king = -
commoner = k
castlingKingPiece = k
extinctionValue = loss
extinctionPieceTypes = k
"""


@pytest.fixture(scope="module", autouse=True)
def variant() -> None:
    pyffish.load_variant_config(CONFIG)


def fog_board(fen: str, color: chess.Color) -> str:
    """Fairy-Stockfish's board as ``color`` sees it, with our sign for hidden squares."""
    fields = fen.split()
    if (fields[1] == "w") != color:
        fields[1], fields[3] = "w" if color else "b", "-"
    return str(pyffish.get_fog_fen(" ".join(fields), VARIANT).split()[0].replace("*", "?"))


def compare(plies_wanted: int, seed: int, longest: int = 120) -> None:
    """Play random games of at most ``longest`` plies side by side. Every call to Fairy-Stockfish costs a millisecond or
    two, so few are made a ply."""
    plies = 0
    reasons = set()
    rng = random.Random(seed)
    game_number = 0
    while plies < plies_wanted:
        fen = STARTS[game_number % len(STARTS)]
        game_number += 1
        referee = Referee(fen, RULES)
        line: list[str] = []  # since the last irreversible move: all that the draws depend on
        line_fen = referee.position.fen()
        theirs = pyffish.get_fen(VARIANT, line_fen, line)
        for _ in range(longest):
            outcome = referee.outcome
            assert theirs == referee.position.fen()
            if outcome is not None and outcome.reason == "king_captured":
                over, value = pyffish.is_immediate_game_end(VARIANT, theirs, [])
                assert over and value < 0 and outcome.winner != referee.turn  # the side to move lost
                reasons.add(outcome.reason)
                break
            for color in chess.COLORS:
                assert fog_board(theirs, color) == referee.view(color).fog_fen().split()[0], theirs
            legal = sorted(pyffish.legal_moves(VARIANT, theirs, []))
            if not legal:
                assert outcome is not None and (outcome.winner, outcome.reason) == (None, "no_move"), theirs
                assert pyffish.game_result(VARIANT, theirs, []) == 0
                assert not pyffish.is_immediate_game_end(VARIANT, theirs, [])[0]
            elif referee.position.quiet_plies >= 8:  # no draw is possible before
                drawn, _ = pyffish.is_optional_game_end(VARIANT, line_fen, line)
                assert drawn == (outcome is not None), (theirs, outcome)
            else:
                assert outcome is None
            if outcome is not None:
                reasons.add(outcome.reason)
                break
            assert legal == sorted(move.uci() for move in referee.legal_moves()), theirs
            chosen = next_move(rng, referee)
            referee.push(chosen)
            plies += 1
            line.append(chosen.uci())
            if referee.position.quiet_plies == 0:
                theirs = pyffish.get_fen(VARIANT, theirs, [chosen.uci()])
                line, line_fen = [], theirs
            else:
                theirs = pyffish.get_fen(VARIANT, line_fen, line)
    assert reasons == {"king_captured", "no_move", "repetition", "fifty_moves"}


@pytest.mark.slow
def test_pyffish_agrees_on_moves_positions_views_and_results() -> None:
    # Short games, so that few plies reach all four ends.
    compare(600, seed=20270, longest=60)


@pytest.mark.soak
def test_pyffish_agrees_over_many_more_plies() -> None:
    compare(20_000, seed=20263)
