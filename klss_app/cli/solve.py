"""``klss solve GAME``: the equilibrium of any two-player zero-sum game of OpenSpiel, or of a Gambit file.

The value is in the game's own units for player 0; the exploitability is recomputed by best responses.
"""

from __future__ import annotations

import argparse
import dataclasses
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, NotRequired, TypedDict

from klss.support.signals import asked_to_end
from klss.support.text import Document
from klss.support.whole_file import write_whole
from klss_app.cli.errors import FailedError, UsageError
from klss_app.cli.openspiel import add_limits, add_recall, game_of, is_gambit_file, limits
from klss_app.cli.options import Parser, output_file
from klss_app.flag_types import positive, seed
from klss_app.progress import ProgressLine
from klss_app.stdout import print_document

if TYPE_CHECKING:
    from klss.support.arrays import Floats
    from klss.theory.equilibrium import Solution
    from klss.theory.exact import ExactSolution
    from klss.theory.game import Game
    from klss.theory.sequence_form import SequenceForm

_PROGRAMS, _ITERATED = ("lp", "simplex", "ipm"), ("auto", "pcfr+", "dcfr", "cfr+")
"""Methods of linear programming and of regret minimisation."""

_LARGE = 20_000
"""Number of payoffs from which on the command reports the game's size before it solves, as that takes a while."""


class _Subgame(TypedDict):
    """``subgame`` of the document."""

    player: int
    infoset: str
    margin: float
    nodes: int
    sequences: list[int]
    changed: dict[str, dict[str, list[float]]]


class _Report(TypedDict):
    """The document (docs/json.md, "`klss solve`")."""

    game: str
    value: float
    exploitability: float
    infosets: list[int]
    sequences: list[int]
    nodes: int
    rows: int
    columns: int
    nonzeros: int
    seconds: float
    method: NotRequired[str]
    iterations: NotRequired[int]
    status: NotRequired[str]
    about: NotRequired[str]
    exact: NotRequired[Document]
    subgame: NotRequired[_Subgame]


def _parser() -> Parser:
    parser = Parser("solve", "Equilibrium of a two-player zero-sum game, exactly or as far as you want.")
    parser.add_argument(
        "game", metavar="GAME", help="a game string of OpenSpiel, such as leduc_poker, or FILE.efg, .nfg"
    )
    add_limits(parser)
    add_recall(parser)
    parser.add_argument(
        "--method",
        choices=[*_PROGRAMS, *_ITERATED],
        default="lp",
        help="lp, simplex, ipm: linear programming; auto, pcfr+, dcfr, cfr+: regret minimisation, for larger games",
    )
    parser.add_argument("--exact", action="store_true", help="value and strategies as fractions, with a certificate")
    parser.add_argument("--gap", type=positive, metavar="G", help="regret minimisation: stop at this exploitability")
    parser.add_argument("--seconds", type=positive, metavar="S", help="stop after S seconds with the best result")
    parser.add_argument("--resume", metavar="FILE", help="regret minimisation: continue from FILE and save there")
    parser.add_argument("--lock", metavar="FILE", help="fixed behaviour, in the format of --out; the rest is solved")
    parser.add_argument("--out", metavar="FILE", help="write both strategies: JSON, or FILE.ne in Gambit's format")
    parser.add_argument("--export", metavar="FILE", help="write the game itself as FILE.efg")
    parser.add_argument("--subgame", metavar="KEY", help="solve again below this infoset and show what changed")
    parser.add_argument(
        "--player", type=int, choices=[0, 1], default=0, help="with --subgame: the player of infoset KEY"
    )
    parser.add_argument("--seed", type=seed, metavar="N", help="accepted for uniformity; nothing here is random")
    parser.add_argument("--json", action="store_true", help="one JSON document on stdout")
    return parser


