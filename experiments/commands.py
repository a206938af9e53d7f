"""The common part of experiments' commands: commands made of several, ``python -m experiments.ROOM NAME …``, and the
message when one is stopped.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence

__all__ = ["Commands", "finished", "run"]

Commands = Mapping[str, tuple[Callable[[Sequence[str]], int], str]]
"""Name -> the function that runs the command with the arguments after the name, and a line about it."""


def run(room: str, about: str, commands: Commands, arguments: Sequence[str] | None) -> int:
    """Run the command that is named first; return the exit code."""
    given = sys.argv[1:] if arguments is None else list(arguments)
    if given[:1] and given[0] in commands:
        return commands[given[0]][0](given[1:])
    parser = argparse.ArgumentParser(prog=f"python -m experiments.{room}", description=about)
    names = parser.add_subparsers(dest="what", required=True)
    for name, (_, help_) in commands.items():
        names.add_parser(name, help=help_, add_help=False)
    parser.parse_args(given)
    return 0


def finished(work: Callable[[], int | None], *expected: type[Exception]) -> int:
    """Do work that can be resumed; return the exit code. Expected errors and Ctrl-C are reported in one line each."""
    try:
        return work() or 0
    except expected as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\ninterrupted; the same command goes on", file=sys.stderr)
        return 130
