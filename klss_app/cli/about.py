"""The output of ``klss --version --json`` (the installation) and ``klss --print-completion`` (for a shell)."""

from __future__ import annotations

import argparse
import importlib
import os
import platform
from collections.abc import Iterable, Iterator
from typing import Any

from klss_app.cli.errors import UsageError
from klss_app.cli.games import Game, game_named
from klss_app.cli.options import Parser

SHELLS = ("bash", "zsh", "tcsh")

_PACKAGES = ("numpy", "numba", "llvmlite", "scipy", "highspy", "chess", "aiohttp", "msgspec", "open_spiel")
_FILES = {"FILE", "PATH", "GAME.pgn", "GAME.json", "GAME"}


def installation() -> dict[str, Any]:
    """Versions and CPU: answers with a node budget depend on them, and a bug report needs them."""
    import llvmlite.binding

    from uci_bridge.match.documents import commit, package_versions

    return {
        "versions": package_versions(*_PACKAGES),
        "commit": commit(),
        "cpu": llvmlite.binding.get_host_cpu_name(),
        "cores": os.cpu_count(),
        "system": platform.system(),
        "machine": platform.machine(),
    }


def completion(shell: str, commands: Iterable[str], blind_commands: Iterable[str], homes: dict[str, Any]) -> str:
    """The text that completes commands, flags and files in ``shell``; ``homes`` has the modules of a game's commands.

    Raises
    ------
    UsageError
        There is no completion for that shell.
    """
    import shtab

    if shell not in SHELLS:
        raise UsageError(f"--print-completion: got {shell!r}, expected {', '.join(SHELLS)}")
    top = argparse.ArgumentParser("klss")
    top.add_argument("--version", action="store_true", help="the version, and with --json all that it depends on")
    below = top.add_subparsers()
    for name, parser in _parsers(commands, homes["fog"], None):
        below.add_parser(name, parents=[parser], add_help=False, help=parser.description)
    blind = below.add_parser("rbc", help="Reconnaissance Blind Chess").add_subparsers()
    for name, parser in _parsers(blind_commands, homes["rbc"], game_named("rbc")):
        blind.add_parser(name, parents=[parser], add_help=False, help=parser.description)
    text: str = shtab.complete(top, shell)
    return text


def _parsers(commands: Iterable[str], homes: dict[str, str], game: Game | None) -> Iterator[tuple[str, Parser]]:
    """Each command with its parser, in which the arguments that are files are marked."""
    import shtab

    from klss_app.cli.bench import BENCHES

    for name in commands:
        if name == "rbc":
            continue
        module = importlib.import_module(f"klss_app.cli.{homes.get(name, name)}")
        parser: Parser = module._parser() if game is None else module._parser(game)
        parser.format_help()  # puts names into the helps
        for action in parser._actions:
            if action.dest == "bench":
                action.choices = [*BENCHES]
            if action.metavar in _FILES:
                action.complete = shtab.FILE  # type: ignore[attr-defined]  # an attribute of shtab's own
            elif action.metavar == "DIR":
                action.complete = shtab.DIRECTORY  # type: ignore[attr-defined]
        yield name, parser
