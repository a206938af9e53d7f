"""The openings of a match's games: random moves, or the lines of a file; both games of a pair have the same one.

The referee plays the moves of an opening before the players take over, so each player has seen its views of those plies
and nothing more. A start position (FEN) is known to both.
"""

from __future__ import annotations

import hashlib
import random
from dataclasses import dataclass
from pathlib import Path

import chess

from darkchess.board.position import Position
from darkchess.errors import DarkchessError
from darkchess.fog.game.referee import Referee
from darkchess.fog.game.rules import PAPER, Ruleset
from klss.support.text import read_text
from uci_bridge.errors import UciBridgeError

MOST_PLIES = 200
"""The longest random opening."""

_DRAWS = 1000


class OpeningError(UciBridgeError):
    """A line of a file is not an opening, or random moves give none."""


@dataclass(frozen=True)
class Opening:
    """The beginning of a game."""

    fen: str | None = None  # start position; None for the usual one
    moves: tuple[str, ...] = ()  # moves in UCI notation from there

    def text(self) -> str | None:
        """The moves, else the start position, else None."""
        return " ".join(self.moves) or self.fen


@dataclass(frozen=True)
class RandomOpenings:
    """Random moves, uniform over the legal ones at each ply.

    An opening is drawn again if the game is over after it, or if either side, were it to move, could capture the king
    at once.
    """

    plies: int  # number of moves, 1 to ``MOST_PLIES``

    def __post_init__(self) -> None:
        """Refuse a number out of range."""
        if not 1 <= self.plies <= MOST_PLIES:
            raise OpeningError(f"got {self.plies} random plies, expected 1 to {MOST_PLIES}")

    def opening(self, pair: int, seed: int, fen: str | None = None, ruleset: Ruleset = PAPER) -> Opening:
        """The opening of a pair of games, a function of ``seed``, which no player gets. Raises OpeningError: no draw
        gave one.

        >>> one, same = (RandomOpenings(6).opening(0, seed=3) for _ in range(2))
        >>> one == same and len(one.moves) == 6
        True
        """
        rng = random.Random(int.from_bytes(hashlib.sha256(f"opening/{seed}".encode()).digest(), "little"))
        for _ in range(_DRAWS):
            game = Referee(fen, ruleset)
            while game.ply < self.plies and game.outcome is None:
                game.push(rng.choice(game.legal_moves()))
            if game.outcome is None and not king_hangs(game.position):
                return Opening(fen, tuple(move.uci() for move in game.moves))
        raise OpeningError(
            f"got {self.plies} random plies, but {_DRAWS} draws ended the game or left a king to be captured; "
            "expected fewer plies, or another start position"
        )

    def identity(self) -> object:
        """JSON values that are equal for equal openings, for resuming a match."""
        return {"random_plies": self.plies}


@dataclass(frozen=True)
class FileOpenings:
    """The openings of a file: one for each pair, in its order, over and over."""

    openings: tuple[Opening, ...]  # at least one

    def opening(self, pair: int, seed: int, fen: str | None = None, ruleset: Ruleset = PAPER) -> Opening:
        """The opening of a pair of games."""
        return self.openings[pair % len(self.openings)]

    def identity(self) -> object:
        """JSON values that are equal for equal openings, for resuming a match."""
        return {"lines": [{"fen": opening.fen, "moves": " ".join(opening.moves)} for opening in self.openings]}


def king_hangs(position: Position) -> bool:
    """Whether either side, were it to move, could capture the other's king at once."""
    fields = position.fen().split()
    fields[1], fields[3] = ("b" if fields[1] == "w" else "w"), "-"
    for one in (position, Position.from_fen(" ".join(fields))):
        king = one.king(not one.turn)
        if any(move.to_square == king for move in one.legal_moves()):
            return True
    return False


def read_openings(path: Path, fen: str | None = None, ruleset: Ruleset = PAPER) -> FileOpenings:
    """The openings of a file: on each line either moves in UCI notation or a FEN; ``#`` begins a comment.

    Lines of moves start from ``fen``; None: from the usual position. Raises OpeningError, which names the line.
    """
    try:
        lines = read_text(path).splitlines()
    except OSError as error:
        raise OpeningError(f"can't read {str(path)!r}: {error.strerror}; expected a file of openings") from None
    except UnicodeDecodeError:
        raise OpeningError(f"{str(path)!r} is no text in UTF-8; expected a file of openings") from None
    openings = []
    for number, line in enumerate(lines, 1):
        words = line.partition("#")[0].split()
        if not words:
            continue
        try:
            openings.append(_read(words, fen, ruleset))
        except (DarkchessError, OpeningError, ValueError) as error:
            raise OpeningError(f"{str(path)!r}, line {number}: {error}") from None
    if not openings:
        raise OpeningError(f"{str(path)!r} holds no opening; expected lines of moves (e2e4 e7e5) or of FEN")
    return FileOpenings(tuple(openings))


def _read(words: list[str], fen: str | None, ruleset: Ruleset) -> Opening:
    if "/" in words[0]:
        if fen is not None:
            raise OpeningError("got a FEN, expected moves, since --fen says where the games start")
        opening = Opening(" ".join(words))
    else:
        opening = Opening(fen, tuple(words))
    outcome = Referee.replay(map(chess.Move.from_uci, opening.moves), opening.fen, ruleset).outcome
    if outcome is not None:
        raise OpeningError(f"the game is over there ({outcome.reason}); expected one that goes on")
    return opening
