"""An opening book: what ``kluss`` plays at its first turns, by what the player whose turn it is has seen.

A *page* is one infoset: all that one player observed since the start, its own moves among it. Pages are found by a hash
of the player's own views, so nothing here knows a true game. ``python -m experiments.openings`` makes the book
(``docs/openings.md``).
"""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import chess
import numpy as np

from darkchess.fog.game.view import View

__all__ = ["PACKAGED", "Book", "BookMove", "Page", "page_key"]

PACKAGED = Path(__file__).parent / "data" / "openings.json"
"""The book that comes with klss."""

_KEY_BYTES = 8
"""Of a page's key; some hundred pages are mistaken for one another once in 10¹⁴ books."""


@dataclass(frozen=True)
class BookMove:
    """A move of a page: its probability in the mixture, its value for the mover (None: no search said), and in how many
    games people played it there."""

    move: chess.Move
    probability: float
    value: float | None
    people: int


@dataclass(frozen=True)
class Page:
    """What is played at one infoset: the value for the mover, and the moves, the most played by the engine first."""

    value: float
    moves: tuple[BookMove, ...]

    @property
    def people(self) -> int:
        """Number of people's games that came here."""
        return sum(each.people for each in self.moves)

    @property
    def mixture(self) -> dict[chess.Move, float]:
        """The mixed strategy, summing to 1: moves that people alone play are not in it."""
        total = sum(each.probability for each in self.moves)
        return {each.move: each.probability / total for each in self.moves if each.probability > 0.0}

    def draw(self, rng: np.random.Generator) -> chess.Move:
        """A move of the mixture."""
        mixture = self.mixture
        moves = list(mixture)
        return moves[int(rng.choice(len(moves), p=list(mixture.values())))]


@dataclass(frozen=True)
class Book:
    """Pages by their keys, and how they were made; ``plies``: no page is so late in a game."""

    head: Mapping[str, Any]
    plies: int
    pages: Mapping[str, Page]

    @classmethod
    @functools.cache
    def packaged(cls) -> Book:
        """The book that comes with klss."""
        return cls.read(PACKAGED)

    @classmethod
    def read(cls, path: Path) -> Book:
        """The book of a file, as ``experiments.openings`` writes it."""
        document = json.loads(path.read_text(encoding="utf-8"))
        pages = {
            key: Page(value, tuple(BookMove(chess.Move.from_uci(uci), *rest) for uci, *rest in moves))
            for key, (value, moves) in document.pop("pages").items()
        }
        return cls(document, int(document["plies"]), pages)

    def page(self, views: Sequence[View]) -> Page | None:
        """The page of the player that saw ``views`` since the usual start position; None: the book does not have it.

        Only the caller knows that the game began there: a view does not show it.
        """
        if views[-1].ply >= self.plies:
            return None
        return self.pages.get(page_key(views))


def page_key(views: Sequence[View]) -> str:
    """Key of an infoset: a hash of the views of one player, of all plies since the start."""
    hashed = hashlib.blake2b(digest_size=_KEY_BYTES)
    hashed.update(chess.COLOR_NAMES[views[0].color].encode())
    for view in views:
        own = "-" if view.own_move is None else view.own_move.uci()
        # What was captured where is not in the view's own key, but it is observed too.
        seen = (own, f"{view.key():x}", view.own_capture_square, view.opp_capture_landing_square)
        hashed.update(" ".join(map(str, seen)).encode() + b"\n")
    return hashed.hexdigest()
