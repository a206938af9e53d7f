"""The memory that a task may take."""

from __future__ import annotations

import pytest

from klss.errors import TooLargeError
from klss.support import memory


def test_a_task_that_takes_more_than_is_left_is_refused() -> None:
    memory.check_memory("it", 1 << 40, None)
    memory.check_memory("it", 0, memory.resident_bytes() + (1 << 26))
    with pytest.raises(TooLargeError, match="it would take about"):
        memory.check_memory("it", 1 << 27, memory.resident_bytes() + (1 << 26))
