"""A player's settings in any game of chess in the dark (read from a text by :mod:`klss.support.configuration_text`)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from darkchess.errors import EvaluatorError
from darkchess.evaluation.registry import AUTO, check_evaluator_name, evaluator_names
from klss.support.configuration_text import ConfigurationError, FlatConfiguration, check_ranges
from klss.support.threads import MOST, usual


@dataclass(frozen=True)
class PlayerConfiguration(FlatConfiguration):
    """The settings of all players; each game's class adds those of its methods."""

    evaluator: str = AUTO  # "auto": the caller's choice; else an evaluator's name (``darkchess.evaluation.registry``)
    cap: int = 10_000_000  # most positions in the position set
    # most threads of everything that the player computes; 0: as many as the process may use. With a node budget no
    # answer depends on it
    threads: int = 0

    WITHOUT_EVALUATOR: ClassVar[tuple[str, ...]] = ()
    """The kinds of player that value no positions."""

    def __post_init__(self) -> None:
        """Refuse bad numbers and names."""
        check_ranges(self, {"cap": (1, math.inf), "threads": (0, MOST)}, f"configuration {self.name}: ")
        try:
            if self.evaluator != AUTO:
                check_evaluator_name(self.evaluator)
        except EvaluatorError:
            raise ConfigurationError(
                f"configuration {self.name}: evaluator is {self.evaluator!r}, expected {AUTO} or {evaluator_names()}"
            ) from None
        super().__post_init__()

    @property
    def thread_count(self) -> int:
        """Most threads in this process."""
        return self.threads or usual()
