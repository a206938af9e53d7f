"""Finds a command in a table and runs it; its module is imported only then, so that a help starts at once."""

from __future__ import annotations

import difflib
import importlib
from collections.abc import Mapping, Sequence

from klss_app.cli.errors import UsageError
from klss_app.cli.games import ANY_GAME, game_named
from klss_app.cli.own_name import own_name

__all__ = ["dispatch"]


def dispatch(
    program: str,
    commands: Mapping[str, str],
    arguments: Sequence[str],
    last: str,
    game: str = "fog",
    modules: Mapping[str, str] | None = None,
) -> int:
    """Run the command that the first argument names, or show the help; the exit code.

    Parameters
    ----------
    program
        What comes before the command: ``klss``.
    commands
        Command -> its line in the help.
    arguments
        The command and its flags.
    last
        The help's last line.
    game
        What is played; a command of :data:`klss_app.cli.games.ANY_GAME` has ``run(arguments, game)``, any other
        ``run(arguments)``; they return an exit code.
    modules
        Where a command is that is not the module of its name in :mod:`klss_app.cli`.

    Raises
    ------
    UsageError
        No command, or none of that name; the nearest is named.
    """
    if not arguments:
        asks = f"{own_name()}{program.removeprefix('klss')} --help"
        raise UsageError(f"no command given; expected one of {', '.join(commands)} ({asks} says more)")
    name, *rest = arguments
    if name in ("-h", "--help", "help"):
        width = max(map(len, commands))
        lines = [f"  {command:<{width}}  {summary}" for command, summary in commands.items()]
        print("\n".join([f"usage: {program} COMMAND …", "", "commands:", *lines, "", last]))
        return 0
    if name not in commands:
        near = difflib.get_close_matches(name, commands, n=1)
        hint = f"did you mean {near[0]}?" if near else f"expected one of {', '.join(commands)}"
        raise UsageError(f"no such command: {name!r}; {hint}")
    run = importlib.import_module((modules or {}).get(name, f"klss_app.cli.{name}")).run
    code: int = run(rest, game_named(game)) if name in ANY_GAME else run(rest)
    return code
