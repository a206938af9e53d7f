"""Which evaluators there are, and what a caller asks of one: names, helps, ranges and defaults.

An evaluator is named by a word of :data:`EVALUATORS`, or as ``module:Class``: a subclass of
:class:`darkchess.evaluation.evaluator.Evaluator` in any module that Python finds. A command line asks for names before
its first board, so an evaluator's module, with its compiled code, is imported where the class is asked for.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from darkchess.errors import EvaluatorError

if TYPE_CHECKING:
    from darkchess.evaluation.evaluator import Evaluator

__all__ = [
    "AUTO", "EVALUATORS", "EvaluatorChoice", "EvaluatorEntry", "check_evaluator_name", "evaluator_class",
    "evaluator_names",
]  # fmt: skip

AUTO = "auto"
"""In a player's configuration: the evaluator is the caller's choice."""

_CLASS = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*")


class EvaluatorEntry(NamedTuple):
    """A named evaluator: its class, as ``module:Class``, and its line in the help."""

    source: str
    help: str


EVALUATORS = {
    "builtin": EvaluatorEntry("darkchess.evaluation.evaluator:BuiltinEvaluator", "always there, the same everywhere"),
    "stockfish": EvaluatorEntry(
        "uci_bridge.stockfish.evaluator:StockfishEvaluator", "the program, where it is installed"
    ),
}
"""The named evaluators. One in another package is a plug-in like any other, with a shorter name."""


@dataclass(frozen=True)
class EvaluatorChoice:
    """What a caller wants where a configuration leaves its evaluator open (:data:`AUTO`).

    Attributes
    ----------
    name
        One of :data:`EVALUATORS`, or ``module:Class``.
    stockfish
        Path of Stockfish; None: where :func:`uci_bridge.stockfish.evaluator.find_stockfish` looks.
    reproducible
        The same calls have to give the same values; for games limited by nodes.
    processes
        How many processes share the work where an evaluator starts some and ``reproducible`` is False.
    """

    name: str = "builtin"
    stockfish: str | None = field(
        default=None, metadata={"help": "where Stockfish is (default: KLSS_STOCKFISH, PATH, /usr/games)"}
    )
    reproducible: bool = False
    processes: int = field(
        default=1,
        metadata={
            "help": "Stockfish processes that share the work; always 1 where nodes limit a search",
            "range": (1, 64),
        },
    )

    @classmethod
    def option(cls, name: str) -> Any:
        """Default, help and range of a field that is a flag of command lines, as ``default`` and ``metadata``."""
        return cls.__dataclass_fields__[name]


def evaluator_names() -> str:
    """What may be named, as helps and messages say it."""
    return " or ".join([*EVALUATORS, "module:Class"])


def check_evaluator_name(name: str) -> None:
    """Raise :class:`darkchess.errors.EvaluatorError` unless ``name`` may name an evaluator; imports nothing."""
    if name not in EVALUATORS and not _CLASS.fullmatch(name):
        raise EvaluatorError(f"evaluator: got {name!r}, expected {evaluator_names()}")


def evaluator_class(name: str) -> type[Evaluator]:
    """The class of the evaluator ``name``; imports its module.

    Raises
    ------
    EvaluatorError
        No evaluator has that name; or its module can't be imported, or has no such subclass of ``Evaluator``.
    """
    from darkchess.evaluation.evaluator import Evaluator

    check_evaluator_name(name)
    source = EVALUATORS[name].source if name in EVALUATORS else name
    module, _, attribute = source.partition(":")
    try:
        found = getattr(import_module(module), attribute)
    except Exception as error:  # a foreign module may raise anything when it is imported
        raise EvaluatorError(
            f"evaluator: can't load {name!r} ({type(error).__name__}: {error}); expected a class in a module that "
            "Python finds, by PYTHONPATH say"
        ) from error
    if not (isinstance(found, type) and issubclass(found, Evaluator)):
        raise EvaluatorError(f"evaluator: got {name!r}, expected a subclass of {Evaluator.__module__}.Evaluator")
    return found
