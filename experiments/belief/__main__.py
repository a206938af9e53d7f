"""``python -m experiments.belief train|rank|loss|held``: learn beliefs, and measure their worth."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from experiments.belief import held, loss, rank, train
from experiments.commands import Commands, run

__all__ = ["main"]

_COMMANDS: Commands = {
    "train": (train.main, "play what is to be learned from, learn, write the weights"),
    "rank": (rank.main, "how likely the truth is to each belief, in held-out games"),
    "loss": (loss.main, "what moves lose at the true position, with each belief"),
    "held": (held.main, "how often the truth is in a set that had too little time"),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one of the commands; return the exit code."""
    return run("belief", "beliefs: learned, ranked", _COMMANDS, arguments)


if __name__ == "__main__":
    sys.exit(main())
