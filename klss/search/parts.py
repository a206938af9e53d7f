"""The parts of a search: small protocols, each with one place for its implementations. The loop
(:mod:`klss.search.search`) uses only these; a configuration (:class:`SearchConfiguration`) combines one of each.

========== ================================== ====================================================
part       provides                           implementations
========== ================================== ====================================================
builder    the next move's subgame            :mod:`klss.search.subgame`
likelihood how roots are drawn and weighed    :mod:`klss.search.likelihood`
solver     both players' plans on a trunk     :mod:`klss.search.equilibrium`
expander   the trunk's growth                 :mod:`klss.search.expansion`
choice     what is played of the mixture      :mod:`klss.search.choice`
========== ================================== ====================================================

Builder, solver, expander and choice are made once a game and may keep state between moves; the state of one move is in
what ``begin`` returns. The likelihood belongs to the builder.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Protocol, runtime_checkable

import numpy as np

from klss.search.budget import Budget
from klss.search.growth import Growth
from klss.search.model import Belief, Drawn, Model
from klss.search.profile import Profile
from klss.search.trunk import Trunk
from klss.search.utilities import Utilities
from klss.support.arrays import Bools, Floats, Ints, States
from klss.support.configuration_text import check_ranges

Strategies = tuple[Floats, Floats]
"""Both players' behaviour strategies: the probability of each sequence's last action at its infoset."""


@dataclass(frozen=True)
class SearchState:
    """State of a search between two moves."""

    trunk: Trunk  # the last one
    profile: Profile  # on that trunk
    infoset: int  # player 0's present infoset in the trunk; −1: the last observation leads out of it
    strategies: Strategies | None = None  # on the trunk: start of the next move's solver; None: it starts afresh


@dataclass(frozen=True)
class SearchedSubgame:
    """The subgame that is searched for one move."""

    trunk: Trunk
    carried: int  # roots that come from the previous trunk
    sampled: int  # roots that come from the belief
    prior: Floats | None = None  # [J], probability that player 1 reaches each root infoset; None: uniform
    strategies: Strategies | None = None  # as the previous move's solver left them, 0 at sequences that are new
    feared: Bools | None = None  # [J], root infosets to which Maxmargin's share beside nature goes; None: all
    infoset: int = 0  # player 0's present one in the trunk; 0 is that of the roots

    @cached_property
    def utilities(self) -> Utilities:
        """Utilities on the trunk, shared by all parts of the search."""
        return Utilities(self.trunk)


class Builder(Protocol):
    """Builds subgames."""

    def build(
        self, standing: SearchState | None, belief: Belief, model: Model, rng: np.random.Generator, nodes: float
    ) -> SearchedSubgame:
        """Return the subgame of this move. ``standing`` is None at the first move, ``belief`` is not empty, ``nodes``
        is the number of nodes that the search is expected to add.
        """
        ...


class Likelihood(Protocol):
    """How likely each state of the belief is the true one: which states are drawn as roots, and their weights."""

    def sample(self, belief: Belief, count: int, exclude: States, seed: int) -> Drawn:
        """Draw states as :meth:`klss.search.model.Belief.draw` does; by default uniformly."""
        return Drawn.certain(belief.sample(count, exclude, seed))

    def weights(self, belief: Belief, drawn: Drawn, values: Floats) -> Floats:
        """Return the relative weights of the ``drawn`` states, given their estimated utilities for player 0
        (float64[n]): float64[n], not negative, of any scale.
        """
        ...


@dataclass
class SolverStats:
    """A solver's statistics in one move so far."""

    gap: float = 0.0  # the largest saddle gap met
    fallbacks: int = 0  # how often one of its methods failed
    seconds: float = 0.0  # spent in the solver


class SolverRun(Protocol):
    """A solver at work on one move's trunk."""

    @property
    def effort(self) -> SolverStats:
        """Statistics so far."""
        ...

    @property
    def strategies(self) -> Strategies | None:
        """The start of the next move's solver (:attr:`SearchState.strategies`); None: it starts afresh."""
        ...

    def improve(self) -> Profile:
        """Return a profile on the current trunk, by one exact solve or some iterations. A profile that is not
        ``solved`` ends the search.
        """
        ...

    def beside(self) -> None:
        """Go on solving the trunk of the last :meth:`improve` while other threads expand the next leaves. Must not read
        what they write. A solver without anything to continue does nothing.
        """
        ...

    def finish(self) -> Profile:
        """Return the profile to play; called after the last growth. The solver may use all the time that is left."""
        ...


