"""Draws by Gumbel keys: the probabilities of drawing one by one, and sums estimated without bias."""

import itertools

import numpy as np

from klss.support.drawing import draw, gumbel

WEIGHTS = np.array([0.5, 0.3, 0.15, 0.05])


def hashes(seed: int, count: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 2**64, size=count, dtype=np.uint64)


def one_by_one(count: int) -> np.ndarray:
    """With what probability each is among the drawn, by enumeration of all orders."""
    found = np.zeros(len(WEIGHTS))
    for order in itertools.permutations(range(len(WEIGHTS)), count):
        left, likely = 1.0, 1.0
        for chosen in order:
            likely *= WEIGHTS[chosen] / left
            left -= WEIGHTS[chosen]
        found[list(order)] += likely
    return found


def test_a_draw_is_one_by_one_among_those_left() -> None:
    trials = 1_000
    for count in (1, 2, 3):
        found = np.zeros(4)
        for keyed in hashes(count, 4 * trials).reshape(trials, 4):
            found[draw(WEIGHTS, keyed, count).indices] += 1
        # Four standard errors of a share.
        assert np.abs(found / trials - one_by_one(count)).max() < 4 * np.sqrt(0.25 / trials)


def test_sums_are_estimated_without_bias() -> None:
    worth = np.array([1.0, -2.0, 3.0, 40.0])
    trials = 2_000
    estimates = np.empty(trials)
    for trial, keyed in enumerate(hashes(7, 4 * trials).reshape(trials, 4)):
        found = draw(WEIGHTS, keyed, 2)
        chosen = found.indices
        estimates[trial] = (WEIGHTS * worth)[chosen] @ (1.0 / found.inclusion(WEIGHTS[chosen]))
    assert abs(estimates.mean() - WEIGHTS @ worth) < 4 * estimates.std() / np.sqrt(trials)


def test_few_of_many_are_those_with_the_largest_keys_of_all() -> None:
    generator = np.random.default_rng(6)
    for seed, tail in itertools.product(range(8), (0.0, 1.0, 6.0)):
        weights = np.exp(tail * generator.normal(size=30_000))
        weights[generator.random(len(weights)) < generator.choice([0.0, 0.5, 0.999])] = generator.choice([0.0, 1e-12])
        keyed = hashes(seed, len(weights))
        count = int(generator.integers(1, 200))
        with np.errstate(divide="ignore"):
            keys = np.log(weights) + gumbel(keyed)
        order = np.lexsort((keyed, -keys))
        found = draw(weights, keyed, count)
        assert found.indices.tolist() == order[:count].tolist()
        assert found.threshold == keys[order[count]]
