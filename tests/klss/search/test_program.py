"""The gadget's program from a carried basis: the same equilibria as from scratch, at every size, for both gadgets."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import chess
import numpy as np
import pytest
from scipy.optimize import linprog

from darkchess.board.position import Position
from darkchess.evaluation.evaluator import BuiltinEvaluator
from darkchess.fog.game.rules import PAPER
from darkchess.fog.players.model import DarkChess
from klss.paper.subgame import Gadget
from klss.search import Budget, EnumeratedModel, Trunk
from klss.search.equilibrium.linear_program import LinearPrograms
from klss.search.equilibrium.program import Answer, GadgetProgram
from klss.search.expansion.support import leaves_to_expand
from klss.search.gadget import gadget_form
from klss.search.parts import SearchedSubgame
from klss.search.subgame.order_one import fresh_roots
from klss.theory.best_response import best_response
from klss.theory.highs import Basis, LpResult
from tests.klss.games import kuhn
from tests.klss.search.solved import expand, solve_gadget, whole_trunk

FENS = [
    "r1bq1rk1/pp3ppp/2n1pn2/3p4/1bPP4/2NBPN2/PP3PPP/R1BQK2R w KQ - 0 8",
    "r1b1qrk1/pp3ppp/2n1pn2/3p4/1bPP4/2NBPN2/PP3PPP/R1BQK2R w KQ - 0 8",
    "r1bq1rk1/1p3ppp/2n1pn2/3p4/1bPP4/2NBPN2/PP3PPP/R1BQK2R w KQ - 0 8",
]

NOTHING = LpResult("failed", 0.0, np.zeros(0), np.zeros(0), 0, 0.0, False)


def growing(steps: int = 5) -> Iterator[Trunk]:
    """A dark-chess trunk of three roots, a little larger at each step."""
    model = DarkChess(chess.WHITE, PAPER, BuiltinEvaluator())
    rows = np.array([Position.from_fen(fen).row for fen in FENS])
    trunk = Trunk.from_roots(fresh_roots(model.states(rows, 0), model, np.inf, 1))
    history = np.zeros(0, dtype=np.uint64)
    expand(trunk, np.arange(len(FENS)), model, history)
    for step in range(1, steps + 1):
        yield trunk
        found = solve_gadget(trunk, "resolve")
        expand(trunk, leaves_to_expand(trunk, found.x, found.y, step)[:60], model, history)


@pytest.mark.parametrize(
    ("kinds", "caution"),
    [
        (("maxmargin",), 1.0), (("resolve",), 1.5), (("maxmargin", "resolve"), 1.5), (("resolve", "maxmargin"), 1.0),
    ],
)  # fmt: skip
def test_a_carried_basis_gives_the_same_value_as_a_cold_start(kinds: tuple[Gadget, ...], caution: float) -> None:
    program = GadgetProgram(caution=caution)
    sizes = []
    for trunk in growing():
        sizes.append(trunk.node_count)
        for kind in kinds:
            warm = program.solve(trunk, kind).profile
            cold = solve_gadget(trunk, kind, caution=caution)
            assert warm.solved and cold.solved
            assert max(warm.gap, cold.gap) < 1e-7
            assert warm.margin == pytest.approx(cold.margin, abs=1e-6)
    assert sizes[-1] > 4 * sizes[0]


@pytest.mark.parametrize("caution", [1.0, 1.5, 2.0, 3.0, 100.0])
def test_a_cautious_resolve_is_a_saddle_point_over_the_weights_that_caution_allows(caution: float) -> None:
    """Both sides of the saddle by other means: what x is sure of by a program over the weights alone, what y concedes
    by a best response to it.
    """
    for trunk in growing(3):
        roots = trunk.group_count
        found = solve_gadget(trunk, "resolve", caution=caution)
        weights = found.y[1 : 1 + roots]
        most = min(1.0, caution / roots)
        assert weights.min() >= 0.0 and weights.max() <= most + 1e-9 and weights.sum() <= 1.0 + 1e-9
        form = gadget_form(trunk)
        margins = best_response(form.treeplexes[1], form.payoff_transposed @ found.x, maximize=False)
        worst = linprog(
            margins.sequence_value[1 : 1 + roots], A_ub=np.ones((1, roots)), b_ub=[1.0], bounds=[(0.0, most)] * roots
        )
        conceded = best_response(form.treeplexes[0], form.payoff @ found.y, maximize=True).value
        assert found.margin == pytest.approx(worst.fun, abs=1e-7)
        assert conceded == pytest.approx(worst.fun, abs=1e-6)


def test_a_useless_basis_is_survived(monkeypatch: pytest.MonkeyPatch) -> None:
    program = GadgetProgram()
    start = GadgetProgram._start

    def useless(self: GadgetProgram, *arguments: object) -> Basis | None:
        basis = start(self, *arguments)  # type: ignore[arg-type]
        return None if basis is None else Basis(basis.columns[::-1].copy(), basis.rows[::-1].copy())

    monkeypatch.setattr(GadgetProgram, "_start", useless)
    for trunk in growing(3):
        found = program.solve(trunk, "resolve").profile
        assert found.solved
        assert found.margin == pytest.approx(solve_gadget(trunk, "resolve").margin, abs=1e-6)


def test_without_time_there_is_still_a_plan_and_it_says_that_it_is_no_equilibrium(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Nothing comes back from any method: player 0 plays best against a uniform opponent."""
    trunk = list(growing(4))[-1]
    exact = solve_gadget(trunk, "maxmargin")
    monkeypatch.setattr("klss.theory.highs.LinearSolver.solve", lambda *_, **__: NOTHING)
    found = solve_gadget(trunk, "maxmargin")
    assert not found.solved
    assert found.x[0] == pytest.approx(1.0)
    assert found.margin <= exact.margin + 1e-9
    first, size = int(trunk.infosets[0].first[0]), int(trunk.infosets[0].size[0])
    assert found.x[first : first + size].max() == pytest.approx(1.0), "one action, not a uniform mixture"


@pytest.mark.parametrize(("alternate", "last"), [(-1.0, "maxmargin"), (1.0, "resolve")])
@pytest.mark.parametrize("first", ["maxmargin", "resolve"])
def test_a_search_begins_with_the_gadget_it_is_told_and_ends_with_the_one_the_margins_ask_for(
    first: Gadget, alternate: float, last: Gadget
) -> None:
    asked: list[Gadget] = []

    class Recorded(GadgetProgram):
        def solve(self, trunk: Trunk, gadget: Gadget, *rest: Any, **limits: Any) -> Answer:
            asked.append(gadget)
            return super().solve(trunk, gadget, *rest, **limits)

    # Kuhn is worth -1/18: more than one alternate value, less than the other.
    trunk = whole_trunk(EnumeratedModel(kuhn()), alternate)
    solver = LinearPrograms(first, 1.0, Recorded)
    profile = solver.begin(SearchedSubgame(trunk, carried=0, sampled=1), None, Budget(nodes=1)).improve()
    assert asked[0] == first
    assert profile.gadget == asked[-1] == last
