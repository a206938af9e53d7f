"""The gadget's program from a carried basis: the same equilibria as from scratch, at every size, for both gadgets."""

from __future__ import annotations

from collections.abc import Iterator

import chess
import numpy as np
import pytest

from darkchess.evaluation import BuiltinEvaluator
from darkchess.model import DarkChess
from darkchess.position import Position
from darkchess.rules import PAPER
from klss._highs import Basis, LpResult
from klss.search import Trunk
from klss.search.expansion import leaves_to_expand
from klss.search.gadget import solve_gadget
from klss.search.nesting import fresh_roots
from klss.search.program import GadgetProgram, Kind

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
    trunk.expand(np.arange(len(FENS)), model, history)
    for step in range(1, steps + 1):
        yield trunk
        found = solve_gadget(trunk, "resolve")
        trunk.expand(leaves_to_expand(trunk, found.x, found.y, step)[:60], model, history)


@pytest.mark.parametrize("kinds", [("maxmargin",), ("resolve",), ("maxmargin", "resolve"), ("resolve", "maxmargin")])
def test_a_carried_basis_gives_the_same_value_as_a_cold_start(kinds: tuple[Kind, ...]) -> None:
    program = GadgetProgram()
    sizes = []
    for trunk in growing():
        sizes.append(trunk.node_count)
        for kind in kinds:
            warm = solve_gadget(trunk, kind, program=program)
            cold = solve_gadget(trunk, kind)
            assert warm.solved and cold.solved
            assert max(warm.gap, cold.gap) < 1e-7
            assert warm.margin == pytest.approx(cold.margin, abs=1e-6)
    assert sizes[-1] > 4 * sizes[0]


def test_a_useless_basis_is_survived(monkeypatch: pytest.MonkeyPatch) -> None:
    program = GadgetProgram()
    start = GadgetProgram._start

    def useless(self: GadgetProgram, *arguments: object) -> Basis | None:
        basis = start(self, *arguments)  # type: ignore[arg-type]
        return None if basis is None else Basis(basis.columns[::-1].copy(), basis.rows[::-1].copy())

    monkeypatch.setattr(GadgetProgram, "_start", useless)
    for trunk in growing(3):
        found = solve_gadget(trunk, "resolve", program=program)
        assert found.solved
        assert found.margin == pytest.approx(solve_gadget(trunk, "resolve").margin, abs=1e-6)


def test_without_time_there_is_still_a_plan_and_it_says_that_it_is_no_equilibrium(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Nothing comes back from any method: player 0 plays best against a uniform opponent."""
    trunk = list(growing(4))[-1]
    exact = solve_gadget(trunk, "maxmargin")
    monkeypatch.setattr("klss.search.program.Model.solve", lambda *_, **__: NOTHING)
    found = solve_gadget(trunk, "maxmargin")
    assert not found.solved
    assert found.x[0] == pytest.approx(1.0)
    assert found.margin <= exact.margin + 1e-9
    first, size = int(trunk.infosets[0].first[0]), int(trunk.infosets[0].size[0])
    assert found.x[first : first + size].max() == pytest.approx(1.0), "one action, not a uniform mixture"
