"""The memory that this process uses and may use, so that too large a task ends with one line of error instead of being
killed by the system.

Code that builds something large calls :func:`check_memory` before, and now and then.
"""

from __future__ import annotations

import psutil

from klss.errors import TooLargeError

_ALLOWANCE = 4096 * 1_000_000
"""Most bytes that a command may use by default."""


def resident_bytes() -> int:
    """Return the memory of this process."""
    return int(psutil.Process().memory_info().rss)


def allowance_bytes() -> int:
    """Return the memory that a command may use by default: 4,096 MB, or half of the machine's free memory if less."""
    return min(_ALLOWANCE, int(psutil.virtual_memory().available) // 2)


def check_memory(what: str, takes: int, max_bytes: int | None) -> None:
    """Refuse a task before it allocates anything.

    Raises
    ------
    TooLargeError
        This process has more than ``max_bytes`` once ``what`` has taken about ``takes`` bytes more; None: no limit.
    """
    if max_bytes is None:
        return
    held = resident_bytes()
    if held + takes > max_bytes:
        raise TooLargeError(
            f"{what} would take about {takes // 1_000_000:,} MB beside the {held // 1_000_000:,} MB in use, expected "
            f"{max_bytes // 1_000_000:,} MB together",
            "max_bytes",
        )
