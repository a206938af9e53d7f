"""An opening book: the mixed strategies of ``kluss`` at its first turns, by the views of the player to move.

A *page* is one infoset: all observations of one player since the start, with its own moves. Pages are found by a hash
of the player's own views, so nothing here knows a true game. ``docs/analyse.md`` says how the book was made.
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

from darkchess.fog.game.view import View

PACKAGED = Path(__file__).parent / "data" / "openings.json"
"""The packaged book."""

_KEY_BYTES = 8
"""Bytes of a page's key: two of some hundred pages have the same key in one of 10¹⁴ books."""


@dataclass(frozen=True)
class BookMove:
    """A move of a page: its probability in the mixture, its value for the mover (None: no search gave one), and the
    number of people's games in which it was played there."""

    move: chess.Move
    probability: float
    value: float | None
    people: int


@dataclass(frozen=True)
class Page:
    """The strategy at one infoset: the value for the mover, and the moves, those that the engine plays most first."""

    value: float
    moves: tuple[BookMove, ...]

    @property
    def people(self) -> int:
        """Number of people's games that reached this infoset."""
        return sum(each.people for each in self.moves)


@dataclass(frozen=True)
class Book:
    """Pages by their keys, and a head that says how they were made; all pages are before ply ``plies``."""

    head: Mapping[str, Any]
    plies: int
    pages: Mapping[str, Page]

    @classmethod
    @functools.cache
    def packaged(cls) -> Book:
        """Return the packaged book, which is read once."""
        document = json.loads(PACKAGED.read_text(encoding="utf-8"))
        pages = {
            key: Page(value, tuple(BookMove(chess.Move.from_uci(uci), *rest) for uci, *rest in moves))
            for key, (value, moves) in document.pop("pages").items()
        }
        return cls(document, int(document["plies"]), pages)

    def page(self, views: Sequence[View]) -> Page | None:
        """Return the page of the player that saw ``views`` since the usual start position, None if there is none.

        The caller must know that the game began there: views do not show it.
        """
        if views[-1].ply >= self.plies:
            return None
        return self.pages.get(page_key(views))


def page_key(views: Sequence[View]) -> str:
    """Return the key of an infoset: a hash of one player's views, of all plies since the start."""
    hashed = hashlib.blake2b(digest_size=_KEY_BYTES)
    hashed.update(chess.COLOR_NAMES[views[0].color].encode())
    for view in views:
        own = "-" if view.own_move is None else view.own_move.uci()
        # The squares of a capture are not in the view's own key, but they are observed too.
        seen = (own, f"{view.key():x}", view.own_capture_square, view.opp_capture_landing_square)
        hashed.update(" ".join(map(str, seen)).encode() + b"\n")
    return hashed.hexdigest()
