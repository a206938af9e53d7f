"""The named players of OpenSpiel's games, and the texts that choose one (:mod:`klss.support.configuration_text`)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from klss.errors import GameError
from klss.openspiel.ismcts import IsmctsPlayer
from klss.openspiel.model import Values
from klss.openspiel.players import PolicyPlayer, RandomPlayer, SearchingPlayer
from klss.search import Klss2021, Kluss, SearchConfiguration
from klss.support.configuration_text import ConfigurationError, FlatConfiguration, by_name, chosen
from klss.theory.game import Named
from klss.theory.policies import read_policy

POLICY = "policy:"
"""Prefix of the text for a player with a given strategy; the path of a file of ``klss solve --out`` follows."""


@dataclass(frozen=True)
class Configuration(FlatConfiguration):
    """One player's options."""

    cap: int = 20_000  # most histories in its belief
    file: str = ""  # path of a given strategy
    search: SearchConfiguration | None = None

    PARTS = ("search",)
    RANGES: ClassVar = {"cap": (1, math.inf)}


_MEMORY_MB = 1000
"""Limit of a trunk's estimated memory. It is lower than in chess because a node really needs more memory here: its
state is an OpenSpiel object.
"""

CONFIGURATIONS = by_name(
    # 1-KLSS by regret minimisation below a safe root; where what is left of the game may fit into its budget, the whole
    # trunk from the game's start: not exploitable if it fits. Fog of War has another search of that name (2-KLUSS, not
    # safe, purified).
    Configuration(
        "kluss",
        "klss",
        search=Kluss(order=1, root="safe", value_beta=0.0, purify=False, whole=True, memory_mb=_MEMORY_MB),
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
    """Return the configuration of ``text``: ``NAME``, ``NAME,field=value,…``, ``FILE.toml`` or ``policy:FILE``. Raises
    ConfigurationError: the text describes none.

    >>> configuration("kluss,particles=50").fields()["particles"]
    50
    """
    if text.startswith(POLICY):
        _policy(text.removeprefix(POLICY))
        return Configuration(text, "policy", file=text.removeprefix(POLICY))
    return chosen(text, CONFIGURATIONS, "kluss")


def make_player(chosen: Configuration, game: Any, seed: int = 0, values: Values | None = None) -> RandomPlayer:
    """Return the player of a configuration, for a ``pyspiel.Game`` of :func:`klss.openspiel.games.spiel_game`;
    ``values`` is the function by which a search values states instead of playouts.
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
    """Read both players' strategies from a file."""
    try:
        return read_policy(Path(path))
    except GameError as error:
        raise ConfigurationError(f"{POLICY}{error}") from None
