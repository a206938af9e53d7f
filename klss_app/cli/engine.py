"""``klss engine``: the engine on stdio, for other programs (docs/engine-protocol.md).

Only the engine's answers go to stdout. Its compiled code loads in a thread while the first request is on its way.
"""

from __future__ import annotations

import io
import logging
import os
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING

from darkchess.evaluation.registry import EvaluatorChoice
from klss_app.cli.game_option import FOG, Game, check_evaluator
from klss_app.cli.options import CONFIGURATION, Parser, add_evaluator_options, add_game, add_threads
from klss_app.stdout import reserve
from uci_bridge.child_processes import end_descendants

if TYPE_CHECKING:
    from klss.play.kit import AnyKit, Spec

log = logging.getLogger("klss engine")

_SIGN_OF_LIFE_S = 2.0


def _parser(game: Game = FOG) -> Parser:
    parser = Parser("engine", "The engine on stdin and stdout: one JSON request a line, one JSON answer a line.", game)
    add_game(parser)
    parser.add_argument(
        "--configuration", default=game.default_player, metavar="NAME", help=f"the player: {CONFIGURATION}"
    )
    add_evaluator_options(parser)
    add_threads(parser)
    return parser


def run(arguments: Sequence[str], game: Game = FOG) -> int:
    """Run ``klss engine``; see :mod:`klss_app.cli.main`."""
    parsed = _parser(game).parse(arguments)
    check_evaluator(parsed.evaluator, parsed.stockfish)
    configuration = game.configuration(parsed.configuration, parsed.stockfish)
    choice = EvaluatorChoice(parsed.evaluator, parsed.stockfish)

    from uci_bridge.protocol.engine import Engine, serve

    kit = game.kit
    logging.basicConfig(stream=sys.stderr, level=logging.INFO, format="klss engine: %(message)s")
    loading = threading.Thread(target=_load, args=(kit, configuration, choice), daemon=True)
    engine = Engine(kit, configuration, choice, loaded=partial(_wait, loading))
    with (
        io.FileIO(reserve().fileno(), "wb", closefd=False) as answers,
        open(0, "rb", buffering=0, closefd=False) as requests,
    ):
        loading.start()
        try:
            serve(engine, requests, answers)
        finally:
            engine.close()
    if loading.is_alive():  # a compilation can't be stopped, and nobody needs it now
        sys.stderr.flush()
        end_descendants()
        os._exit(0)
    return 0


def _load(kit: AnyKit, configuration: Spec, choice: EvaluatorChoice) -> None:
    """Load compiled code, by playing a short dummy game. Errors come again in a request, where they are reported."""
    from klss.play.arbiter import SEATS

    try:
        maker = kit.maker(configuration, choice, kit.setup())
        with closing(maker), closing(maker.player(0)) as player:
            for seat in SEATS:
                kit.warm_up(player, seat)
    except Exception as error:
        log.warning("the warm-up failed: %s", error)


def _wait(loading: threading.Thread) -> None:
    """Wait until all is loaded, with a sign of life on stderr now and then: who is silent for half a minute at the
    first question is taken for dead.
    """
    began = time.monotonic()
    while loading.is_alive():
        loading.join(_SIGN_OF_LIFE_S)
        if loading.is_alive():
            log.info("loading (the first time it is compiled: a minute), %.0f s", time.monotonic() - began)
