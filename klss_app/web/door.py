"""Limits on the number of connections and on how long one may stay silent: aiohttp has neither.

Anybody who shares the machine can open connections and leave them half open, until no page gets one any more. So a
connection lasts some seconds only, unless it becomes the socket of a page with a seat. If too many are open, the oldest
one without a seat is closed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

__all__ = ["Door", "stay"]

MOST = 128
"""Connections at once: every page has one, and some while it loads."""

WITHIN_S = 10.0
"""Seconds within which a connection has to become the socket of a page with a seat, or has loaded what it came for."""


class Door:
    """Makes the protocol of each connection, for :meth:`asyncio.loop.create_server`; ``server`` is aiohttp's, which
    makes a handler of a connection."""

    def __init__(
        self, server: Callable[[], asyncio.BaseProtocol], most: int = MOST, within_s: float = WITHIN_S
    ) -> None:
        self._server = server
        self._most = most
        self.within_s = within_s
        self._open: dict[Guest, None] = {}

    def __call__(self) -> Guest:
        """A connection's protocol."""
        handler = self._server()
        assert isinstance(handler, asyncio.Protocol)
        return Guest(self, handler)

    def entered(self, guest: Guest) -> None:
        """Count an open connection; if there are too many, close the oldest one without a seat."""
        self._open[guest] = None
        if len(self._open) > self._most:
            oldest = next((each for each in self._open if not each.stays), guest)
            oldest.cut()

    def left(self, guest: Guest) -> None:
        """Forget a closed connection."""
        self._open.pop(guest, None)


class Guest(asyncio.Protocol):
    """One connection: passes everything on to aiohttp's handler. One that ``stays`` is the socket of a page with a
    seat."""

    def __init__(self, door: Door, handler: asyncio.Protocol) -> None:
        self.stays = False
        self._door = door
        self._handler = handler
        self._transport: asyncio.Transport | None = None
        self._timer: asyncio.TimerHandle | None = None

    def stay(self) -> None:
        """Lift the time limit: it is now the socket of a page with a seat, and ``PageLine`` has limits of its own."""
        self.stays = True
        if self._timer is not None:
            self._timer.cancel()

    def cut(self) -> None:
        """Close it at once; data not yet sent is dropped."""
        self._door.left(self)
        if self._transport is not None:
            self._transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """See :class:`asyncio.Protocol`."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._timer = asyncio.get_running_loop().call_later(self._door.within_s, self.cut)
        self._handler.connection_made(transport)
        self._door.entered(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """See :class:`asyncio.Protocol`."""
        if self._timer is not None:
            self._timer.cancel()
        self._door.left(self)
        self._handler.connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """See :class:`asyncio.Protocol`."""
        self._handler.data_received(data)

    def eof_received(self) -> bool | None:
        """See :class:`asyncio.Protocol`."""
        return self._handler.eof_received()

    def pause_writing(self) -> None:
        """See :class:`asyncio.Protocol`."""
        self._handler.pause_writing()

    def resume_writing(self) -> None:
        """See :class:`asyncio.Protocol`."""
        self._handler.resume_writing()


def stay(transport: asyncio.BaseTransport | None) -> None:
    """Lift the time limit of the connection of ``transport``; see :meth:`Guest.stay`."""
    guest = transport.get_protocol() if isinstance(transport, asyncio.Transport) else None
    if isinstance(guest, Guest):
        guest.stay()
