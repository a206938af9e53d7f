"""Access control of the server: hosts, origins, tokens.

Anybody who shares the machine can reach the loopback, and any page in the user's browser can send it requests. So a
seat needs a token that only its link holds. A request with a foreign name as its ``Host`` is refused: somebody may have
bound that name to our address (DNS rebinding). A socket that another site's page opens is refused too.
"""

from __future__ import annotations

import hmac
import ipaddress
import re
import secrets
from collections.abc import Mapping

HEADERS: Mapping[str, str] = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-cache",
}
"""Headers of every response. Inline styles are allowed, since the board places its pieces by them; scripts are not."""


_BRACKETED = re.compile(r"\[([0-9a-f:.]+)\](?::\d+)?")
"""An address of IPv6, which is written in brackets where a port may follow."""


def new_token() -> str:
    """A seat's token, 128 bits."""
    return secrets.token_urlsafe(16)


def same_token(given: object, token: str) -> bool:
    """Whether ``given`` is the token; the time taken does not depend on how much of it is right."""
    return isinstance(given, str) and hmac.compare_digest(given.encode("utf-8", "replace"), token.encode())


def host_allowed(header: str | None, host: str) -> bool:
    """Whether a request's ``Host``, with or without a port, can be this server's: an IP address, ``localhost``, or
    ``host``, the name that it was told to listen at.

    >>> host_allowed("127.0.0.1:8765", "127.0.0.1"), host_allowed("evil.example:8765", "127.0.0.1")
    (True, False)
    """
    if not header:
        return False
    text = header.strip().lower()
    name = text.rpartition(":")[0] if text.count(":") == 1 else text
    if bracketed := _BRACKETED.fullmatch(text):
        name = bracketed[1]
    if name in ("localhost", host.lower()):
        return True
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def origin_allowed(origin: str | None, host_header: str | None) -> bool:
    """Whether the page that opens a socket is ours: its origin is the host that it connects to."""
    return origin is not None and host_header is not None and origin.lower() == f"http://{host_header.lower()}"
