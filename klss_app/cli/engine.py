"""``klss engine``: the engine on stdio, for other programs (docs/engine-protocol.md).

Nothing but answers goes to stdout; the descriptor itself is put out of everybody else's reach. The compiled code loads
in a thread while the first request is on its way.
"""

from __future__ import annotations

import contextlib
import io
import logging
import os
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from darkchess.game.contest import DEFAULT_PLAYER
from klss_app.cli.errors import UsageError
from klss_app.cli.options import CONFIGURATION, Parser, add_evaluator_options, check_evaluator, configured
from uci_bridge.descendants import end_descendants
from uci_bridge.evaluators import EvaluatorChoice

if TYPE_CHECKING:
    from darkchess.players.configuration import Configuration

__all__ = ["run"]

log = logging.getLogger("klss engine")

_SIGN_OF_LIFE_S = 2.0


def _parser() -> Parser:
    parser = Parser("engine", "The engine on stdin and stdout: one JSON request a line, one JSON answer a line.")
    parser.add_argument(
        "--configuration",
        default=DEFAULT_PLAYER,
        metavar="NAME",
        help=f"(default {DEFAULT_PLAYER}) {CONFIGURATION}",
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
                f"--ponder: got it with {configuration.name} and the evaluator {parsed.evaluator or 'builtin'}, "
                "expected kluss and builtin: no others think on the opponent's time"
            )
        configuration = configuration.pondering()

    from uci_bridge.protocol.engine import Engine, serve

    logging.basicConfig(stream=sys.stderr, level=logging.INFO, format="klss engine: %(message)s")
    choice = EvaluatorChoice(parsed.evaluator or "builtin", parsed.stockfish, processes=parsed.evaluator_processes)
    loading = _Loading(configuration, choice)
    engine = Engine(configuration, choice, loaded=loading.wait)
    with _stdout_for_answers_only() as answers, open(0, "rb", buffering=0, closefd=False) as requests:
        loading.start()
        try:
            serve(engine, requests, answers)
        finally:
            engine.close()
    if loading.is_alive():
        # Compiled code can't be stopped half-way, and nobody waits for it any more.
        sys.stderr.flush()
        end_descendants()
        os._exit(0)
    return 0


class _Loading(threading.Thread):
    """Loads compiled code by a short game that nobody sees."""

    def __init__(self, configuration: Configuration, choice: EvaluatorChoice) -> None:
        super().__init__(daemon=True)
        self._configuration = configuration
        self._choice = choice

    def run(self) -> None:
        """Load; called by the thread. What goes wrong here will go wrong again where it can be told."""
        import chess

        from darkchess.warm_up import warm_up
        from uci_bridge.players import configured_player

        try:
            player, evaluator = configured_player(self._configuration, self._choice, seed=0)
            try:
                for color in chess.COLORS:
                    warm_up(player, color)
            finally:
                player.close()
                evaluator.close()
        except Exception as error:
            log.warning("the warm-up failed: %s", error)

    def wait(self) -> None:
        """Wait until all is there, with a sign of life on stderr now and then."""
        began = time.monotonic()
        while self.is_alive():
            self.join(_SIGN_OF_LIFE_S)
            if self.is_alive():
                log.info("loading (the first time it is compiled: a minute), %.0f s", time.monotonic() - began)


@contextlib.contextmanager
def _stdout_for_answers_only() -> Iterator[io.FileIO]:
    """The real stdout; whatever else is printed meanwhile, by anybody, goes to stderr."""
    sys.stdout.flush()
    kept = os.dup(1)
    os.dup2(2, 1)
    try:
        with io.FileIO(kept, "wb", closefd=False) as answers:
            yield answers
    finally:
        os.dup2(kept, 1)
        os.close(kept)
