"""The named configurations of players, and the choice of one by a text (:mod:`klss.support.configuration_text`)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from darkchess.evaluation.evaluator import BuiltinEvaluator, Evaluator
from darkchess.player_configuration import PlayerConfiguration
from darkchess.rbc.game.contest import DEFAULT_PLAYER, Player
from darkchess.rbc.players.dsmcp import Synoptic, SynopticPlayer
from darkchess.rbc.players.expectation import Expectation, ExpectationPlayer
from darkchess.rbc.players.scripted import AttackerPlayer, RandomPlayer
from darkchess.rbc.players.siamese import Nearness, SiamesePlayer
from klss.support.configuration_text import by_name, chosen
from klss.synoptic.planning import MOST


@dataclass(frozen=True)
class Configuration(PlayerConfiguration):
    """One player's settings; :class:`darkchess.player_configuration.PlayerConfiguration` has the others."""

    cap: int = 2_000_000
    thinking: Expectation | Nearness | Synoptic | None = None  # the settings of its method; None for scripts

    PARTS = ("thinking",)
    RANGES: ClassVar = {
        "uniform_mix": (0, 1), "strangers": (0.01, 0.99), "unaware": (0, 1), "exposed": (0, MOST), "spread": (0, MOST),
        "boards": (1, MOST), "temperature": (0.01, MOST), **Synoptic.RANGES,
    }  # fmt: skip
    WITHOUT_EVALUATOR = ("synoptic", "attacker", "random")


CONFIGURATIONS = by_name(
    Configuration("rbc-expect", "expectation", thinking=Expectation()),
    Configuration("rbc-tower", "expectation", thinking=Expectation(belief="tower")),
    Configuration("rbc-siamese", "siamese", thinking=Nearness()),
    Configuration("dsmcp", "synoptic", thinking=Synoptic()),
    Configuration("rbc-rl", "synoptic", thinking=Synoptic(network="rl", mixing=1.0)),
    Configuration("rbc-attacker", "attacker", evaluator="builtin"),
    Configuration("rbc-random", "random", evaluator="builtin"),
)
"""The named configurations: one without learned weights, the usual one, one that weighs by a pair of networks, two that
plan on synopses, and two scripts.
"""

_LEVELS = (
    ("rbc-expect", 20, 1, 0.5),
    ("rbc-expect", 200, 2, 0.3),
    ("rbc-expect", 500, 4, 0.2),
    ("rbc-expect", 2_000, 16, 0.12),
    ("rbc-expect", 20_000, 64, 0.06),
    ("rbc-expect", 200_000, 200, 0.04),
    ("rbc-expect", 1_000_000, 350, 0.03),
    ("rbc-tower", 2_000_000, 512, 0.02),
)
"""Of each level: a configuration, the most positions in the set, the most of them that are valued, and ``spread``."""

LEVELS = by_name(
    *(
        CONFIGURATIONS[name].changed(f"level-{level}", {"cap": cap, "boards": boards, "spread": spread})
        for level, (name, cap, boards, spread) in enumerate(_LEVELS, 1)
    )
)
"""Levels for people, weakest first (docs/board.md)."""

ABOUT = {
    f"level-{level}": f"keeps up to {cap:,} positions in mind, and looks ahead in {boards}"
    for level, (_, cap, boards, _) in enumerate(_LEVELS, 1)
}
"""A few words on each level."""


def configuration(text: str) -> Configuration:
    """Return the configuration that ``text`` describes, see :func:`klss.support.configuration_text.chosen`."""
    return chosen(text, CONFIGURATIONS | LEVELS, DEFAULT_PLAYER)


def make_player(chosen: Configuration, evaluator: Evaluator | None = None, *, seed: int = 0) -> Player:
    """Return a player of a configuration; ``evaluator`` None: the built-in one."""
    common = {"seed": seed, "cap": chosen.cap, "threads": chosen.thread_count}
    if isinstance(chosen.thinking, Expectation | Nearness):
        valued = evaluator if evaluator is not None else BuiltinEvaluator(threads=chosen.thread_count)
        if isinstance(chosen.thinking, Nearness):
            return SiamesePlayer(valued, chosen.thinking, **common)
        return ExpectationPlayer(valued, chosen.thinking, **common)
    if isinstance(chosen.thinking, Synoptic):
        return SynopticPlayer(chosen.thinking, None, **common)
    return AttackerPlayer(seed=seed) if chosen.player == "attacker" else RandomPlayer(seed=seed)
