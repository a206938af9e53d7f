"""``klss match A B``: games between two players, counted; resumable, in parallel, stopped on evidence."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from klss_app.cli.errors import UsageError
from klss_app.cli.games import FOG, Game
from klss_app.cli.match_report import add_match_options, match_games, match_seed, play_match
from klss_app.cli.options import PLAYERS, GameOptions, Parser, add_game, add_game_options, game_options

if TYPE_CHECKING:
    from uci_bridge.match.openings import FileOpenings, RandomOpenings

__all__ = ["run"]


def _parser(game: Game = FOG) -> Parser:
    parser = Parser("match", "Games between A and B, A having White first; a match in --out can be resumed.", game)
    add_match_options(parser, PLAYERS)
    add_game(parser)
    if game.ruled:
        parser.add_argument(
            "--openings",
            metavar="N|FILE",
            help="begin each pair with N random moves, or with a line (moves, FEN) of FILE",
        )
    add_game_options(parser, game=game, path_suffices=False)
    return parser


def run(arguments: Sequence[str], game: Game = FOG) -> int:
    """Run ``klss match``; see :mod:`klss_app.cli.main`."""
    parsed = _parser(game).parse(arguments)
    options = game_options(parsed)
    a, b = (game.player(text, options.stockfish) for text in (parsed.a, parsed.b))

    from klss.table.limits import TimeControl
    from uci_bridge.match.match import Match
    from uci_bridge.match.statistics import Sprt

    openings = getattr(parsed, "openings", None)
    match = Match(
        kit=game.kit,
        a=a,
        b=b,
        games=match_games(parsed),
        seed=match_seed(parsed, options.seed),
        budget=TimeControl(options.time_s, options.nodes, options.clock),
        fen=options.fen,
        evaluator=options.evaluator_choice(),
        check_truth=parsed.check_truth,
        sprt=None if parsed.sprt is None else Sprt(*parsed.sprt),
        rules=options.ruleset.name if game.ruled else None,
        openings=None if openings is None else _openings(openings, options),
    )
    return play_match(parsed, match)


def _openings(text: str, options: GameOptions) -> RandomOpenings | FileOpenings:
    from uci_bridge.match.openings import OpeningError, RandomOpenings, read_openings

    try:
        if text.isascii() and text.isdigit() and len(text) < 6:
            return RandomOpenings(int(text))
        return read_openings(Path(text), options.fen, options.ruleset)
    except OpeningError as error:
        raise UsageError(f"--openings: {error}") from None
