"""The environment of every engine process: the variables that programs need to run, and no others of the user's.

An engine may be somebody else's program, and an environment can hold tokens and passwords. Only the variables listed
here are passed on; if an engine needs more, its command can set them: ``env NAME=value program``.
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
"""The variables that an engine gets if they are set."""
PREFIXES_PASSED_ON = ("LC_", "NUMBA_", "OMP_")
"""Prefixes of the names of further variables that it gets."""


def engine_environment(of: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment of an engine; with it ``python -m klss`` works in every folder, also from a source tree.

    Parameters
    ----------
    of
        The environment to select from; None: this process's.

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
