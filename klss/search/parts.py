"""The parts of a search, each a small protocol with one place for its rivals. The loop (:mod:`klss.search.search`)
knows only these; a configuration (:class:`SearchConfiguration`) puts one of each together.

========== ================================== ====================================================
part       does                               rivals in
========== ================================== ====================================================
builder    the next move's subgame            :mod:`klss.search.subgame`
likelihood what its roots are drawn by        :mod:`klss.search.likelihood`
solver     both players' plans on a trunk     :mod:`klss.search.equilibrium`
expander   the trunk's growth                 :mod:`klss.search.expansion`
choice     what is played of the mixture      :mod:`klss.search.choice`
========== ================================== ====================================================

Builder, solver, expander and choice are made once a game and may remember; what belongs to one move is what their
``begin`` returns. A likelihood is the builder's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol, runtime_checkable

import numpy as np

from klss.errors import KlssError
from klss.search.budget import Budget
from klss.search.growth import Growth
from klss.search.model import Belief, Drawn, Model
from klss.search.profile import Profile
from klss.search.trunk import Trunk
from klss.search.utilities import Utilities
from klss.support.arrays import Bools, Floats, Ints, States

__all__ = [
    "Builder",
    "Choice",
    "Expander",
    "ExpanderRun",
    "Likelihood",
    "Parts",
    "PonderableRun",
    "SearchConfiguration",
    "SearchConfigurationError",
    "SearchState",
    "Solver",
    "SolverRun",
    "SolverStats",
    "Strategies",
    "Subgame",
    "at_least_one",
]  # fmt: skip


Strategies = tuple[Floats, Floats]
"""Both players' behaviour, by their sequences."""


@dataclass(frozen=True)
class SearchState:
    """State of a search between two moves."""

    trunk: Trunk  # the last one
    profile: Profile  # on that trunk
    infoset: int  # where player 0 is in the trunk now; −1: the last observation leads out of it
    strategies: Strategies | None = None  # on the trunk: what the next move's solver starts from; None: it starts anew


@dataclass(frozen=True)
class Subgame:
    """What one move is searched in."""

    trunk: Trunk  # its roots stand at player 0's infoset 0, the present one
    carried: int  # roots that come from the previous trunk
    sampled: int  # roots that come from the belief
    prior: Floats | None = None  # [J], how likely player 1 is to come to each root infoset; None: to all alike
    strategies: Strategies | None = None  # as the previous move's solver left them, 0 at sequences that are new
    feared: Bools | None = None  # [J], root infosets to which Maxmargin's share beside nature goes; None: all

    @cached_property
    def utilities(self) -> Utilities:
        """On the trunk: one for all parts of a search."""
        return Utilities(self.trunk)


class Builder(Protocol):
    """Builds subgames."""

    def build(
        self, standing: SearchState | None, belief: Belief, model: Model, rng: np.random.Generator, nodes: float
    ) -> Subgame:
        """The subgame of this move; ``standing`` is None at the first one, ``belief`` is not empty, and the search is
        expected to add so many ``nodes``.
        """
        ...


class Likelihood(Protocol):
    """How likely it is that the game stands at a state of the belief: which ones are drawn as roots, and what they
    weigh.
    """

    def sample(self, belief: Belief, count: int, exclude: States, seed: int) -> Drawn:
        """See :meth:`klss.search.model.Belief.draw`; unless a likelihood knows better, uniformly: all count once."""
        return Drawn.certain(belief.sample(count, exclude, seed))

    def weights(self, belief: Belief, drawn: Drawn, values: Floats) -> Floats:
        """Weights of the ``drawn`` states relative to each other, given their estimated utilities for player 0
        (float64[n]): float64[n], not negative, of any scale.
        """
        ...

    def roots(self, drawn: Drawn, carried: States) -> Drawn:
        """The particles that become roots, of those that :meth:`sample` has ``drawn``; ``carried``: the states that
        stand at player 0's infoset without them (uint64[m, w]). Unless a likelihood knows better, the drawn ones.
        """
        return drawn

    def prior(self, prior: Floats, states: States, group: Ints) -> Floats:
        """The final prior of player 1's root infosets.

        Parameters
        ----------
        prior : float64[J]
            What the weights, and how player 1 was expected to come, make of it; sums to 1. Unless a likelihood knows
            better, that is the final one.
        states : uint64[n, w]
            The roots at player 0's infoset.
        group : int64[n]
            The root infoset of each, from 0 to J − 1.
        """
        return prior


@dataclass
class SolverStats:
    """What a solver has done in one move so far."""

    gap: float = 0.0  # the largest saddle gap met
    fallbacks: int = 0  # how often one of its methods failed
    seconds: float = 0.0


