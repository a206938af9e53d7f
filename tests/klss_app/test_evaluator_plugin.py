"""An evaluator of another package: named on the command line and in players' texts as ``module:Class``."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from darkchess.board.position import Position
from darkchess.evaluation.registry import EvaluatorChoice
from darkchess.fog.players.named_fog_players import configuration
from klss.play.limits import Limit
from tests.uci_bridge.protocol_games import random_game, turn
from uci_bridge.evaluators import make_evaluator
from uci_bridge.kits.fog import FOG
from uci_bridge.match.match import Match
from uci_bridge.protocol.engine import Engine

NAME = "material_of_a_test:Material"
MODULE = '''
from pathlib import Path
import numpy as np
from darkchess.evaluation.evaluator import Evaluator

class Material(Evaluator):
    """Own pieces less the opponent's; a file says that it was asked."""

    def values(self, rows, *, deadline=None):
        Path(__file__).with_name("asked").touch()
        pieces = np.bitwise_count(rows[:, 6]).astype(float) - np.bitwise_count(rows[:, 7])
        return np.where(rows[:, 8] & np.uint64(1) == 0, pieces, -pieces) / 16.0

    @classmethod
    def versions(cls, choice):
        return {"material": "1.0"}
'''


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The module is there; the file that its evaluator makes."""
    folder = tmp_path / "plugin"
    folder.mkdir()
    (folder / "material_of_a_test.py").write_text(MODULE)
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.delitem(sys.modules, "material_of_a_test", raising=False)
    return folder / "asked"


@pytest.mark.parametrize("player", ["kluss,particles=5", "baseline,particles=5", "best-guess"])
def test_a_served_player_values_by_it_with_every_other_method_at_its_default(asked: Path, player: str) -> None:
    engine = Engine(FOG, configuration(player), EvaluatorChoice(NAME))
    answer = json.loads(engine.answer(json.dumps(turn(random_game(4, 3), nodes=60)).encode()))
    engine.close()
    assert "move" in answer and asked.exists(), answer


def test_its_value_is_what_it_says_and_its_label_its_name(asked: Path) -> None:
    chosen = configuration(f"klss2021,evaluator={NAME}")
    match = Match(kit=FOG, a=chosen, b=configuration("random"), games=2, seed=1, budget=Limit(nodes=2))
    assert match.programs() == {"material": "1.0"}
    assert FOG.label(chosen, EvaluatorChoice()) == NAME
    assert not FOG.ponders(FOG.pondering(configuration("kluss"), EvaluatorChoice(NAME))), "two threads may not ask it"
    assert make_evaluator(chosen, EvaluatorChoice()).values(np.array(Position.start().row)[None]).tolist() == [0.0]
