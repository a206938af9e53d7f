"""Games for the tests of the position set.

Start positions chosen for what happens in them, moves chosen to make it happen, and the translation to the oracle.
"""

from __future__ import annotations

import random
from collections import Counter

import chess
import numpy as np

from darkchess import Referee
from tests.oracles import brute_force

STARTS = {
    "the usual start": None,
    "castling, open back ranks": "r3k2r/pppppppp/8/8/8/8/PPPPPPPP/R3K2R w KQkq - 0 1",
    "castling, nothing else": "r3k2r/8/8/8/8/8/8/R3K2R b KQkq - 0 1",
    "castling, one side each": "r3k3/1p4p1/8/8/8/8/1P4P1/4K2R w Kq - 0 1",
    "castling beside pawns about to promote": "r3k2r/p6p/1P4P1/8/8/1p4p1/P6P/R3K2R w KQkq - 0 1",
    "en passant for White": "4k3/pppp4/8/P1P1P3/8/8/4P3/4K3 b - - 0 1",
    "en passant for Black": "4k3/4p3/8/8/p1p1p3/8/PPPP4/4K3 w - - 0 1",
    "en passant told at once": "4k3/8/8/2PpP3/8/8/8/4K3 w - d6 0 1",
    "en passant open to Black at once": "4k3/8/8/8/2pPp3/8/8/4K3 b - d3 0 1",
    "pawn chains": "4k3/1p1p1p2/P1P1P3/8/8/p1p1p3/1P1P1P2/4K3 w - - 0 1",
    "blocked pawns": "4k3/3p4/8/3p4/3P4/8/3P4/4K3 w - - 0 1",
    "a double step blocked on its second square": "4k3/p1p5/8/P7/2p5/8/2P1P3/4K3 b - - 0 1",
    "promotions": "8/2P1k3/8/8/8/8/3p2K1/8 w - - 0 1",
    "promotions by capture": "rn2k3/P1P5/8/8/8/8/p1p5/RN2K3 b - - 0 1",
    "rook's right lost by capture": "r3k2r/8/6N1/1B6/1b6/6n1/8/R3K2R w KQkq - 0 1",
    "queen and king": "k7/8/8/8/8/8/8/KQ6 w - - 0 1",
    "rooks": "3rk3/8/8/8/8/8/8/3RK3 w - - 0 1",
    "minor pieces": "2bnk3/8/8/8/8/8/8/2BNK3 b - - 0 1",
    "nearly no move": "k7/P7/8/8/8/8/p7/K7 w - - 0 1",
    "a crowd": "rnbqkbnr/8/8/8/8/8/8/RNBQKBNR w KQkq - 0 1",
}

LETTERS = "PNBRQK"


def text(row: np.ndarray) -> brute_force.Position:
    """A kernels' row as the oracle writes positions."""
    sets = [int(word) for word in row]
    board = ["."] * 64
    for piece, letter in enumerate(LETTERS):
        pieces = sets[piece]
        while pieces:
            square = (pieces & -pieces).bit_length() - 1
            pieces &= pieces - 1
            board[square] = letter if sets[6] >> square & 1 else letter.lower()
    meta = sets[8]
    rights = "".join(right for i, right in enumerate("KQkq") if meta >> 1 + i & 1)
    return "".join(board), "wb"[meta & 1], rights, (meta >> 8 & 0x7F) - 1


def move_of(move: chess.Move) -> tuple[int, int, str]:
    """A move as the oracle writes it."""
    return move.from_square, move.to_square, chess.piece_symbol(move.promotion) if move.promotion else ""


def choose(game: Referee, rng: random.Random, spice: float = 0.5) -> chess.Move:
    """A random move; with probability ``spice`` a rare one (castling, en passant, promotion, double step,
    capture) where there is one, never of a king.
    """
    king = game.position.king(not game.turn)
    legal = [move for move in game.legal_moves() if move.to_square != king] or list(game.legal_moves())
    rare = [move for move in legal if kinds(game, move)]
    return rng.choice(rare if rare and rng.random() < spice else legal)


def kinds(game: Referee, move: chess.Move) -> list[str]:
    """What is special about a move."""
    position = game.position
    piece = position.piece_at(move.from_square)
    found = []
    if position.captured_square(move) is not None:
        found.append("en passant" if position.captured_square(move) != move.to_square else "capture")
    if move.promotion:
        found.append("promotion")
    if piece.piece_type == chess.KING and abs(move.to_square - move.from_square) == 2:
        found.append("castling")
    if piece.piece_type == chess.PAWN and abs(move.to_square - move.from_square) == 16:
        found.append("double step")
    return found


def happened(before: Referee, move: chess.Move, tally: Counter[str], color: chess.Color) -> None:
    """Count what ``move`` was to the player ``color``."""
    whose = "own" if before.turn == color else "the enemy's"
    for kind in kinds(before, move):
        tally[f"{whose}: {kind}"] += 1
