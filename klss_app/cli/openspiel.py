"""The common part of the commands on enumerated games: the limits, and the error if one is exceeded."""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Callable, Iterator

from klss import MAX_NODES
from klss_app.cli.errors import FailedError, UsageError
from klss_app.cli.options import Parser
from klss_app.flag_types import count

_FLAGS = {"max_nodes": "--max-nodes", "max_bytes": "--memory-mb", "memory_mb": "--memory-mb"}
"""The library's limits by the flags that set them."""


def add_limits(parser: Parser) -> None:
    """Add ``--import``, ``--max-nodes`` and ``--memory-mb``."""
    parser.add_argument(
        "--import", dest="module", metavar="MODULE", help="of Python, which registers games with OpenSpiel"
    )
    parser.add_argument("--max-nodes", type=count, default=MAX_NODES, metavar="N", help="give up on a larger tree")
    parser.add_argument(
        "--memory-mb",
        type=count,
        metavar="MB",
        help="give up if more memory is needed (default: 4096, or half of the free memory if that is less)",
    )


def add_recall(parser: Parser) -> None:
    """Add ``--recall``."""
    parser.add_argument(
        "--recall",
        choices=["names", "history"],
        default="names",
        help="infosets: OpenSpiel's names, or histories of them and of own actions, where names forget something",
    )


@contextlib.contextmanager
def limits(parsed: argparse.Namespace, warm_up: Callable[[], object] | None = None) -> Iterator[int]:
    """Yield the limit of memory, ``--memory-mb``, in megabytes. What ``warm_up`` loads does not count: by default
    OpenSpiel, unless the game is Gambit's.

    Raises :class:`UsageError`: the game takes more, OpenSpiel can't be loaded, or the library refuses a game or a file;
    :class:`FailedError`: no method solved a linear program.
    """
    from klss.doors import openspiel
    from klss.errors import KlssError, SolverError, TooLargeError
    from klss.support.memory import allowance_bytes

    most = allowance_bytes() // 1_000_000 if parsed.memory_mb is None else parsed.memory_mb
    try:
        if warm_up is not None:
            warm_up()
        elif not str(getattr(parsed, "game", "")).lower().endswith((".efg", ".nfg")):
            openspiel()
        if parsed.module is not None:
            from klss.openspiel.games import imported

            imported(parsed.module)
        yield most
    except TooLargeError as error:
        raise UsageError(str(error.renamed(_FLAGS))) from error
    except SolverError as error:
        raise FailedError(str(error)) from error
    except KlssError as error:
        raise UsageError(str(error)) from error
