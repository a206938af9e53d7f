"""One decorator for every compiled function: numba in nopython mode, cached on disk, safe to edit.

:mod:`klss.support.kernel_cache` explains where the compiled code is kept, and why it is never that of an older source.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
from numba.core import config as _numba_config

from klss.support.kernel_cache import kernel_cache_dir

F = TypeVar("F", bound=Callable[..., Any])


def kernel(
    function: F | None = None, *, allocates: bool = True, home: Callable[..., Any] | None = None, **options: Any
) -> Any:
    """Compile ``function`` with numba in nopython mode, releasing the GIL, cached on disk.

    Use as ``@kernel`` or ``@kernel(inline="always")``; ``options`` go to :func:`numba.njit`. ``NUMBA_DISABLE_JIT=1``
    runs kernels interpreted, as one run of the tests does.

    ``@kernel(allocates=False)`` is for functions that are called millions of times and neither make nor return arrays:
    they don't count references to their arguments, which the caller keeps alive. (Counting is a locked instruction for
    each array at each call: a third of the time of the evaluation.) numba refuses to compile one that allocates.
    With ``forceinline=True`` LLVM puts its code into the caller, which saves copying the seven or more words of each
    array at each call.

    The code of a function that was made from another one with other globals is kept with that of ``home``.
    """
    if function is None:
        return lambda f: kernel(f, allocates=allocates, home=home, **options)
    options = {"nogil": True, "cache": True, "error_model": "numpy", "_nrt": allocates, **options}
    config: Any = _numba_config
    previous = config.CACHE_DIR
    config.CACHE_DIR = str(kernel_cache_dir(home or function))  # read once, when caching is enabled for this function
    try:
        return cast(F, numba.njit(**options)(function))
    finally:
        config.CACHE_DIR = previous
