"""The optimum that is taken does not depend on how the solver found it."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from klss.theory.highs import LinearProgram, generic_objective, lexicographic
from tests.klss.one_method import solve_by


def box(upper: list[float], rows: np.ndarray, most: list[float], cost: list[float]) -> LinearProgram:
    """Maximise cost @ x over 0 <= x <= upper and rows @ x <= most."""
    row, column = np.nonzero(np.ones_like(rows))
    return LinearProgram.of_entries(
        [(row, column, rows.ravel())],
        cost=np.array(cost),
        column_bounds=(np.zeros(len(upper)), np.array(upper)),
        row_bounds=(np.full(len(most), -np.inf), np.array(most)),
    )


def corners(program: LinearProgram) -> np.ndarray:
    """Every vertex, by brute force: each choice of as many active constraints as there are columns."""
    size = program.cost.size
    matrix = np.vstack([program.matrix.toarray(), np.eye(size), -np.eye(size)])
    bound = np.concatenate([program.row_upper, program.column_upper, -program.column_lower])
    found = []
    for active in itertools.combinations(range(bound.size), size):
        if abs(np.linalg.det(matrix[list(active)])) > 1e-9:
            point = np.linalg.solve(matrix[list(active)], bound[list(active)])
            if (matrix @ point <= bound + 1e-9).all():
                found.append(point)
    return np.array(found)


@settings(max_examples=40, deadline=None, derandomize=True)
@given(seed=st.integers(0, 10**6))
def test_each_objective_is_maximised_over_the_optima_of_those_before_it(seed: int) -> None:
    rng = np.random.default_rng(seed)
    # Small integers: ties everywhere.
    rows = rng.integers(0, 3, (2, 3)).astype(float)
    program = box([2.0, 2.0, 2.0], rows, [3.0, 3.0], rng.integers(-1, 2, 3).tolist())
    objectives = [program.cost, rng.integers(-1, 2, 3).astype(float), rng.integers(-1, 2, 3).astype(float)]
    _, last = lexicographic(program, objectives[1:])
    # A linear objective over a face of a polytope has its maximum at one of its vertices.
    left = corners(program)
    for objective in objectives:
        values = left @ objective
        assert last.primal @ objective == pytest.approx(values.max(), abs=1e-8)
        left = left[values >= values.max() - 1e-9]


@settings(max_examples=10, deadline=None, derandomize=True)
@given(seed=st.integers(0, 10**6))
def test_simplex_and_interior_point_end_at_one_optimum(seed: int) -> None:
    rng = np.random.default_rng(seed)
    program = box([1.0] * 8, rng.integers(0, 2, (5, 8)).astype(float), [2.0] * 5, rng.integers(0, 2, 8).tolist())
    found = []
    for method in ("simplex", "ipm"):
        with pytest.MonkeyPatch.context() as patch:
            solve_by(patch, method)
            found.append(lexicographic(program, [generic_objective(9, 9)[1:]])[1].primal)
    np.testing.assert_allclose(found[0], found[1], atol=1e-8)
