"""One decorator for every compiled function: numba in nopython mode, cached on disk, safe to edit.

numba's own cache looks only at the file that a function stands in. A kernel that inlines a helper from another file
keeps the helper's *old* body when that file changes. So the cache folder is named by a hash of every kernel source of
the project and of numba's version: an edit anywhere starts a fresh folder, and the stale ones are removed after a
while.

The folder lies in the user's cache directory (``KLSS_CACHE_DIR`` overrides it), never beside the sources, which may be
read-only.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
import platformdirs
from numba.core import config as _numba_config

__all__ = ["kernel", "kernel_cache_dir"]

F = TypeVar("F", bound=Callable[..., Any])

_ROOT = Path(__file__).resolve().parent.parent
_KEEP_S = 14 * 24 * 3600.0


def _kernel_sources() -> list[Path]:
    """Every file of the project that may hold a kernel or something inlined into one, in a fixed order."""
    folders = (_ROOT / "darkchess" / "_kernels", _ROOT / "klss" / "_kernels")
    return sorted(path for folder in folders for path in folder.glob("*.py"))


def _source_key() -> str:
    digest = hashlib.sha256(f"numba {numba.__version__}".encode())
    for path in [Path(__file__), *_kernel_sources()]:
        digest.update(path.name.encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def kernel_cache_dir() -> Path:
    """The folder that holds this version's compiled kernels; made if missing, in a temporary place if the usual one
    can't be written."""
    base = Path(os.environ.get("KLSS_CACHE_DIR") or platformdirs.user_cache_dir("klss", appauthor=False))
    for parent in (
        base,
        Path(tempfile.gettempdir()) / f"klss-cache-{os.getuid() if hasattr(os, 'getuid') else 'user'}",
    ):
        folder = parent / f"kernels-{_source_key()}"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            os.utime(folder)
        except OSError:
            continue
        if os.access(folder, os.W_OK):
            _remove_stale(parent, folder)
            return folder
    return Path(tempfile.mkdtemp(prefix="klss-kernels-"))


def _remove_stale(parent: Path, current: Path) -> None:
    for folder in parent.glob("kernels-*"):
        try:
            if folder != current and time.time() - folder.stat().st_mtime > _KEEP_S:
                shutil.rmtree(folder, ignore_errors=True)
        except OSError:
            continue


_CACHE_DIR = str(kernel_cache_dir())


def kernel(function: F | None = None, **options: Any) -> Any:
    """Compile ``function`` with numba in nopython mode, releasing the GIL, cached under :func:`kernel_cache_dir`.

    Use as ``@kernel`` or ``@kernel(inline="always")``; ``options`` go to :func:`numba.njit`. ``NUMBA_DISABLE_JIT=1``
    runs kernels interpreted, as tests do once.
    """
    if function is None:
        return lambda f: kernel(f, **options)
    options = {"nogil": True, "cache": True, "error_model": "numpy", **options}
    config: Any = _numba_config
    previous = config.CACHE_DIR
    config.CACHE_DIR = _CACHE_DIR  # read once, when caching is enabled for this function
    try:
        return cast(F, numba.njit(**options)(function))
    finally:
        config.CACHE_DIR = previous
