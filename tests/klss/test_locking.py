"""Laws of locking: the given behaviour stays, and the rest is the best that can be done around it."""

from __future__ import annotations

import numpy as np
import pytest

from klss.theory.best_response import best_response
from klss.theory.equilibrium import solve
from klss.theory.first_order import solve as iterate
from klss.theory.folding import locked as lock
from klss.theory.sequence_form import SequenceForm, sequence_form
from klss.theory.treeplex import behaviour, realization, uniform_behaviour
from tests.klss import games


def free(form: SequenceForm) -> tuple[np.ndarray, np.ndarray]:
    return tuple(np.full(t.sequence_count, np.nan) for t in form.treeplexes)  # type: ignore[return-value]


@pytest.mark.parametrize("player", [0, 1])
def test_a_whole_strategy_locked_leaves_the_best_response_to_it(player: int) -> None:
    form = sequence_form(games.kuhn())
    given = list(free(form))
    given[player] = uniform_behaviour(form.treeplexes[player])
    locked = lock(form, (given[0], given[1]))
    found = locked.restored(solve(locked.form))
    plan = realization(form.treeplexes[player], given[player])
    utility = form.payoff @ plan if player == 1 else form.payoff_transposed @ plan
    other = best_response(form.treeplexes[1 - player], utility, maximize=player == 1)
    assert found.value == pytest.approx(other.value, abs=1e-9)
    np.testing.assert_allclose((found.x, found.y)[player], plan, atol=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_locked_to_an_equilibrium_s_own_behaviour_the_value_stays(seed: int) -> None:
    form = sequence_form(games.kuhn())
    rng = np.random.default_rng(seed)
    solution = solve(form)
    given = free(form)
    for player, plan in enumerate((solution.x, solution.y)):
        treeplex = form.treeplexes[player]
        for i in rng.permutation(treeplex.infoset_count)[:3]:
            here = slice(treeplex.first_sequence[i], treeplex.first_sequence[i] + treeplex.action_count[i])
            given[player][here] = behaviour(treeplex, plan)[here]
    locked = lock(form, given)
    found = locked.restored(solve(locked.form))
    assert found.value == pytest.approx(solution.value, abs=1e-9)
    assert form.value(found.x, found.y) == pytest.approx(found.value, abs=1e-9)
    assert iterate(locked.form, gap=1e-4).value == pytest.approx(solution.value, abs=1e-4)
    for player, plan in enumerate((found.x, found.y)):
        set_there = ~np.isnan(given[player])
        reached = plan[form.treeplexes[player].parent_of_sequence] > 1e-9
        np.testing.assert_allclose(
            behaviour(form.treeplexes[player], plan)[set_there & reached], given[player][set_there & reached], atol=1e-9
        )
