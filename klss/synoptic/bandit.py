"""What is tried next at a set: a mixture of a policy and an upper confidence bound, over counts kept by (set, action).

Source: Clark (2021), Bandit. With probability exp(−m · n), n how often the set was met, the policy is played (m = 0:
always, m = ∞: never); else the largest q/n_a + c · π_a · sqrt(ln n / n_a), with n at least 2 and n_a at least 1 under
the root. The source leaves open what q/n_a is before a is tried: the mean of what was tried at the set.

Deviation: at the root, where there are few playouts, those follow the policy improved by what they brought so far
(:meth:`Root.improved`), which weighs a value against how likely the choice was held before. Source: I. Danihelka et
al., *Policy improvement by planning with Gumbel* (ICLR 2022), whose way it is below the root; here nothing is drawn.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from klss.support.arrays import Bools, Float32s, Floats, Int8s, Int32s, Ints, Keys
from klss.synoptic._kernels import bandit as kernels
from klss.synoptic.model import Looks
from klss.synoptic.planning import Planning

__all__ = ["Chosen", "Root", "Table", "policies"]


@dataclass(frozen=True)
class Chosen:
    """What was chosen at n sets."""

    actions: Int32s  # [n], an action of each choice
    marks: Keys  # [n], where it is counted
    met: Bools  # [n], whether it had been chosen there before


def policies(logits: Float32s, looks: Looks) -> Floats:
    """The probability of each choice (float64[m], those of a set summing to 1): a softmax over all actions that can be
    chosen there, summed over those that come to the same.

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
    """Counts by (set, action): a hash table of 2^bits places, of 24 bytes, in which whoever comes later overwrites."""

    def __init__(self, bits: int = 18) -> None:
        self._tags: Keys = np.zeros(1 << bits, dtype=np.uint64)
        self._counts: Floats = np.zeros((1 << bits, 2))

    def counted(self, looks: Looks) -> tuple[Floats, Floats]:
        """How often each choice was taken, and the sum of its values: float64[m] each."""
        sets = np.repeat(np.arange(looks.keys.shape[0]), np.diff(looks.offsets))
        marks = np.array(
            [kernels.tag(looks.keys[i], action) for i, action in zip(sets, looks.actions, strict=True)], dtype=np.uint64
        )
        slots = (marks & np.uint64(self._tags.shape[0] - 1)).astype(np.int64)
        found = self._tags[slots] == marks
        return np.where(found, self._counts[slots, 0], 0.0), np.where(found, self._counts[slots, 1], 0.0)

    def choose(self, planning: Planning, looks: Looks, policy: Floats, draws: Floats) -> Chosen:
        """A choice at each of n sets, in their order: each leaves a virtual loss for those after it.

        Parameters
        ----------
        policy : float64[m]
            See :func:`policies`.
        draws : float64[n, 2]
            Uniform in [0, 1).
        """
        count = looks.keys.shape[0]
        chosen, marks, met = np.empty(count, np.int64), np.empty(count, np.uint64), np.empty(count, np.bool_)
        kernels.choose(
            self._tags, self._counts, looks.keys, looks.offsets, looks.actions, policy, draws, planning.mixing,
            planning.exploration, chosen, marks, met,
        )  # fmt: skip
        return Chosen(looks.actions[looks.offsets[:-1] + chosen], marks, met)

    def shares(self, planning: Planning, looks: Looks, policy: Floats) -> Floats:
        """How likely each choice is to be taken (float64[m]): the mixture of policy and bound; no loss is left."""
        out = np.empty(policy.shape[0])
        kernels.shares(
            self._tags, self._counts, looks.keys, looks.offsets, looks.actions, policy, planning.mixing,
            planning.exploration, out,
        )  # fmt: skip
        return out

    def back_up(self, marks: Keys, seats: Int8s, fresh: Bools, value: float, seat: int, times: int = 1) -> None:
        """Add ``value``, for ``seat``, so many times to the actions of a playout.

        Parameters
        ----------
        marks, seats : uint64[d], int8[d]
            The actions, and who took them.
        fresh : bool[d]
            Whose virtual loss still lies on them; it is taken off, in place.
        """
        kernels.back_up(self._tags, self._counts, marks, seats, fresh, value, seat, float(times))


class Root:
    """Counts of the choices at one root, which nothing overwrites; ``policy`` (float64[m]) and ``value`` are what the
    network holds of them and of the set before anything was tried.
    """

    def __init__(self, policy: Floats, value: float = 0.0) -> None:
        self.policy = policy
        self.value = value
        self.taken = np.zeros(policy.shape[0], dtype=np.int64)  # in how many playouts each choice was taken
        self.numbers = np.zeros_like(policy)  # how many values each choice brought, virtual losses among them
        self.totals = np.zeros_like(policy)  # and their sum

    @property
    def means(self) -> Floats:
        """Of the values that each choice brought: float64[m]; 0 where there was none."""
        return self.totals / np.maximum(self.numbers, 1.0)

    def improved(self, gain: float) -> Floats:
        """The policy after what was found: float64[m], which sums to 1.

        Source: Danihelka et al. (2022), equations 10, 11 and 33: softmax(ln π + gain (50 + the most playouts of a
        choice) q), where a choice that was not tried is worth what the set is, by its network and by those that were.
        """
        # What was not tried is worth the network's value, mixed with that of what was tried: the more playouts, the
        # more of the latter.
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
        """So many choices, each with a virtual loss for those after it: int64[count]."""
        # What lacks most of its share: shares of playouts come to be those of the improved policy.
        shares = self.improved(gain)
        out = np.empty(count, dtype=np.int64)
        for i in range(count):
            out[i] = choice = int((shares - self.taken / (1.0 + self.taken.sum())).argmax())
            self.taken[choice] += 1
        np.add.at(self.numbers, out, kernels.VIRTUAL_LOSS)
        np.subtract.at(self.totals, out, kernels.VIRTUAL_LOSS)
        return out

    def add(self, choice: int, value: float, times: int, *, fresh: bool) -> None:
        """Add a value, for the seat that acts at the root, so many times; 0 times: nothing. Where the playout is
        ``fresh``, its virtual loss is taken off.
        """
        loss = kernels.VIRTUAL_LOSS if fresh else 0.0
        self.numbers[choice] += times - loss
        self.totals[choice] += times * value + loss

    def order(self, gain: float) -> Ints:
        """The choices (int64[m]), the one that comes out first: by the improved policy, then by the one before."""
        return np.lexsort((-self.policy, -self.improved(gain)))
