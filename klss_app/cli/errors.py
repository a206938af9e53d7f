"""The errors of commands, which ``main`` prints as one line, and the name of the command in such lines."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from pathlib import Path

__all__ = ["CliError", "FailedError", "UsageError", "own_name"]


class CliError(Exception):
    """Base of the front door's errors: the message becomes the one line on stderr."""

    exit_code = 1


class UsageError(CliError):
    """Bad input on the command line. The message says what, got, expected."""

    exit_code = 2


class FailedError(CliError):
    """The command ran and failed."""


def own_name() -> str:
    """The command as it can be typed here: ``klss`` if PATH leads to this installation, else its path, relative to the
    working directory; without an installed program, Python's path and ``-m klss``."""
    python = Path(sys.executable)
    program = shutil.which("klss", path=str(python.parent))
    if program is None:
        return f"{shlex.quote(_from_here(python))} -m klss"
    found = shutil.which("klss")
    if found is not None and os.path.samefile(found, program):
        return "klss"
    return shlex.quote(_from_here(Path(program)))


def _from_here(path: Path) -> str:
    """``path`` relative to the working directory, or whole if it lies elsewhere."""
    here = Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)
