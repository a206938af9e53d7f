"""Games for the tests of the position set.

Start positions chosen for what happens in them, moves chosen to make it happen, and the translation to the oracle.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

import chess
import numpy as np
import pytest

from darkchess import Referee
from darkchess.fog.belief.filter import SECONDS, Filter
from darkchess.fog.belief.position_set import PositionSet
from darkchess.fog.game.contest import Player
from darkchess.fog.players.named_fog_players import configuration, make_player
from klss_app.bench import positions
from tests.oracles import brute_force

Likelihood = Callable[[brute_force.Position], dict[tuple[int, int, str], float]]

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


def seated(text: str, game: Referee, color: chess.Color | None = None, seed: int = 1) -> Player:
    """A player by its configuration that has seen what ``color`` (by default the side to move) saw of a game."""
    return positions.seated(make_player(configuration(text), seed=seed), game, color)


def followed(moves: Iterable[str], color: chess.Color, **options: Any) -> tuple[Referee, PositionSet]:
    """A game after ``moves``, and what ``color`` then holds possible; ``options`` are those of the set."""
    game = Referee()
    known = PositionSet(game.view(color), game.position, **options)
    for move in moves:
        game.push(chess.Move.from_uci(move))
        known.observe(game.view(color))
    return game, known


def fen_of(position: brute_force.Position) -> str:
    """The FEN of an oracle's position, with fresh counters."""
    rows = []
    for rank in range(7, -1, -1):
        row = position[0][8 * rank : 8 * rank + 8]
        for length in range(8, 0, -1):
            row = row.replace("." * length, str(length))
        rows.append(row)
    ep = "-" if position[3] < 0 else chess.SQUARE_NAMES[position[3]]
    return f"{'/'.join(rows)} {position[1]} {position[2] or '-'} {ep} 0 1"


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


def blocked(game: Referee, color: chess.Color) -> list[str]:
    """What stands before its pawns, out of sight."""
    view, found = game.view(color), []
    ahead = 8 if color else -8
    for square, piece in view.pieces.items():
        if piece == chess.Piece(chess.PAWN, color):
            at_home = chess.square_rank(square) == (1 if color else 6)
            if not view.sees(square + ahead):
                found.append("a blocked pawn")
            elif at_home and view.piece_at(square + ahead) is None and not view.sees(square + 2 * ahead):
                found.append("a blocked double step")
    return found


def compare(
    fen: str | None,
    seed: int,
    tally: Counter[str],
    plies: int = 20,
    enough: int = 60,
    weigher: Callable[[], Filter] | None = None,
    likelihood: Likelihood | None = None,
) -> int:
    """Play a game; both players' sets equal the enumerator's after every ply, until it finds more than ``enough``; and
    so do the weights of a filter, by the same likelihood of moves. Returns the number of comparisons.
    """
    rng, game = random.Random(seed), Referee(fen)
    truth = brute_force.parse(game.position.fen())
    known = {
        color: PositionSet(game.view(color), game.position, seed=seed, weigher=weigher() if weigher else None)
        for color in chess.COLORS
    }
    oracle = {color: {truth: 1.0} for color in chess.COLORS}
    comparisons = 0
    for _ in range(plies):
        move = choose(game, rng)
        mover, played = game.turn, move_of(move)
        for color in oracle:
            whose = "own" if mover == color else "the enemy's"
            tally.update(f"{whose}: {kind}" for kind in kinds(game, move))
        lost = brute_force.taken(truth, played)
        truth = brute_force.play(truth, played)
        game.push(move)
        if game.outcome is not None or not oracle:
            break
        for color in list(oracle):
            side, own = "w" if color else "b", played if color == mover else None
            landed = lost if lost == played[1] else -1
            look = brute_force.look(truth, side, *((-1, -1) if own else (lost, landed)))
            tally["en passant told"] += look.ep >= 0
            tally.update(blocked(game, color))
            found: dict[brute_force.Position, float] = {}
            if likelihood is None:
                found = dict.fromkeys(brute_force.step(set(oracle[color]), side, own, look), 1.0)
            else:
                for position, weight in oracle[color].items():
                    left = brute_force.step({position}, side, own, look)
                    for reply, likely in ({own: 1.0} if own else likelihood(position)).items():
                        successor = brute_force.play(position, reply)
                        if successor in left:
                            found[successor] = found.get(successor, 0.0) + weight * likely
            if likelihood is not None and len(found) > enough:
                del oracle[color]
                continue
            oracle[color], mine = found, known[color]
            mine.observe(game.view(color), allowance=mine.size * SECONDS["tables"])
            texts = [text(row) for row in mine.rows(np.arange(mine.size))]
            assert len(texts) == len(found) and set(texts) == found.keys(), (fen, seed, game.ply, color)
            assert mine.contains(game.position.row)
            if mine.weigher is not None:
                total = sum(found.values())
                weights = dict(zip(texts, mine.weights.tolist(), strict=True))
                assert weights == pytest.approx({each: found[each] / total for each in texts}, rel=1e-9, abs=1e-300)
            comparisons += 1
            if len(found) > enough:
                del oracle[color]
    return comparisons
