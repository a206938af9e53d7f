"""Makes players of one configuration, game after game, with one evaluator."""

from __future__ import annotations

import chess

from darkchess.fog.game.contest import Setup
from darkchess.fog.players.configuration import Configuration
from darkchess.fog.players.player import KlssPlayer
from darkchess.fog.warm_up import warm_up
from klss.search import Kluss
from uci_bridge.evaluators import EvaluatorChoice, make_evaluator

__all__ = ["SearchingMaker"]


class SearchingMaker:
    """The base of makers whose players search; all code is loaded before a clock runs.

    Parameters
    ----------
    chosen
        The configuration; its search is a :class:`klss.search.Kluss`.
    choice, setup
        See :func:`uci_bridge.evaluators.make_evaluator`.
    """

    def __init__(self, chosen: Configuration, choice: EvaluatorChoice, setup: Setup) -> None:
        self._chosen = chosen
        self._evaluator = make_evaluator(chosen, choice, setup.ruleset)
        warm_up(KlssPlayer(self._evaluator, Kluss(), threads=chosen.threads), chess.WHITE)

    def close(self) -> None:
        """Close the evaluator."""
        self._evaluator.close()
