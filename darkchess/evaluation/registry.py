"""The known evaluators by name; and a caller's choice of one.

An evaluator is named by a word of :data:`EVALUATORS`, or as ``module:Class``: a subclass of
:class:`darkchess.evaluation.evaluator.Evaluator` in any module that Python finds. A command line needs the names before
its first board, so an evaluator's module, with its compiled code, is imported only when the class is needed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pkgutil import resolve_name
from typing import TYPE_CHECKING

from darkchess.errors import EvaluatorError

if TYPE_CHECKING:
    from darkchess.evaluation.evaluator import Evaluator

AUTO = "auto"
"""Name in a player's configuration that leaves the evaluator to the caller."""

_CLASS = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*")

EVALUATORS = {
    "builtin": "darkchess.evaluation.evaluator:BuiltinEvaluator",
    "stockfish": "uci_bridge.stockfish.evaluator:StockfishEvaluator",
}
"""The named evaluators, each with its class: a short name for a ``module:Class``."""


@dataclass(frozen=True)
class EvaluatorChoice:
    """A caller's choice of an evaluator, for configurations that leave theirs open (:data:`AUTO`)."""

    name: str = "builtin"  # one of :data:`EVALUATORS`, or ``module:Class``
    stockfish: str | None = None  # a path; None: what :func:`uci_bridge.stockfish.evaluator.find_stockfish` finds
    reproducible: bool = False  # whether the same calls must give the same values, as in games limited by nodes


def evaluator_names() -> str:
    """Return the possible names, as help texts and messages write them."""
    return " or ".join([*EVALUATORS, "module:Class"])


def check_evaluator_name(name: str) -> None:
    """Raise :class:`darkchess.errors.EvaluatorError` unless ``name`` can name an evaluator; import nothing."""
    if name not in EVALUATORS and not _CLASS.fullmatch(name):
        raise EvaluatorError(f"evaluator: got {name!r}, expected {evaluator_names()}")


def evaluator_class(name: str) -> type[Evaluator]:
    """Import the module of the evaluator ``name`` and return its class.

    Raises
    ------
    EvaluatorError
        No evaluator has that name, its module can't be imported, or the module has no such subclass of ``Evaluator``.
    """
    from darkchess.evaluation.evaluator import Evaluator

    check_evaluator_name(name)
    try:
        found = resolve_name(EVALUATORS.get(name, name))
    except Exception as error:  # a foreign module may raise anything when it is imported
        raise EvaluatorError(
            f"evaluator: can't load {name!r} ({type(error).__name__}: {error}); expected a class in a module that "
            "Python finds, by PYTHONPATH say"
        ) from error
    if not (isinstance(found, type) and issubclass(found, Evaluator)):
        raise EvaluatorError(f"evaluator: got {name!r}, expected a subclass of {Evaluator.__module__}.Evaluator")
    return found
