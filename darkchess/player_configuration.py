"""A player's settings in any game of chess in the dark (read from a text by :mod:`klss.support.configuration_text`)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from darkchess.errors import EvaluatorError
from darkchess.evaluation.registry import AUTO, check_evaluator_name, evaluator_names
from klss.support.configuration_text import ConfigurationError, FlatConfiguration, check_ranges


@dataclass(frozen=True)
class PlayerConfiguration(FlatConfiguration):
    """The settings of all players; each game's class adds those of its methods."""

    evaluator: str = AUTO  # "auto": the caller's choice; else an evaluator's name (``darkchess.evaluation.registry``)
    cap: int = 10_000_000  # most positions in the position set
    threads: int = 2  # 1 or 2, for everything that the player computes; with a node budget no answer depends on it

    WITHOUT_EVALUATOR: ClassVar[tuple[str, ...]] = ()
    """The kinds of player that value no positions."""

    def __post_init__(self) -> None:
        """Refuse bad numbers and names."""
        check_ranges(self, {"cap": (1, math.inf), "threads": (1, 2)}, f"configuration {self.name}: ")
        try:
            if self.evaluator != AUTO:
                check_evaluator_name(self.evaluator)
        except EvaluatorError:
            raise ConfigurationError(
                f"configuration {self.name}: evaluator is {self.evaluator!r}, expected {AUTO} or {evaluator_names()}"
            ) from None
        super().__post_init__()

    @property
    def uses_evaluator(self) -> bool:
        """Whether the player values positions at all."""
        return self.player not in self.WITHOUT_EVALUATOR
