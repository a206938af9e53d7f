"""Linear programs solved by one method alone, whatever is asked for."""

from __future__ import annotations

import pytest

from klss.theory.highs import LinearSolver


def solve_by(patch: pytest.MonkeyPatch, method: str) -> None:
    """Solve everything by ``method`` until ``patch`` is undone."""
    solve = LinearSolver.solve
    patch.setattr(LinearSolver, "solve", lambda self, _method="simplex", **options: solve(self, method, **options))
