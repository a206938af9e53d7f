"""The environment of every engine process: what programs need to run, and nothing else of the user's.

A foreign engine is somebody else's program, and an environment holds tokens and passwords. The list says what passes;
whoever's engine needs more says so in its command: ``env NAME=value program``.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

__all__ = ["PASSED_ON", "PREFIXES_PASSED_ON", "engine_environment"]

PASSED_ON = frozenset({
    "PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TMPDIR", "XDG_CACHE_HOME", "XDG_DATA_HOME",
    "LD_LIBRARY_PATH", "PYTHONPATH", "PYTHONHOME", "PYTHONHASHSEED", "PYTHONIOENCODING", "VIRTUAL_ENV",
    "KLSS_CACHE_DIR", "KLSS_STOCKFISH", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS",
    # Windows, where Python does not start without the first
    "SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT", "TEMP", "TMP", "USERPROFILE", "APPDATA",
    "LOCALAPPDATA",
})  # fmt: skip
"""The variables that an engine gets, where they are set."""
PREFIXES_PASSED_ON = ("LC_", "NUMBA_", "OMP_")
"""And all whose names begin so."""


def engine_environment(of: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment of an engine; ``python -m klss`` is found in it wherever it is started, also from a source tree.

    Parameters
    ----------
    of
        What to choose from; None: this process's.

    Examples
    --------
    >>> sorted(engine_environment({"PATH": "/bin", "LC_ALL": "C", "MY_TOKEN": "secret"}).keys() - {"PYTHONPATH"})
    ['LC_ALL', 'PATH']
    """
    environment = {
        name: value
        for name, value in (os.environ if of is None else of).items()
        if name in PASSED_ON or name.startswith(PREFIXES_PASSED_ON)
    }
    root = Path(__file__).resolve().parents[1]
    if root.name not in ("site-packages", "dist-packages"):
        others = environment.get("PYTHONPATH")
        environment["PYTHONPATH"] = os.pathsep.join([str(root), *([others] if others else [])])
    return environment
