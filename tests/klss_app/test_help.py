"""Helps tell what holds: the defaults that a command has, and the flags that it takes."""

from __future__ import annotations

import argparse
import dataclasses
import importlib
import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

import klss as package
from klss.search import Report
from klss_app.cli.game_option import game_named
from klss_app.cli.main import COMMANDS, RBC_COMMANDS, main
from klss_app.cli.match import match_games
from klss_app.cli.options import Parser, game_options

NEEDED = {"klss exploit": ["--policy", "x"], "klss bot": ["--config", "bot.yml"], "klss track": ["--moves", "e4"]}
"""What a command does not go without, besides its positional arguments."""


def parsers() -> list[Parser]:
    def module(name: str) -> Any:
        return importlib.import_module(f"klss_app.cli.{name}")

    found: list[Parser] = [module(name)._parser() for name in COMMANDS if name != "rbc"]
    return found + [module(name)._parser(game_named("rbc")) for name in RBC_COMMANDS]


PARSERS = {parser.prog: parser for parser in parsers()}


def parsed_bare(parser: Parser) -> argparse.Namespace:
    """What the command has where no flag is given that it can go without."""
    words = [str(next(iter(action.choices or ["x"]))) for action in parser._actions if not action.option_strings]
    return parser.parse([*words, *NEEDED.get(parser.prog, [])])


def shown(parser: Parser) -> dict[str, str]:
    """Destination of each flag -> its line in the help."""
    formatter = parser._get_formatter()
    return {
        action.dest: formatter._expand_help(action)
        for action in parser._actions
        if action.option_strings and action.help != argparse.SUPPRESS
    }


@pytest.mark.parametrize("program", PARSERS)
def test_every_default_is_told_as_it_is_and_no_other(program: str) -> None:
    parser = PARSERS[program]
    found = parsed_bare(parser)
    for name, line in shown(parser).items():
        claims = re.findall(r"default ([^;)]+)", line.replace("default:", ""))
        value = getattr(found, name, None)
        if value is None or value is False or name in ("help", *(each.strip("-") for each in NEEDED.get(program, []))):
            assert claims == [], f"{name}: {line}"
        elif isinstance(value, str):
            assert claims == [value], f"{name}: {line}"
        else:
            assert [float(claim.replace(",", "")) for claim in claims] == [float(value)], f"{name}: {line}"


@pytest.mark.parametrize("program", [name for name, parser in PARSERS.items() if "clock" in shown(parser)])
def test_what_limits_a_search_and_its_seed_are_those_that_the_help_tells(program: str) -> None:
    parser = PARSERS[program]
    bare = parsed_bare(parser)
    options, again = game_options(bare), game_options(bare)
    assert (options.time_s, options.nodes, options.clock) == (bare.time, None, None)
    assert options.evaluator.name == bare.evaluator
    fresh = "a random one" in shown(parser)["seed"]
    assert (options.seed == again.seed) is not fresh and (bare.seed is None) is fresh
    bare.nodes, bare.given = 5, {*bare.given, "nodes"}
    assert game_options(bare).time_s is None


def test_a_match_without_a_test_has_the_games_that_the_help_tells_and_with_one_no_limit() -> None:
    parser = PARSERS["klss match"]
    assert match_games(parser.parse(["a", "b"])) == parser.get_default("games")
    assert match_games(parser.parse(["a", "b", "--sprt", "0,10"])) is None
    assert match_games(parser.parse(["a", "b", "--sprt", "0,10", "--games", "20"])) == 20


def test_what_holds_for_one_turn_or_for_a_whole_game_alone_is_told_so_and_refused_elsewhere(
    klss: Any, tmp_path: Path
) -> None:
    (tmp_path / "game.pgn").write_text("1. e4 e5 1-0")
    parser = PARSERS["klss analyse"]
    groups = {
        group.title: {flag: action.nargs for action in group._group_actions for flag in action.option_strings}
        for group in parser._action_groups
    }
    assert set(groups["for one turn, with --ply"]) == {"--once-over"}
    values = {"--workers": "2"}
    for group, rest in (("for one turn, with --ply", []), ("for a whole game, without --ply", ["--ply", "0"])):
        for flag, nargs in groups[group].items():
            ran = klss("analyse", "game.pgn", flag, *([] if nargs == 0 else [values.get(flag, "out.json")]), *rest)
            assert ran.code == 2 and ran.err.startswith(f"klss analyse: {flag}: got it "), ran.err


def test_the_commands_are_listed(klss: Any) -> None:
    for ran, commands in ((klss("--help"), COMMANDS), (klss("rbc", "--help"), RBC_COMMANDS)):
        assert ran.code == 0 and all(f"\n  {name} " in ran.out for name in commands)


def test_the_version_as_json_has_versions_and_cpu(klss: Any) -> None:
    ran = klss("--version", "--json")
    document = ran.document
    assert ran.code == 0 and document["versions"]["klss"] == package.__version__ and document["cpu"]
    assert all(document["versions"][name] for name in ("python", "numpy", "numba", "scipy", "highspy"))
    citation = Path(__file__).resolve().parents[2] / "CITATION.cff"
    assert yaml.safe_load(citation.read_text())["version"] == package.__version__


def test_every_packaged_file_of_weights_is_told_and_how_it_was_made(klss: Any) -> None:
    found = klss("about", "--weights", "--json").document
    assert {Path(name).stem for name in found} >= {"evaluation_weights", "policy", "tower", "network", "network-rl"}
    assert all({"commit", "created"} <= about["history"].keys() for about in found.values())
    assert klss("about", "--weights").out.count("sha256") == len(found)
    assert klss("about").out.startswith(f"versions: klss {package.__version__}")


# ---------------------------------------------------------------- docs/json.md
JSON_PAGE = (Path(__file__).resolve().parents[2] / "docs" / "json.md").read_text(encoding="utf-8")


def documented(section: str) -> set[str]:
    """The keys in the first column of a section's table."""
    (text,) = re.findall(rf"^## {re.escape(section)}\n(.*?)(?=^## |\Z)", JSON_PAGE, re.DOTALL | re.MULTILINE)
    return {key for cell in re.findall(r"^\| (`.*?) \|", text, re.MULTILINE) for key in re.findall(r"`(\w+)`", cell)}


@pytest.mark.parametrize(
    ("section", "arguments", "only_if_asked"),
    [
        ("`klss track`", ["track", "--moves", "e4 e5"], set()),
        ("`klss openings`", ["openings"], set()),
        ("`klss solve`", ["solve", "kuhn_poker"], {"about", "exact", "iterations", "method", "status", "subgame"}),
        ("`klss tables 1`", ["tables", "1", "--game", "kuhn_bet"], set()),
        ("`klss tables 2`", ["tables", "2", "--game", "kuhn"], set()),
    ],
)
def test_the_page_names_the_keys_that_are_printed(
    section: str, arguments: list[str], only_if_asked: set[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*arguments, "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    (row,) = printed if isinstance(printed, list) else [printed]
    assert documented(section) == row.keys() | only_if_asked


def test_the_page_names_the_diagnostics_of_a_move() -> None:
    assert documented("Diagnostics of a move") == {field.name for field in dataclasses.fields(Report)} | {"held"}
