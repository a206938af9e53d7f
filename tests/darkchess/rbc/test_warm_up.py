"""Nothing is compiled or loaded while a clock runs: after the warm-up every kernel that a player may call is there."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = """
import chess, sys
from numba.core.registry import CPUDispatcher
from darkchess.rbc import Moved, Notice, Sensed
from darkchess.rbc.belief.position_set import PositionSet
from klss.table.arbiter import Arbiter
from darkchess.rbc.game.observation import window
from darkchess.rbc.game.referee import Referee
from darkchess.rbc.players.configuration import configuration, make_player
from darkchess.rbc.warm_up import warm_up
from darkchess.board import position_table
from darkchess.board.position import Position
from klss.table.limits import TimeControl

def compiled():
    return {
        (module, name): len(value.signatures)
        for module, parts in list(sys.modules.items())
        if module.startswith(("klss.", "darkchess.", "darkchess.rbc."))
        for name, value in vars(parts).items()
        if isinstance(value, CPUDispatcher)
    }

chosen = configuration(sys.argv[1])
warm_up(make_player(chosen), chess.BLACK)
before = compiled()

# A table that grows and is cut, a draw from a large set, a sample that is mended.
position_table.SLACK, position_table.BUFFER = 16, 400
known = PositionSet(chess.BLACK, Position.start(), cap=300)
for _ in range(3):
    known.noticed(Notice(None))
    known.moved(Moved(None, None, None))
known.sample(10, 1)
assert known.capped_by == "cap"
king = chess.Piece.from_symbol("K")
known.sensed(Sensed(chess.B5, tuple((at, king if at == chess.B5 else None) for at in window(chess.B5))))
assert known.recoveries == 1

# A piece is captured, and so is the one that captured it; a king is captured.
known = PositionSet(chess.WHITE, Position.from_fen("4k3/8/8/8/8/1p6/R7/4K3 b - - 0 1"))
known.noticed(Notice(chess.A2))
known = PositionSet(chess.WHITE, Position.from_fen("4k3/8/8/8/8/8/4R3/4K3 w - - 0 1"))
known.moved(Moved(chess.Move.from_uci("e2e8"), chess.Move.from_uci("e2e8"), chess.E8))

# Games, to their ends: many questions with few nodes, and with enough of them for a search below the children.
for nodes, turns in (map(int, limit.split(",")) for limit in sys.argv[2:]):
    players = {seat: make_player(chosen, seed=seat) for seat in chess.COLORS}
    arbiter = Arbiter(Referee(), players, dict.fromkeys(chess.COLORS, TimeControl(nodes=nodes)))
    arbiter.begin()
    while arbiter.referee.outcome is None and arbiter.referee.ply < turns:
        arbiter.play_turn()
after = compiled()
print(sorted(name for name in after if after[name] != before.get(name)))
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("player", "limits"),
    [
        ("rbc-siamese", ("60,400", "2000,20")),  # with weights, a player calls what one without them calls
        pytest.param("dsmcp,particles=8,cap=4000", ("60,24", "300,4"), marks=pytest.mark.slow),
    ],
)
def test_after_the_warm_up_nothing_is_compiled_any_more(player: str, limits: tuple[str, str]) -> None:
    root = str(Path(__file__).resolve().parents[2])
    run = subprocess.run(
        [sys.executable, "-c", SCRIPT, player, *limits],
        capture_output=True, text=True, timeout=300, check=False, env=os.environ | {"PYTHONPATH": root},
    )  # fmt: skip
    assert (run.returncode, run.stdout.strip()) == (0, "[]"), run.stdout + run.stderr
