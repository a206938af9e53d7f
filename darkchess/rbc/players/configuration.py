"""The named configurations of players, and the texts that choose one (:mod:`klss.configurations`)."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, get_type_hints

from darkchess.errors import EvaluatorError
from darkchess.evaluation.evaluator import BuiltinEvaluator, Evaluator
from darkchess.evaluation.registry import AUTO, check_evaluator_name, evaluator_names
from darkchess.rbc.game.contest import DEFAULT_PLAYER, Player
from darkchess.rbc.players.dsmcp import Synoptic, SynopticPlayer
from darkchess.rbc.players.expectation import Expectation, ExpectationPlayer
from darkchess.rbc.players.scripted import AttackerPlayer, RandomPlayer
from klss.configurations import ConfigurationError, chosen, field_value, within_ranges
from klss.synoptic.planning import MOST, ranges

__all__ = ["CONFIGURATIONS", "Configuration", "ConfigurationError", "configuration", "make_player"]


_RANGES: dict[str, tuple[float, float]] = {
    # of an Expectation
    "slope": (-MOST, MOST),
    "temperature": (0.001, math.inf),
    "floor": (0, 1),
    "told": (0, MOST),
    "unaware": (0, 1),
    "exposed": (0, MOST),
    "spread": (0, MOST),
    "boards": (1, MOST),
    **ranges(Synoptic),
}
"""The least and the most that makes sense, of the numbers that say how a player thinks."""


@dataclass(frozen=True)
class Configuration:
    """One player's choices.

    Attributes
    ----------
    name : str
        As it is named in results; derived ones carry their changes.
    player : str
        The kind of player, a key of :data:`PLAYERS`.
    evaluator : str
        "auto": the caller's choice; else an evaluator's name (:mod:`darkchess.evaluation.registry`).
    cap : int
        Most positions in the position set.
    threads : int
        1 or 2, of the position set and the built-in evaluator; with a node budget every answer is the same.
    thinking : Expectation, Synoptic or None
        How the player thinks, if she does. In texts and results its fields stand beside the others.
    """

    name: str
    player: str
    evaluator: str = AUTO
    cap: int = 2_000_000
    threads: int = 2
    thinking: Expectation | Synoptic | None = None

    def __post_init__(self) -> None:
        """Refuse numbers that make no sense."""
        if self.cap < 1:
            raise ConfigurationError(f"configuration {self.name}: cap is {self.cap}, expected 1 or more")
        if self.evaluator != AUTO:
            try:
                check_evaluator_name(self.evaluator)
            except EvaluatorError:
                expected = f"{AUTO} or {evaluator_names()}"
                raise ConfigurationError(
                    f"configuration {self.name}: evaluator is {self.evaluator!r}, expected {expected}"
                ) from None
        if self.threads not in (1, 2):
            raise ConfigurationError(f"configuration {self.name}: threads is {self.threads}, expected 1 or 2")
        within_ranges(self.name, self.thinking, _RANGES)

    def fields(self) -> dict[str, Any]:
        """Every field by its name: what results hold. An infinite number is a text, since JSON has no word for it."""
        own = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        del own["thinking"]
        own |= {} if self.thinking is None else dataclasses.asdict(self.thinking)
        return {name: str(value) if value in (math.inf, -math.inf) else value for name, value in own.items()}

    def changed(self, name: str, changes: dict[str, Any]) -> Configuration:
        """A configuration that differs in some fields; values by field, as a text or TOML says them.

        Raises
        ------
        ConfigurationError
            No such field, or no value of it.
        """
        own = get_type_hints(Configuration)
        hints = {key: own[key] for key in _OWN_FIELDS}
        if self.thinking is not None:
            hints |= get_type_hints(type(self.thinking))
        values = {key: field_value(key, value, hints) for key, value in changes.items()}
        thinking = self.thinking
        if thinking is not None:
            thinking = dataclasses.replace(
                thinking, **{key: values.pop(key) for key in list(values) if key not in _OWN_FIELDS}
            )
        return dataclasses.replace(self, name=name, thinking=thinking, **values)


_OWN_FIELDS = ("evaluator", "cap", "threads")
"""The fields of :class:`Configuration` that a text may change."""


def _expectation_player(chosen: Configuration, evaluator: Evaluator, seed: int) -> Player:
    assert isinstance(chosen.thinking, Expectation)
    return ExpectationPlayer(evaluator, chosen.thinking, seed=seed, cap=chosen.cap, threads=chosen.threads)


def _synoptic_player(chosen: Configuration, evaluator: Evaluator, seed: int) -> Player:
    assert isinstance(chosen.thinking, Synoptic)
    return SynopticPlayer(chosen.thinking, seed=seed, cap=chosen.cap, threads=chosen.threads)


PLAYERS: dict[str, Callable[[Configuration, Evaluator, int], Player]] = {
    "expectation": _expectation_player,
    "synoptic": _synoptic_player,
    "attacker": lambda chosen, evaluator, seed: AttackerPlayer(seed=seed),
    "random": lambda chosen, evaluator, seed: RandomPlayer(seed=seed),
}
"""The kinds of players, and how each is made: of its configuration, an evaluator and a seed."""


CONFIGURATIONS: dict[str, Configuration] = {
    item.name: item
    for item in (
        Configuration("rbc-expect", "expectation", thinking=Expectation()),
        Configuration("rbc-siamese", "expectation", thinking=Expectation(belief="siamese", slope=0.0)),
        Configuration("dsmcp", "synoptic", thinking=Synoptic()),
        Configuration("rbc-rl", "synoptic", thinking=Synoptic(network="rl", mixing=1.0)),
        Configuration("rbc-attacker", "attacker", evaluator="builtin"),
        Configuration("rbc-random", "random", evaluator="builtin"),
    )
}
"""The named configurations."""


def configuration(text: str) -> Configuration:
    """The configuration that ``text`` describes: ``NAME``, ``NAME,field=value,…`` or the path of a ``.toml`` file.

    Raises
    ------
    ConfigurationError
        Names what is wrong, and the nearest right name.
    """
    return chosen(text, CONFIGURATIONS, DEFAULT_PLAYER)


def make_player(chosen: Configuration, evaluator: Evaluator | None = None, *, seed: int = 0) -> Player:
    """The player of a configuration; ``evaluator`` None: the built-in one."""
    valued = evaluator if evaluator is not None else BuiltinEvaluator(threads=chosen.threads)
    return PLAYERS[chosen.player](chosen, valued, seed)
