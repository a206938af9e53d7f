"""The exceptions of dark chess: one base, and a few leaves that are also ``ValueError``.

Every message says what is wrong, what was got, what was expected and, where that helps, what to do.
"""

from __future__ import annotations

from klss.play.contest import Contradiction


class DarkchessError(Exception):
    """Base of every exception that :mod:`darkchess` raises on purpose."""


class EvaluatorError(DarkchessError, ValueError):
    """An evaluator that does not exist, can't be loaded, or lacks what it needs."""


class FenError(DarkchessError, ValueError):
    """A FEN that is garbled, or a position that no game of dark chess may start from (docs/rules.md, rule 6)."""


class IllegalMove(DarkchessError, ValueError):
    """A move that is misspelt, ambiguous, or not among the moves of the side to move; anything after the end."""


class RecordError(DarkchessError, ValueError):
    """A game record (PGN) that cannot be read."""


class ViewError(DarkchessError, Contradiction):
    """An observation that contradicts itself, the view before it, or the rules."""
