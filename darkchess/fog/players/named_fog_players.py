"""The named configurations of players, and the choice of one by a text (:mod:`klss.support.configuration_text`).

A configuration is data only: :mod:`uci_bridge.players` finds the evaluator that it names and makes the player.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import ClassVar

from darkchess.evaluation.evaluator import BuiltinEvaluator, Evaluator
from darkchess.fog.game.contest import Player
from darkchess.fog.players.one_position import OnePositionPlayer
from darkchess.fog.players.player import BeliefSettings, KlssPlayer
from darkchess.fog.players.tracking import RandomPlayer, TrackingPlayer
from darkchess.player_configuration import PlayerConfiguration
from klss.search import Baseline, Klss2021, Kluss, SearchConfiguration
from klss.support.configuration_text import ConfigurationError, by_name, chosen


@dataclass(frozen=True)
class Configuration(PlayerConfiguration):
    """One player's settings; :class:`darkchess.player_configuration.PlayerConfiguration` has the others."""

    # whether it searches on during the opponent's time (``klss.search.pondering``), unless nodes limit its moves; a
    # front end turns it on where a clock runs (:meth:`pondering`)
    ponder: bool = False
    max_nodes: float = math.inf  # these two of :class:`darkchess.fog.players.tracking.TrackingPlayer`
    slips: float = 0.0
    beliefs: BeliefSettings | None = None  # the weights of its positions; None: no learned ones
    search: SearchConfiguration | None = None  # None: the player has no search of ``klss.search``

    PARTS = ("beliefs", "search")
    RANGES: ClassVar = {"filtering": (0.0, math.inf), "max_nodes": (1, math.inf), "slips": (0.0, 1.0)}
    WITHOUT_EVALUATOR = ("random",)

    def __post_init__(self) -> None:
        """Refuse settings that do not fit each other."""
        super().__post_init__()
        if self.ponder and not self.can_ponder:
            raise ConfigurationError(
                f"configuration {self.name}: ponder is true, expected false: only kluss thinks on the opponent's time"
            )

    @property
    def can_ponder(self) -> bool:
        """Whether ``ponder`` may be true: the search can be stopped at once."""
        return self.search is not None and self.search.ponders

    def pondering(self) -> Configuration:
        """Return this configuration, under the same name, with ``ponder`` true if it may be."""
        return dataclasses.replace(self, ponder=self.can_ponder)


_ALL = 10**9
"""Value of ``max_carried`` for no limit: no trunk has so many nodes."""

CONFIGURATIONS = by_name(
    # The paper's agent (Zhang & Sandholm 2021), with the deviations that make it stronger.
    Configuration("klss2021", "klss", search=Klss2021()),
    # The same with every deviation off that has a switch (docs/search.md, "Deviations").
    Configuration(
        "klss2021-paper",
        "klss",
        search=Klss2021(max_carried=_ALL, first="maxmargin", caution=1.0, purify=False),
    ),
    # The strongest: 2-KLUSS by regret minimisation, with a learned belief (docs/position_set.md). The share of
    # Maxmargin is twice Kluss's default: the belief was learned from players that set no traps, so it does not expect
    # any.
    Configuration(
        "kluss",
        "klss",
        beliefs=BeliefSettings("filter"),
        search=Kluss(sample_by_weight=True, maxmargin_share=0.2),
    ),
    # The same without a learned belief: the baseline for measuring beliefs.
    Configuration("kluss-value", "klss", beliefs=BeliefSettings(), search=Kluss()),
    # The paper's baseline (§7): one ply of imperfect information, a perfect-information search below it.
    Configuration("baseline", "baseline", search=Baseline()),
    Configuration("best-guess", "best-guess"),
    Configuration("greedy", "greedy", evaluator="builtin"),
    Configuration("random", "random", evaluator="builtin"),
)
"""The named configurations; a text with fields names any other (``kluss,belief=value``)."""

_LEVEL_NODES = {3: (60, 1_500), 4: (120, 3_000), 5: (250, 5_000), 6: (2_500, 50_000), 7: (14_000, 400_000)}
"""For the levels between ``greedy`` and unlimited ``kluss``: nodes a move, and most positions in the set."""

LEVELS = by_name(
    CONFIGURATIONS["greedy"].changed("level-1", {"slips": 0.15}),
    CONFIGURATIONS["greedy"].changed("level-2", {}),
    *(
        CONFIGURATIONS["kluss"].changed(f"level-{level}", {"max_nodes": nodes, "cap": cap})
        for level, (nodes, cap) in _LEVEL_NODES.items()
    ),
    CONFIGURATIONS["kluss"].changed("level-8", {}),
)
"""Levels for people, weakest first; each beats the one below in most games (docs/board.md)."""

ABOUT = {
    "klss2021": "the agent of the paper of 2021, improved",
    "klss2021-paper": "the agent of the paper of 2021 as it was",
    "kluss": "the strongest",
    "kluss-value": "the strongest without what it learned of players",
    "baseline": "looks one move ahead under uncertainty, then as in chess",
    "best-guess": "guesses one position and plays chess in it",
    "greedy": "guesses one position and takes what it can",
    "random": "plays any move",
    "level-1": "easy: guesses one position, looks one move ahead, and one move in seven is any move",
    "level-2": "guesses one position and looks one move ahead",
    **{f"level-{level}": f"looks at {nodes:,} positions a move" for level, (nodes, _) in _LEVEL_NODES.items()},
    "level-8": "everything it has, for as long as it may think",
}
"""A few words on each named player and level."""

MAIN_NAMES = [name for name in CONFIGURATIONS if not any(name.startswith(f"{other}-") for other in CONFIGURATIONS)]
"""The names of the configurations that are not variants of another one."""


def configuration(text: str) -> Configuration:
    """Return the configuration that ``text`` describes.

    Parameters
    ----------
    text : str
        ``NAME``, ``NAME,field=value,…`` or the path of a ``.toml`` file.

    Raises
    ------
    ConfigurationError
        The text describes none; the message names the error and the nearest right name.

    Examples
    --------
    >>> configuration("klss2021,particles=50,nested=false").fields()["particles"]
    50
    """
    return chosen(text, CONFIGURATIONS | LEVELS, "klss2021")


def make_player(chosen: Configuration, evaluator: Evaluator | None = None, *, seed: int = 0) -> Player:
    """Return a player of a configuration; ``evaluator`` None: the built-in one."""
    valued = evaluator if evaluator is not None else BuiltinEvaluator(threads=chosen.thread_count)
    common = {"seed": seed, "cap": chosen.cap, "threads": chosen.thread_count}
    player: TrackingPlayer
    if chosen.search is not None:
        player = KlssPlayer(valued, chosen.search, beliefs=chosen.beliefs, ponder=chosen.ponder, **common)
    elif chosen.player == "best-guess":
        player = OnePositionPlayer(valued, sample=200, deepest=math.inf, **common)
    elif chosen.player == "greedy":
        player = OnePositionPlayer(valued, sample=1, deepest=1, **common)
    else:
        player = RandomPlayer(**common)
    player.max_nodes, player.slips = chosen.max_nodes, chosen.slips
    return player
