"""The next choice to try at a set: a mixture of a policy and an upper confidence bound, with counts by (set, action).

Source: Clark (2021), Bandit. With probability exp(−m · n), where n is the number of visits of the set, the policy is
played (m = 0: always, m = ∞: never); otherwise the action with the largest q/n_a + c · π_a · sqrt(ln n / n_a), with n
at least 2 and n_a at least 1 under the root. The source does not define q/n_a of an untried action; here it is the mean
of the actions tried at the set.

Deviation: at the root, which gets few playouts, they follow the policy improved by their values so far
(:meth:`Root.improved`), which weighs a value against the prior probability of the choice. Source: I. Danihelka et al.,
*Policy improvement by planning with Gumbel* (ICLR 2022), who do so below the root; here the choice is not random.
"""

from __future__ import annotations

import numpy as np

from klss.support.arrays import Bools, Float32s, Floats, Int8s, Int32s, Ints, Keys
from klss.synoptic._kernels import bandit as kernels
from klss.synoptic.model import Looks
from klss.synoptic.planning import Planning


def policies(logits: Float32s, looks: Looks) -> Floats:
    """Return the probability of each choice (float64[m], a sum of 1 for each set): a softmax over all actions that can
    be chosen there, summed over equivalent ones.

    >>> looks = Looks(
    ...     np.zeros((1, 1), np.uint64), np.zeros(1, np.uint64), np.array([0, 2]), np.array([0, 2], np.int32),
    ...     np.array([0, 2, 3]), np.array([0, 1, 2], np.int32), np.zeros(1, np.int8))
    >>> policies(np.zeros((1, 9), np.float32), looks).round(3).tolist()
    [0.667, 0.333]
    """
    out = np.empty(looks.actions.shape[0])
    kernels.policies(logits, looks.offsets, looks.listing, looks.alike, out)
    return out


class Table:
    """Counts by (set, action): a hash table of 2^bits slots of 24 bytes, where a later entry replaces an older one."""

    def __init__(self, bits: int = 18) -> None:
        self._tags: Keys = np.zeros(1 << bits, dtype=np.uint64)
        self._counts: Floats = np.zeros((1 << bits, 2))

    def choose(
        self, planning: Planning, looks: Looks, policy: Floats, which: Bools, draws: Floats
    ) -> tuple[Int32s, Keys]:
        """Make a choice at n of the sets, those of ``which`` (bool), in their order; each leaves a virtual loss for
        those after it. Return an action of each choice (int32[n]), and the tags under which the choices are counted
        (uint64[n]). ``policy`` (float64[m]) is that of :func:`policies`, ``draws`` (float64[n, 2]) uniform in [0, 1).
        """
        # The choices of these sets alone.
        sizes = np.diff(looks.offsets)
        wanted = np.repeat(which, sizes)
        keys, actions, policy = looks.keys[which], looks.actions[wanted], policy[wanted]
        offsets = np.append(0, np.cumsum(sizes[which]))
        count = keys.shape[0]
        chosen, marks = np.empty(count, np.int64), np.empty(count, np.uint64)
        kernels.choose(
            self._tags, self._counts, keys, offsets, actions, policy, draws, planning.mixing, planning.exploration,
            chosen, marks,
        )  # fmt: skip
        return actions[offsets[:-1] + chosen], marks

    def shares(self, planning: Planning, looks: Looks, policy: Floats) -> Floats:
        """Return each choice's probability (float64[m]), the mixture of policy and bound; no virtual loss is left."""
        out = np.empty(policy.shape[0])
        kernels.shares(
            self._tags, self._counts, looks.keys, looks.offsets, looks.actions, policy, planning.mixing,
            planning.exploration, out,
        )  # fmt: skip
        return out

    def back_up(self, marks: Keys, seats: Int8s, fresh: Bools, value: float, seat: int, times: int = 1) -> None:
        """Add ``value``, for ``seat``, ``times`` times to the actions of a playout: their tags ``marks`` (uint64[d]),
        the ``seats`` that took them (int8[d]), and whether their virtual loss still counts (``fresh``, bool[d]), which
        is removed, in place.
        """
        kernels.back_up(self._tags, self._counts, marks, seats, fresh, value, seat, float(times))


class Root:
    """Counts of the choices at one root, which are never overwritten; ``policy`` (float64[m]) and ``value`` are the
    network's for the choices and the set.
    """

    def __init__(self, policy: Floats, value: float = 0.0) -> None:
        self.policy = policy
        self.value = value
        self.taken = np.zeros(policy.shape[0], dtype=np.int64)  # number of playouts of each choice
        self.numbers = np.zeros_like(policy)  # number of values of each choice, virtual losses included
        self.totals = np.zeros_like(policy)  # and their sum

    @property
    def means(self) -> Floats:
        """Mean value of each choice: float64[m]; 0 if it has none."""
        return self.totals / np.maximum(self.numbers, 1.0)

    def improved(self, gain: float) -> Floats:
        """Return the policy improved by the values found: float64[m], which sums to 1.

        Source: Danihelka et al. (2022), equations 10, 11 and 33: softmax(ln π + gain (50 + the most playouts of a
        choice) q), where q of an untried choice is the value of the set, by the network and by the tried choices.
        """
        # An untried choice has the network's value, mixed with that of the tried ones, more of the latter after more
        # playouts.
        tried = self.numbers > 0
        playouts = int(self.taken.sum())
        worth = self.means
        found = (self.policy * worth)[tried].sum() / max(self.policy[tried].sum(), 1e-12)
        worth[~tried] = (self.value + playouts * found) / (1.0 + playouts)
        # The more playouts, the more values count against the policy.
        logits = np.log(np.maximum(self.policy, 1e-12)) + gain * (50.0 + self.taken.max()) * worth
        shares: Floats = np.exp(logits - logits.max())
        shares /= shares.sum()
        return shares

    def choose(self, gain: float, count: int) -> Ints:
        """Make ``count`` choices, each with a virtual loss for those after it: int64[count]."""
        # Take the choice that lacks most of its share, so that the playouts' shares approach the improved policy.
        shares = self.improved(gain)
        out = np.empty(count, dtype=np.int64)
        for i in range(count):
            out[i] = choice = int((shares - self.taken / (1.0 + self.taken.sum())).argmax())
            self.taken[choice] += 1
        np.add.at(self.numbers, out, kernels.VIRTUAL_LOSS)
        np.subtract.at(self.totals, out, kernels.VIRTUAL_LOSS)
        return out

    def add(self, choice: int, value: float, times: int, *, fresh: bool) -> None:
        """Add a value, for the seat that acts at the root, ``times`` times (0: none). If the playout is ``fresh``,
        remove its virtual loss.
        """
        loss = kernels.VIRTUAL_LOSS if fresh else 0.0
        self.numbers[choice] += times - loss
        self.totals[choice] += times * value + loss

    def order(self, gain: float) -> Ints:
        """Return the choices (int64[m]), best first: by the improved policy, ties by the network's."""
        return np.lexsort((-self.policy, -self.improved(gain)))
