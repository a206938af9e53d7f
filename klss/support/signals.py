"""The signals that ask a program to end: Ctrl-C, SIGTERM, and SIGHUP when its terminal is closed."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator


def asks_to_end() -> list[signal.Signals]:
    """The signals other than Ctrl-C that end a program here; those that it was started to ignore (nohup) don't."""
    known = (getattr(signal, name, None) for name in ("SIGTERM", "SIGHUP"))
    return [number for number in known if number is not None and signal.getsignal(number) != signal.SIG_IGN]


@contextlib.contextmanager
def asked_to_end() -> Iterator[None]:
    """Let these signals interrupt the block as Ctrl-C does: it can keep what it has, and end what it has started."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupt(*_: object) -> None:
        handler = signal.getsignal(signal.SIGINT)
        (handler if callable(handler) else signal.default_int_handler)(signal.SIGINT, None)

    before = {number: signal.signal(number, interrupt) for number in asks_to_end()}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)


def at_signals(react: Callable[[], None]) -> None:
    """Let the running loop of asyncio call ``react`` at each of these signals, and at Ctrl-C, from now on."""
    import asyncio  # takes a while, and few commands have a loop

    loop = asyncio.get_running_loop()

    def pass_on(*_: object) -> None:
        if not loop.is_closed():  # a second Ctrl-C may come while the program ends
            loop.call_soon_threadsafe(react)

    for number in (signal.SIGINT, *asks_to_end()):
        try:
            loop.add_signal_handler(number, react)
        except NotImplementedError:  # on Windows loops have no signal handlers
            signal.signal(number, pass_on)
