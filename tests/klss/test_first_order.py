"""Laws of regret minimisation: gaps that are true, values of known games, runs that go on as if never stopped."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from klss.best_response import exploitability
from klss.errors import GameError, TooLargeError
from klss.first_order import METHODS, FirstOrder, SavedRunError, solve
from klss.sequence_form import SequenceForm, sequence_form
from klss.support.memory import resident_bytes
from klss.tables import matching_pennies
from klss.treeplex import behaviour
from tests.klss import games


def kuhn() -> SequenceForm:
    return sequence_form(games.kuhn())


def textbook_cfr_plus(form: SequenceForm, iterations: int) -> tuple[np.ndarray, np.ndarray]:
    """CFR+ with linear averages, alternating, by numpy and plain loops over infosets: Tammelin (2014)."""
    payoff = form.payoff.toarray()
    regrets = [np.zeros(t.sequence_count) for t in form.treeplexes]
    totals = [np.zeros(t.sequence_count) for t in form.treeplexes]

    def plan(player: int) -> np.ndarray:
        t, out = form.treeplexes[player], np.ones(form.treeplexes[player].sequence_count)
        for i in range(t.infoset_count):
            here = slice(t.first_sequence[i], t.first_sequence[i] + t.action_count[i])
            out[here] = out[t.parent_sequence[i]] * strategies[player][here]
        return out

    strategies = [np.concatenate([[1.0], np.repeat(1 / t.action_count, t.action_count)]) for t in form.treeplexes]
    for t in range(1, iterations + 1):
        for player in (0, 1):
            side = form.treeplexes[player]
            utility = payoff @ plan(1) if player == 0 else -payoff.T @ plan(0)
            for i in reversed(range(side.infoset_count)):
                here = slice(side.first_sequence[i], side.first_sequence[i] + side.action_count[i])
                value = strategies[player][here] @ utility[here]
                regrets[player][here] = np.maximum(0.0, regrets[player][here] + utility[here] - value)
                if regrets[player][here].sum() > 0:
                    strategies[player][here] = regrets[player][here] / regrets[player][here].sum()
                else:
                    strategies[player][here] = np.arange(side.action_count[i]) == np.argmax(utility[here])
                utility[side.parent_sequence[i]] += value
            totals[player] += t * plan(player)
    return totals[0], totals[1]


def test_cfr_plus_is_the_textbook_s() -> None:
    form = kuhn()
    run = FirstOrder(form, "cfr+")
    run.run(60)
    for player, total in enumerate(textbook_cfr_plus(form, 60)):
        np.testing.assert_allclose(
            behaviour(form.treeplexes[player], run._learned[player].total),
            behaviour(form.treeplexes[player], total),
            atol=1e-10,
        )


@pytest.mark.parametrize("method", METHODS)
def test_every_method_finds_kuhn_s_value_and_tells_its_true_gap(method: str) -> None:
    form = kuhn()
    solution = solve(form, method=method, gap=1e-4)
    assert solution.status == "optimal" and solution.exploitability <= 1e-4
    assert solution.exploitability == pytest.approx(exploitability(form, solution.x, solution.y), abs=1e-15)
    assert solution.value == pytest.approx(-1 / 18, abs=1e-4)  # Kuhn (1950)


def test_a_limit_ends_it_with_the_best_that_was_found() -> None:
    form = kuhn()
    stopped = solve(form, gap=0.0, iterations=25)
    assert stopped.status == "iteration_limit" and stopped.stats.iterations == 25
    assert stopped.exploitability < solve(form, gap=0.0, iterations=1).exploitability
    harder = sequence_form(games.random_game(1))
    assert solve(harder, method="cfr+", gap=0.0, seconds=0.01).status == "time_limit"


@pytest.mark.parametrize("method", METHODS)
def test_a_run_that_was_stopped_goes_on_as_if_it_had_not_been(method: str, tmp_path: Path) -> None:
    form, path = kuhn(), tmp_path / "run.npz"
    solve(form, method=method, gap=0.0, iterations=30, resume=path)
    solve(form, method=method, gap=0.0, iterations=70, resume=path)
    halves, whole = FirstOrder(form, method), FirstOrder(form, method)
    halves.resume(path)
    whole.run(70)
    assert halves.iterations == 70
    np.testing.assert_array_equal(halves.profile()[0], whole.profile()[0])


def test_a_run_of_something_else_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "run.npz"
    solve(kuhn(), gap=0.0, iterations=3, resume=path)
    with pytest.raises(SavedRunError, match="run of method 'pcfr\\+', expected 'dcfr'"):
        solve(kuhn(), method="dcfr", resume=path)
    with pytest.raises(SavedRunError, match="run of game"):
        solve(sequence_form(matching_pennies(2)), resume=path)
    with pytest.raises(SavedRunError, match="got no file"):
        solve(kuhn(), resume=tmp_path)
    path.write_bytes(b"PK nothing")
    with pytest.raises(SavedRunError, match="expected a run of klss solve"):
        solve(kuhn(), resume=path)


def test_bad_arguments_are_one_line() -> None:
    with pytest.raises(GameError, match="expected one of pcfr\\+, dcfr, cfr\\+"):
        solve(kuhn(), method="newton")
    with pytest.raises(GameError, match="gap: got nan"):
        solve(kuhn(), gap=float("nan"))
    with pytest.raises(TooLargeError, match="it would take about"):
        solve(kuhn(), max_bytes=min(1, resident_bytes()))
