"""Helps tell what holds: the defaults that a command has, and the flags that it takes."""

from __future__ import annotations

import argparse
import importlib
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

import klss as package
from klss_app.cli import bench
from klss_app.cli.games import game_named
from klss_app.cli.main import ANY_GAME, COMMANDS, OWN
from klss_app.cli.match import match_games
from klss_app.cli.options import Parser, clock, game_options

NEEDED = {
    "klss exploit": ["--policy", "x"],
    "klss bot": ["--config", "bot.yml"],
    "klss track": ["--moves", "e4"],
    "klss rbc analyse": ["--turn", "1"],
}
"""What a command does not go without, besides its positional arguments."""


def parsers() -> list[Parser]:
    def module(name: str) -> Any:
        return importlib.import_module(f"klss_app.cli.{name}")

    found: list[Parser] = [
        module(OWN["fog"].get(name, name))._parser() for name in COMMANDS if name not in ("rbc", "bench")
    ]
    blind = [*ANY_GAME, *OWN["rbc"].values()]
    found += [module(name)._parser(game_named("rbc")) for name in blind]
    return [*found, *(bench._parser(name) for name in bench.BENCHES)]


PARSERS = {parser.prog: parser for parser in parsers()}


def parsed_bare(parser: Parser) -> argparse.Namespace:
    """What the command has where no flag is given that it can go without."""
    words = [str((action.choices or ["x"])[0]) for action in parser._actions if not action.option_strings]
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
    assert options.evaluator_choice(path_suffices=True).name == bare.evaluator
    fresh = "a random one" in shown(parser)["seed"]
    assert (options.seed == again.seed) is not fresh and (bare.seed is None) is fresh
    bare.nodes, bare.given = 5, {*bare.given, "nodes"}
    assert game_options(bare).time_s is None


@pytest.mark.parametrize("program", [name for name, parser in PARSERS.items() if "clock" in shown(parser)])
def test_the_clock_tells_its_units_by_an_example_that_is_right(program: str) -> None:
    line = shown(PARSERS[program])["clock"]
    example, minutes, added = re.findall(r"both numbers in seconds: (\S+) is (\d+) minutes .* and (\d+) s added", line)[
        0
    ]
    assert clock(example) == (60.0 * int(minutes), float(added))


def test_a_match_without_a_test_has_the_games_that_the_help_tells_and_with_one_no_limit() -> None:
    parser = PARSERS["klss match"]
    assert match_games(parser.parse(["a", "b"])) == parser.get_default("games")
    assert match_games(parser.parse(["a", "b", "--sprt", "0,10"])) is None
    assert match_games(parser.parse(["a", "b", "--sprt", "0,10", "--games", "20"])) == 20


def test_a_bench_lists_the_flags_that_it_heeds_and_refuses_those_of_others(klss: Any) -> None:
    flags = {name: {*PARSERS[f"klss bench {name}"]._option_string_actions} for name in bench.BENCHES}
    assert flags["tracker"] == flags["evaluator"] == {"-h", "--help", "--repetitions", "--json"}
    for name, own in flags.items():
        for flag in sorted(set[str]().union(*flags.values()) - own):
            ran = klss("bench", name, flag, "1")
            assert ran.code == 2 and f"unknown argument: got '{flag}'" in ran.err, (name, ran.err)
    ran = klss("bench", "serch", "--time", "1")
    assert ran.code == 2 and "no such bench: 'serch'; expected one of tracker" in ran.err


def test_what_holds_for_one_turn_or_for_a_whole_game_alone_is_told_so_and_refused_elsewhere(
    klss: Any, tmp_path: Path
) -> None:
    (tmp_path / "game.pgn").write_text("1. e4 e5 1-0")
    parser = PARSERS["klss analyse"]
    groups = {
        group.title: {flag: action.nargs for action in group._group_actions for flag in action.option_strings}
        for group in parser._action_groups
    }
    assert set(groups["for one turn, with --ply"]) == {"--belief", "--likeliest", "--once-over"}
    values = {"--belief": "uniform", "--likeliest": "2"}
    for group, rest in (("for one turn, with --ply", []), ("for a whole game, without --ply", ["--ply", "0"])):
        for flag, nargs in groups[group].items():
            ran = klss("analyse", "game.pgn", flag, *([] if nargs == 0 else [values.get(flag, "out.json")]), *rest)
            assert ran.code == 2 and ran.err.startswith(f"klss analyse: {flag}: got it "), ran.err


@pytest.mark.parametrize("flag", ["--epsilon=1", "--player=0", "--order=1", "--nesting=every", "--all"])
def test_what_holds_for_table_1_alone_is_told_so_and_refused_for_table_2(klss: Any, flag: str) -> None:
    (group,) = (each for each in PARSERS["klss tables"]._action_groups if each.title == "of table 1")
    assert flag.split("=")[0] in {action.option_strings[0] for action in group._group_actions}
    ran = klss("tables", "2", "--game", "kuhn", flag)
    assert ran.code == 2 and "expected it with table 1 only" in ran.err


def test_a_player_of_no_subgame_and_a_start_of_a_kept_game_are_refused(klss: Any) -> None:
    assert "--player: got it without --subgame" in klss("solve", "kuhn_poker", "--player", "1").err
    ran = klss("rbc", "analyse", "game.json", "--turn", "1", "--fen", "4k3/8/8/8/8/8/8/4K3 w - - 0 1")
    assert ran.code == 2 and "unknown argument: got '--fen'" in ran.err


@pytest.mark.parametrize("command", ["play", "board", "match", "engine", "analyse"])
def test_levels_are_told_wherever_a_player_is_named(command: str) -> None:
    words = PARSERS[f"klss {command}"].format_help().split()
    assert any(word.startswith("level-8") for word in words)


def test_the_version_as_json_has_versions_and_cpu(klss: Any) -> None:
    ran = klss("--version", "--json")
    document = ran.document
    assert ran.code == 0 and document["versions"]["klss"] == package.__version__ and document["cpu"]
    assert all(document["versions"][name] for name in ("python", "numpy", "numba", "scipy", "highspy"))
    citation = Path(__file__).resolve().parents[2] / "CITATION.cff"
    assert yaml.safe_load(citation.read_text())["version"] == package.__version__
