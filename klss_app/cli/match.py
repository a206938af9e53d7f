"""``klss match A B``: many games between two players; resumable, in parallel, ended by a number or by a test."""

from __future__ import annotations

import argparse
import dataclasses
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from klss.support.text import counted
from klss_app.cli.errors import FailedError
from klss_app.cli.game_option import FOG, Game
from klss_app.cli.options import PLAYERS, Parser, add_game, add_game_options, game_options
from klss_app.flag_types import count, numbers, whole
from klss_app.progress import ProgressLine
from klss_app.stdout import print_document

if TYPE_CHECKING:
    from uci_bridge.match.game import GameLine
    from uci_bridge.match.match import Match
    from uci_bridge.match.statistics import Standing

_MOST_PLIES = 200
"""The longest random opening."""


def _parser(game: Game = FOG) -> Parser:
    parser = Parser("match", "Games between A and B, A having White first; a match in --out can be resumed.", game)
    add = parser.add_argument
    add("a", metavar="A", help=PLAYERS)
    add("b", metavar="B", help="the same")
    add("--games", type=count, default=20, metavar="N", help="number of games; two are a pair")
    add(
        "--sprt",
        type=hypotheses,
        metavar="ELO0,ELO1",
        help="stop when it is decided whether A is ELO0 or ELO1 better (errors 5 %%), or after --games N, if given",
    )
    add("--out", metavar="DIR", help="folder for games.jsonl, moves.jsonl and the games' records")
    add_workers(parser.add_argument)
    add("--check-truth", action="store_true", help="test that each player's set contains the true position")
    add("--json", action="store_true", help="one JSON document on stdout, progress on stderr")
    add_game(parser)
    if game.ruled:
        add("--openings", type=whole(1, _MOST_PLIES), metavar="N", help="begin each pair with N random moves")
    add_game_options(parser)
    return parser


def run(arguments: Sequence[str], game: Game = FOG) -> int:
    """Run ``klss match``; see :mod:`klss_app.cli.main`."""
    parsed = _parser(game).parse(arguments)
    options = game_options(parsed)
    a, b = (game.player(text, parsed.stockfish) for text in (parsed.a, parsed.b))

    from uci_bridge.match.match import Match
    from uci_bridge.match.statistics import Sprt

    match = Match(
        kit=game.kit,
        a=a,
        b=b,
        games=match_games(parsed),
        seed=_seed(parsed, options.seed),
        budget=options.limit,
        fen=options.fen,
        evaluator=options.evaluator,
        check_truth=parsed.check_truth,
        sprt=None if parsed.sprt is None else Sprt(*parsed.sprt),
        rules=options.ruleset.name if game.ruled else None,
        openings=getattr(parsed, "openings", None),
    )
    return _played(parsed, match)


def add_workers(add: Callable[..., object]) -> None:
    """Add ``--workers`` and ``--scheduler``, for :func:`uci_bridge.match.workers.workers_for`, by ``add_argument``."""
    add("--workers", type=whole(1, 1024), metavar="W", help="games at a time (default: 1, or a cluster's threads)")
    add("--scheduler", metavar="URL", help="on a dask cluster, for example tls://host:8786")


def hypotheses(text: str) -> tuple[float, float]:
    """Type of ``--sprt``.

    >>> hypotheses("0,10")
    (0.0, 10.0)
    """
    expected = "ELO0,ELO1, the smaller first, such as 0,10"
    first, second = numbers(text, lambda elo0, elo1: -2000.0 <= elo0 < elo1 <= 2000.0, expected, ",")
    return first, second


def match_games(parsed: argparse.Namespace) -> int | None:
    """The number of games: ``--games``, or the default if no test ends the match."""
    return None if parsed.sprt is not None and "games" not in parsed.given else int(parsed.games)


