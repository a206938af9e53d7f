"""The common part of the kits of both games of chess in the dark: players and their evaluators."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from darkchess.evaluation.evaluator import Evaluator
from darkchess.evaluation.registry import EvaluatorChoice
from klss.play.contest import Player
from klss.play.kit import Kit
from uci_bridge.commands import described
from uci_bridge.evaluators import evaluator_label, make_evaluator


class ChessKit(Kit):
    """See :class:`klss.play.kit.Kit`.

    Attributes
    ----------
    roster
        The module of the game's configurations: Configuration, CONFIGURATIONS, configuration, make_player.
    """

    roster: ModuleType

    def is_ours(self, spec: Any) -> bool:
        return isinstance(spec, self.roster.Configuration)

    def text(self, spec: Any) -> str:
        return described(spec, self.roster.CONFIGURATIONS, self.roster.configuration)

    def evaluator(self, spec: Any, choice: EvaluatorChoice, setup: Any) -> Evaluator:
        return make_evaluator(spec, choice)

    def label(self, spec: Any, choice: EvaluatorChoice) -> str | None:
        return evaluator_label(spec, choice)

    def player(self, spec: Any, evaluator: Evaluator, seed: int) -> Player:
        player: Player = self.roster.make_player(spec, evaluator, seed=seed)
        return player
