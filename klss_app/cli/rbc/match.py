"""``klss rbc match A B``: games of Reconnaissance Blind Chess between two players, as ``klss match`` plays them."""

from __future__ import annotations

from collections.abc import Sequence

from klss_app.cli.match_report import add_match_options, match_games, match_seed, play_match
from klss_app.cli.options import game_options
from klss_app.cli.rbc.options import PLAYERS, BlindParser, add_blind_options, chosen_blind

__all__ = ["run"]


def _parser() -> BlindParser:
    parser = BlindParser(
        "match",
        "Games of Reconnaissance Blind Chess between A and B, A having White first; a match in --out can be resumed.",
    )
    add_match_options(parser, PLAYERS, "histories (JSON that rc-replay opens)")
    add_blind_options(parser)
    return parser


def run(arguments: Sequence[str]) -> int:
    """Run ``klss rbc match``; see :mod:`klss_app.cli.main`."""
    parsed = _parser().parse(arguments)
    options = game_options(parsed)
    a, b = (chosen_blind(text, options.stockfish) for text in (parsed.a, parsed.b))

    from klss.table.limits import TimeControl
    from uci_bridge.match.blind.match import BlindMatch
    from uci_bridge.match.statistics import Sprt

    match = BlindMatch(
        a=a,
        b=b,
        games=match_games(parsed),
        seed=match_seed(parsed, options.seed),
        budget=TimeControl(options.time_s, options.nodes, options.clock),
        fen=options.fen,
        evaluator=options.evaluator_choice(),
        check_truth=parsed.check_truth,
        sprt=None if parsed.sprt is None else Sprt(*parsed.sprt),
    )
    return play_match(parsed, match)
