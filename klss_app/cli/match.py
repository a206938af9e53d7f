"""``klss match A B``: games between two players, counted; resumable, in parallel, stopped on evidence."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from klss_app.cli.errors import UsageError
from klss_app.cli.match_report import add_match_options, match_games, match_seed, play_match
from klss_app.cli.options import (
    PLAYERS,
    GameOptions,
    Parser,
    add_game_options,
    chosen_player,
    game_options,
)

if TYPE_CHECKING:
    from uci_bridge.match.engines import Spec
    from uci_bridge.match.match import Match
    from uci_bridge.match.openings import FileOpenings, RandomOpenings

__all__ = ["run"]


def _parser() -> Parser:
    parser = Parser("match", "Games between A and B, A having White first; a match in --out can be resumed.")
    add_match_options(parser, PLAYERS, "PGNs")
    parser.add_argument(
        "--openings", metavar="N|FILE", help="begin each pair with N random moves, or with a line (moves, FEN) of FILE"
    )
    add_game_options(parser, path_suffices=False)
    return parser


def run(arguments: Sequence[str]) -> int:
    """Run ``klss match``; see :mod:`klss_app.cli.main`."""
    parsed = _parser().parse(arguments)
    options = game_options(parsed)
    specs: dict[str, Spec] = {side: chosen_player(getattr(parsed, side), options.stockfish) for side in "ab"}
    return play_match(parsed, _match(parsed, options, specs))


def _match(parsed: argparse.Namespace, options: GameOptions, specs: dict[str, Spec]) -> Match:
    from klss.table.limits import TimeControl
    from uci_bridge.match.match import Match
    from uci_bridge.match.statistics import Sprt

    return Match(
        a=specs["a"],
        b=specs["b"],
        games=match_games(parsed),
        seed=match_seed(parsed, options.seed),
        budget=TimeControl(options.time_s, options.nodes, options.clock),
        ruleset=options.ruleset,
        fen=options.fen,
        evaluator=options.evaluator_choice(),
        check_truth=parsed.check_truth,
        openings=None if parsed.openings is None else _openings(parsed.openings, options),
        sprt=None if parsed.sprt is None else Sprt(*parsed.sprt),
    )


def _openings(text: str, options: GameOptions) -> RandomOpenings | FileOpenings:
    from uci_bridge.match.openings import OpeningError, RandomOpenings, read_openings

    try:
        if text.isascii() and text.isdigit() and len(text) < 6:
            found: RandomOpenings | FileOpenings = RandomOpenings(int(text))
        else:
            found = read_openings(Path(text), options.fen, options.ruleset)
    except OpeningError as error:
        raise UsageError(f"--openings: {error}") from None
    return found
