"""Finds a command in a table and runs it; its module is imported only then, so that a help starts at once."""

from __future__ import annotations

import difflib
import importlib
from collections.abc import Mapping, Sequence

from klss_app.cli.errors import UsageError
from klss_app.cli.own_name import own_name

__all__ = ["dispatch"]


def dispatch(program: str, package: str, commands: Mapping[str, str], arguments: Sequence[str], last: str) -> int:
    """Run the command that the first argument names, or show the help; the exit code.

    Parameters
    ----------
    program
        What comes before the command: ``klss``.
    package
        Where the commands' modules lie; each has a ``run(arguments)`` that returns an exit code.
    commands
        Command -> its line in the help.
    arguments
        The command and its flags.
    last
        The help's last line.

    Raises
    ------
    UsageError
        No command, or none of that name; the nearest is told.
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
    code: int = importlib.import_module(f"{package}.{name}").run(rest)
    return code
