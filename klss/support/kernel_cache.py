"""Folders of compiled kernels: one for each module of kernels, named by a hash of all sources of the kernels.

numba's own cache checks only the file of a function. A kernel that inlines a helper from another file, or freezes a
constant of it, keeps the *old* one when that file changes. So the folder's name is a hash of the module's source and of
those of all modules that it imports, directly or indirectly, from any package; of the standard library, numba and numpy
the versions count instead. An edit to one of them leads to new folders for the modules that depend on it, and no
others; folders that have not been used for a while are removed.

The imports of a module are read from its text (a statement at the beginning of a line, or after ``;`` or ``:``), which
takes a millisecond for all kernels. Text that only looks like an import adds one file too many to the hash, which does
no harm.

The folders are in the user's cache directory (``KLSS_CACHE_DIR`` overrides it), not beside the sources, which may be
read-only. Loading them executes their contents, so no folder is used that another user owns or may write.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import hashlib
import importlib.util
import os
import re
import shutil
import stat
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import llvmlite
import numba
import numpy as np
import platformdirs

_KEEP_S = 14 * 24 * 3600.0
"""Seconds after which an unused folder is removed: two weeks."""

_BY_VERSION = {"numba": numba.__version__, "numpy": np.__version__, "llvmlite": llvmlite.__version__}
"""Packages that count by their version instead of their sources, as the standard library does."""

_LEFT_OUT = sys.stdlib_module_names | _BY_VERSION.keys()

_DECORATOR = "klss.support.kernel"
"""Every kernel's module imports it; its own imports are left out, since nothing of them gets into a kernel."""

_NO_CODE = re.compile(rb"#[^\n]*|\\\n")
_IMPORT = re.compile(rb"[\n;:][ \t]*(?:from[ \t]+([\w.]+)[ \t]+import[ \t]*(\([^)]*\)|[^\n;]*)|import[ \t]+([^\n;]*))")


def kernel_cache_dir(function: Callable[..., Any]) -> Path:
    """Return the folder for the compiled ``function``; make it if missing. A temporary one if it has no source file."""
    try:
        key = _key(function.__code__.co_filename, function.__globals__.get("__package__") or "")
    except OSError:
        return _passing()
    return _folder(key)


# ---------------------------------------------------------------------------------------- the name


@functools.cache
def _key(path: str, package: str) -> str:
    digest = hashlib.sha256(repr([sys.implementation.cache_tag, sorted(_BY_VERSION.items())]).encode())
    for name, source in sorted(_sources(path, package).items()):
        digest.update(f"{name} ".encode() + source)
    return digest.hexdigest()[:16]


def _sources(path: str, package: str) -> dict[str, bytes]:
    """Return hashes of the sources on which the kernels of the file at ``path`` depend, by their modules' names."""
    own, imported = _read(path, package)
    found, waiting = {"": own}, set(imported)
    while waiting:
        name = waiting.pop()
        if name in found or name.partition(".")[0] in _LEFT_OUT:
            continue
        source = _file(name)
        if source is not None:
            inside = name if source.endswith("__init__.py") else name.rpartition(".")[0]
            found[name], imported = _read(source, inside)
            if name != _DECORATOR:
                waiting |= imported
    return found


@functools.cache
def _read(path: str, package: str) -> tuple[bytes, frozenset[str]]:
    """Return the hash of a file, and the names in it that may be modules; ``package`` is the base of relative ones."""
    text = Path(path).read_bytes()
    names: set[str] = set()
    for start, words, plain in _IMPORT.findall(b"\n" + _NO_CODE.sub(b"", text)) if path.endswith(".py") else ():
        if start:
            with contextlib.suppress(ImportError):  # more dots than packages: no import
                base = importlib.util.resolve_name(start.decode(), package)
                names |= {base, *(f"{base}.{word}" for word in re.findall(r"\w+", words.decode(errors="replace")))}
        for item in plain.decode(errors="replace").split(","):
            # ``import a.b`` binds a, which gives access to all of a.b's parents
            parts = item.split()[0].split(".") if item.split() else []
            names |= {".".join(parts[:length]) for length in range(1, len(parts) + 1)}
    return hashlib.sha256(text).digest(), frozenset(names)


def _file(name: str) -> str | None:
    """Return the file of the module ``name``; None if there is no such module, or its package is not imported yet."""
    module, parent = sys.modules.get(name), name.rpartition(".")[0]
    if module is not None:
        return getattr(module, "__file__", None)
    if parent and not hasattr(sys.modules.get(parent), "__path__"):
        return None
    spec = importlib.util.find_spec(name)
    return spec.origin if spec is not None and spec.has_location else None


# ---------------------------------------------------------------------------------------- the place


@functools.cache
def _parent() -> Path:
    """Return the folder of the folders: the usual one; if it is not writable, or others may write it, one in the
    system's temporary folder; if that is so there too, one that is removed with this process.
    """
    usual = Path(os.environ.get("KLSS_CACHE_DIR") or platformdirs.user_cache_dir("klss", appauthor=False))
    user = os.geteuid() if hasattr(os, "geteuid") else "user"
    for folder in (usual.resolve(), Path(tempfile.gettempdir()).resolve() / f"klss-cache-{user}"):
        if _ours(folder):
            atexit.register(_remove_stale, folder)  # at exit, when all used folders have a new time
            return folder
    return _passing()


@functools.cache
def _passing() -> Path:
    """Return a temporary folder that is removed when this process ends."""
    fresh = tempfile.mkdtemp(prefix="klss-kernels-")
    atexit.register(shutil.rmtree, fresh, ignore_errors=True)
    return Path(fresh)


@functools.cache
def _folder(key: str) -> Path:
    folder = _parent() / f"kernels-{key}"
    if not _ours(folder):
        folder = _passing() / folder.name
        folder.mkdir()
    os.utime(folder)
    return folder


def _ours(folder: Path) -> bool:
    """Whether ``folder`` exists or can be made, and only this user can write it."""
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


def _remove_stale(parent: Path) -> None:
    for folder in parent.glob("kernels-*"):
        try:
            if time.time() - folder.lstat().st_mtime > _KEEP_S:
                shutil.rmtree(folder, ignore_errors=True)
        except OSError:
            continue