class SolverRun(Protocol):
    """A solver at work on one move's trunk."""

    @property
    def effort(self) -> SolverStats:
        """What was done so far."""
        ...

    @property
    def strategies(self) -> Strategies | None:
        """What the next move's solver starts from (:attr:`SearchState.strategies`); None: nothing."""
        ...

    def improve(self) -> Profile:
        """A profile for the trunk as it stands: one exact solve, or some iterations. One that is not ``solved`` ends
        the search.
        """
        ...

    def beside(self) -> None:
        """Go on with the trunk as it stood at the last :meth:`improve` while its next leaves are prepared by another
        thread; nothing of the trunk is written. A solver that has nothing to go on with does nothing.
        """
        ...

    def finish(self) -> Profile:
        """The profile to play by, now that nothing grows any more: what time is left is the solver's."""
        ...


@runtime_checkable
class PonderableRun(SolverRun, Protocol):
    """A solver that goes on after its player's move (:mod:`klss.search.pondering`); its profiles come within
    milliseconds.
    """

    def hold(self, profile: Profile, budget: Budget) -> None:
        """From now on player 0 plays at the roots as in ``profile``, and ``budget`` counts; each :meth:`improve` may
        be the last one, after which the next move's solver carries on.
        """
        ...


class Solver(Protocol):
    """Makes profiles."""

    def begin(self, subgame: Subgame, penalty: Floats | None, budget: Budget) -> SolverRun:
        """Start on a move's trunk; ``penalty`` charges player 0 for each action at the root infoset."""
        ...

    def reserve_s(self, trunk: Trunk, budget: Budget) -> float:
        """Seconds to keep for the next :meth:`SolverRun.improve` on the trunk as it stands."""
        ...


class ExpanderRun(Protocol):
    """An expander at work on one move's trunk."""

    @property
    def iterations(self) -> int:
        """How many rounds there were, the present one included."""
        ...

    def depths(self) -> tuple[int, float]:
        """The largest and the mean depth looked at, in plies."""
        ...

    def grow(self, growth: Growth, profile: Profile, beside: Callable[[], None]) -> bool:
        """Add what ``profile`` asks for, by ``growth`` of the trunk that the run began on; ``beside`` is the solver's
        (:meth:`SolverRun.beside`), to be run once while leaves are prepared
        (:meth:`klss.search.growth.Growth.expand`). False: nothing that could still be grown would matter.
        """
        ...


class Expander(Protocol):
    """Decides which leaves are looked into."""

    def begin(self, growth: Growth) -> ExpanderRun:
        """Expand the roots (one at least, so that player 0 has moves), and what else is wanted before the first
        profile.
        """
        ...


class Choice(Protocol):
    """Decides what is played."""

    def play(self, probabilities: Floats, profile: Profile, supports: Sequence[Bools]) -> Floats:
        """Probabilities to draw the move by.

        Parameters
        ----------
        probabilities : float64[n]
            The last profile's strategy at player 0's infoset.
        profile : Profile
        supports : sequence of bool[n]
            Which actions each round's profile played, the first one's first.

        Returns
        -------
        float64[n]
            Sums to 1.
        """
        ...


@dataclass(frozen=True)
class Parts:
    """One of each."""

    builder: Builder
    solver: Solver
    expander: Expander
    choice: Choice


class SearchConfigurationError(KlssError, ValueError):
    """A field's value makes no sense; the message says which field, what it is, and what is expected."""


def at_least_one(field: str, value: int) -> None:
    """Refuse a count below 1."""
    if value < 1:
        raise SearchConfigurationError(f"{field} is {value}, expected 1 or more")


@dataclass(frozen=True, kw_only=True)
class SearchConfiguration:
    """The choices of one search: a frozen dataclass of fields, and the parts that they make.

    Attributes
    ----------
    particles : int
        L: sample the belief up to this many roots.
    information : float
        M: denominator of the information penalty; infinite: none.
    memory_mb : int
        The trunk stops growing (the game goes on) when it and its programs are estimated at so many megabytes.
    """

    particles: int = 200
    information: float = 1e7
    memory_mb: int = 4096

    def __post_init__(self) -> None:
        """Refuse numbers that make no sense."""
        for field in ("particles", "memory_mb"):
            at_least_one(field, getattr(self, field))
        if not self.information > 0.0:
            raise SearchConfigurationError(
                f"information is {self.information}, expected a number above 0, inf for none"
            )

    @property
    def ponders(self) -> bool:
        """Whether its solver is a :class:`PonderableRun` one, so that its searches can go on in the opponent's time."""
        return False

    def parts(self) -> Parts:
        """New parts, for one game."""
        raise NotImplementedError(f"{type(self).__name__} puts no parts together; use one that does")
