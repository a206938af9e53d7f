"""The signals by which a command that serves is ended: Ctrl-C and SIGTERM."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable

__all__ = ["at_signals"]


def at_signals(react: Callable[[], None]) -> None:
    """Have ``react`` called by the running loop at every Ctrl-C and SIGTERM from now on."""
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        try:
            loop.add_signal_handler(number, react)
        except NotImplementedError:  # loops of Windows take none
            signal.signal(number, lambda *_: loop.call_soon_threadsafe(react))
