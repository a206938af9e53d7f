"""The division of an answer's time: no clock runs out by it, none is wasted."""

from __future__ import annotations

import time
from functools import partial

import chess
import pytest

from darkchess.board.position import Position
from darkchess.fog.game.contest import Setup
from darkchess.fog.players.tracking import RandomPlayer
from darkchess.rbc.players.holding import time_plan
from klss.play.limits import Limit
from klss.play.time_plan import TimePlan

QUESTIONS = {"one": [TimePlan], "two": [partial(time_plan, sense=sense) for sense in (True, False)]}


@pytest.mark.parametrize("clock", [(3.0, 2.0), (60.0, 0.0), (180.0, 2.0), (900.0, 5.0), (2.0, 60.0)])
@pytest.mark.parametrize("questions", QUESTIONS)
def test_a_game_of_planned_turns_passes_no_flag_and_uses_the_clock_and_most_of_its_increments(
    questions: str, clock: tuple[float, float]
) -> None:
    (left, increment), turns = clock, 100
    for _ in range(turns):
        plans = [make(Limit(clock=(left, increment))) for make in QUESTIONS[questions]]
        spent = sum(plan.seconds for plan in plans)
        assert 0.0 < spent <= left / 2 and 0.0 < plans[0].tracking_s <= left / 20
        left += increment - spent
    assert left < 0.1 * (clock[0] + turns * increment)


@pytest.mark.parametrize("make", [TimePlan, lambda limit: time_plan(limit, sense=True)], ids=["one", "two"])
def test_seconds_go_before_the_clock_and_are_halved_and_five_stand_where_nothing_is_given(make: object) -> None:
    assert callable(make)
    for limit, seconds in ((Limit(time_s=3.0, clock=(900.0, 5.0)), 3.0), (Limit(), 5.0)):
        plan = make(limit)
        assert (plan.seconds, plan.tracking_s) == (seconds, seconds / 2)
        assert plan.deadline == plan.began + seconds and plan.budget().seconds == seconds
        assert plan.tracking_deadline() == plan.began + seconds / 2


def test_with_nodes_no_clock_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = TimePlan(Limit(nodes=50, time_s=1.0, clock=(1.0, 1.0)), began=0.0)
    monkeypatch.setattr(time, "monotonic", lambda: 1 / 0)
    assert plan.seconds is plan.tracking_s is plan.deadline is plan.tracking_deadline(1.0) is None
    assert (plan.budget().nodes, plan.budget().seconds, plan.elapsed()) == (50, None, 0.0)
    assert plan.estimated_s(100.0) == 0.5 and TimePlan(Limit(time_s=2.0), began=0.0).estimated_s(100.0) == 2.0


def test_a_search_that_comes_late_gets_its_least_time_and_a_renewed_plan_what_is_left() -> None:
    late = TimePlan(Limit(time_s=0.5), began=time.monotonic() - 2.0)
    budget = late.budget(0.25)
    assert budget.seconds == pytest.approx(2.25, abs=0.1) and budget.started == late.began
    assert late.renewed().seconds == late.use.least_s
    half = TimePlan(Limit(time_s=4.0), began=time.monotonic() - 2.0).renewed()
    assert half.seconds == pytest.approx(2.0, abs=0.1)
    on_clock = TimePlan(Limit(clock=(60.0, 3.0)), began=time.monotonic() - 2.0).renewed()
    assert on_clock.limit.clock == (pytest.approx(58.0, abs=0.1), 3.0)


def test_answers_that_came_late_are_planned_for_and_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    player, left, plans, lost = RandomPlayer(), 100.0, list[float](), list[float]()
    player.begin(chess.WHITE, Setup(Position.start()))
    monkeypatch.setattr(player, "_answer", lambda view, limit: plans.append(TimePlan(limit).seconds or 0.0))
    for late in (0.0, 1.0, 1.0, 0.0, 0.0):
        player.answer("move", limit := Limit(clock=(left, 0.5)))
        lost.append((TimePlan(limit).seconds or 0.0) - plans[-1])
        left += 0.5 - plans[-1] - late
    # a turn's time is shorter by the mean of what was lost, to which each answer adds a quarter
    assert lost == pytest.approx([0.0, 0.0, 1 / 4, 7 / 16, 21 / 64])
