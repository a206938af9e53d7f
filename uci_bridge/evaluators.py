"""The evaluator that a configuration names, or that the caller asks for where it leaves that open."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from darkchess.evaluation.evaluator import BuiltinEvaluator, Evaluator
from darkchess.game.rules import PAPER, Ruleset
from darkchess.players.configuration import Configuration
from uci_bridge.stockfish.evaluator import StockfishEvaluator, stockfish_version

__all__ = ["EvaluatorChoice", "evaluator_label", "make_evaluator", "named"]


@dataclass(frozen=True)
class EvaluatorChoice:
    """What the caller wants where a configuration leaves its evaluator open (``auto``).

    Attributes
    ----------
    name
        ``"builtin"``, the same on every machine, or ``"stockfish"``.
    stockfish
        Path of Stockfish; None: where :func:`uci_bridge.stockfish.evaluator.find_stockfish` looks.
    reproducible
        Run Stockfish so that the same calls give the same values; for games limited by nodes. One process then.
    processes
        How many Stockfish processes share the work otherwise.
    """

    name: Literal["builtin", "stockfish"] = "builtin"
    stockfish: str | None = None
    reproducible: bool = False
    processes: int = 1


def make_evaluator(configuration: Configuration, choice: EvaluatorChoice, ruleset: Ruleset = PAPER) -> Evaluator:
    """The evaluator of a player; the configuration's own choice goes before the caller's.

    Raises
    ------
    StockfishMissing
        Stockfish was named, or its path was, and there is none.
    """
    name = choice.name if configuration.evaluator == "auto" else configuration.evaluator
    if name == "builtin":
        return BuiltinEvaluator(threads=configuration.threads)
    no_move_value = 0.0 if ruleset.no_move == "draw" else -1.0
    return StockfishEvaluator(
        choice.stockfish,
        processes=1 if choice.reproducible else choice.processes,
        reproducible=choice.reproducible,
        no_move_value=no_move_value,
    )


def evaluator_label(configuration: Configuration, choice: EvaluatorChoice) -> str | None:
    """What values a player's positions, as people read it: ``built-in evaluator``, ``Stockfish 15.1``.

    None for players who value nothing.
    """
    if configuration.player == "random":
        return None
    name = choice.name if configuration.evaluator == "auto" else configuration.evaluator
    if name == "builtin":
        return "built-in evaluator"
    return stockfish_version(choice.stockfish) or "Stockfish"


def named(name: str, label: str | None) -> str:
    """A player's name with her evaluator beside it.

    >>> named("klss2021", "Stockfish 15.1"), named("random", None)
    ('klss2021 (Stockfish 15.1)', 'random')
    """
    return name if label is None else f"{name} ({label})"
