"""What a configuration says of how a player plans on synopses, whatever she plays."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from klss.synoptic.bandit import Bandit
from klss.synoptic.planning import Planning

__all__ = ["MOST", "RANGES", "Thinking"]

MOST = 100_000
"""Of anything that is counted."""

RANGES: dict[str, tuple[float, float]] = {
    "mixing": (0, math.inf),
    "exploration": (0, MOST),
    "first_play": (-MOST, MOST),
    "gain": (0, MOST),
    "paranoia": (0, 1),
    "caution": (0, 1),
    "most": (1, MOST),
    "particles": (1, MOST),
    "cuts": (1, MOST),
    "batch": (1, MOST),
    "virtual_loss": (0, MOST),
    "noise": (0, 1),
}
"""The least and the most that makes sense, of the numbers of a :class:`Thinking`."""


@dataclass(frozen=True)
class Thinking:
    """See :class:`klss.synoptic.planning.Planning` and :class:`klss.synoptic.bandit.Bandit` for what is not said here.

    Attributes
    ----------
    network
        The name of one that comes with the game's package, such as ``packaged``; ``even``, none: every choice alike,
        every set worth 0; or a file.
    playouts
        False: the policy's likeliest choice.
    """

    network: str = "packaged"
    playouts: bool = True
    mixing: float = math.inf
    exploration: float = 1.0
    formula: Literal["ucb1", "puct"] = "ucb1"
    root: Literal["bound", "improved"] = "improved"
    gain: float = 0.1
    first_play: float = 0.0
    paranoia: float = 0.0
    caution: float = 0.0
    backup: Literal["every", "leaf"] = "every"
    answer: Literal["total", "mean", "visits", "improved"] = "improved"
    static: bool = True
    most: int = 128
    particles: int = 128
    cuts: int = 8
    batch: int = 32
    virtual_loss: int = 1
    noise: float = 0.0

    @property
    def bandit(self) -> Bandit:
        """How choices are tried."""
        return Bandit(
            exploration=self.exploration,
            mixing=self.mixing,
            formula=self.formula,
            root=self.root,
            gain=self.gain,
            first_play=self.first_play,
            paranoia=self.paranoia,
            virtual_loss=self.virtual_loss,
        )

    def of_depth(self, depth: int) -> Planning:
        """The constants of a question whose playouts have so many actions."""
        return Planning(
            bandit=self.bandit,
            most=self.most,
            particles=self.particles,
            depth=depth,
            cuts=self.cuts,
            batch=self.batch,
            caution=self.caution,
            backup=self.backup,
            answer=self.answer,
            static=self.static,
            noise=self.noise,
        )
