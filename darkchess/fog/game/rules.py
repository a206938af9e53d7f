"""Rulesets (docs/rules.md, rules 2 and 3): the differences between the papers' game and the one played on pychess."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

REPETITIONS = 3
"""The game is drawn at this occurrence of a position; the start position's first occurrence counts."""

FIFTY_MOVES_PLIES = 100
"""The game is drawn after this many plies in a row without a pawn move or a capture."""


@dataclass(frozen=True)
class Ruleset:
    """The choices that the rules leave open."""

    name: str  # on the command line
    no_move: Literal["loss", "draw"]  # result for a player without a move
    ply_limit: int | None = None  # the game is drawn after this many plies; None: never


PAPER = Ruleset("paper", "loss")
"""The papers' game: a player without a move loses; no limit on plies."""

PYCHESS = Ruleset("pychess", "draw", 600)
"""The game as pychess.org plays it: a player without a move draws, and ply 600 is a draw."""

RULESETS = {PAPER.name: PAPER, PYCHESS.name: PYCHESS}
"""The rulesets by name."""
