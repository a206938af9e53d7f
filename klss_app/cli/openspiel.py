"""The common part of the commands on enumerated games: the source of the game, its limits, and the error if one is
exceeded or OpenSpiel is missing.
"""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from klss import MAX_NODES
from klss.errors import INSTALL_EXTRAS
from klss_app.cli.errors import FailedError, UsageError
from klss_app.cli.options import Parser
from klss_app.flag_types import count

if TYPE_CHECKING:
    from klss.theory.game import Game

_FLAGS = {"max_nodes": "--max-nodes", "max_bytes": "--memory-mb"}
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


def is_gambit_file(name: str) -> bool:
    """Whether a game's name is that of a Gambit file; :func:`klss.gambit.read` checks the content."""
    return name.lower().endswith((".efg", ".nfg"))


def game_of(
    parsed: argparse.Namespace, max_bytes: int, on_progress: Callable[[int], None] | None = None
) -> tuple[Game, str]:
    """The game of an OpenSpiel game string or a Gambit file, and a remark on it ("" or the sum of a file's payoffs)."""
    if is_gambit_file(parsed.game):
        from klss.gambit import read

        file = read(Path(parsed.game), parsed.max_nodes, max_bytes)
        return file.game, f"payoffs sum to {file.constant:g}" if file.constant else ""
    from klss.openspiel import load

    return load(
        parsed.game, max_nodes=parsed.max_nodes, max_bytes=max_bytes, recall=parsed.recall,
        on_progress=on_progress,
    ), ""  # fmt: skip


@contextlib.contextmanager
def limits(parsed: argparse.Namespace) -> Iterator[int]:
    """Limit the memory of the block to ``--memory-mb``; yields the limit in bytes.

    Raises :class:`UsageError`: the game takes more, OpenSpiel is missing or can't be loaded, or the library refuses a
    game or a file; :class:`FailedError`: no method solved a linear program.
    """
    try:
        if not is_gambit_file(str(getattr(parsed, "game", ""))):
            import klss.openspiel  # noqa: F401
    except ImportError as error:
        raise UsageError(f"OpenSpiel can't be loaded: {error}; expected it: {INSTALL_EXTRAS}") from error
    from klss.errors import KlssError, SolverError, TooLargeError
    from klss.support.memory import allowance_bytes, limited

    most = allowance_bytes() if parsed.memory_mb is None else 1_000_000 * parsed.memory_mb
    try:
        with limited(most):
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
    except MemoryError as error:
        raise UsageError(
            f"the game takes more than {most // 1_000_000:,} MB of memory; expected a smaller one; raise the limit "
            "with --memory-mb"
        ) from error
