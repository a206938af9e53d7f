"""Ctrl-C where the loop itself takes no signals, as on Windows."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Iterator

import pytest

from klss_app.cli.serving import at_signals


@pytest.fixture
def handlers_put_back() -> Iterator[None]:
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.usefixtures("handlers_put_back")
def test_a_signal_reaches_the_loop_and_one_after_its_end_does_no_harm(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise NotImplementedError

    monkeypatch.setattr(asyncio.SelectorEventLoop, "add_signal_handler", refuse)

    async def serve() -> None:
        stop = asyncio.Event()
        at_signals(stop.set)
        signal.raise_signal(signal.SIGINT)
        await asyncio.wait_for(stop.wait(), 10.0)

    asyncio.run(serve())
    signal.raise_signal(signal.SIGINT)
