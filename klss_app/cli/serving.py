"""Serving: the signals that end a server, and an engine on stdin and stdout.

Only the engine's answers go to stdout. Its compiled code loads in a thread while the first request is on its way.
"""

from __future__ import annotations

import asyncio
import io
import logging
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from klss.support.signals import asks_to_end
from klss_app.stdout import reserve
from uci_bridge.child_processes import end_descendants

if TYPE_CHECKING:
    from uci_bridge.protocol.engine import Engine

log = logging.getLogger("klss engine")

_SIGN_OF_LIFE_S = 2.0


def at_signals(react: Callable[[], None]) -> None:
    """Let the running loop call ``react`` at every signal that asks the program to end, from now on."""
    loop = asyncio.get_running_loop()

    def pass_on(*_: object) -> None:
        if not loop.is_closed():  # a second Ctrl-C may come while the program ends
            loop.call_soon_threadsafe(react)

    for number in (signal.SIGINT, *asks_to_end()):
        try:
            loop.add_signal_handler(number, react)
        except NotImplementedError:  # on Windows loops have no signal handlers
            signal.signal(number, pass_on)


def serve_on_stdio(command: str, make: Callable[[Callable[[], None]], Engine], load: Callable[[], None]) -> int:
    """Answer requests on stdin until it ends; return the exit code. ``command`` begins each line of the log; ``make``
    gets a function to call before the first player is needed; ``load`` loads compiled code.
    """
    from uci_bridge.protocol.serve import serve

    logging.basicConfig(stream=sys.stderr, level=logging.INFO, format=f"{command}: %(message)s")
    loading = _Loading(load)
    engine = make(loading.wait)
    with (
        io.FileIO(reserve().fileno(), "wb", closefd=False) as answers,
        open(0, "rb", buffering=0, closefd=False) as requests,
    ):
        loading.start()
        try:
            serve(engine, requests, answers)
        finally:
            engine.close()
    end_loading(loading)
    return 0


def end_loading(loading: threading.Thread) -> None:
    """End the program, with code 0, if ``loading`` still compiles: that can't be stopped, and nobody needs it now."""
    if loading.is_alive():
        sys.stdout.flush()
        sys.stderr.flush()
        end_descendants()
        os._exit(0)


class _Loading(threading.Thread):
    """Loads compiled code in the background, by playing a short dummy game."""

    def __init__(self, load: Callable[[], None]) -> None:
        super().__init__(daemon=True)
        self._load = load

    def run(self) -> None:
        """Load; called by the thread. Errors are ignored: they come again in a request, where they are reported."""
        try:
            self._load()
        except Exception as error:
            log.warning("the warm-up failed: %s", error)

    def wait(self) -> None:
        """Wait until all is loaded, with a sign of life on stderr now and then."""
        began = time.monotonic()
        while self.is_alive():
            self.join(_SIGN_OF_LIFE_S)
            if self.is_alive():
                log.info("loading (the first time it is compiled: a minute), %.0f s", time.monotonic() - began)
