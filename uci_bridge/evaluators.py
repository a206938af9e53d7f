"""The evaluators by their names, and the one that a configuration names, or that the caller asks for where it leaves
that open.

A command line asks for the names before its first board, so compiled code is imported where an evaluator is made.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

from darkchess.fog.game.rules import PAPER, Ruleset

if TYPE_CHECKING:
    from darkchess.evaluation.evaluator import Evaluator

__all__ = ["EVALUATORS", "EvaluatorChoice", "EvaluatorName", "evaluator_label", "make_evaluator", "named"]

EvaluatorName = Literal["builtin", "stockfish"]


class Configuration(Protocol):
    """What is asked of a player's choices, of any game."""

    @property
    def player(self) -> str:
        """The kind of player."""
        ...

    @property
    def evaluator(self) -> Literal["auto", "builtin", "stockfish"]:
        """Auto: the caller's choice."""
        ...

    @property
    def threads(self) -> int:
        """Of the built-in evaluator."""
        ...


@dataclass(frozen=True)
class EvaluatorChoice:
    """What the caller wants where a configuration leaves its evaluator open (``auto``).

    Attributes
    ----------
    name
        One of :data:`EVALUATORS`; the built-in one is the same on every machine.
    stockfish
        Path of Stockfish; None: where :func:`uci_bridge.stockfish.evaluator.find_stockfish` looks.
    reproducible
        Run Stockfish so that the same calls give the same values; for games limited by nodes. One process then.
    processes
        How many Stockfish processes share the work otherwise.
    """

    name: EvaluatorName = "builtin"
    stockfish: str | None = None
    reproducible: bool = False
    processes: int = 1


def _builtin(threads: int, choice: EvaluatorChoice, ruleset: Ruleset) -> Evaluator:
    from darkchess.evaluation.evaluator import BuiltinEvaluator

    return BuiltinEvaluator(threads=threads)


def _stockfish(threads: int, choice: EvaluatorChoice, ruleset: Ruleset) -> Evaluator:
    from uci_bridge.stockfish.evaluator import StockfishEvaluator

    return StockfishEvaluator(
        choice.stockfish,
        processes=1 if choice.reproducible else choice.processes,
        reproducible=choice.reproducible,
        no_move_value=0.0 if ruleset.no_move == "draw" else -1.0,
    )


EVALUATORS: dict[EvaluatorName, Callable[[int, EvaluatorChoice, Ruleset], Evaluator]] = {
    "builtin": _builtin,
    "stockfish": _stockfish,
}
"""How each evaluator is made: of a player's threads, the caller's choice and the game's rules."""


def make_evaluator(configuration: Configuration, choice: EvaluatorChoice, ruleset: Ruleset = PAPER) -> Evaluator:
    """The evaluator of a player; the configuration's own choice goes before the caller's.

    Raises
    ------
    StockfishMissing
        Stockfish was named, or its path was, and there is none.
    """
    name = choice.name if configuration.evaluator == "auto" else configuration.evaluator
    return EVALUATORS[name](configuration.threads, choice, ruleset)


def evaluator_label(configuration: Configuration, choice: EvaluatorChoice) -> str | None:
    """What values a player's positions, as people read it: ``built-in evaluator``, ``Stockfish 15.1``.

    None for players who value nothing.
    """
    if configuration.player in ("random", "attacker", "synoptic"):
        return None
    name = choice.name if configuration.evaluator == "auto" else configuration.evaluator
    if name == "builtin":
        return "built-in evaluator"
    from uci_bridge.stockfish.evaluator import stockfish_version

    return stockfish_version(choice.stockfish) or "Stockfish"


def named(name: str, label: str | None) -> str:
    """A player's name with her evaluator beside it.

    >>> named("klss2021", "Stockfish 15.1"), named("random", None)
    ('klss2021 (Stockfish 15.1)', 'random')
    """
    return name if label is None else f"{name} ({label})"
