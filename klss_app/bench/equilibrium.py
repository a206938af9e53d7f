"""The linear programs of real searches: the time saved by carrying the basis, and the cost of updating the program.

Each packaged game (``data/bench_positions.json``) is replayed to its position. There the engine searches with a node
budget and moves, its opponent answers with a small budget, and the engine searches again from its carried trunk. Every
step's trunk is solved twice: as in the search (the reduced game, the last basis, everything that
:class:`klss.search.equilibrium.program.GadgetProgram` keeps), and cold: the same gadget of the whole game from scratch,
simplex with presolve. Both answers' objectives are compared at each step.
"""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import chess

from darkchess.fog.game.referee import Referee
from darkchess.fog.players.named_fog_players import Configuration, make_player
from klss.errors import SolverError
from klss.paper.subgame import Gadget
from klss.play.limits import Limit
from klss.search import Klss2021, Parts
from klss.search.equilibrium.linear_program import LinearPrograms
from klss.search.equilibrium.program import Answer, GadgetProgram
from klss.search.trunk import Trunk
from klss.support.arrays import Floats
from klss.support.text import Document
from klss_app.bench.positions import bench_games, seated
from klss_app.bench.report import Figures, Report, Say, load, spread

NODES = 50_000
_ANSWER_NODES = 2_000
TOLERANCE = 1e-6
"""Largest allowed difference between the objectives of warm and cold at a step."""

_KINDS: tuple[Gadget, ...] = ("resolve", "maxmargin")


@dataclass(frozen=True)
class Step:
    """One linear program, solved as in the search (warm) and from scratch (cold); times are in seconds."""

    ply: int  # 0: a fresh trunk, 2: a carried one
    nodes: int
    warm_s: float
    edit_s: float
    cold_s: float
    difference: float  # of the objectives
    gap: float


class _Doubled(GadgetProgram):
    """Solves each trunk cold too, and stores both times."""

    steps: ClassVar[list[Step]] = []

    def solve(self, trunk: Trunk, gadget: Gadget, penalty: Floats | None = None, **limits: Any) -> Answer:
        warm = super().solve(trunk, gadget, penalty, **limits)
        cold = GadgetProgram(reduce=False, caution=self.caution).solve(trunk, gadget, penalty)
        difference = abs(warm.profile.objective - cold.profile.objective)
        gap = max(warm.profile.gap, cold.profile.gap)
        self.steps.append(Step(0, trunk.node_count, warm.solve_s, warm.edit_s, cold.solve_s, difference, gap))
        return warm


@dataclass(frozen=True, kw_only=True)
class _DoubledSearch(Klss2021):
    """klss2021 with one gadget, ``first``, and every program solved twice."""

    def parts(self) -> Parts:
        solver = LinearPrograms(self.first, self.caution, _Doubled, alone=True)
        return dataclasses.replace(super().parts(), solver=solver)


def program_sequence(chosen: Configuration, moves: list[chess.Move], kind: Gadget, nodes: int) -> list[Step]:
    """Two moves of the engine after ``moves``: one entry per linear program."""
    referee = Referee.replay(moves)
    assert isinstance(chosen.search, Klss2021), f"{chosen.name} solves no linear programs"
    search = _DoubledSearch(**dataclasses.asdict(chosen.search) | {"first": kind})
    doubled = dataclasses.replace(chosen, search=search)
    players = {color: seated(make_player(doubled), referee, color) for color in chess.COLORS}
    mover = referee.turn
    steps = list[Step]()
    for ply in range(3):
        if referee.turn == mover:
            _Doubled.steps.clear()
            decision = players[mover].answer("move", Limit(nodes=nodes))
            steps += [dataclasses.replace(step, ply=ply) for step in _Doubled.steps]
        else:
            decision = players[referee.turn].answer("move", Limit(nodes=_ANSWER_NODES))
        referee.push(decision.answer)
        if referee.outcome is not None:
            break
        for color, player in players.items():
            player.observe(referee.view(color))
    return steps


def equilibrium(
    chosen: Configuration, *, nodes: int = NODES, repetitions: int = 3, say: Say = lambda line: None
) -> Report:
    """Figures ``cold_over_warm_resolve``, ``cold_over_warm_maxmargin`` (sums of solve times over all sequences; cold
    simplex stalls now and then, which dominates such sums), ``edit_s``, ``warm_s``, ``cold_s`` (sums over both gadgets;
    edits are all work outside the solver: forms, reductions, programs, bases, plans read back and the gap),
    ``objective_difference``; the times of each program are in the samples.

    Raises SolverError: two objectives differ by more than 1e-6, so one of the solvers is wrong.
    """
    games = bench_games()
    program_sequence(chosen, games[0][1], "maxmargin", 2_000)  # warms up
    rows, found = list[Document](), defaultdict[tuple[str, str], list[float]](list)  # by figure and unit
    for repetition in range(repetitions):
        every = list[Step]()
        for kind in _KINDS:
            of_kind = list[Step]()
            for name, moves in games:
                mine = program_sequence(chosen, moves, kind, nodes)
                about = {"repetition": repetition, "gadget": kind, "position": name, "load": load()}
                rows += [{**about, **dataclasses.asdict(step)} for step in mine]
                say(
                    f"{name}, {kind}: {len(mine)} programs, cold {_sum(mine, 'cold_s'):.3f} s, warm "
                    f"{_sum(mine, 'warm_s'):.3f} s, edits {_sum(mine, 'edit_s'):.3f} s, objectives within "
                    f"{max(step.difference for step in mine):.0e}"
                )
                of_kind += mine
            found[f"cold_over_warm_{kind}", "times"].append(_sum(of_kind, "cold_s") / _sum(of_kind, "warm_s"))
            every += of_kind
        for key in ("edit_s", "warm_s", "cold_s"):
            found[key, "s"].append(_sum(every, key))
        worst = max(step.difference for step in every)
        if not worst <= TOLERANCE:
            raise SolverError(f"objectives of warm and cold differ by {worst:.1e}, expected at most {TOLERANCE:.0e}")
        found["objective_difference", "utility"].append(worst)
    figures: Figures = {figure: spread(values, unit) for (figure, unit), values in found.items()}
    return Report(figures, None, rows)


def _sum(steps: Sequence[Step], key: str) -> float:
    return float(sum(getattr(step, key) for step in steps))
