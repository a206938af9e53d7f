"""Workers of our own: what they are sent, and what they send back."""

from __future__ import annotations

from typing import Any

import pytest

from uci_bridge.match.pool import LocalWorkers


class Doubling:
    """A setup whose games are numbers, and end with their doubles."""

    def engines(self) -> Doubling:
        return self

    def play(self, task: int) -> int:
        return 2 * task


def test_every_game_is_played_whatever_class_a_pipe_has(monkeypatch: pytest.MonkeyPatch) -> None:
    """On Windows a pipe's end is no Connection."""
    monkeypatch.setattr("uci_bridge.match.pool.Connection", type("Connection", (), {}))
    setup: Any = Doubling()
    workers = LocalWorkers(setup, 1)
    try:
        games: Any = iter(range(4))
        assert [*workers.results(games)] == [0, 2, 4, 6]
    finally:
        workers.close()