def run(arguments: Sequence[str]) -> int:
    """Run ``klss solve``; see :mod:`klss_app.cli.main`."""
    parsed = _parser().parse(arguments)
    if "player" in parsed.given and parsed.subgame is None:
        raise UsageError("--player: got it without --subgame, expected both: it says whose infoset KEY is")
    _check(parsed)
    progress = ProgressLine(f"solving {parsed.game}")
    with limits(parsed) as max_bytes, closing(progress), asked_to_end():
        from klss.theory import exact as fractions
        from klss.theory.sequence_form import sequence_form

        _warm_up(parsed.game)
        begin = time.perf_counter()
        by_program = parsed.method in _PROGRAMS
        game, about = game_of(parsed, max_bytes, lambda n: progress.tell(f"{n:,} nodes"))
        form = sequence_form(game)
        large = form.payoff.nnz > _LARGE
        progress.tell(f"{game.node_count:,} nodes, {form.payoff.nnz:,} payoffs", at_once=large)
        exact = None
        if parsed.exact:
            exact = fractions.solve(form, method=parsed.method, time_limit_s=parsed.seconds, max_bytes=max_bytes)
        solution = exact.solution if exact else _solved(parsed, form, max_bytes, progress)
        seconds = time.perf_counter() - begin
        subgame = None if parsed.subgame is None else _subgame(game, form, solution, parsed.subgame, parsed.player)
    if by_program and solution.status == "failed":
        raise FailedError(
            f"{parsed.game}: no method found an equilibrium (attempts: {', '.join(solution.stats.attempts)}; "
            f"the best has exploitability {solution.exploitability:.3g}); try --exact"
        )
    report = _report(parsed.game, game, form, solution, seconds)
    if not by_program or solution.status != "optimal":
        report |= {"method": solution.stats.method, "iterations": solution.stats.iterations, "status": solution.status}
    if about:
        report["about"] = about
    if exact:
        players = [
            {key: {action: str(p) for action, p in actions.items()} for key, actions in strategy.items()}
            for strategy in exact.strategies
        ]
        report["exact"] = {"value": str(exact.value), "players": [{"infosets": each} for each in players]}
    if subgame is not None:
        report["subgame"] = subgame
    if parsed.out is not None:
        _write(Path(parsed.out), parsed.game, solution, exact)
    if parsed.export is not None:
        from klss.gambit import write_efg

        write_efg(Path(parsed.export), game, parsed.game)
    if parsed.json:
        print_document(report)
    else:
        _show(report, solution)
    return 0


def _report(name: str, game: Game, form: SequenceForm, solution: Solution, seconds: float) -> _Report:
    """The fields that every solution's document has."""
    return {
        "game": name,
        "value": solution.value,
        "exploitability": max(0.0, solution.exploitability),
        "infosets": [form.treeplexes[i].infoset_count for i in (0, 1)],
        "sequences": [form.treeplexes[i].sequence_count for i in (0, 1)],
        "nodes": game.node_count,
        "rows": solution.stats.rows,
        "columns": solution.stats.columns,
        "nonzeros": solution.stats.nonzeros,
        "seconds": seconds,
    }


def _check(parsed: argparse.Namespace) -> None:
    """Refuse flags that don't go together."""
    if parsed.method in _PROGRAMS:
        for flag in ("gap", "resume"):
            if getattr(parsed, flag) is not None:
                raise UsageError(f"--{flag}: got it with --method {parsed.method}, expected {', '.join(_ITERATED)}")
    if parsed.exact and (parsed.method not in _PROGRAMS or parsed.lock is not None):
        raise UsageError("--exact: got it with --lock or regret minimisation, expected it without")
    if parsed.subgame is not None and (parsed.lock is not None or is_gambit_file(parsed.game)):
        raise UsageError("--subgame: expected a game of OpenSpiel and no --lock")
    if parsed.export is not None and not parsed.export.lower().endswith(".efg"):
        raise UsageError(f"--export: got {parsed.export!r}, expected a name that ends in .efg")
    for flag in ("out", "export", "resume"):  # checked before minutes of work, not after
        output_file(getattr(parsed, flag), f"--{flag}")


def _solved(parsed: argparse.Namespace, form: SequenceForm, max_bytes: int, progress: ProgressLine) -> Solution:
    """The solution by the chosen method, with the locked strategies fixed."""
    from klss import solve_form
    from klss.theory.policies import read_policy

    return solve_form(
        form,
        method=parsed.method,
        gap=parsed.gap,
        seconds=parsed.seconds,
        lock=None if parsed.lock is None else read_policy(Path(parsed.lock), max_bytes),
        max_bytes=max_bytes,
        resume=None if parsed.resume is None else Path(parsed.resume),
        on_progress=lambda n, gap: progress.tell(f"{n:,} iterations, gap {gap:.2g}"),
    )


