"""The memory that a task may take."""

from __future__ import annotations

import sys

import numpy as np
import psutil
import pytest

from klss.errors import TooLargeError
from klss.support import memory


@pytest.mark.skipif(sys.platform != "linux", reason="no other system limits the address space")
def test_an_allocation_beyond_the_limit_fails_and_later_ones_do_not() -> None:
    before = psutil.Process().rlimit(psutil.RLIMIT_AS)
    with memory.limited(1 << 24):
        assert np.ones(1 << 20).sum() == 1 << 20
        with pytest.raises(MemoryError):
            np.ones(1 << 30)
    assert psutil.Process().rlimit(psutil.RLIMIT_AS) == before


def test_a_task_that_takes_more_than_is_left_is_refused() -> None:
    memory.check_memory("it", 1 << 40, None)
    memory.check_memory("it", 0, memory.resident_bytes() + (1 << 26))
    with pytest.raises(TooLargeError, match="it would take about"):
        memory.check_memory("it", 1 << 27, memory.resident_bytes() + (1 << 26))
