"""The second thread: what it raises is the first one's, and an exception of the first one leaves neither waiting."""

from __future__ import annotations

import threading

import pytest

from klss.support.threads import both


def test_what_either_raises_is_raised_and_the_next_task_runs() -> None:
    for wrong in (0, 1, 0, 1):
        ran: list[int] = []

        def task(thread: int, wrong: int = wrong, ran: list[int] = ran) -> None:
            ran.append(thread)
            if thread == wrong:
                raise KeyboardInterrupt(thread)

        with pytest.raises(KeyboardInterrupt, match=str(wrong)):
            both(task, 2)
        assert sorted(ran) == [0, 1]
    seen: set[int] = set()
    both(lambda thread: seen.add(threading.get_ident()), 2)
    assert len(seen) == 2


def test_the_second_thread_keeps_no_program_from_ending() -> None:
    both(lambda thread: None, 2)
    (second,) = [thread for thread in threading.enumerate() if thread.name == "second"]
    assert second.daemon
