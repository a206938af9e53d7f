"""Workers of our own: what they are sent, and what they send back."""

from __future__ import annotations

import pytest

from klss.table.limits import TimeControl
from tests.table.hidden_tictactoe import KIT
from uci_bridge.match.match import Match
from uci_bridge.match.pool import LocalWorkers


def test_every_game_is_played_whatever_class_a_pipe_has(monkeypatch: pytest.MonkeyPatch) -> None:
    """On Windows a pipe's end is no Connection."""
    monkeypatch.setattr("uci_bridge.match.pool.Connection", type("Connection", (), {}))
    match = Match(KIT, KIT.spec("random"), KIT.spec("first"), 4, 3, TimeControl(nodes=1), check_truth=True)
    workers = LocalWorkers(match.setup(), 1)
    try:
        played = [result.line["game"] for result in workers.results(map(match.task, range(4)))]
    finally:
        workers.close()
    assert played == [0, 1, 2, 3]
