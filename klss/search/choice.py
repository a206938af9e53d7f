"""What is played of the mixture at player 0's infoset: the whole mixture, or its stable part.

Purification (Obscuro, arXiv 2506.01242) deviates from the 2021 paper, which samples from the whole mixture. In a
depth-limited subgame much of the mixture is noise: a vertex of the program mixes actions that are equal only against
player 1's present plan, and the gadget's margin does not measure how much worse an action is in positions that this
plan does not reach. With Resolve, only the likeliest action is played. With Maxmargin, at most :data:`MAX_SUPPORT`
actions are played; those other than the likeliest only if every profile of the second half of the rounds played them,
and if they are not so rare that they may be a remnant of an average (an action that loses the queen with 2 %, say).

The trunk is carried on with the mixture, because player 1 is assumed to know the mixture and not its purification.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from klss.support.arrays import Bools, Floats

MAX_SUPPORT = 3
"""Largest number of actions in a purified mixture."""


def mixture(probabilities: Floats, pure: bool, supports: Sequence[Bools]) -> Floats:
    """Play the whole mixture: a :data:`klss.search.parts.Choice`."""
    return probabilities


@dataclass(frozen=True)
class Purified:
    """Plays the purified mixture: a :data:`klss.search.parts.Choice`."""

    least: float = 0.0  # probability below which no action but the likeliest is played

    def __call__(self, probabilities: Floats, pure: bool, supports: Sequence[Bools]) -> Floats:
        """Return the purified mixture; ``pure``: whether the likeliest action is played alone.

        Examples
        --------
        >>> always = np.array([True, True, True])
        >>> Purified()(np.array([0.5, 0.3, 0.2]), True, [always])
        array([1., 0., 0.])
        >>> Purified()(np.array([0.5, 0.3, 0.2]), False, [always, np.array([True, True, False])])
        array([0.625, 0.375, 0.   ])
        """
        # The likeliest action, and the next likely ones that were played in all later rounds.
        order = np.argsort(-probabilities, kind="stable")
        played = np.zeros_like(probabilities)
        played[order[0]] = probabilities[order[0]]
        if not pure:
            lasting = np.all(supports[len(supports) // 2 :], axis=0)
            likely = probabilities >= self.least
            extra = [action for action in order[1:MAX_SUPPORT] if lasting[action] and likely[action]]
            played[extra] = probabilities[extra]
        return np.asarray(played / played.sum())
