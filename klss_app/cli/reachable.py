"""The addresses at which other devices find a server of this machine that listens to all of them."""

from __future__ import annotations

import contextlib
import ipaddress
import socket

EVERYONE = ("0.0.0.0", "::")
"""Values of ``--host`` for a server that every device in the network may use: by IPv4 only, and by both versions."""

_ELSEWHERE = {socket.AF_INET: "192.0.2.1", socket.AF_INET6: "2001:db8::1"}
"""Addresses that no machine has (RFC 5737, RFC 3849): the system tells from which own address it would send there."""


def addresses(host: str) -> list[str]:
    """This machine's addresses that other devices can reach if it listens at ``host``; empty unless ``host`` is one of
    :data:`EVERYONE`. Nothing is sent."""
    if host not in EVERYONE:
        return []
    found: list[str] = []
    for family in (socket.AF_INET,) if host == "0.0.0.0" else (socket.AF_INET, socket.AF_INET6):
        with contextlib.suppress(OSError), socket.socket(family, socket.SOCK_DGRAM) as asking:
            asking.connect((_ELSEWHERE[family], 9))
            found.append(asking.getsockname()[0])
        with contextlib.suppress(OSError):
            found += [str(each[4][0]) for each in socket.getaddrinfo(socket.gethostname(), None, family)]
    return [each for each in dict.fromkeys(found) if _usable(each)]


def _usable(address: str) -> bool:
    """Whether another device can use ``address``.

    >>> [_usable(each) for each in ("192.168.1.7", "127.0.1.1", "0.0.0.0", "fe80::1%2")]
    [True, False, False, False]
    """
    known = ipaddress.ip_address(address)
    return not (known.is_loopback or known.is_unspecified or known.is_link_local)
