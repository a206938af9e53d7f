"""Serve an engine on two pipes: each line gets one answer, in order."""

from __future__ import annotations

import io
import logging
import queue
import threading
import time

from uci_bridge.lines import LineSplitter
from uci_bridge.protocol.codec import MAX_LINE_BYTES
from uci_bridge.protocol.engine import Engine

log = logging.getLogger(__name__)

_QUEUED = 16
"""Requests that are read ahead."""

_READ_BYTES = 1 << 16


def serve(engine: Engine, source: io.RawIOBase | io.FileIO, sink: io.RawIOBase | io.FileIO) -> None:
    """Answer the requests of ``source`` on ``sink``, in order, until the source ends.

    A thread reads ahead, so that a request's time counts from its arrival. Raises BrokenPipeError: nobody reads the
    answers any more.
    """
    lines: queue.Queue[tuple[bytes | None, float] | None] = queue.Queue(maxsize=_QUEUED)

    def read() -> None:
        splitter = LineSplitter(MAX_LINE_BYTES)
        try:
            while piece := source.read(_READ_BYTES):
                for line in splitter.feed(piece):
                    lines.put((line, time.monotonic()))
            for line in splitter.finish():
                lines.put((line, time.monotonic()))
        except OSError as error:
            log.error("can't read requests: %s", error.strerror)
        lines.put(None)

    threading.Thread(target=read, name="reads requests", daemon=True).start()
    while (entry := lines.get()) is not None:
        answer = memoryview(engine.answer(*entry))
        while answer:
            answer = answer[sink.write(answer) or 0 :]
        if lines.empty():
            engine.idle()
