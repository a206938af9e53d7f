"""The exceptions of the bridge: one base, leaves that are also the builtin they resemble."""

from __future__ import annotations

from darkchess.errors import EvaluatorError

FAULT_SHOWN = 500
"""Characters of a fault that a record or a message keeps."""


class UciBridgeError(Exception):
    """Base of every exception that :mod:`uci_bridge` raises on purpose."""


class StockfishMissing(UciBridgeError, EvaluatorError, FileNotFoundError):
    """There is no Stockfish at the given place or the usual ones, or the program there does not speak UCI."""


class ReconchessMissing(UciBridgeError, ImportError):
    """The package ``reconchess`` is not installed, or can't be imported."""


class EngineFailed(UciBridgeError, OSError):
    """An engine's process can't be started, has ended, is silent, or breaks the protocol; the message says which."""


class NeverAnswered(UciBridgeError):
    """A program failed before its first answer in a match: it may be no engine, or lack what it needs to run."""
