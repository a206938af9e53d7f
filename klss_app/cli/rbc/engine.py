"""``klss rbc engine``: an engine of Reconnaissance Blind Chess on stdio (docs/engine-protocol.md)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from darkchess.rbc.game.contest import DEFAULT_PLAYER
from klss_app.cli.options import add_evaluator_options, check_evaluator
from klss_app.cli.rbc.options import CONFIGURATION, BlindParser, blind_configured
from klss_app.cli.serving import serve_on_stdio
from uci_bridge.evaluators import EvaluatorChoice

if TYPE_CHECKING:
    from darkchess.rbc.players.configuration import Configuration

__all__ = ["run"]


def _parser() -> BlindParser:
    parser = BlindParser("engine", "An engine on stdin and stdout: one JSON request a line, one JSON answer a line.")
    parser.add_argument(
        "--configuration",
        default=DEFAULT_PLAYER,
        metavar="NAME",
        help=f"who plays: {CONFIGURATION}",
    )
    add_evaluator_options(parser)
    return parser


def run(arguments: Sequence[str]) -> int:
    """Run ``klss rbc engine``; see :mod:`klss_app.cli.main`."""
    parsed = _parser().parse(arguments)
    check_evaluator(parsed.evaluator, parsed.stockfish)
    configuration = blind_configured(parsed.configuration, parsed.stockfish)

    from uci_bridge.protocol.blind.engine import BlindEngine

    choice = EvaluatorChoice(parsed.evaluator, parsed.stockfish, processes=parsed.evaluator_processes)
    return serve_on_stdio(
        "klss rbc engine",
        lambda loaded: BlindEngine(configuration, choice, loaded=loaded),
        lambda: _load(configuration, choice),
    )


def _load(configuration: Configuration, choice: EvaluatorChoice) -> None:
    """Load compiled code by a short game that nobody sees."""
    import chess

    from darkchess.rbc.players.configuration import make_player
    from darkchess.rbc.warm_up import warm_up
    from uci_bridge.evaluators import make_evaluator

    evaluator = make_evaluator(configuration, choice)
    player = make_player(configuration, evaluator)
    try:
        for color in chess.COLORS:
            warm_up(player, color)
    finally:
        player.close()
        evaluator.close()