def _seed(parsed: argparse.Namespace, fresh: int) -> int:
    """``fresh``, or without ``--seed`` that of the match in ``--out``, so that the same command resumes its games."""
    from uci_bridge.match.files import kept_seed

    kept = None if parsed.seed is not None or parsed.out is None else kept_seed(Path(parsed.out))
    return fresh if kept is None else kept


def _played(parsed: argparse.Namespace, match: Match) -> int:
    """Play the remaining games and show the progress, a line a game or at a terminal one that is rewritten; return the
    exit code."""
    out = None if parsed.out is None else Path(parsed.out)
    from uci_bridge.match.statistics import Standing

    begin, standing = time.monotonic(), Standing(match.sprt)
    with closing(ProgressLine("klss match")) as progress:

        def on_game(line: GameLine, standing: Standing) -> None:
            if not sys.stderr.isatty():
                print(_line_text(line), flush=True)
            progress.tell(_standing_text(match, standing), at_once=True)

        progress.tell(_standing_text(match, standing), at_once=True)
        try:
            match.run(out, on_game, workers=parsed.workers, scheduler=parsed.scheduler, standing=standing)
        except KeyboardInterrupt:
            kept = "not kept" if out is None else "their lines are in --out, and the same command goes on from there"
            raise FailedError(f"interrupted after {counted(standing.games, 'game')}; {kept}") from None
    if not parsed.json:
        print(_summary_text((parsed.a, parsed.b), match, standing))
        return 0
    summary = {"a": parsed.a, "b": parsed.b, **match.document(standing)}
    summary["seconds"] = round(time.monotonic() - begin, 3)
    if match.check_truth:
        summary["truth"] = dataclasses.asdict(standing.truth)
    print_document(summary)
    return 0


def _standing_text(match: Match, standing: Standing) -> str:
    words = [f"game {standing.games}{'' if match.games is None else f'/{match.games}'}"]
    words.append(f"+{standing.wins} ={standing.draws} -{standing.losses}")
    if standing.games:
        low, middle, high = standing.elo.texts()
        words.append(f"Elo {middle} ({low} to {high})")
    if standing.sprt is not None:
        words.append(f"LLR {standing.sprt.llr:+.2f} ({standing.sprt.lower:+.2f} to {standing.sprt.upper:+.2f})")
    return "  ".join(words)


def _line_text(line: GameLine) -> str:
    truth = "  truth lost {lost} of {checks}".format(**line["truth"]) if "truth" in line else ""
    fault = f"  ({' '.join(line['fault'].split())[:200]})" if "fault" in line else ""
    return (
        f"game {line['game']}: {line['white']} - {line['black']}  {line['result']}  {line['reason']}"
        f"  {counted(line['plies'], 'ply', 'plies')}  {line['seconds']:.1f} s{truth}{fault}"
    )


def _summary_text(names: tuple[str, str], match: Match, standing: Standing) -> str:
    from uci_bridge.evaluators import named

    elo, sprt, truth = standing.elo, standing.sprt, standing.truth
    a, b = named(names[0], match.evaluator_label("a")), named(names[1], match.evaluator_label("b"))
    low, middle, high = elo.texts()
    text = (
        f"{a} against {b}: {standing.score:g}/{standing.games}"
        f" (+{standing.wins} ={standing.draws} -{standing.losses}), Elo {middle} (95 %: {low} to {high}, {elo.method})"
    )
    if sprt is not None:
        taken = {None: "no decision", "elo0": f"Elo {sprt.elo0:g} is taken", "elo1": f"Elo {sprt.elo1:g} is taken"}
        text += f"; LLR {sprt.llr:.2f} ({sprt.lower:.2f} to {sprt.upper:.2f}): {taken[sprt.decision]}"
    if match.check_truth and truth.checks + truth.sampled == 0:
        text += "; nothing was checked: no player holds a set"
    elif match.check_truth:
        text += f"; the true position was missing from {truth.lost} of {truth.checks} sets"
        text += f" ({truth.sampled} samples not looked at)"
    return text
