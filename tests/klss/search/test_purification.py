"""What is played of a mixture (klss.search.purification), and which roots are carried on."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from klss.search.purification import MOST, purified


@given(
    st.lists(st.integers(0, 9), min_size=1, max_size=12).filter(any),
    st.sampled_from(["maxmargin", "resolve"]),
    st.integers(1, 6),
    st.integers(0, 2**32 - 1),
)
def test_what_is_played_is_part_of_the_mixture_in_its_proportions(
    weights: list[int], kind: str, iterations: int, seed: int
) -> None:
    mixture = np.array(weights) / sum(weights)
    supports = list(np.random.default_rng(seed).random((iterations, len(weights))) < 0.7)
    played = purified(mixture, kind, supports)
    assert np.isclose(played.sum(), 1.0)
    kept = np.flatnonzero(played)
    assert np.argmax(mixture) in kept, "the likeliest action is always played"
    assert len(kept) <= (1 if kind == "resolve" else MOST)
    assert np.allclose(played[kept] / played[kept].sum(), mixture[kept] / mixture[kept].sum())
    for action in set(kept.tolist()) - {int(np.argmax(mixture))}:
        assert all(support[action] for support in supports[iterations // 2 :])
