"""The package's errors: one base, few leaves, each of which is also the builtin it resembles.

A message says what was wrong, what was found, what was expected and what to do about it.
"""

from __future__ import annotations

__all__ = ["INSTALL_EXTRAS", "GameError", "KlssError", "SolverError", "TooLargeError"]

INSTALL_EXTRAS = ".venv/bin/pip install -c constraints.txt -e '.[experiments]' in a clone of klss"
"""What gives the packages of the extra ``experiments``: ``klss`` is on no package index."""


class KlssError(Exception):
    """Base of every error that `klss` raises on purpose."""


class GameError(KlssError, ValueError):
    """A game, a strategy or an infoset breaks a law of two-player zero-sum games with perfect recall."""


class TooLargeError(KlssError, ValueError):
    """A game takes more nodes or memory than the caller allowed."""


class SolverError(KlssError, RuntimeError):
    """No method solved a linear program."""
