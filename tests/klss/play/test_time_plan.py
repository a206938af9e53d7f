"""The division of an answer's time: no clock runs out by it, none is wasted."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import chess
import pytest

from darkchess.board.position import START_FEN, Position
from darkchess.evaluation.registry import EvaluatorChoice
from darkchess.rbc.players.holding import HoldingPlayer
from klss.play.limits import Limit
from klss.play.time_plan import Timekeeper, TimePlan
from klss.search.budget import Budget
from uci_bridge.kits.named import kit_named

CLOCKS = [((3, 2), 0.05), ((60, 0), 0.02), ((180, 2), 0.3), ((900, 5), 2.0), ((2, 60), 0.3), ((10, 0.1), 0.04)]
"""Clocks, and seconds by which answers come late on them."""
QUESTIONS = pytest.mark.parametrize("questions", [1, 2])


def keeper(questions: int) -> list[Callable[[Limit], TimePlan]]:
    """What plans the answers to a turn's questions in a game."""
    if questions == 1:
        return [Timekeeper().plan]
    player = HoldingPlayer(seed=0, cap=1, threads=1)
    player.begin(chess.WHITE, Position.from_fen(START_FEN))
    return [partial(player.time_plan, sense=sense) for sense in (True, False)]


def clocks(
    plans: list[Callable[[Limit], TimePlan]], clock: tuple[float, float], late_s: float = 0.0, late_turns: int = 100
) -> list[float]:
    """The clock after each turn of a game in which the answers of the first turns come later than planned."""
    (left, increment), found = clock, list[float]()
    for turn in range(100):
        begin, spent = left, 0.0
        for ask in plans:
            plan = ask(Limit(clock=(left, increment)))
            assert plan.seconds and plan.tracking_s and (ask is not plans[0] or plan.tracking_s <= begin / 20)
            spent += plan.seconds
            left -= plan.seconds + late_s * (turn < late_turns)
            assert left > 0.0 and spent <= begin / 2
        found.append(left := left + increment)
    return found


@pytest.mark.parametrize(("clock", "late_s"), CLOCKS)
@QUESTIONS
def test_a_game_passes_no_flag_and_uses_the_clock_and_late_answers_use_no_more_of_it_and_are_forgotten(
    questions: int, clock: tuple[float, float], late_s: float
) -> None:
    on_time, late = (clocks(keeper(questions), clock, each) for each in (0.0, late_s))
    # late by no more than what is not known of it at first: late_s · (1 + 3/4 + (3/4)² + …)
    assert all(late > on_time - 4 * late_s for on_time, late in zip(on_time, late, strict=True))
    for left in (on_time[-1], clocks(keeper(questions), clock, late_s, late_turns=10)[-1]):
        assert left < 0.1 * (clock[0] + 100 * clock[1])


@QUESTIONS
def test_seconds_go_before_the_clock_and_are_halved_and_five_stand_where_nothing_is_given(questions: int) -> None:
    make = keeper(questions)[0]
    for limit, seconds in ((Limit(time_s=3.0, clock=(900.0, 5.0)), 3.0), (Limit(), 5.0)):
        plan = make(limit)
        assert (plan.seconds, plan.tracking_s) == (seconds, seconds / 2)
        assert plan.deadline == plan.began + seconds and plan.budget() == Budget(seconds=seconds, started=plan.began)
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


@pytest.mark.parametrize("name", ["fog greedy", "rbc rbc-expect", "rbc dsmcp", "openspiel:phantom_ttt ismcts"])
def test_players_plan_for_answers_that_came_late(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    plans, plan = list[TimePlan](), Timekeeper.plan

    def noted(keeper: Timekeeper, *question: Any, **which: bool) -> TimePlan:
        plans.append(plan(keeper, *question, **which))
        return plans[-1]

    kit = kit_named(name.split()[0])
    maker = kit.maker(kit.spec(name.split()[1]), EvaluatorChoice(), kit.setup())
    referee, player = kit.referee(kit.setup()), maker.player(1)
    player.begin(referee.turn, referee.setup)
    for observation in referee.observations(referee.turn):
        player.observe(observation)
    monkeypatch.setattr(Timekeeper, "plan", noted)
    for left in (9.0, 5.0):  # about .3 s are planned at first
        player.answer(referee.question, Limit(clock=(left, 0.0)))
    assert plans[0].limit.clock == (9.0, 0.0) and plans[1].limit.clock == (0.0, 0.0)
