"""The package's errors: one base, few leaves, each of which is also the builtin it resembles.

A message says what was wrong, what was found, what was expected and what to do about it.
"""

from __future__ import annotations

__all__ = ["GameError", "KlssError", "SolverError", "TooLargeError"]


class KlssError(Exception):
    """Base of every error that `klss` raises on purpose."""


class GameError(KlssError, ValueError):
    """A game, a strategy or an infoset breaks a law of two-player zero-sum games with perfect recall."""


class TooLargeError(KlssError, ValueError):
    """A game has more nodes than the caller allowed."""


class SolverError(KlssError, RuntimeError):
    """No method solved a linear program."""
