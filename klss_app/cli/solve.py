"""``klss solve GAME``: the equilibrium of any two-player zero-sum game of OpenSpiel, or of a Gambit file.

The value is in the game's own units for player 0; the exploitability is recomputed by best responses.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Any

import klss
from klss.support.signals import asked_to_end
from klss.support.text import Document
from klss_app.cli.errors import FailedError, UsageError
from klss_app.cli.openspiel import add_limits, add_recall, limits
from klss_app.cli.options import Parser, output_file, write_output
from klss_app.flag_types import positive, seed
from klss_app.progress import ProgressLine
from klss_app.stdout import print_document

if TYPE_CHECKING:
    from klss.doors import Resolved
    from klss.theory.equilibrium import Solution
    from klss.theory.game import Game

_ITERATED = ("pcfr+", "dcfr", "cfr+")
"""Methods of regret minimisation."""

_LARGE = 20_000
"""Number of payoffs from which on the command reports the game's size before it solves, as that takes a while."""


def _parser() -> Parser:
    parser = Parser("solve", "Equilibrium of a two-player zero-sum game, exactly or as far as you want.")
    add = parser.add_argument
    add("game", metavar="GAME", help="a game string of OpenSpiel, such as leduc_poker, or FILE.efg, .nfg")
    add_limits(parser)
    add_recall(parser)
    methods = "lp: linear programming; pcfr+, dcfr, cfr+: regret minimisation, for larger games"
    add("--method", choices=["lp", *_ITERATED], default="lp", help=methods)
    add("--exact", action="store_true", help="value and strategies as fractions, with a certificate")
    add("--gap", type=positive, metavar="G", help="regret minimisation: stop at this exploitability")
    add("--seconds", type=positive, metavar="S", help="stop after S seconds with the best result")
    add("--resume", metavar="FILE", help="regret minimisation: continue from FILE and save there")
    add("--lock", metavar="FILE", help="fixed behaviour, in the format of --out; the rest is solved")
    add("--out", metavar="FILE", help="write both strategies, as JSON")
    add("--export", metavar="FILE", help="write the game itself as FILE.efg")
    add("--subgame", metavar="KEY", help="solve again below this infoset and show what changed")
    add("--player", type=int, choices=[0, 1], default=0, help="with --subgame: the player of infoset KEY")
    add("--seed", type=seed, metavar="N", help="accepted for uniformity; nothing here is random")
    add("--json", action="store_true", help="one JSON document on stdout")
    return parser


def run(arguments: Sequence[str]) -> int:
    """Run ``klss solve``; see :mod:`klss_app.cli.main`."""
    parsed = _parser().parse(arguments)
    if "player" in parsed.given and parsed.subgame is None:
        raise UsageError("--player: got it without --subgame, expected both: it says whose infoset KEY is")
    if parsed.export is not None and not parsed.export.lower().endswith(".efg"):
        raise UsageError(f"--export: got {parsed.export!r}, expected a name that ends in .efg")
    for flag in ("out", "export", "resume"):  # checked before minutes of work, not after
        output_file(getattr(parsed, flag), f"--{flag}")
    if parsed.subgame is not None and parsed.lock is not None:
        raise UsageError("--subgame: got it with --lock, expected one of the two")
    from klss.doors import implicit_game

    progress = ProgressLine(f"solving {parsed.game}")
    with limits(parsed) as memory_mb, closing(progress), asked_to_end():
        if (rules := implicit_game(parsed.game, parsed.max_nodes)) is not None:
            for flag in ("out", "export", "subgame"):
                if getattr(parsed, flag) is not None:
                    raise UsageError(f"--{flag}: got it with {rules.name}, which is too large to list, expected none")
        _warm_up(parsed.game)
        begin = time.perf_counter()
        solution = klss.solve(
            parsed.game, method=parsed.method, exact=parsed.exact, gap=parsed.gap, seconds=parsed.seconds,
            lock=parsed.lock, resume=parsed.resume, recall=parsed.recall, max_nodes=parsed.max_nodes,
            memory_mb=memory_mb,
            on_progress=lambda each: progress.tell(str(each), at_once=each.what == "payoffs" and each.done > _LARGE),
        )  # fmt: skip
        seconds = time.perf_counter() - begin
    if solution.status == "failed":
        raise FailedError(
            f"{parsed.game}: no method found an equilibrium (attempts: {', '.join(solution.stats.attempts)}; "
            f"the best has exploitability {solution.exploitability:.3g}); try --exact"
        )
    from klss.gambit import write_efg

    game: Any = solution.source.implicit or solution.game
    write_output(parsed.out, "--out", solution.save)
    write_output(parsed.export, "--export", lambda path: write_efg(path, game, parsed.game, solution.source.constant))
    subgame = None
    if parsed.subgame is not None:
        with limits(parsed) as most, asked_to_end():
            subgame = klss.subgame(
                solution, parsed.subgame, solution, player=parsed.player, max_nodes=parsed.max_nodes, memory_mb=most
            )
    if parsed.json:
        iterated = solution.stats.method in _ITERATED
        print_document(_document(parsed.game, game, solution, seconds, iterated) | _of_subgame(subgame))
    else:
        _show(parsed.game, game, solution, seconds)
        if subgame is not None:
            _show_subgame(subgame)
    return 0


