"""One decorator for every compiled function: numba in nopython mode, cached on disk, safe to edit.

numba's own cache looks only at the file that a function stands in. A kernel that inlines a helper from another file
keeps the helper's *old* body when that file changes. So the cache folder is named by a hash of every kernel source of
the project and of numba's version: an edit anywhere starts a fresh folder, and the stale ones are removed after a
while.

The folder lies in the user's cache directory (``KLSS_CACHE_DIR`` overrides it), never beside the sources, which may be
read-only. Reading it runs what it holds, so no folder is used that another user owns or may write.
"""

from __future__ import annotations

import atexit
import hashlib
import os
import shutil
import stat
import tempfile
import time
import warnings
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
    """The folder that holds this version's compiled kernels; made if missing. Where the usual one can't be written, or
    others can write it, it is in a temporary place, and if that is so there too, it is gone with this process."""
    usual = Path(os.environ.get("KLSS_CACHE_DIR") or platformdirs.user_cache_dir("klss", appauthor=False))
    user = os.geteuid() if hasattr(os, "geteuid") else "user"
    for parent in (usual.resolve(), Path(tempfile.gettempdir()).resolve() / f"klss-cache-{user}"):
        folder = parent / f"kernels-{_source_key()}"
        if _ours(parent) and _ours(folder):
            os.utime(folder)
            _remove_stale(parent, folder)
            return folder
    fresh = tempfile.mkdtemp(prefix="klss-kernels-")
    atexit.register(shutil.rmtree, fresh, ignore_errors=True)
    return Path(fresh)


def _ours(folder: Path) -> bool:
    """Whether ``folder`` is there, or can be made, and nobody but this user can write it."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = folder.lstat()
    except OSError:
        return False
    foreign = hasattr(os, "geteuid") and (found.st_uid != os.geteuid() or found.st_mode & 0o022)
    if foreign or not stat.S_ISDIR(found.st_mode):
        warnings.warn(
            f"compiled code is not kept in {str(folder)!r}, which can be written by others: got owner {found.st_uid}, "
            f"{stat.filemode(found.st_mode)}, expected a directory of this user's that only they may write; remove it, "
            "or set KLSS_CACHE_DIR",
            RuntimeWarning,
            stacklevel=2,
        )
        return False
    return os.access(folder, os.W_OK)


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
