"""Texts that name a bot of ``reconchess``: one of its own, a file, or a class in a module.

========================  ==========================================================================================
``random``, ``attacker``  the bots of that name in ``reconchess.bots``
``trout``                 Trout-R: its TroutBot with an engine that is restarted and limited by the match's budget
                          (:class:`uci_bridge.reconchess.child.LivingEngine`)
``FILE.py``               the one subclass of ``reconchess.Player`` in a file, or what its ``get_player()`` gives
``module:Class``          a class by its name
========================  ==========================================================================================
"""

from __future__ import annotations

import importlib.util
import os
import re
from dataclasses import dataclass
from pathlib import Path

from klss.support.configuration_text import ConfigurationError
from klss.support.text import Document, printable
from uci_bridge.child_processes import engine_environment, own_program
from uci_bridge.commands import Program
from uci_bridge.errors import ReconchessMissing, StockfishMissing
from uci_bridge.protocol.engine_process import EngineProcess, Patience
from uci_bridge.stockfish.evaluator import find_stockfish

BOTS = {
    "attacker": "reconchess.bots.attacker_bot",
    "random": "reconchess.bots.random_bot",
    "trout": "reconchess.bots.trout_bot",
}
"""The bots with names, and their modules."""

PATIENT = Patience(grace_s=60.0)
"""Time limits of bots: generous, since bots don't know the limit of a call, and some take 10 s instead of 0.5 s."""

_CLASS = re.compile(r"(?!cmd:)[A-Za-z_][\w.]*:[A-Za-z_]\w*")


@dataclass(frozen=True)
class Foreign(Program):
    """A bot of ``reconchess``."""

    name: str  # its name in results: the text
    source: str  # its module, ``module:Class``, or the path of its file
    patience: Patience = PATIENT

    def fields(self) -> Document:
        """Its description in results; see :meth:`darkchess.rbc.players.named_rbc_players.Configuration.fields`."""
        return {"name": self.name, "source": self.source}

    def process(self, stockfish: str | None) -> EngineProcess:
        """The program that plays it, game after game.

        ``stockfish`` is the path for bots that read ``STOCKFISH_EXECUTABLE``; None: found as usual. Raises
        StockfishMissing: there is none, and the bot is a Trout.
        """
        environment = engine_environment() | {"PYTHONHASHSEED": "0"}
        try:
            environment["STOCKFISH_EXECUTABLE"] = find_stockfish(stockfish)
        except StockfishMissing:
            if self.name == "trout":
                raise
        living = ["living"] * (self.name == "trout")
        command = own_program("uci_bridge.reconchess.child", self.source, *living)
        return EngineProcess(command, environment=environment, name=self.name, patience=self.patience)


def foreign(text: str) -> Foreign | None:
    """The bot that ``text`` names; None if it names none.

    Raises ReconchessMissing: the text names a bot, and ``reconchess`` is not installed; ConfigurationError: there is no
    such file, or this system can't run bots.
    """
    by_name, by_file, by_class = text in BOTS, text.endswith(".py"), _CLASS.fullmatch(text) is not None
    if not (by_name or by_file or by_class):
        return None
    if not hasattr(os, "fork"):
        raise ConfigurationError(
            f"player: got {text!r}, a bot of reconchess, on a system without fork; expected Linux or macOS for it, or "
            "another player"
        )
    check_reconchess()
    if by_name:
        return Foreign(text, BOTS[text])
    if by_file and not Path(text).is_file():
        raise ConfigurationError(f"player: got {text!r}, expected the file of a reconchess player")
    return Foreign(printable(text), str(Path(text).resolve()) if by_file else text)


def check_reconchess() -> None:
    """Raise :class:`uci_bridge.errors.ReconchessMissing` if the package is not installed."""
    if importlib.util.find_spec("reconchess") is None:
        raise ReconchessMissing(
            "reconchess is not installed: got no such package, expected the extra rbc (pip install reconchess)"
        )
