"""The invitation to the second seat of a game between two people: a link for one browser, also as a QR code.

The link holds a code and not the seat's token. Only the first browser that opens it gets the token, so the player who
sends the invitation can't use it later to see the other player's views.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence
from functools import lru_cache
from urllib.parse import urlsplit

__all__ = ["invitation"]


def invitation(origins: Sequence[str], code: str) -> list[dict[str, str | None]]:
    """The links of an invitation; the first one that other devices can open has its QR code as ``picture``, a ``data:``
    address.

    Parameters
    ----------
    origins
        Addresses of the server, such as ``http://192.168.1.7:8765``.
    code
        The secret in the links.
    """
    links: list[dict[str, str | None]] = [{"link": f"{origin}/#invite={code}", "picture": None} for origin in origins]
    for origin, each in zip(origins, links, strict=True):
        if not _this_machine(origin):
            each["picture"] = _picture(f"{origin}/#invite={code}")
            break
    return links


@lru_cache(maxsize=16)
def _picture(link: str) -> str:
    import segno  # not at the top: it takes .05 s to load, and few games are between two people

    # Dark on light even on a dark page: cameras expect it.
    return segno.make(link, micro=False).svg_data_uri(light="#fff")


def _this_machine(origin: str) -> bool:
    """Whether only this machine can open ``origin``.

    >>> [_this_machine(f"http://{each}:8765") for each in ("127.0.0.1", "[::1]", "localhost", "0.0.0.0", "192.168.1.7")]
    [True, True, True, True, False]
    """
    name = urlsplit(origin).hostname or ""
    try:
        address = ipaddress.ip_address(name)
    except ValueError:
        return name == "localhost"
    return address.is_loopback or address.is_unspecified
