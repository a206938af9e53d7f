"""What the commands on OpenSpiel's games share: their limits, and a line where one is met or OpenSpiel is missing."""

from __future__ import annotations

import argparse
import contextlib
import sys
from collections.abc import Iterator

from klss import MAX_NODES
from klss.errors import INSTALL_EXTRAS
from klss_app.cli.errors import UsageError
from klss_app.cli.options import Parser, memory_mb, nodes

__all__ = ["add_limits", "limits"]

_FLAGS = {"max_nodes": "--max-nodes", "max_bytes": "--memory-mb"}
"""The library's limits by the flags that set them."""


def add_limits(parser: Parser) -> None:
    """Add ``--max-nodes`` and ``--memory-mb``."""
    parser.add_argument("--max-nodes", type=nodes, default=MAX_NODES, metavar="N", help="give up on a larger tree")
    parser.add_argument(
        "--memory-mb",
        type=memory_mb,
        metavar="MB",
        help="give up where more memory is needed (default: 4096, or half of what is left if that is less)",
    )


@contextlib.contextmanager
def limits(parsed: argparse.Namespace) -> Iterator[int]:
    """Hold the memory of what is inside to ``--memory-mb``, in bytes; a game that takes more is a :class:`UsageError`.

    So is OpenSpiel if it is missing, or can't be loaded.
    """
    try:
        import klss.openspiel  # noqa: F401
    except ImportError as error:
        if isinstance(error, ModuleNotFoundError) and error.name == "pyspiel":
            raise UsageError(f"OpenSpiel is not installed; expected it: {INSTALL_EXTRAS}") from error
        raise UsageError(f"OpenSpiel's games can't be loaded: got {error}, expected all that they import") from error
    from klss.errors import GameError, TooLargeError
    from klss.support.memory import allowance_bytes, limited, resident_bytes

    if not resident_bytes():
        print("klss: memory is not limited: this system doesn't tell how much a process holds", file=sys.stderr)
    most = allowance_bytes() if parsed.memory_mb is None else 1_000_000 * parsed.memory_mb
    try:
        with limited(most):
            yield most
    except GameError as error:
        raise UsageError(str(error)) from error
    except TooLargeError as error:
        raise UsageError(str(error.renamed(_FLAGS))) from error
    except MemoryError as error:
        raise UsageError(
            f"the game takes more than {most // 1_000_000:,} MB of memory; expected a smaller one; raise the limit "
            "with --memory-mb"
        ) from error
