"""Helping threads: what they raise is the caller's, and an exception of the caller leaves none waiting."""

from __future__ import annotations

import threading

import pytest

from klss.support import threads as of_this_process
from klss.support.threads import MOST, VARIABLE, share, usual
from klss_app.cli.main import main
from uci_bridge.child_processes import engine_environment


def test_what_any_thread_raises_is_raised_and_the_next_work_runs() -> None:
    for wrong in (0, 1, 2, 0, 1):
        together = threading.Barrier(3)  # so that each thread has one piece
        ran: list[int] = []

        def task(piece: int, wrong: int = wrong, ran: list[int] = ran, together: threading.Barrier = together) -> None:
            together.wait(20)
            ran.append(piece)
            if piece == wrong:
                raise KeyboardInterrupt(piece)

        with pytest.raises(KeyboardInterrupt, match=str(wrong)):
            share(task, 3, 3)
        assert sorted(ran) == [0, 1, 2]


def test_threads_are_started_once_and_keep_no_program_from_ending() -> None:
    for threads in (2, 4, 3, 4):
        share(lambda piece: None, 20, threads)
    helpers = [thread for thread in threading.enumerate() if thread.name == "helper"]
    assert 3 <= len(helpers) < MOST and all(thread.daemon for thread in helpers)


def test_engines_share_what_the_environment_or_the_machine_has(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setattr(of_this_process, "_cores", lambda: 8)
    monkeypatch.setattr(of_this_process, "games_at_a_time", 3)
    assert usual() == 8 and engine_environment()[VARIABLE] == "2"
    monkeypatch.setenv(VARIABLE, "5")
    assert usual() == 5 and engine_environment()[VARIABLE] == "5"


@pytest.mark.parametrize("given", ["abc", "0", "-2", "1.5"])
def test_no_number_of_threads_in_the_environment_is_an_error(
    given: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(VARIABLE, given)
    assert main(["track", "--moves", "e2e4"]) == 2
    out, err = capsys.readouterr()
    assert not out and err.count("\n") == 1 and VARIABLE in err and repr(given) in err
