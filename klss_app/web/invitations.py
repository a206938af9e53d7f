"""The invitation to the second seat of a game between two people: a link for one browser, also as a QR code.

The link holds a code and not the seat's token. The first browser that opens it is given the token, nobody after it: so
whoever shows an invitation can't see the other player's views by it later.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence
from functools import lru_cache
from urllib.parse import urlsplit

__all__ = ["invitation"]


def invitation(origins: Sequence[str], code: str) -> list[dict[str, str | None]]:
    """The links of an invitation; the first one that other devices can open has the ``picture`` of its QR code, as a
    ``data:`` address.

    Parameters
    ----------
    origins
        Where the server is found, such as ``http://192.168.1.7:8765``.
    code
        What the links hold.
    """
    links: list[dict[str, str | None]] = [{"link": f"{origin}/#invite={code}", "picture": None} for origin in origins]
    for origin, each in zip(origins, links, strict=True):
        if not _this_machine(origin):
            each["picture"] = _picture(f"{origin}/#invite={code}")
            break
    return links


@lru_cache(maxsize=16)
def _picture(link: str) -> str:
    import segno  # only now: it takes a twentieth of a second, and few games are between two people

    # Dark on light also on a dark page, as cameras expect it.
    return segno.make(link, micro=False).svg_data_uri(light="#fff")


def _this_machine(origin: str) -> bool:
    """Whether only this machine can open it.

    >>> [_this_machine(f"http://{each}:8765") for each in ("127.0.0.1", "[::1]", "localhost", "0.0.0.0", "192.168.1.7")]
    [True, True, True, True, False]
    """
    name = urlsplit(origin).hostname or ""
    try:
        address = ipaddress.ip_address(name)
    except ValueError:
        return name == "localhost"
    return address.is_loopback or address.is_unspecified
