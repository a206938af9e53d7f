"""What is known of memory: on Linux all, on macOS the most that was held, else nothing, and then nothing is limited."""

from __future__ import annotations

import builtins
import resource
from typing import Any

import numpy as np
import pytest

from klss.support import memory


@pytest.fixture
def without_proc(monkeypatch: pytest.MonkeyPatch) -> None:
    def opened(file: Any, *rest: Any, _open: Any = builtins.open, **named: Any) -> Any:
        if str(file).startswith("/proc/"):
            raise FileNotFoundError(file)
        return _open(file, *rest, **named)

    monkeypatch.setattr(builtins, "open", opened)


@pytest.mark.parametrize(("platform", "unit"), [("darwin", 1), ("linux", 1024)])  # getrusage(2) of either
def test_without_proc_the_most_that_was_held_is_read_in_the_system_s_unit(
    monkeypatch: pytest.MonkeyPatch, without_proc: None, platform: str, unit: int
) -> None:
    monkeypatch.setattr("sys.platform", platform)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    found = memory.resident_bytes()
    assert before * unit <= found <= resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def test_where_the_address_space_is_not_known_it_is_not_limited(without_proc: None) -> None:
    """A limit that does not count what is taken already would be below it."""
    before = resource.getrlimit(resource.RLIMIT_AS)
    with memory.limited(1):
        assert resource.getrlimit(resource.RLIMIT_AS) == before
        assert np.ones(1 << 24).sum() == 1 << 24


def test_without_proc_half_of_the_machine_may_be_taken_or_the_usual_allowance(
    monkeypatch: pytest.MonkeyPatch, without_proc: None
) -> None:
    pages = {"SC_PHYS_PAGES": 1000, "SC_PAGE_SIZE": 4096}
    monkeypatch.setattr("os.sysconf", pages.__getitem__)
    assert memory.allowance_bytes() == 500 * 4096


def test_where_nothing_is_known_nothing_is_held_and_the_usual_allowance_stands(
    monkeypatch: pytest.MonkeyPatch, without_proc: None
) -> None:
    monkeypatch.setattr(memory, "resource", None)
    monkeypatch.delattr("os.sysconf")
    with memory.limited(1):
        assert (memory.resident_bytes(), memory.allowance_bytes()) == (0, 4096 * 1_000_000)
