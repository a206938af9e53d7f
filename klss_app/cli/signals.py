"""The signals by which a command that serves is ended: Ctrl-C and SIGTERM."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable

__all__ = ["at_signals"]


def at_signals(react: Callable[[], None]) -> None:
    """Have ``react`` called by the running loop at every Ctrl-C and SIGTERM from now on."""
    loop = asyncio.get_running_loop()

    def pass_on(*_: object) -> None:
        if not loop.is_closed():  # a second Ctrl-C may come while the program ends
            loop.call_soon_threadsafe(react)

    for number in (signal.SIGINT, signal.SIGTERM):
        try:
            loop.add_signal_handler(number, react)
        except NotImplementedError:  # loops of Windows take none
            signal.signal(number, pass_on)
