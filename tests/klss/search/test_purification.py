"""What is played of a mixture (klss.search.choice), and which roots are carried on."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from klss.search.choice import MAX_SUPPORT, Purified
from klss.search.subgame.sections import CarriedSubtree, likeliest
from klss.search.trunk import Trunk


@given(
    st.lists(st.integers(0, 9), min_size=1, max_size=12).filter(any),
    st.booleans(),
    st.integers(1, 6),
    st.integers(0, 2**32 - 1),
)
def test_what_is_played_is_part_of_the_mixture_in_its_proportions(
    weights: list[int], pure: bool, iterations: int, seed: int
) -> None:
    mixture = np.array(weights) / sum(weights)
    supports = list(np.random.default_rng(seed).random((iterations, len(weights))) < 0.7)
    played = Purified()(mixture, pure, supports)
    assert np.isclose(played.sum(), 1.0)
    kept = np.flatnonzero(played)
    assert np.argmax(mixture) in kept, "the likeliest action is always played"
    assert len(kept) <= (1 if pure else MAX_SUPPORT)
    assert np.allclose(played[kept] / played[kept].sum(), mixture[kept] / mixture[kept].sum())
    for action in set(kept.tolist()) - {int(np.argmax(mixture))}:
        assert all(support[action] for support in supports[iterations // 2 :])


def _section(*nodes: int) -> CarriedSubtree:
    return CarriedSubtree(0, np.array(nodes), np.full(len(nodes), 1 / len(nodes)), 0.0, np.zeros(0, int), np.zeros(0))


def test_the_roots_carried_on_are_those_that_the_opponent_is_expected_to_reach_then_any() -> None:
    # Six sections of two nodes each; node n of player 1's sequence n // 2; it reaches sections 4 and 1.
    trunk = cast(Trunk, SimpleNamespace(nodes=SimpleNamespace(sequence=np.repeat(np.arange(6), 2)[:, None] * [0, 1])))
    sections = [_section(2 * i, 2 * i + 1) for i in range(6)]
    y = np.array([0.0, 0.3, 0.0, 0.0, 0.7, 0.0])

    def kept(most: int, seed: int = 0) -> list[int]:
        return [int(section.nodes[0]) // 2 for section in likeliest(trunk, y, sections, most, seed)]

    assert kept(12) == [0, 1, 2, 3, 4, 5], "nothing is dropped where there is room"
    assert kept(4) == [1, 4]
    assert kept(2) == [4]
    assert kept(1) == [4], "one section at least, whole"
    others = {tuple(kept(6, seed)) for seed in range(40)}
    assert all({1, 4} < set(three) and len(three) == 3 for three in others)
    assert len(others) == 4, "the rest is drawn: each of 0, 2, 3, 5 comes"
