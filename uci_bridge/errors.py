"""The exceptions of the bridge: one base, leaves that are also the builtin they resemble."""

from __future__ import annotations

__all__ = ["StockfishMissing", "UciBridgeError"]


class UciBridgeError(Exception):
    """Base of every exception that :mod:`uci_bridge` raises on purpose."""


class StockfishMissing(UciBridgeError, FileNotFoundError):
    """No Stockfish where one was named, or anywhere it is looked for; or what is there does not speak UCI."""
