"""Laws of smaller games. Folding: what is symmetric goes, and an equilibrium of what is left is one of the whole game.
Locking: the given behaviour stays, and the rest is the best that can be done around it.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from klss.theory.best_response import best_response
from klss.theory.equilibrium import solve
from klss.theory.first_order import solve as iterate
from klss.theory.folding import fold, locked
from klss.theory.sequence_form import SequenceForm, sequence_form
from klss.theory.treeplex import Treeplex, behaviour, realization, uniform_behaviour
from tests.klss import games


def with_suits(form: SequenceForm, suits: int, rng: np.random.Generator) -> SequenceForm:
    """The game in which nature first gives each player a suit that means nothing; each suit has its actions in an order
    of its own."""
    matrix = form.payoff.tocoo()
    treeplexes, places = [], []
    for treeplex, place in zip(form.treeplexes, (matrix.row, matrix.col), strict=True):
        parents, numbers = [], []
        for suit in range(suits):
            number = np.arange(treeplex.sequence_count)
            for first, count in zip(treeplex.first_sequence, treeplex.action_count, strict=True):
                number[first : first + count] = first + rng.permutation(count)
            number[1:] += suit * (treeplex.sequence_count - 1)
            parents.append(number[treeplex.parent_sequence])
            numbers.append(number[place])
        counts = np.tile(treeplex.action_count, suits)
        treeplexes.append(Treeplex(np.concatenate(parents), 1 + np.cumsum(counts) - counts, counts))
        places.append(numbers)
    pairs = [(row, column) for row in places[0] for column in places[1]]
    rows, columns = (np.concatenate(each) for each in zip(*pairs, strict=True))
    data = np.tile(matrix.data, len(pairs)) / len(pairs)
    a = sparse.csr_array((data, (rows, columns)), shape=tuple(t.sequence_count for t in treeplexes))
    return SequenceForm((treeplexes[0], treeplexes[1]), a, sparse.csr_array(a.shape), form.unit)


@pytest.mark.parametrize("seed", range(10))
def test_suits_that_mean_nothing_go_and_the_value_stays(seed: int) -> None:
    form = sequence_form(games.random_game(seed))
    whole = with_suits(form, 3, np.random.default_rng(seed))
    folded = fold(whole)
    assert folded.form.a.shape <= form.a.shape
    found = folded.restored(solve(folded.form))
    assert found.value == pytest.approx(solve(form).value, abs=1e-9)
    assert found.exploitability < 1e-9 * max(1.0, form.unit)
    assert whole.value(found.x, found.y) == pytest.approx(found.value, abs=1e-9)


def test_actions_that_are_alike_are_played_alike() -> None:
    wins = np.array([[0, -1, 1], [1, 0, -1], [-1, 1, 0]], float)  # rock, paper, scissors
    once = np.array([0]), np.array([1]), np.array([3])
    a = np.zeros((4, 4))
    a[1:, 1:] = wins
    form = SequenceForm((Treeplex(*once), Treeplex(*once)), sparse.csr_array(a), sparse.csr_array((4, 4)))
    folded = fold(form)
    found = folded.restored(solve(folded.form))
    assert folded.form.a.shape == (2, 2)
    np.testing.assert_allclose(found.x, [1.0, 1 / 3, 1 / 3, 1 / 3], atol=1e-12)
    assert found.exploitability < 1e-12


def test_one_payoff_that_differs_keeps_the_suits_apart() -> None:
    whole = with_suits(sequence_form(games.kuhn()), 2, np.random.default_rng(0))
    alike = fold(whole).form
    whole.a.data[0] += 1e-3
    changed = SequenceForm(whole.treeplexes, whole.a, whole.b, whole.unit)
    folded = fold(changed)
    found = folded.restored(solve(folded.form))
    assert sum(folded.form.a.shape) > sum(alike.a.shape)
    assert found.value == pytest.approx(solve(changed).value, abs=1e-9)
    assert found.exploitability < 1e-9


def test_leduc_poker_folds_to_what_openspiel_has_without_suits() -> None:
    pytest.importorskip("pyspiel")
    from klss import openspiel

    whole = sequence_form(openspiel.load("leduc_poker"))
    ranks = sequence_form(openspiel.load("leduc_poker(suit_isomorphism=True)"))
    folded = fold(whole)
    assert folded.form.a.shape == ranks.a.shape
    assert folded.restored(solve(folded.form)).value == pytest.approx(solve(ranks).value, abs=1e-9)
    roughly = folded.restored(iterate(folded.form, method="dcfr", gap=1e-2))
    assert roughly.exploitability <= 1e-2


def test_a_game_without_symmetry_is_left_as_it_is() -> None:
    form = sequence_form(games.kuhn())
    assert fold(form).form is form


# ---------------------------------------------------------------------------------------- locking
def free(form: SequenceForm) -> tuple[np.ndarray, np.ndarray]:
    return tuple(np.full(t.sequence_count, np.nan) for t in form.treeplexes)  # type: ignore[return-value]


@pytest.mark.parametrize("player", [0, 1])
def test_a_whole_strategy_locked_leaves_the_best_response_to_it(player: int) -> None:
    form = sequence_form(games.kuhn())
    given = list(free(form))
    given[player] = uniform_behaviour(form.treeplexes[player])
    fixed = locked(form, (given[0], given[1]))
    found = fixed.restored(solve(fixed.form))
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
    fixed = locked(form, given)
    found = fixed.restored(solve(fixed.form))
    assert found.value == pytest.approx(solution.value, abs=1e-9)
    assert form.value(found.x, found.y) == pytest.approx(found.value, abs=1e-9)
    assert iterate(fixed.form, gap=1e-4).value == pytest.approx(solution.value, abs=1e-4)
    for player, plan in enumerate((found.x, found.y)):
        set_there = ~np.isnan(given[player])
        reached = plan[form.treeplexes[player].parent_of_sequence] > 1e-9
        np.testing.assert_allclose(
            behaviour(form.treeplexes[player], plan)[set_there & reached], given[player][set_there & reached], atol=1e-9
        )
