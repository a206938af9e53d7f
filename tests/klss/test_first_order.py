"""Laws of regret minimisation: gaps that are true, values of known games, runs that go on as if never stopped."""

from __future__ import annotations

import os
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from klss.paper.tables import matching_pennies
from klss.support.archive import read_arrays
from klss.theory import first_order
from klss.theory.best_response import exploitability
from klss.theory.first_order import METHODS, FirstOrder, SavedRunError, solve
from klss.theory.sequence_form import SequenceForm, sequence_form
from klss.theory.treeplex import behaviour
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
                    strategies[player][here] = 1 / side.action_count[i]
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
    form = sequence_form(games.random_game(1))
    stopped = solve(form, method="cfr+", gap=0.0, seconds=0.01)
    assert stopped.status == "time_limit"
    assert stopped.exploitability == pytest.approx(exploitability(form, stopped.x, stopped.y), abs=1e-15)


@pytest.mark.parametrize("method", METHODS)
def test_a_run_that_was_stopped_goes_on_as_if_it_had_not_been(method: str, tmp_path: Path) -> None:
    form, path = kuhn(), tmp_path / "run.npz"
    whole = FirstOrder(form, method)
    whole.run(30)
    whole.save(path)
    halves = FirstOrder.resumed(form, path, method)
    for run in (whole, halves):
        run.run(40)
    assert halves.iterations == 70
    np.testing.assert_array_equal(halves.profile()[0], whole.profile()[0])


def test_an_interrupt_loses_no_iteration_and_counts_none_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    form, path = kuhn(), tmp_path / "run.npz"
    iterate = first_order.regrets.iterate

    def interrupted(times: int, *rest: object) -> None:
        iterate(times, *rest)  # the signal comes while it runs, and Python looks for it only afterwards
        if times > 1:
            raise KeyboardInterrupt

    monkeypatch.setattr(first_order.regrets, "iterate", interrupted)
    with pytest.raises(KeyboardInterrupt):
        solve(form, gap=0.0, resume=path)
    monkeypatch.undo()
    left = FirstOrder.resumed(form, path)
    whole = FirstOrder(form)
    whole.run(left.iterations)
    np.testing.assert_array_equal(left.profile()[0], whole.profile()[0])


def test_a_long_run_is_kept_from_time_to_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    form, path = kuhn(), tmp_path / "run.npz"
    monkeypatch.setattr(first_order, "_SAVE_S", 0.0)
    kept = []

    def look(iterations: int, gap: float) -> None:
        kept.append(FirstOrder.resumed(form, path).iterations == iterations)
        if len(kept) == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        solve(form, gap=0.0, resume=path, on_progress=look)
    assert all(kept)


def test_a_run_of_something_else_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "run.npz"
    FirstOrder(kuhn()).save(path)
    with pytest.raises(SavedRunError, match="run of method 'pcfr\\+', expected 'dcfr'"):
        solve(kuhn(), method="dcfr", resume=path)
    with pytest.raises(SavedRunError, match="run of another game"):
        solve(sequence_form(matching_pennies(2)), resume=path)
    for no_file in (tmp_path, Path(os.devnull)):
        with pytest.raises(SavedRunError, match="got no file, expected one of a run"):
            solve(kuhn(), resume=no_file)
    path.write_bytes(b"PK nothing")
    with pytest.raises(SavedRunError, match="holds a run of klss solve"):
        solve(kuhn(), resume=path)
    for done in ("x", None, 1e30, -1, 10**30):
        monkeypatch.setattr(FirstOrder, "iterations", done)
        FirstOrder(kuhn()).save(path)
        with pytest.raises(SavedRunError, match="iterations, expected a number"):
            FirstOrder.resumed(kuhn(), path)


def test_a_file_takes_no_more_memory_than_a_run_of_the_game(tmp_path: Path) -> None:
    path = tmp_path / "run.npz"
    run = FirstOrder(kuhn())
    run.save(path)
    FirstOrder.resumed(kuhn(), path)
    about = read_arrays(path)["about"]  # what another program may write: few bytes, packed, that become many
    np.savez_compressed(path, about=about, regret0=np.zeros(3_000_000))
    tracemalloc.start()
    try:
        with pytest.raises(SavedRunError):
            FirstOrder.resumed(kuhn(), path)
        assert tracemalloc.get_traced_memory()[1] < 1 << 23
    finally:
        tracemalloc.stop()
