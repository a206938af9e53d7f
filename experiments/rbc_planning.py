"""What each part of planning on synopses is worth: ``python -m experiments.rbc_planning``.

The tables of Clark (2021) in small: five variants (playouts and none, a tree or the policy alone, no static analysis)
against the players that stand and against each other; then what the paper's constants leave open, one change at a time
against the paper's mixture. Every match has the same nodes a question on both sides, Trout's engine too. What was
played is kept and gone on with; ``results/rbc_planning.json`` has the scores with their intervals.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence

from experiments.series import blind

__all__ = ["PAIRINGS", "main"]

MIXTURE = "dsmcp,mixing=1"
"""The paper's mixture of policy and bound."""
BOUND = f"{MIXTURE},root=bound,answer=mean"
"""The upper confidence bound at the root, too: what its constants are worth shows there."""
TREE = "dsmcp,cap=20000"
"""The tree's position set is capped: where sets grow to two million, to follow them takes seconds a turn
(docs/dsmcp.md, "Play and analyse").
"""

PAIRINGS: Mapping[str, tuple[str, str, float]] = {
    "dsmcp-trout": (MIXTURE, "trout", 1.0),
    "dsmcp-network": (MIXTURE, "dsmcp-network", 1.0),
    "dsmcp-tree": (MIXTURE, TREE, 1.0),
    "dsmcp-cache": (MIXTURE, "dsmcp-cache", 0.3),
    "dsmcp-simple": (MIXTURE, "dsmcp-simple", 0.3),
    "dsmcp-expect": (MIXTURE, "rbc-expect", 0.3),
    "dsmcp-siamese": (MIXTURE, "rbc-siamese", 0.3),
    "dsmcp-attacker": (MIXTURE, "attacker", 0.3),
    "dsmcp-rl": (MIXTURE, "rbc-rl", 0.3),
    "network-trout": ("dsmcp-network", "trout", 0.3),
    "network-attacker": ("dsmcp-network", "attacker", 0.3),
    "tree-trout": (TREE, "trout", 0.3),
    "tree-attacker": (TREE, "attacker", 0.3),
    "tree-expect": (TREE, "rbc-expect", 0.3),
    "tree-siamese": (TREE, "rbc-siamese", 0.3),
    "cache-trout": ("dsmcp-cache", "trout", 0.3),
    "cache-attacker": ("dsmcp-cache", "attacker", 0.3),
    "simple-trout": ("dsmcp-simple", "trout", 0.3),
    "simple-attacker": ("dsmcp-simple", "attacker", 0.3),
    "rl-trout": ("rbc-rl", "trout", 1.0),
    "rl-random": ("rbc-rl", "rbc-random", 0.3),
    "known-trout": (f"{MIXTURE},opponent=trout", "trout", 0.3),
    "bound": (BOUND, MIXTURE, 0.3),
    "total": (f"{MIXTURE},root=bound,answer=total", BOUND, 0.3),
    "visits": (f"{MIXTURE},root=bound,answer=visits", BOUND, 0.3),
    "puct": (f"{BOUND},formula=puct", BOUND, 0.3),
    "c-half": (f"{BOUND},exploration=0.5", BOUND, 0.3),
    "c-2": (f"{BOUND},exploration=2", BOUND, 0.3),
    "c-4": (f"{BOUND},exploration=4", BOUND, 0.3),
    "leaf": (f"{MIXTURE},backup=leaf", MIXTURE, 0.3),
    "depth-12": (f"{MIXTURE},depth_move=12", MIXTURE, 0.3),
    "caution-30": (f"{MIXTURE},caution=0.3", MIXTURE, 0.3),
    "paranoia-30": (f"{MIXTURE},paranoia=0.3", MIXTURE, 0.3),
    "caution-30-paranoia-30": (f"{MIXTURE},caution=0.3,paranoia=0.3", MIXTURE, 0.3),
}
"""Who plays whom, and what part of ``--games``. The names are those of the results, whose ``dsmcp`` is the mixture."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns the exit code."""
    return blind.main("rbc_planning", (__doc__ or "").splitlines()[0], PAIRINGS, arguments, nodes=300)


if __name__ == "__main__":
    sys.exit(main())
