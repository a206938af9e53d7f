"""How much memory this process holds and may take, so that what is too large ends in one line and not by the system's
killer.

Who builds something large asks :func:`resident_bytes` now and then and stops in good order. :func:`limited` is the net
below: where one compiled call takes all at once, it fails with a MemoryError. Linux tells all of it, macOS the most
that was held, Windows (without ``resource``) nothing: nothing is limited there.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator

try:
    import resource
except ImportError:
    resource = None  # type: ignore[assignment]

__all__ = ["allowance_bytes", "limited", "resident_bytes"]

_ALLOWANCE = 4096 * 1_000_000
_SLACK = 2
"""Address space that may be taken for each byte that may be held: allocators and threads reserve more than they use."""


def resident_bytes() -> int:
    """What this process holds; the most that it ever held where the system doesn't tell; 0 where nothing is known."""
    pages = _statm()
    if pages is not None:
        return pages[1]
    if resource is None:
        return 0
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024


def allowance_bytes() -> int:
    """What a command may take by default: 4,096 MB, or half of what the machine has left if that is less."""
    left = _left()
    return _ALLOWANCE if left is None else min(_ALLOWANCE, left // 2)


@contextlib.contextmanager
def limited(most_bytes: int) -> Iterator[None]:
    """Limit the address space to about twice ``most_bytes`` above what is taken, where the system can and tells.

    What goes beyond raises MemoryError.
    """
    pages = _statm()
    if resource is None or pages is None:
        yield
        return
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
    """Bytes of address space, and of memory, of this process (Linux); None where the system doesn't tell."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            space, resident, *_ = file.read().split()
    except OSError:
        return None
    page = os.sysconf("SC_PAGE_SIZE")
    return int(space) * page, int(resident) * page


def _left() -> int | None:
    """Bytes that the machine has left; all that it has where it doesn't tell, None where it tells nothing."""
    with contextlib.suppress(OSError, StopIteration), open("/proc/meminfo", encoding="ascii") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith("MemAvailable:"))
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return None