@runtime_checkable
class PonderableRun(SolverRun, Protocol):
    """A solver that can go on after its player's move (:mod:`klss.search.pondering`), since its :meth:`improve` takes
    milliseconds only.
    """

    def go_on(self, profile: Profile, budget: Budget, past: Ints) -> None:
        """Go on with the same trunk at a later move, with ``budget`` from now on. Player 0's strategy at the infosets
        ``past`` (int64[n]) stays that of ``profile``.
        """
        ...

    def hold(self, profile: Profile, budget: Budget) -> None:
        """Fix player 0's strategy at the roots to that of ``profile`` and use ``budget`` from now on. Each later
        :meth:`improve` may be the last one before the next move's solver takes over.
        """
        ...


class Solver(Protocol):
    """Computes profiles."""

    def begin(self, subgame: SearchedSubgame, belief: Belief | None, budget: Budget) -> SolverRun:
        """Start on a move's trunk. A solver may charge player 0 for what an action leaves unknown of ``belief``."""
        ...

    def reserve_s(self, trunk: Trunk, budget: Budget) -> float:
        """Return the seconds to keep for the next :meth:`SolverRun.improve` on the current trunk."""
        ...


class ExpanderRun(Protocol):
    """An expander at work on one move's trunk."""

    @property
    def iterations(self) -> int:
        """Number of rounds, the present one included."""
        ...

    def depths(self) -> tuple[int, float]:
        """Return the largest and the mean depth searched, in plies."""
        ...

    def grow(self, growth: Growth, profile: Profile, beside: Callable[[], None]) -> bool:
        """Expand the leaves that ``profile`` asks for, through ``growth``. ``beside`` is the solver's
        :meth:`SolverRun.beside`, to be run once while leaves are expanded (:meth:`klss.search.growth.Growth.expand`).
        Return False when no leaf that could still be expanded would matter.
        """
        ...


class Expander(Protocol):
    """Chooses the leaves to expand."""

    def begin(self, growth: Growth) -> ExpanderRun:
        """Expand the roots (at least one, so that player 0 has actions), and whatever else the first profile needs."""
        ...


Choice = Callable[[Floats, bool, Sequence[Bools]], Floats]
"""Returns the probabilities by which the move is drawn (float64[n], a sum of 1). Arguments: those of the last profile
at player 0's infoset; its :attr:`~klss.search.profile.Profile.pure`; and which actions each round's profile plays
(bool[n], in the order of the rounds).
"""


@dataclass(frozen=True)
class Parts:
    """One part of each kind."""

    builder: Builder
    solver: Solver
    expander: Expander
    choice: Choice
    # Whether a search goes on in the last trunk as a whole, if that begins at the game's start and has every state of
    # the belief, and what is left may fit into the search: then no subgame is cut out of it, and no gadget is needed.
    # Needs a solver whose runs are :class:`PonderableRun`.
    whole: bool = False


@dataclass(frozen=True, kw_only=True)
class SearchConfiguration:
    """The options of one search, as fields of a frozen dataclass, and the parts that they select."""

    particles: int = 200  # L: sample the belief up to this many roots
    # megabytes at which the trunk stops growing (the game goes on), by an estimate of its size and its programs'
    memory_mb: int = 4096

    RANGES: ClassVar[Mapping[str, tuple[float, float]]] = {
        **dict.fromkeys(("particles", "memory_mb", "max_carried"), (1, math.inf)),
        "value_beta": (0, math.inf), "maxmargin_share": (0, 1), "order": (1, 2), "caution": (1, 1e9),
    }  # fmt: skip
    """The least and the largest allowed value of the fields that a search may have."""

    ponders: ClassVar[bool] = False
    """Whether the solver's runs are :class:`PonderableRun`, so that a search can go on in the opponent's time."""

    def __post_init__(self) -> None:
        """Refuse numbers out of range."""
        check_ranges(self, self.RANGES)

    def parts(self) -> Parts:
        """Return new parts, for one game."""
        raise NotImplementedError(f"{type(self).__name__} puts no parts together; use one that does")