def _warm_up(name: str) -> None:
    """Compile or load all kernels for a game of that source before the clock starts."""
    from klss.theory import equilibrium, first_order
    from klss.theory.sequence_form import sequence_form

    if is_gambit_file(name):
        from klss.paper.tables import matching_pennies

        form = sequence_form(matching_pennies(2))
    else:
        from klss.openspiel import load

        form = sequence_form(load("kuhn_poker"))
    equilibrium.solve(form)
    first_order.FirstOrder(form)


def _show(report: _Report, solution: Solution) -> None:
    print(f"{report['game']}")
    if "about" in report:
        print(f"  {report['about']}")
    print(f"  value for player 0   {report['value']:.9g}")
    if "exact" in report:
        print(f"  exactly              {report['exact']['value']}, which both strategies guarantee")
    print(f"  exploitability       {report['exploitability']:.2g}")
    print(f"  nodes                {report['nodes']:,}")
    print(f"  infosets             {report['infosets'][0]:,} and {report['infosets'][1]:,}")
    print(f"  sequences            {report['sequences'][0]:,} and {report['sequences'][1]:,}")
    if report["rows"]:
        print(f"  linear program       {report['rows']:,} × {report['columns']:,}, {report['nonzeros']:,} nonzeros")
    stopped = "" if solution.status == "optimal" else f", stopped by the {solution.status.replace('_', ' ')}"
    print(f"  method               {solution.stats.method} ({solution.stats.iterations:,} iterations{stopped})")
    print(f"  seconds              {report['seconds']:.3f}")
    if "subgame" in report:
        sub = report["subgame"]
        print(f"subgame at player {sub['player']}'s infoset {sub['infoset']!r}: least margin {sub['margin']:.6g}")
        print(f"  {sub['nodes']:,} nodes, sequences {sub['sequences'][0]:,} and {sub['sequences'][1]:,}")
        if not sub["changed"]:
            print("  nothing changed")
        for key, actions in sub["changed"].items():
            print(f"  {key!r}")
            for action, (before, after) in actions.items():
                print(f"    {action:<12} {before:.6f} -> {after:.6f}")


def _write(path: Path, name: str, solution: Solution, exact: ExactSolution | None) -> None:
    from klss.gambit import equilibrium_line
    from klss.theory.policies import write_policy

    players = exact.strategies if exact else (solution.strategy(0), solution.strategy(1))
    if path.suffix.lower() == ".ne":
        write_whole(path, equilibrium_line(players) + "\n")
    else:
        write_policy(path, name, players)


def _subgame(game: Game, form: SequenceForm, solution: Solution, key: str, player: int) -> _Subgame:
    from klss.paper.nested import Blueprint, solve_at
    from klss.paper.tables import mirrored
    from klss.theory.equilibrium import scaling
    from klss.theory.treeplex import behaviour

    x = solution.x if player == 0 else solution.y
    view = game if player == 0 else mirrored(game)
    factor = scaling(form)
    view = dataclasses.replace(view, utility=view.utility * factor)
    observations = view.observations[0]
    turn = {str(observations.keys[j]): int(j) for j in observations.turn_infosets}
    if key not in turn:
        raise UsageError(f"--subgame: got {key!r}, expected an infoset at which player {player} moves")
    subgame, step = solve_at(view, Blueprint(x), turn[key])
    before = behaviour(view.treeplex(0), x)[step.sequences]
    return {
        "player": player,
        "infoset": key,
        "margin": step.margin / factor,
        "nodes": subgame.game.node_count,
        "sequences": [subgame.game.treeplex(i).sequence_count for i in (0, 1)],
        "changed": _changed(subgame.game, before, step.behaviour),
    }


def _changed(game: Game, before: Floats, after: Floats) -> dict[str, dict[str, list[float]]]:
    """The infosets of a subgame's player 0 at which two behaviours differ, and both probabilities of each action."""
    changed = {}
    observations, tree = game.observations[0], game.treeplex(0)
    for i, j in enumerate(observations.turn_infosets.tolist()):
        here = slice(int(tree.first_sequence[i]), int(tree.first_sequence[i] + tree.action_count[i]))
        old, new = before[here], after[here]
        if abs(old - new).max() > 1e-9:
            names = observations.action_names[j]
            changed[str(observations.keys[j])] = {n: [float(o), float(v)] for n, o, v in zip(names, old, new)}
    return changed
