"""``klss engine``: the engine on stdio, for other programs (docs/engine-protocol.md)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from darkchess.fog.game.contest import DEFAULT_PLAYER
from klss_app.cli.errors import UsageError
from klss_app.cli.options import CONFIGURATION, Parser, add_evaluator_options, check_evaluator, configured
from klss_app.cli.serving import serve_on_stdio
from uci_bridge.evaluators import EvaluatorChoice

if TYPE_CHECKING:
    from darkchess.fog.players.configuration import Configuration

__all__ = ["run"]


def _parser() -> Parser:
    parser = Parser("engine", "The engine on stdin and stdout: one JSON request a line, one JSON answer a line.")
    parser.add_argument(
        "--configuration",
        default=DEFAULT_PLAYER,
        metavar="NAME",
        help=f"who plays: {CONFIGURATION}",
    )
    add_evaluator_options(parser)
    parser.add_argument(
        "--ponder",
        action="store_true",
        help="think on while the opponent does, after moves that were not limited by nodes (kluss, built-in evaluator)",
    )
    return parser


def run(arguments: Sequence[str]) -> int:
    """Run ``klss engine``; see :mod:`klss_app.cli.main`."""
    parsed = _parser().parse(arguments)
    check_evaluator(parsed.evaluator, parsed.stockfish)
    configuration = configured(parsed.configuration, parsed.stockfish)
    if parsed.ponder:
        if not configuration.can_ponder or parsed.evaluator == "stockfish":
            raise UsageError(
                f"--ponder: got it with {configuration.name} and the evaluator {parsed.evaluator}, "
                "expected kluss and builtin: no others think on the opponent's time"
            )
        configuration = configuration.pondering()

    from uci_bridge.protocol.engine import Engine

    choice = EvaluatorChoice(parsed.evaluator, parsed.stockfish, processes=parsed.evaluator_processes)
    return serve_on_stdio(
        "klss engine",
        lambda loaded: Engine(configuration, choice, loaded=loaded),
        lambda: _load(configuration, choice),
    )


def _load(configuration: Configuration, choice: EvaluatorChoice) -> None:
    """Load compiled code by a short game that nobody sees."""
    import chess

    from darkchess.fog.warm_up import warm_up
    from uci_bridge.players import configured_player

    player, evaluator = configured_player(configuration, choice, seed=0)
    try:
        for color in chess.COLORS:
            warm_up(player, color)
    finally:
        player.close()
        evaluator.close()
