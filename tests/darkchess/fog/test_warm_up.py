"""Nothing is compiled while a clock runs: after the warm-up every kernel that a player may call is there."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = """
import chess, numpy as np, sys
from numba.core.registry import CPUDispatcher
from darkchess import Referee
from darkchess.fog.belief import filter as filters
from darkchess.board import position_table
from klss.table.arbiter import Arbiter
from klss.table.limits import TimeControl
from darkchess.fog.warm_up import warm_up
from darkchess.fog.players.configuration import configuration, make_player
from darkchess.fog.belief.filter import SECONDS, Filter
from darkchess.fog.belief.policy import Policy
from darkchess.fog.belief.position_set import PositionSet
from darkchess.evaluation.evaluator import BuiltinEvaluator
from klss.belief.drawing import draw

def compiled():
    return {
        (module, name): len(value.signatures)
        for module, parts in list(sys.modules.items())
        if module.startswith(("klss.", "darkchess."))
        for name, value in vars(parts).items()
        if isinstance(value, CPUDispatcher)
    }

chosen = configuration(sys.argv[1])
warm_up(make_player(chosen), chess.WHITE)
before = compiled()

# A table that grows and is cut: seven quiet plies with little room.
position_table.SLACK, position_table.BUFFER = 16, 400
game = Referee()
known = PositionSet(game.view(chess.BLACK), game.position, cap=300)
for uci in ["g1f3", "a7a6", "b1c3", "h7h6", "e2e3", "b7b6", "d2d3", "g7g6"]:
    game.push(chess.Move.from_uci(uci))
    known.observe(game.view(chess.BLACK))
assert known.capped_by == "cap"

# A sample that is repaired, after an own capture too.
for captured in (0, 1 << 8):
    known._captured = captured
    known._recover(game.view(chess.BLACK))
assert known.recoveries == 2

# A filter at every level, on one thread and on two, with a rook that is taken at home; both ways to look a position up.
if chosen.beliefs is not None and chosen.beliefs.filtered:
    for threads in (1, 2):
        for level, seconds in SECONDS.items():
            filters._TOGETHER = 2
            game = Referee("r3k2r/p7/8/3Q4/8/8/1P6/4K2R w Kkq - 0 1")
            known = PositionSet(
                game.view(chess.WHITE), game.position, threads=threads,
                weigher=Filter(Policy.packaged(), BuiltinEvaluator(threads=threads) if level == "values" else None),
            )
            for uci in ["b2b3", "e8e7", "b3b4", "h8h7", "b4b5", "h7h8", "d5a8", "e7f6", "a8a7"]:
                sources = known.size
                game.push(chess.Move.from_uci(uci))
                known.observe(game.view(chess.WHITE), allowance=sources * seconds)
                assert game.turn == chess.BLACK or known.weigher.level == level
                if game.turn == chess.WHITE:
                    assert known.weights.shape == (known.size,)
                    rows = known.draw(2, 1)[0]
                    for filters._FEW in (64, 0):
                        known.indices(rows)
            assert known.size > 1 and not known._ordered
            known.indices(known.rows(0))

# A draw of few from many.
draw(np.full(1000, 1e-3), np.arange(1000, dtype=np.uint64), 5)

# A game, nearly always to its end.
players = {color: make_player(chosen, seed=color) for color in chess.COLORS}
arbiter = Arbiter(Referee(), players, dict.fromkeys(chess.COLORS, TimeControl(nodes=60)))
arbiter.begin()
while arbiter.referee.outcome is None and arbiter.referee.ply < 150:
    arbiter.play_turn()
after = compiled()
print(sorted(name for name in after if after[name] != before.get(name)))
"""


@pytest.mark.parametrize(
    "name",
    [
        "kluss",  # with a belief, a player calls what one without calls
        pytest.param("klss2021", marks=pytest.mark.slow),
        pytest.param("baseline", marks=pytest.mark.slow),
    ],
)
def test_after_the_warm_up_nothing_is_compiled_any_more(name: str) -> None:
    root = str(Path(__file__).resolve().parents[2])
    run = subprocess.run(
        [sys.executable, "-c", SCRIPT, name],
        capture_output=True, text=True, timeout=300, check=False, env=os.environ | {"PYTHONPATH": root},
    )  # fmt: skip
    assert (run.returncode, run.stdout.strip()) == (0, "[]"), run.stdout + run.stderr
