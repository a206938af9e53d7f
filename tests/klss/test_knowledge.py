"""Knowledge sets: definition, growth, and the paper's example."""

from __future__ import annotations

import numpy as np
import pytest

from klss.paper.knowledge import knowledge_set
from klss.theory.game import Game
from tests.klss import games


def naive(game: Game, nodes: set[int], order: int) -> set[int]:
    """Distance by distance, from the definition."""
    decision = [h for h in range(game.node_count) if game.player[h] >= 0]
    found = set(nodes)
    for _ in range(order - 1):
        found |= {h for h in decision for g in found if any(game.infoset[i, h] == game.infoset[i, g] for i in (0, 1))}
    return found


@pytest.mark.parametrize("seed", range(5))
def test_the_order_k_set_is_what_distance_k_minus_1_reaches(seed: int) -> None:
    game = games.random_game(seed, depth=3)
    decision = np.flatnonzero(game.player >= 0)
    for h in decision[:: max(1, decision.size // 5)]:
        for k in (1, 2, 3, 4):
            assert set(knowledge_set(game, np.array([h]), k)) == naive(game, {int(h)}, k)
