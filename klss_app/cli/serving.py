"""The end of a server: the signals that ask for it."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable

from klss.support.signals import asks_to_end


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
