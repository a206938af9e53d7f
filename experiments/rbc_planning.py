"""How strong planning on synopses is: ``python -m experiments.rbc_planning``.

The tables of Clark (2021) in small: the mixture of policy and bound, the bound alone and the policy alone, against the
players that stand and against each other. Every match has the same nodes a question on both sides, Trout's engine too.
What was played is kept and gone on with; ``results/rbc_planning.json`` has the scores with their intervals.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence

from experiments.series import blind

__all__ = ["PAIRINGS", "main"]

TREE = "dsmcp,cap=20000"
"""The position set is capped: where sets grow to two million, to follow them takes seconds a turn (docs/dsmcp.md, "Play
and analyse").
"""
MIXTURE, CACHE = "dsmcp,mixing=1", "dsmcp,mixing=0"

PAIRINGS: Mapping[str, tuple[str, str, float]] = {
    "tree-trout": (TREE, "trout", 0.3),
    "tree-attacker": (TREE, "attacker", 0.3),
    "tree-expect": (TREE, "rbc-expect", 0.3),
    "tree-siamese": (TREE, "rbc-siamese", 0.3),
    "dsmcp-tree": (MIXTURE, TREE, 1.0),
    "dsmcp-trout": (MIXTURE, "trout", 1.0),
    "dsmcp-attacker": (MIXTURE, "attacker", 0.3),
    "dsmcp-expect": (MIXTURE, "rbc-expect", 0.3),
    "dsmcp-siamese": (MIXTURE, "rbc-siamese", 0.3),
    "dsmcp-cache": (MIXTURE, CACHE, 0.3),
    "dsmcp-rl": (MIXTURE, "rbc-rl", 0.3),
    "known-trout": (f"{MIXTURE},opponent=trout", "trout", 0.3),
    "cache-trout": (CACHE, "trout", 0.3),
    "cache-attacker": (CACHE, "attacker", 0.3),
    "rl-trout": ("rbc-rl", "trout", 1.0),
    "rl-random": ("rbc-rl", "rbc-random", 0.3),
}
"""Who plays whom, and what part of ``--games``. The names are those of the results, whose ``dsmcp`` is the mixture."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns the exit code."""
    return blind.main("rbc_planning", (__doc__ or "").splitlines()[0], PAIRINGS, arguments, nodes=300)


if __name__ == "__main__":
    sys.exit(main())
