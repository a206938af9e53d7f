"""The end of a server: the signals that ask for it, and compiled code that still loads."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import threading
from collections.abc import Callable

from klss.support.signals import asks_to_end
from uci_bridge.child_processes import end_descendants


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


def end_loading(loading: threading.Thread) -> None:
    """End the program, with code 0, if ``loading`` still compiles: that can't be stopped, and nobody needs it now."""
    if loading.is_alive():
        sys.stdout.flush()
        sys.stderr.flush()
        end_descendants()
        os._exit(0)
