"""The command by the name that it is called by here: what a hint tells can be typed as it stands."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from pathlib import Path

__all__ = ["own_name"]

_NAME = "klss"


def own_name() -> str:
    """``klss`` where PATH leads to this installation, else its path as seen from the working directory; where it has no
    program, Python's path and ``-m klss``."""
    python = Path(sys.executable)
    program = shutil.which(_NAME, path=str(python.parent))
    if program is None:
        return f"{shlex.quote(_from_here(python))} -m {_NAME}"
    found = shutil.which(_NAME)
    if found is not None and os.path.samefile(found, program):
        return _NAME
    return shlex.quote(_from_here(Path(program)))


def _from_here(path: Path) -> str:
    """``path`` below the working directory, or whole where it lies elsewhere."""
    here = Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)
