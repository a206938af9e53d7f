"""What players and their hosts say to each other in any game: the ways out of it, and what a test may look at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

__all__ = ["Forfeit", "OutOfTime", "Positions", "Resignation", "TruthCount"]


class Resignation(Exception):
    """Raised by a player's ``choose``: she gives up."""


class OutOfTime(Exception):
    """Raised by a player's ``choose``: she noticed herself that her clock ran out."""


class Forfeit(Exception):
    """Raised by a player's ``choose``: there is no move to be had from her, or none that is legal; says why."""


class Positions(Protocol):
    """What a player holds possible, as far as a host may ask."""

    @property
    def size(self) -> int:
        """How many positions."""
        ...

    @property
    def capped_by(self) -> str | None:
        """None where they are all that agree with her views; else why they are a sample."""
        ...

    def contains(self, row: npt.NDArray[np.uint64], /) -> bool:
        """Whether the position ``row`` (uint64[9]) is among them."""
        ...


@dataclass
class TruthCount:
    """How often the true position was looked for in a player's position set, and not found (test mode only).

    Attributes
    ----------
    checks
        Looks at a set that claims to be complete.
    lost
        Those that did not hold the true position.
    sampled
        Looks left out, because the set had declared itself a sample.
    """

    checks: int = 0
    lost: int = 0
    sampled: int = 0
