"""Run our modules as separate programs: with the same Python, and without modules of the working directory."""

from __future__ import annotations

import os
import sys

__all__ = ["own_program"]


def own_program(module: str, *arguments: str) -> list[str]:
    """The command that runs ``module``.

    ``python -m`` looks for modules in the working directory first: a file called ``chess.py`` there would be run. The
    option ``-P`` prevents that. It is left out if this process itself has its modules from there, as in a clone that is
    not installed.
    """
    ours = bool(sys.path) and sys.path[0] in ("", os.getcwd())
    return [sys.executable, *([] if ours else ["-P"]), "-m", module, *arguments]
