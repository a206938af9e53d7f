"""The evaluator of a player: that of its configuration, or the caller's choice if the configuration leaves it open
(:mod:`darkchess.evaluation.registry`).
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from darkchess.evaluation.registry import AUTO, EvaluatorChoice, evaluator_class
from darkchess.fog.game.rules import PAPER, Ruleset

if TYPE_CHECKING:
    from darkchess.evaluation.evaluator import Evaluator
    from darkchess.player_configuration import PlayerConfiguration


def evaluator_choice(configuration: PlayerConfiguration, choice: EvaluatorChoice) -> EvaluatorChoice:
    """``choice`` with the name that counts: the configuration's if it names one, else the caller's."""
    return choice if configuration.evaluator == AUTO else dataclasses.replace(choice, name=configuration.evaluator)


def make_evaluator(configuration: PlayerConfiguration, choice: EvaluatorChoice, ruleset: Ruleset = PAPER) -> Evaluator:
    """The evaluator of a player. Raises EvaluatorError: there is none of that name, or a program that it needs, such as
    Stockfish, is missing.
    """
    found = evaluator_choice(configuration, choice)
    no_move_value = 0.0 if ruleset.no_move == "draw" else -1.0
    return evaluator_class(found.name).make(found, threads=configuration.thread_count, no_move_value=no_move_value)


class EvaluatedKit:
    """The methods of :class:`klss.play.kit.Kit` that are alike in all games whose players have evaluators."""

    def label(self, spec: PlayerConfiguration, choice: EvaluatorChoice) -> str | None:
        """See the base: ``built-in evaluator``, ``Stockfish 15.1``; None for players without an evaluator."""
        found = evaluator_choice(spec, choice)
        return None if spec.player in spec.WITHOUT_EVALUATOR else evaluator_class(found.name).label(found)

    def versions(self, spec: PlayerConfiguration, choice: EvaluatorChoice) -> dict[str, str | None]:
        found = evaluator_choice(spec, choice)
        return evaluator_class(found.name).versions(found)


def named(name: str, label: str | None) -> str:
    """A player's name with that of its evaluator.

    >>> named("klss2021", "Stockfish 15.1"), named("random", None)
    ('klss2021 (Stockfish 15.1)', 'random')
    """
    return name if label is None else f"{name} ({label})"
