"""``klss engine``: the engine on stdio, for other programs (docs/engine-protocol.md)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from darkchess.evaluation.registry import EvaluatorChoice
from klss_app.cli.errors import UsageError
from klss_app.cli.games import FOG, Game, check_evaluator
from klss_app.cli.options import CONFIGURATION, Parser, add_evaluator_options, add_game
from klss_app.cli.serving import serve_on_stdio
from uci_bridge.evaluators import can_ponder

if TYPE_CHECKING:
    from klss.table.kit import Kit


def _parser(game: Game = FOG) -> Parser:
    parser = Parser("engine", "The engine on stdin and stdout: one JSON request a line, one JSON answer a line.", game)
    add_game(parser)
    parser.add_argument(
        "--configuration", default=game.default_player, metavar="NAME", help=f"the player: {CONFIGURATION}"
    )
    add_evaluator_options(parser)
    if game is FOG:
        parser.add_argument(
            "--ponder",
            action="store_true",
            help="think during the opponent's time, after moves without a node limit (kluss, built-in evaluator)",
        )
    return parser


def run(arguments: Sequence[str], game: Game = FOG) -> int:
    """Run ``klss engine``; see :mod:`klss_app.cli.main`."""
    parsed = _parser(game).parse(arguments)
    check_evaluator(parsed.evaluator, parsed.stockfish)
    configuration = game.configuration(parsed.configuration, parsed.stockfish)
    choice = EvaluatorChoice(parsed.evaluator, parsed.stockfish, processes=parsed.evaluator_processes)
    if getattr(parsed, "ponder", False):
        if not can_ponder(configuration, choice):
            raise UsageError(
                f"--ponder: got it with {configuration.name} and the evaluator {parsed.evaluator}, "
                "expected kluss and builtin: no others think during the opponent's time"
            )
        configuration = configuration.pondering()

    from uci_bridge.protocol.engine import Engine

    kit = game.kit
    return serve_on_stdio(
        "klss engine",
        lambda loaded: Engine(kit, configuration, choice, loaded=loaded),
        lambda: _load(kit, configuration, choice),
    )


def _load(kit: Kit, configuration: Any, choice: EvaluatorChoice) -> None:
    """Load compiled code by playing a short dummy game."""
    from klss.table.arbiter import SEATS

    evaluator = kit.evaluator(configuration, choice, kit.setup())
    player = kit.player(configuration, evaluator, 0)
    try:
        for seat in SEATS:
            kit.warm_up(player, seat)
    finally:
        player.close()
        if evaluator is not None:
            evaluator.close()
