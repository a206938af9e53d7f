"""The memory that this process uses and may use, so that too large a task ends with one line of error instead of being
killed by the system.

Code that builds something large calls :func:`resident_bytes` now and then and stops with an error. :func:`limited` is
the second safeguard: a compiled call that allocates too much at once fails with a MemoryError. Linux reports all
numbers, macOS only the peak, Windows (without ``resource``) none, so that nothing is limited there.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator

from klss.errors import TooLargeError

try:
    import resource
except ImportError:
    resource = None  # type: ignore[assignment]

_ALLOWANCE = 4096 * 1_000_000
"""Most bytes that a command may use by default."""
_SLACK = 2
"""Address space allowed for each byte of memory allowed: allocators and threads reserve more than they use."""


def resident_bytes() -> int:
    """Return the memory of this process; its peak if the system reports only that; 0 if unknown."""
    pages = _statm()
    if pages is not None:
        return pages[1]
    if resource is None:
        return 0
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024


def allowance_bytes() -> int:
    """Return the memory that a command may use by default: 4,096 MB, or half of the machine's free memory if less."""
    left = _left()
    return _ALLOWANCE if left is None else min(_ALLOWANCE, left // 2)


def check_memory(what: str, takes: int, max_bytes: int | None) -> None:
    """Refuse a task before it allocates anything.

    Raises
    ------
    TooLargeError
        This process has more than ``max_bytes`` once ``what`` has taken about ``takes`` bytes more; None: no limit.
    """
    held = resident_bytes()
    if max_bytes is not None and held + takes > max_bytes:
        raise TooLargeError(
            f"{what} would take about {takes // 1_000_000:,} MB beside the {held // 1_000_000:,} MB in use, expected "
            f"{max_bytes // 1_000_000:,} MB together",
            "max_bytes",
        )


@contextlib.contextmanager
def limited(most_bytes: int) -> Iterator[None]:
    """Limit the address space to about twice ``most_bytes`` more than is used now, if the system supports it.

    Allocations beyond the limit raise MemoryError.
    """
    pages = _statm()
    if resource is None or pages is None:
        yield
        return
    # Only the soft limit is lowered, so that it can be restored at the end; a lower limit that was set stays.
    before = resource.getrlimit(resource.RLIMIT_AS)
    soft, hard = before
    wanted = pages[0] + _SLACK * most_bytes
    known = [limit for limit in before if limit != resource.RLIM_INFINITY]
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_AS, (min([wanted, *known]), hard))
    try:
        yield
    finally:
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def _statm() -> tuple[int, int] | None:
    """Return the bytes of address space and of memory of this process (Linux); None on other systems."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            space, resident, *_ = file.read().split()
    except OSError:
        return None
    page = os.sysconf("SC_PAGE_SIZE")
    return int(space) * page, int(resident) * page


def _left() -> int | None:
    """Return the machine's free bytes; all its bytes if the free ones are unknown, None if both are."""
    with contextlib.suppress(OSError, StopIteration), open("/proc/meminfo", encoding="ascii") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith("MemAvailable:"))
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return None
