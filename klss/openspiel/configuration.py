"""The named players of OpenSpiel's games, and the texts that choose one (:mod:`klss.support.configurations`)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from klss.openspiel.ismcts import IsmctsPlayer
from klss.openspiel.model import Values
from klss.openspiel.players import PolicyPlayer, RandomPlayer, SearchingPlayer
from klss.policies import Named, PolicyError, read_policy
from klss.search import Klss2021, Kluss, SearchConfiguration
from klss.support.configurations import ConfigurationError, chosen
from klss.table.configuration import FlatConfiguration, by_name

__all__ = ["CONFIGURATIONS", "POLICY", "Configuration", "configuration", "make_player"]

POLICY = "policy:"
"""What the text of a player by a given strategy begins with; a file of ``klss solve --out`` follows."""


@dataclass(frozen=True)
class Configuration(FlatConfiguration):
    """One player's choices.

    Attributes
    ----------
    cap : int
        Most histories that it holds possible.
    file : str
        Of a given strategy.
    search : SearchConfiguration or None
        What it thinks with.
    """

    cap: int = 20_000
    file: str = ""
    search: SearchConfiguration | None = None

    PARTS = ("search",)
    RANGES: ClassVar = {"cap": (1, math.inf)}


_MEMORY_MB = 1000
"""A node's share of memory is larger than in chess: its state is an object of OpenSpiel's."""

CONFIGURATIONS = by_name(
    # 1-KLSS by regret minimisation below a safe root: where the game fits into its budget, nobody can exploit it.
    Configuration(
        "kluss",
        "klss",
        search=Kluss(order=1, root="safe", value_beta=0.0, purify=False, memory_mb=_MEMORY_MB),
    ),
    # The paper's search (Zhang & Sandholm 2021), by linear programs.
    Configuration("klss2021", "klss", search=Klss2021(caution=1.0, purify=False, memory_mb=_MEMORY_MB)),
    # OpenSpiel's own search.
    Configuration("ismcts", "ismcts"),
    # Any legal action.
    Configuration("random", "random"),
)
"""The named configurations."""


def configuration(text: str) -> Configuration:
    """The configuration that ``text`` describes: ``NAME``, ``NAME,field=value,…``, ``FILE.toml`` or ``policy:FILE``.

    Raises
    ------
    ConfigurationError
        Says what is wrong with it.

    Examples
    --------
    >>> configuration("kluss,particles=50").fields()["particles"]
    50
    """
    if text.startswith(POLICY):
        _policy(text.removeprefix(POLICY))
        return Configuration(text, "policy", file=text.removeprefix(POLICY))
    return chosen(text, CONFIGURATIONS, "kluss")


def make_player(chosen: Configuration, game: Any, seed: int = 0, values: Values | None = None) -> RandomPlayer:
    """The player of a configuration, for a ``pyspiel.Game`` of :func:`klss.openspiel.games.spiel_game`; ``values`` is
    what a search values states by, instead of playouts.
    """
    if chosen.player == "klss":
        assert chosen.search is not None
        return SearchingPlayer(game, chosen.search, seed, cap=chosen.cap, values=values)
    if chosen.player == "ismcts":
        return IsmctsPlayer(game, seed, cap=chosen.cap)
    if chosen.player == "policy":
        first, second = _policy(chosen.file)
        return PolicyPlayer({True: first, False: second}, seed)
    return RandomPlayer(seed)


def _policy(path: str) -> tuple[Named, Named]:
    """Both players' strategies of a file."""
    try:
        return read_policy(Path(path))
    except PolicyError as error:
        raise ConfigurationError(f"{POLICY}{error}") from None
