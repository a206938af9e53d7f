"""The memory that this process uses and may use, so that too large a task ends with one line of error instead of being
killed by the system.

Code that builds something large calls :func:`check_memory` before, and now and then. :func:`limited` is the second
safeguard: a compiled call that allocates more than any estimate foresaw fails with a MemoryError (on Linux alone).
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import psutil

from klss.errors import TooLargeError

_ALLOWANCE = 4096 * 1_000_000
"""Most bytes that a command may use by default."""

_SLACK, _LOADED = 2, 1 << 30
"""Address space allowed for each byte of memory allowed, since allocators and threads reserve more than they use; and
what libraries that are not loaded yet take of it.
"""


def resident_bytes() -> int:
    """Return the memory of this process."""
    return int(psutil.Process().memory_info().rss)


def allowance_bytes() -> int:
    """Return the memory that a command may use by default: 4,096 MB, or half of the machine's free memory if less."""
    return min(_ALLOWANCE, int(psutil.virtual_memory().available) // 2)


def check_memory(what: str, takes: int, max_bytes: int | None) -> None:
    """Refuse a task before it allocates anything, by a TooLargeError: this process has more than ``max_bytes`` once
    ``what`` has taken about ``takes`` bytes more; None: no limit.
    """
    if max_bytes is None:
        return
    held = resident_bytes()
    if held + takes > max_bytes:
        raise TooLargeError(
            f"{what} would take about {takes // 1_000_000:,} MB beside the {held // 1_000_000:,} MB in use, expected "
            f"{max_bytes // 1_000_000:,} MB together",
            "the limit of memory",
        )


@contextlib.contextmanager
def limited(most_bytes: int) -> Iterator[None]:
    """Limit the address space to about twice ``most_bytes`` more than is used now, if the system supports it:
    allocations beyond it raise MemoryError.
    """
    if not psutil.LINUX:
        yield
        return
    # Only the soft limit is lowered, so that it can be restored at the end; a lower limit that was set stays.
    process = psutil.Process()
    soft, hard = process.rlimit(psutil.RLIMIT_AS)
    wanted = process.memory_info().vms + _SLACK * most_bytes + _LOADED
    known = [limit for limit in (soft, hard) if limit != psutil.RLIM_INFINITY]
    process.rlimit(psutil.RLIMIT_AS, (min([wanted, *known]), hard))
    try:
        yield
    finally:
        process.rlimit(psutil.RLIMIT_AS, (soft, hard))
