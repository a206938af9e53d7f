"""``python -m experiments.rbc_learn data|imitate|selfplay``: networks that plan on synopses learn."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from experiments.commands import Commands, run
from experiments.rbc_learn import imitation, selfplay, train

_COMMANDS: Commands = {
    "data": (imitation.main, "play games among the players that stand"),
    "imitate": (train.main, "learn from what players did"),
    "selfplay": (selfplay.main, "learn from one's own games"),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one of the commands; return the exit code."""
    return run("rbc_learn", "networks that plan Reconnaissance Blind Chess", _COMMANDS, arguments)


if __name__ == "__main__":
    sys.exit(main())
