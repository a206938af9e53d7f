"""``python -m experiments.dark_learn data|imitate``: networks that plan Fog of War on synopses learn."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from experiments.commands import Commands, run
from experiments.dark_learn import imitation
from experiments.rbc_learn import train

__all__ = ["main"]


def _imitate(arguments: Sequence[str]) -> int:
    """Of all who play, and of the best: no other headset has anything to learn from here."""
    return train.main(["--headsets", "all", "top", *arguments], command="dark_learn imitate")


_COMMANDS: Commands = {
    "data": (imitation.main, "replay the games of matches"),
    "imitate": (_imitate, "learn from what players did; as experiments.rbc_learn does it"),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Do one of them; the exit code."""
    return run("dark_learn", "networks that plan Fog of War on synopses", _COMMANDS, arguments)


if __name__ == "__main__":
    sys.exit(main())
