"""A caller's choice of an evaluator (:mod:`darkchess.evaluation.registry`)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class EvaluatorChoice:
    """The choice, for configurations that leave their evaluator open (:data:`darkchess.evaluation.registry.AUTO`)."""

    name: str = "builtin"  # one of :data:`darkchess.evaluation.registry.EVALUATORS`, or ``module:Class``
    stockfish: str | None = field(  # a path; None: what :func:`uci_bridge.stockfish.evaluator.find_stockfish` finds
        default=None, metadata={"help": "where Stockfish is (default: KLSS_STOCKFISH, PATH, /usr/games)"}
    )
    reproducible: bool = False  # whether the same calls must give the same values, as in games limited by nodes

    @classmethod
    def option(cls, name: str) -> Any:
        """Return the field ``name``, whose ``default`` and ``metadata`` (help, range) make a flag of command lines."""
        return cls.__dataclass_fields__[name]
