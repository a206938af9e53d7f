"""``klss match A B``: games between two configurations, counted."""

from __future__ import annotations

import dataclasses
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from klss.cli.errors import UsageError
from klss.cli.options import PLAYERS, Parser, add_game_options, chosen_player, game_options, games

if TYPE_CHECKING:
    from experiments.match import Standing

__all__ = ["run"]


def _parser() -> Parser:
    parser = Parser("match", "Games between A and B, A having White first; a match in --out can be resumed.")
    parser.add_argument("a", metavar="A", help=PLAYERS)
    parser.add_argument("b", metavar="B", help="the same")
    parser.add_argument("--games", type=games, default=20, metavar="N", help="how many (default 20)")
    parser.add_argument("--out", metavar="DIR", help="where games.jsonl, moves.jsonl and the PGNs go")
    add_game_options(parser)
    parser.add_argument(
        "--check-truth", action="store_true", help="test mode: is the true position in each player's set?"
    )
    parser.add_argument("--json", action="store_true", help="one JSON document on stdout, progress on stderr")
    return parser


def run(arguments: Sequence[str]) -> int:
    """Run ``klss match``; see :mod:`klss.cli.main`."""
    parsed = _parser().parse(arguments)
    options = game_options(parsed)
    configurations = {"a": chosen_player(parsed.a), "b": chosen_player(parsed.b)}

    from darkchess.arbiter import Budget
    from experiments.match import Match, MatchError

    match = Match(
        a=configurations["a"],
        b=configurations["b"],
        games=parsed.games,
        seed=options.seed,
        budget=Budget(options.time_s, options.nodes, options.clock),
        ruleset=options.ruleset,
        fen=options.fen,
        evaluator=options.evaluator_choice(),
        check_truth=parsed.check_truth,
    )
    begin = time.monotonic()
    progress = sys.stderr if parsed.json else sys.stdout
    try:
        standing = match.run(
            None if parsed.out is None else Path(parsed.out),
            lambda line: print(_line_text(line), file=progress, flush=True),
        )
    except MatchError as error:
        raise UsageError(f"--out: {error}") from None
    summary = _summary(parsed.a, parsed.b, standing)
    summary["configurations"] = {side: dataclasses.asdict(found) for side, found in configurations.items()}
    summary["seconds"] = round(time.monotonic() - begin, 3)
    if match.check_truth:
        summary["truth"] = dataclasses.asdict(standing.truth)
    print(json.dumps(summary) if parsed.json else _summary_text(summary))
    return 0


def _line_text(line: dict[str, Any]) -> str:
    truth = "  truth lost {lost} of {checks}".format(**line["truth"]) if "truth" in line else ""
    return (
        f"game {line['game']}: {line['white']} - {line['black']}  {line['result']}  {line['reason']}"
        f"  {line['plies']} plies  {line['seconds']:.1f} s{truth}"
    )


def _summary(a: str, b: str, standing: Standing) -> dict[str, Any]:
    """The counts of design.md's ``klss match --json``, all from A's side."""
    from experiments.match import elo_interval

    return {
        "a": a,
        "b": b,
        "games": standing.games,
        "score": standing.score,
        "wins": standing.wins,
        "draws": standing.draws,
        "losses": standing.losses,
        "elo": elo_interval(standing.score, standing.games),
    }


def _summary_text(summary: dict[str, Any]) -> str:
    low, middle, high = (f"{elo:+.0f}" if elo is not None else "inf" for elo in summary["elo"])
    truth = ""
    if "truth" in summary:
        truth = "; the true position was missing from {lost} of {checks} sets ({sampled} samples not looked at)"
        truth = truth.format(**summary["truth"])
    return (
        f"{summary['a']} against {summary['b']}: {summary['score']:g}/{summary['games']}"
        f" (+{summary['wins']} ={summary['draws']} -{summary['losses']}), Elo {middle} (95 %: {low} to {high}){truth}"
    )
