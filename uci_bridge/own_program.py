"""Modules of ours as programs of their own: the same Python, and not what lies around in the working directory."""

from __future__ import annotations

import os
import sys

__all__ = ["own_program"]


def own_program(module: str, *arguments: str) -> list[str]:
    """The command that runs ``module``.

    ``python -m`` looks for modules in the working directory first: a file called ``chess.py`` there would be run. So it
    is asked not to (``-P``), unless that is where this process has its own modules from, as in a clone that is not
    installed.
    """
    ours = bool(sys.path) and sys.path[0] in ("", os.getcwd())
    return [sys.executable, *([] if ours else ["-P"]), "-m", module, *arguments]
