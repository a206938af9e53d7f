"""A text made into a player: whose evaluator a configuration gets, what a command line is."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from darkchess.evaluation.evaluator import BuiltinEvaluator
from darkchess.fog.players.named_fog_players import configuration
from klss_app.cli.options import Parser, add_game_options, game_options
from uci_bridge.commands import Command
from uci_bridge.errors import StockfishMissing
from uci_bridge.evaluators import EvaluatorChoice, make_evaluator
from uci_bridge.kits.fog import FOG
from uci_bridge.players import player_spec
from uci_bridge.stockfish.evaluator import stockfish_version


def played_with(flags: list[str]) -> str:
    """The evaluator that ``klss play`` takes with these flags."""
    parser = Parser("play", "")
    add_game_options(parser)
    return game_options(parser.parse(flags)).evaluator.name


def test_an_engine_is_the_same_whether_stockfish_is_installed_or_not(require_stockfish: str) -> None:
    assert isinstance(make_evaluator(configuration("klss2021"), EvaluatorChoice()), BuiltinEvaluator)
    for flags in ([], ["--time", "1"], ["--stockfish", require_stockfish]):
        assert played_with(flags) == "builtin"
    assert played_with(["--evaluator", "stockfish"]) == "stockfish"


def test_where_stockfish_is_asked_for_and_missing_that_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KLSS_STOCKFISH", "/no/such/engine")
    with pytest.raises(StockfishMissing):
        make_evaluator(configuration("klss2021"), EvaluatorChoice("stockfish"))
    with pytest.raises(StockfishMissing):
        make_evaluator(configuration("klss2021,evaluator=stockfish"), EvaluatorChoice())


def test_a_configuration_s_own_choice_goes_before_the_caller_s() -> None:
    choice = EvaluatorChoice("stockfish", "/no/such/engine")
    assert isinstance(make_evaluator(configuration("klss2021,evaluator=builtin"), choice), BuiltinEvaluator)


def test_a_command_line_is_split_as_a_shell_does_and_its_name_is_the_whole_text() -> None:
    text = "cmd:sh -c 'exec \"my engine\"'"
    assert player_spec(FOG, text) == Command(text, ("sh", "-c", 'exec "my engine"'))
    assert player_spec(FOG, "greedy") == configuration("greedy")


def test_the_label_of_an_evaluator_is_what_stockfish_calls_itself_or_the_built_in_ones(require_stockfish: str) -> None:
    chosen = configuration("klss2021")
    assert FOG.label(chosen, EvaluatorChoice("builtin")) == "built-in evaluator"
    label = FOG.label(chosen, EvaluatorChoice("stockfish", require_stockfish))
    assert label is not None and re.fullmatch(r"Stockfish [ -~]+", label)
    chosen = configuration("klss2021,evaluator=builtin")
    assert FOG.label(chosen, EvaluatorChoice("stockfish")) == "built-in evaluator"
    assert FOG.label(configuration("random"), EvaluatorChoice("stockfish")) is None


def test_what_a_program_calls_itself_is_cut_to_a_line_of_plain_text(tmp_path: Path) -> None:
    program = tmp_path / "loud"
    program.write_text("#!/bin/sh\nprintf 'id name Loud\\033[31m\\342\\200\\256 9\\nbestmove e2e4\\n'\nexec sleep 60\n")
    program.chmod(0o755)
    assert stockfish_version(str(program)) == "Loud"
