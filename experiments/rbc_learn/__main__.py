"""``python -m experiments.rbc_learn data|imitate|selfplay|ladder|saliency``: networks that plan on synopses learn."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence

from experiments.rbc_learn import imitation, ladder, saliency, selfplay, train

__all__ = ["main"]

_COMMANDS: dict[str, tuple[Callable[[Sequence[str]], int], str]] = {
    "data": (imitation.main, "play games among the players that stand"),
    "imitate": (train.main, "learn from what players did"),
    "selfplay": (selfplay.main, "learn from one's own games"),
    "ladder": (ladder.main, "how strong its generations are"),
    "saliency": (saliency.main, "which planes a network looks at"),
}
"""Each has its own arguments: what runs it, and what it is."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Do one of them; the exit code."""
    given = sys.argv[1:] if arguments is None else list(arguments)
    if given[:1] and given[0] in _COMMANDS:
        return _COMMANDS[given[0]][0](given[1:])
    parser = argparse.ArgumentParser(
        prog="python -m experiments.rbc_learn", description="networks that plan Reconnaissance Blind Chess"
    )
    commands = parser.add_subparsers(dest="what", required=True)
    for name, (_, about) in _COMMANDS.items():
        commands.add_parser(name, help=about, add_help=False)
    parser.parse_args(given)
    return 0


if __name__ == "__main__":
    sys.exit(main())