def _document(name: str, game: Game, solution: Solution, seconds: float, iterated: bool) -> Document:
    document: Document = {
        "game": name,
        "value": float(solution.value),
        "exploitability": max(0.0, solution.exploitability),
        "infosets": [game.treeplex(i).infoset_count for i in (0, 1)],
        "sequences": [game.treeplex(i).sequence_count for i in (0, 1)],
        "nodes": game.node_count,
        "rows": solution.stats.rows,
        "columns": solution.stats.columns,
        "nonzeros": solution.stats.nonzeros,
        "seconds": seconds,
    }
    if iterated or solution.status != "optimal":
        stats = solution.stats
        document |= {"method": stats.method, "iterations": stats.iterations, "status": solution.status}
    if solution.source.constant:
        document["about"] = _about(solution)
    if solution.exact is not None:
        players = [
            {key: {action: str(p) for action, p in actions.items()} for key, actions in strategy.items()}
            for strategy in solution.exact
        ]
        document["exact"] = {"value": str(solution.value), "players": [{"infosets": each} for each in players]}
    return document


def _about(solution: Solution) -> str:
    return f"payoffs sum to {solution.source.constant:g}"


def _of_subgame(found: Resolved | None) -> Document:
    if found is None:
        return {}
    sequences = [found.game.treeplex(i).sequence_count for i in (0, 1)]
    size = {"nodes": found.game.node_count, "sequences": sequences, "changed": found.changed}
    return {"subgame": {"player": found.player, "infoset": found.infoset, "margin": found.margin, **size}}


def _warm_up(name: str) -> None:
    """Compile or load all kernels for a game of that source before the clock starts."""
    from klss.paper.tables import matching_pennies

    game = matching_pennies(2) if name.lower().endswith((".efg", ".nfg")) else "kuhn_poker"
    for method in ("lp", "pcfr+"):
        klss.solve(game, method=method)


def _show(name: str, game: Game, solution: Solution, seconds: float) -> None:
    stats, (mine, yours) = solution.stats, (game.treeplex(0), game.treeplex(1))
    print(name)
    if solution.source.constant:
        print(f"  {_about(solution)}")
    if solution.source.implicit is not None:
        print("  not listed           payoffs are computed anew in each pass")
    print(f"  value for player 0   {float(solution.value):.9g}")
    if solution.exact is not None:
        print(f"  exactly              {solution.value}, which both strategies guarantee")
    print(f"  exploitability       {max(0.0, solution.exploitability):.2g}")
    print(f"  nodes                {game.node_count:,}")
    print(f"  infosets             {mine.infoset_count:,} and {yours.infoset_count:,}")
    print(f"  sequences            {mine.sequence_count:,} and {yours.sequence_count:,}")
    if stats.rows:
        print(f"  linear program       {stats.rows:,} × {stats.columns:,}, {stats.nonzeros:,} nonzeros")
    stopped = "" if solution.status == "optimal" else f", stopped by the {solution.status.replace('_', ' ')}"
    print(f"  method               {stats.method} ({stats.iterations:,} iterations{stopped})")
    print(f"  seconds              {seconds:.3f}")


def _show_subgame(found: Resolved) -> None:
    mine, yours = found.game.treeplex(0), found.game.treeplex(1)
    print(f"subgame at player {found.player}'s infoset {found.infoset!r}: least margin {found.margin:.6g}")
    print(f"  {found.game.node_count:,} nodes, sequences {mine.sequence_count:,} and {yours.sequence_count:,}")
    if not found.changed:
        print("  nothing changed")
    for key, actions in found.changed.items():
        print(f"  {key!r}")
        for action, (before, after) in actions.items():
            print(f"    {action:<12} {before:.6f} -> {after:.6f}")
