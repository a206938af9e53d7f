"""Start positions of the oracles' random games: the usual one most of the time, and corners that it seldom reaches."""

from __future__ import annotations

import random

import chess

from darkchess import START_FEN, Referee

STARTS = (
    START_FEN,
    START_FEN,
    START_FEN,
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",  # castling, both sides and wings
    "r3k2r/8/8/4Q3/4q3/8/8/R3K2R b KQkq - 0 1",  # castling through attack
    "4k3/pppppppp/8/PPPP4/4pppp/8/PPPPPPPP/4K3 w - - 0 1",  # en passant, again and again
    "4k3/pp1ppppp/8/1PpP4/4pPp1/8/PPP1P1PP/4K3 w - c6 0 1",  # en passant at once
    "n1n5/PPPk4/8/8/8/8/4Kppp/5N1N b - - 0 1",  # promotions
    "8/8/8/3k4/8/3K4/8/8 w - - 0 1",  # king against king: repetitions, fifty moves, kings that meet
    "7k/7p/7P/8/8/8/8/K7 w - - 90 60",  # the fifty moves are near
    "7k/p6p/P6P/8/8/8/8/K7 b - - 0 1",  # blocked pawns
    "8/5k2/8/8/p1p5/P1Pp4/PB1P4/KNB5 b - - 0 1",  # White is walled in by its own pieces: no move
)
"""FENs, to be taken in turn."""


def next_move(rng: random.Random, referee: Referee) -> chess.Move:
    """A random move, but often the last one of this side taken back: so positions come again, with and without the same
    rights."""
    if referee.ply >= 2 and rng.random() < 0.25:
        last = referee.moves[-2]
        back = chess.Move(last.to_square, last.from_square)
        if back in referee.legal_moves():
            return back
    return rng.choice(referee.legal_moves())
