"""Nothing is compiled or loaded while a clock runs: after the warm-up every kernel that a player may call is there."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

BEGIN = """
import chess, numpy as np, sys
from numba.core.registry import CPUDispatcher
from darkchess.board import position_table
from darkchess.{game}.game.referee import Referee
from darkchess.{game}.belief.position_set import PositionSet
from darkchess.{game}.players.named_{game}_players import configuration, make_player
from darkchess.{game}.warm_up import warm_up
from klss.play.arbiter import Arbiter
from klss.play.limits import Limit

def compiled():
    return {{
        (module, name): len(value.signatures)
        for module, parts in list(sys.modules.items())
        if module.startswith(("klss.", "darkchess."))
        for name, value in vars(parts).items()
        if isinstance(value, CPUDispatcher)
    }}

chosen = configuration(sys.argv[1])
warm_up(make_player(chosen), chess.{color})
before = compiled()
position_table.SLACK, position_table.BUFFER = 16, 400  # a table grows and is cut
"""

FOG = """
from darkchess.evaluation.evaluator import BuiltinEvaluator
from darkchess.fog.belief import filter as filters
from darkchess.fog.belief.filter import SECONDS, Filter
from darkchess.fog.belief.policy import Policy
from klss.support.drawing import draw

# Seven quiet plies with little room.
game = Referee()
known = PositionSet(game.view(chess.BLACK), game.position, cap=300)
for uci in ["g1f3", "a7a6", "b1c3", "h7h6", "e2e3", "b7b6", "d2d3", "g7g6"]:
    game.push(chess.Move.from_uci(uci))
    known.observe(game.view(chess.BLACK))
assert known.capped_by == "cap"
known._recover(game.view(chess.BLACK))

# A filter at every level, on one thread and three, with a rook that is taken at home; both ways to look a position up.
if chosen.beliefs is not None and chosen.beliefs.belief == "filter":
    for threads in (1, 3):
        for level, seconds in SECONDS.items():
            filters._HALVED = filters._PIECE = 2
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
                    rows = known.draw(2, 1)[0]
                    for filters._FEW in (64, 0):
                        known.indices(rows)
            assert known.size > 1 and not known._ordered
            known.indices(known.rows(0))
draw(np.full(1000, 1e-3), np.arange(1000, dtype=np.uint64), 5)
"""

RBC = """
from darkchess.board.position import Position
from darkchess.rbc import Moved, Notice, Sensed
from darkchess.rbc.game.observation import window

# A draw from a large set, a sample that is mended.
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
"""

END = """
for nodes, turns in (map(int, limit.split(",")) for limit in sys.argv[2:]):
    players = {seat: make_player(chosen, seed=seat) for seat in chess.COLORS}
    arbiter = Arbiter(Referee(), players, dict.fromkeys(chess.COLORS, Limit(nodes=nodes)))
    arbiter.begin()
    while arbiter.referee.outcome is None and arbiter.referee.ply < turns:
        arbiter.play_turn()
after = compiled()
print(sorted(name for name in after if after[name] != before.get(name)))
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("game", "player", "limits"),
    [
        ("fog", "kluss", ["60,150"]),  # with a belief, a player calls what one without calls
        ("fog", "klss2021", ["60,150"]),
        ("fog", "baseline", ["60,150"]),
        # many questions with few nodes, and with enough of them for a search below the children
        ("rbc", "rbc-tower", ["60,400", "2000,20"]),
        ("rbc", "dsmcp,particles=8,cap=4000", ["60,24", "300,4"]),
    ],
)
def test_after_the_warm_up_nothing_is_compiled_any_more(game: str, player: str, limits: list[str]) -> None:
    begin = BEGIN.format(game=game, color="WHITE" if game == "fog" else "BLACK")
    script = begin + (FOG if game == "fog" else RBC) + END
    run = subprocess.run(
        [sys.executable, "-c", script, player, *limits],
        capture_output=True, text=True, timeout=300, check=False,
        env=os.environ | {"PYTHONPATH": str(Path(__file__).resolve().parents[2])},
    )  # fmt: skip
    assert (run.returncode, run.stdout.strip()) == (0, "[]"), run.stdout + run.stderr
