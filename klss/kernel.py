"""One decorator for every compiled function: numba in nopython mode, cached on disk, safe to edit.

Where the compiled code is kept, and why it is never that of an older source, tells :mod:`klss.kernel_cache`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
from numba.core import config as _numba_config

from klss.kernel_cache import kernel_cache_dir

__all__ = ["kernel"]

F = TypeVar("F", bound=Callable[..., Any])


def kernel(function: F | None = None, **options: Any) -> Any:
    """Compile ``function`` with numba in nopython mode, releasing the GIL, cached on disk.

    Use as ``@kernel`` or ``@kernel(inline="always")``; ``options`` go to :func:`numba.njit`. ``NUMBA_DISABLE_JIT=1``
    runs kernels interpreted, as tests do once.
    """
    if function is None:
        return lambda f: kernel(f, **options)
    options = {"nogil": True, "cache": True, "error_model": "numpy", **options}
    config: Any = _numba_config
    previous = config.CACHE_DIR
    config.CACHE_DIR = str(kernel_cache_dir(function))  # read once, when caching is enabled for this function
    try:
        return cast(F, numba.njit(**options)(function))
    finally:
        config.CACHE_DIR = previous
