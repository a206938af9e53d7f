"""The openings of a match's games: random moves; both games of a pair have the same one.

The referee plays the moves of an opening before the players take over, so each player has seen its views of those plies
and nothing more. A start position (FEN) is known to both.
"""

from __future__ import annotations

import hashlib
import random
from dataclasses import dataclass

import chess

from darkchess.board.position import Position
from darkchess.fog.game.referee import Referee
from darkchess.fog.game.rules import PAPER, Ruleset
from uci_bridge.errors import UciBridgeError

_DRAWS = 1000


class OpeningError(UciBridgeError):
    """Random moves give no opening."""


@dataclass(frozen=True)
class Opening:
    """The beginning of a game."""

    fen: str | None = None  # start position; None for the usual one
    moves: tuple[str, ...] = ()  # moves in UCI notation from there

    def text(self) -> str | None:
        """The moves, else the start position, else None."""
        return " ".join(self.moves) or self.fen


def random_opening(plies: int, seed: int, fen: str | None = None, ruleset: Ruleset = PAPER) -> Opening:
    """The opening of a pair of games: ``plies`` random moves, uniform over the legal ones at each ply, a function of
    ``seed``, which no player gets. It is drawn again if the game is over after it, or if either side, were it to move,
    could capture the king at once. Raises OpeningError: no draw gave one.

    >>> one, same = (random_opening(6, seed=3) for _ in range(2))
    >>> one == same and len(one.moves) == 6
    True
    """
    rng = random.Random(int.from_bytes(hashlib.sha256(f"opening/{seed}".encode()).digest(), "little"))
    for _ in range(_DRAWS):
        game = Referee(fen, ruleset)
        while game.ply < plies and game.outcome is None:
            game.push(rng.choice(game.legal_moves()))
        if game.outcome is None and not king_hangs(game.position):
            return Opening(fen, tuple(move.uci() for move in game.moves))
    raise OpeningError(
        f"got {plies} random plies, but {_DRAWS} draws ended the game or left a king to be captured; expected fewer "
        "plies, or another start position"
    )


def king_hangs(position: Position) -> bool:
    """Whether either side, were it to move, could capture the other's king at once."""
    here = chess.Board(position.fen())
    return any(here.is_attacked_by(not here.color_at(king), king) for king in chess.scan_forward(here.kings))
