"""A caller's choice of an evaluator (:mod:`darkchess.evaluation.registry`)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class EvaluatorChoice:
    """The choice, for configurations that leave their evaluator open (:data:`darkchess.evaluation.registry.AUTO`)."""

    name: str = "builtin"  # one of :data:`darkchess.evaluation.registry.EVALUATORS`, or ``module:Class``
    stockfish: str | None = None  # a path; None: what :func:`uci_bridge.stockfish.evaluator.find_stockfish` finds
    reproducible: bool = False  # whether the same calls must give the same values, as in games limited by nodes
