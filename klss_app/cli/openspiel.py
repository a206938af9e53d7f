"""The common part of the commands on enumerated games: the limits, and the error if one is exceeded."""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Iterator

from klss import MAX_NODES
from klss_app.cli.errors import UsageError
from klss_app.cli.options import Parser
from klss_app.flag_types import count

_FLAGS = {"max_nodes": "--max-nodes", "the limit of memory": "--memory-mb"}
"""The library's limits by the flags that set them."""


def add_limits(parser: Parser) -> None:
    """Add ``--import``, ``--max-nodes`` and ``--memory-mb``."""
    add = parser.add_argument
    add("--import", dest="module", metavar="MODULE", help="of Python, which registers games with OpenSpiel")
    add("--max-nodes", type=count, default=MAX_NODES, metavar="N", help="give up on a larger tree")
    most = "give up if more memory is needed (default: 4096, or half of the free memory if that is less)"
    add("--memory-mb", type=count, metavar="MB", help=most)


def add_recall(parser: Parser) -> None:
    """Add ``--recall``."""
    what = "infosets: OpenSpiel's names, or histories of them and of own actions, where names forget something"
    parser.add_argument("--recall", choices=["names", "history"], default="names", help=what)


@contextlib.contextmanager
def limits(parsed: argparse.Namespace) -> Iterator[int]:
    """Limit the memory of the block to ``--memory-mb``; yields the limit in megabytes. Raises :class:`UsageError`: the
    game takes more than its limits.
    """
    from klss.doors import openspiel
    from klss.errors import TooLargeError
    from klss.support.memory import allowance_bytes, limited

    most = allowance_bytes() // 1_000_000 if parsed.memory_mb is None else parsed.memory_mb
    try:
        if parsed.module is not None:
            openspiel().games.imported(parsed.module)
        with limited(1_000_000 * most):
            yield most
    except TooLargeError as error:
        raise UsageError(f"{error.what}; raise {_FLAGS[error.limit]}") from error
    except MemoryError as error:
        raise UsageError(
            f"the game takes more than {most:,} MB of memory; expected a smaller one; raise the limit with --memory-mb"
        ) from error
