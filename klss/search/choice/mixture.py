"""The mixture as it is: what the 2021 paper plays."""

from __future__ import annotations

from collections.abc import Sequence

from klss.search.profile import Profile
from klss.support.arrays import Bools, Floats

__all__ = ["Mixture"]


class Mixture:
    """Plays the mixture."""

    def play(self, probabilities: Floats, profile: Profile, supports: Sequence[Bools]) -> Floats:
        """See :class:`klss.search.parts.Choice`."""
        return probabilities
