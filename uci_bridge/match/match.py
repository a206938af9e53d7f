"""Matches of Fog of War (:class:`Match`); all but the game is :class:`uci_bridge.match.any_match.AnyMatch`'s."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

from darkchess.fog.game.rules import PAPER, Ruleset
from klss.support.seeds import opening_seed
from klss.table.limits import TimeControl
from uci_bridge.match.any_match import AnyMatch
from uci_bridge.match.engines import Setup, Spec
from uci_bridge.match.files import MatchError, kept_seed
from uci_bridge.match.openings import FileOpenings, RandomOpenings
from uci_bridge.match.standing import Standing
from uci_bridge.match.task import GameTask

__all__ = ["Match", "MatchError", "Standing", "kept_seed"]


@dataclass(frozen=True)
class Match(AnyMatch):
    """A match of Fog of War: configurations, foreign engines, or players that the caller brings.

    Attributes
    ----------
    ruleset
        See :mod:`darkchess.fog.game.rules`.
    openings
        How the games begin; None: with the first move.
    budget_b
        What limits B, where it is not what limits A; None: ``budget`` does.
    """

    a: Spec
    b: Spec
    ruleset: Ruleset = PAPER
    openings: RandomOpenings | FileOpenings | None = None
    budget_b: TimeControl | None = None

    def setup(self) -> Setup:
        """See :class:`uci_bridge.match.any_match.AnyMatch`."""
        return Setup(self.a, self.b, self.budget, self.ruleset, self.evaluator, self.check_truth, self.budget_b)

    def task(self, game: int) -> GameTask:
        """Game number ``game``.

        Raises
        ------
        OpeningError
            See :meth:`uci_bridge.match.openings.RandomOpenings.opening`.
        """
        task, pair = super().task(game), game // 2
        if self.openings is None:
            return task
        opening = self.openings.opening(pair, opening_seed(self.seed, pair), self.fen, self.ruleset)
        return dataclasses.replace(task, opening=opening)

    def _identity(self) -> dict[str, Any]:
        identity = {
            "rules": self.ruleset.name,
            "openings": None if self.openings is None else self.openings.identity(),
        }
        if self.budget_b is not None:
            identity["budget_b"] = dataclasses.asdict(self.budget_b)
        return identity
