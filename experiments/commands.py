"""The common part of experiments' commands: folders, and what is printed when one is stopped."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from uci_bridge.match.documents import NoCommitError

RUNS = Path(__file__).parent / "runs"
"""The folder of matches; it is not in the repository."""

RESULTS = RUNS / "results"
"""Where results are written unless a command is given another folder: those in the repository change only when that is
asked for (``--results experiments/results``).
"""


def shown(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> dict[str, Any]:
    """Print a table; return it as results keep it."""
    print(f"\n| {' | '.join(columns)} |\n{'|---' * len(columns)}|")
    print("\n".join(f"| {' | '.join('' if each is None else str(each) for each in row)} |" for row in rows), flush=True)
    return {"columns": list(columns), "rows": list(rows)}


def finished(work: Callable[[], int | None], *expected: type[Exception]) -> int:
    """Do the work; return the exit code. Expected errors and Ctrl-C are reported in one line each."""
    known: tuple[type[Exception], ...] = (NoCommitError, *expected)
    try:
        return work() or 0
    except known as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\ninterrupted", file=sys.stderr)
        return 130
