"""``python -m experiments.dark_learn data|imitate``: networks that plan Fog of War on synopses learn."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence

from experiments.dark_learn import imitation
from experiments.rbc_learn import train

__all__ = ["main"]


def _imitate(arguments: Sequence[str]) -> int:
    """Of all who play, and of the best: no other headset has anything to learn from here."""
    return train.main(["--headsets", "all", "top", *arguments])


_COMMANDS: dict[str, tuple[Callable[[Sequence[str]], int], str]] = {
    "data": (imitation.main, "replay the games of matches"),
    "imitate": (_imitate, "learn from what players did; as experiments.rbc_learn does it"),
}
"""Each has its own arguments: what runs it, and what it is."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Do one of them; the exit code."""
    given = sys.argv[1:] if arguments is None else list(arguments)
    if given[:1] and given[0] in _COMMANDS:
        return _COMMANDS[given[0]][0](given[1:])
    parser = argparse.ArgumentParser(
        prog="python -m experiments.dark_learn", description="networks that plan Fog of War on synopses"
    )
    commands = parser.add_subparsers(dest="what", required=True)
    for name, (_, about) in _COMMANDS.items():
        commands.add_parser(name, help=about, add_help=False)
    parser.parse_args(given)
    return 0


if __name__ == "__main__":
    sys.exit(main())
