"""The package's errors: one base and few subclasses, each of which is also the builtin error that it resembles.

A message says what is wrong, what was found, what was expected and what to do.
"""

from __future__ import annotations

INSTALL_EXTRAS = ".venv/bin/pip install -c constraints.txt -e '.[experiments]' in a clone of klss"
"""Command that installs the packages of the extra ``experiments``; ``klss`` is on no package index."""

MAX_NODES = 5_000_000
"""Default limit of a game tree's nodes. A tree of this size takes minutes to build, and gigabytes."""


class KlssError(Exception):
    """Base of every error that `klss` raises on purpose."""


class GameError(KlssError, ValueError):
    """A game, a strategy or an infoset violates a law of two-player zero-sum games with perfect recall."""


class TooLargeError(KlssError, ValueError):
    """A game takes more nodes or memory than the caller allowed."""

    def __init__(self, what: str, limit: str) -> None:
        super().__init__(what, limit)
        self.what = what  # what is too large, and what was expected
        self.limit = limit  # the limit that can be raised: "max_nodes" or "the limit of memory"

    def __str__(self) -> str:
        return f"{self.what}; raise {self.limit}"


class SolverError(KlssError, RuntimeError):
    """No method could solve a linear program."""
