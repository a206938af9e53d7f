"""How much memory this process holds and may take, so that what is too large ends in one line and not by the system's
killer.

Who builds something large asks :func:`resident_bytes` now and then and stops in good order. :func:`limited` is the net
below: where one compiled call takes all at once, it fails with a MemoryError.
"""

from __future__ import annotations

import contextlib
import os
import resource
import sys
from collections.abc import Iterator

__all__ = ["allowance_bytes", "limited", "resident_bytes"]

_ALLOWANCE = 4096 * 1_000_000
_SLACK = 2
"""Address space that may be taken for each byte that may be held: allocators and threads reserve more than they use."""


def resident_bytes() -> int:
    """What this process holds; the most that it ever held where the system doesn't tell."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return most if sys.platform == "darwin" else most * 1024


def allowance_bytes() -> int:
    """What a command may take unless told otherwise: 4,096 MB, or half of what the machine has left if that is less."""
    try:
        with open("/proc/meminfo", encoding="ascii") as file:
            left = next(int(line.split()[1]) * 1024 for line in file if line.startswith("MemAvailable:"))
    except (OSError, StopIteration):
        left = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return min(_ALLOWANCE, left // 2)


@contextlib.contextmanager
def limited(most_bytes: int) -> Iterator[None]:
    """Limit the address space to about twice ``most_bytes`` above what is taken, where the system can.

    What goes beyond raises MemoryError.
    """
    before = resource.getrlimit(resource.RLIMIT_AS)
    soft, hard = before
    wanted = _taken() + _SLACK * most_bytes
    known = [limit for limit in before if limit != resource.RLIM_INFINITY]
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_AS, (min([wanted, *known]), hard))
    try:
        yield
    finally:
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def _taken() -> int:
    """Address space of this process; 0 where the system doesn't tell."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0
