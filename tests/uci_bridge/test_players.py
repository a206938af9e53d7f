"""A configuration made into a player: whose evaluator it gets."""

from __future__ import annotations

from pathlib import Path

import pytest

from darkchess.configuration import configuration
from darkchess.evaluation import BuiltinEvaluator
from uci_bridge.errors import StockfishMissing
from uci_bridge.players import EvaluatorChoice, configured_player, make_evaluator


@pytest.fixture
def no_stockfish(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KLSS_STOCKFISH", "/no/such/engine")


@pytest.mark.usefixtures("no_stockfish")
def test_where_stockfish_is_only_preferred_the_built_in_evaluator_stands_in() -> None:
    assert isinstance(make_evaluator(configuration("klss2021"), EvaluatorChoice("installed")), BuiltinEvaluator)


@pytest.mark.usefixtures("no_stockfish")
def test_where_stockfish_is_asked_for_and_missing_that_is_an_error() -> None:
    with pytest.raises(StockfishMissing):
        make_evaluator(configuration("klss2021"), EvaluatorChoice("stockfish"))
    with pytest.raises(StockfishMissing):
        make_evaluator(configuration("klss2021,evaluator=stockfish"), EvaluatorChoice())


def test_a_path_that_is_no_engine_is_an_error_even_where_stockfish_is_only_preferred(tmp_path: Path) -> None:
    with pytest.raises(StockfishMissing):
        make_evaluator(configuration("klss2021"), EvaluatorChoice("installed", str(tmp_path / "none")))


def test_a_configuration_s_own_choice_goes_before_the_caller_s() -> None:
    choice = EvaluatorChoice("stockfish", "/no/such/engine")
    assert isinstance(make_evaluator(configuration("klss2021,evaluator=builtin"), choice), BuiltinEvaluator)


def test_a_player_comes_with_the_evaluator_that_the_caller_has_to_close() -> None:
    player, evaluator = configured_player(configuration("greedy"), EvaluatorChoice(), seed=1)
    player.close()
    evaluator.close()


def test_stockfish_is_taken_where_it_is_installed(require_stockfish: str) -> None:
    evaluator = make_evaluator(configuration("klss2021"), EvaluatorChoice("installed", require_stockfish, True))
    assert evaluator.name == "stockfish"
    evaluator.close()
