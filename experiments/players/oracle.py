"""``kluss-oracle``: ``kluss-value`` with the true position among its roots, at a given prior; its gain over
``kluss-value`` shows the headroom of a better belief.

It is on the referee's side of the wall: it gets the :class:`darkchess.fog.game.referee.Referee` itself
(:class:`uci_bridge.match.engines.Insider`). All else is as in ``kluss-value``: its position set is that of its views;
only the roots of its search, and their weights, depend on the true position.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass

import numpy as np

from darkchess.board.position import Position
from darkchess.evaluation.evaluator import Evaluator
from darkchess.fog.belief.weights import BeliefSettings
from darkchess.fog.game.referee import Referee
from darkchess.fog.players.model import DarkChess
from darkchess.fog.players.player import KlssPlayer
from darkchess.fog.players.tracking import started
from experiments.players.makers import SearchingMaker
from klss.search import Kluss, SearchConfigurationError
from klss.search.model import Belief, Drawn
from klss.search.parts import Likelihood
from klss.support.arrays import Bools, Floats, Ints, States

__all__ = ["KlussOracle", "Oracle", "OracleMaker", "OraclePlayer", "ToldOracle", "true_state"]


@dataclass(frozen=True)
class Oracle(Likelihood):
    """A likelihood that knows the true state: it is among the roots, and player 1's root infoset with it has a given
    prior. The other roots and weights come from another likelihood.

    Attributes
    ----------
    other : Likelihood
        The likelihood of all other roots.
    share : float
        The final prior, from 0 to 1, of the root infosets with the true state together: one infoset, unless player 1
        can have reached that state in several ways.
    truth : callable
        Returns the true state now, uint64[1, w].
    identities : callable
        See :meth:`klss.search.model.Model.identities`.
    """

    other: Likelihood
    share: float
    truth: Callable[[], States]
    identities: Callable[[States], States]

    def sample(self, belief: Belief, count: int, exclude: States, seed: int) -> Drawn:
        """See :class:`klss.search.parts.Likelihood`."""
        return self.other.sample(belief, count, exclude, seed)

    def weights(self, belief: Belief, drawn: Drawn, values: Floats) -> Floats:
        """See :class:`klss.search.parts.Likelihood`."""
        return self.other.weights(belief, drawn, values)

    def roots(self, drawn: Drawn, carried: States) -> Drawn:
        """The drawn roots; if the truth is neither drawn nor carried, it replaces the last one."""
        drawn = self.other.roots(drawn, carried)
        if self._true(drawn.states).any() or self._true(carried).any():
            return drawn
        states = np.concatenate([self.truth(), drawn.states[:-1]])
        return Drawn(states, np.concatenate([[1.0], drawn.inclusion[:-1]]))

    def prior(self, prior: Floats, states: States, group: Ints) -> Floats:
        """See :class:`klss.search.parts.Likelihood`."""
        prior = self.other.prior(prior, states, group)
        holds = np.zeros(len(prior), dtype=np.bool_)
        holds[group[self._true(states)]] = True
        if holds.all() or not holds.any():
            return prior
        return self.share * _among(holds, prior) + (1.0 - self.share) * _among(~holds, prior)

    def _true(self, states: States) -> Bools:
        """Which of ``states`` are the true one."""
        true: Bools = (self.identities(states) == self.identities(self.truth())).all(axis=1)
        return true


def _among(chosen: Bools, prior: Floats) -> Floats:
    """The prior conditioned on the ``chosen`` infosets; uniform over them if it is 0 on all of them."""
    weights = np.where(chosen, prior, 0.0)
    if not weights.sum() > 0.0:
        weights = chosen.astype(np.float64)
    return np.asarray(weights / weights.sum())


@dataclass(frozen=True, kw_only=True)
class KlussOracle(Kluss):
    """``kluss-value`` with the truth's prior. By itself it has no parts: its player has to give it the truth.

    Attributes
    ----------
    prior : float
        Prior of player 1's root infoset with the true position, from 0 to 1. ``root="maxmargin"`` uses no prior.
    """

    prior: float = 0.1

    def __post_init__(self) -> None:
        """Refuse numbers out of range."""
        super().__post_init__()
        if not 0.0 <= self.prior <= 1.0:
            raise SearchConfigurationError(f"prior is {self.prior}, expected a number from 0 to 1")

    def likelihood(self) -> Likelihood:
        """Raise an error, since it does not have the truth; see :class:`ToldOracle`."""
        raise SearchConfigurationError("kluss-oracle sees the true game; expected a referee's side to play it on")


@dataclass(frozen=True, kw_only=True)
class ToldOracle(KlussOracle):
    """A :class:`KlussOracle` that has the truth.

    Attributes
    ----------
    truth, identities : callable
        See :class:`Oracle`.
    """

    truth: Callable[[], States]
    identities: Callable[[States], States]

    def likelihood(self) -> Likelihood:
        """See :class:`klss.search.Kluss`."""
        return Oracle(Kluss.likelihood(self), self.prior, self.truth, self.identities)


def true_state(model: DarkChess, position: Position, quiet: int) -> States:
    """``position`` as a state of a search, ``quiet`` plies after its player last saw a pawn move or a capture:
    uint64[1, w].
    """
    row = model.identities(np.array(position.row)[None])  # no quiet plies, as in a position set
    return model.states(row, quiet)


class OraclePlayer(KlssPlayer):
    """A player of :class:`klss.table.arbiter.Arbiter` that reads the true game; one per game.

    Parameters
    ----------
    referee : Referee
        The game it plays in.
    evaluator : Evaluator
    search : KlussOracle
    beliefs, seed, cap, threads
        See :class:`darkchess.fog.players.player.KlssPlayer`.
    """

    def __init__(
        self,
        referee: Referee,
        evaluator: Evaluator,
        search: KlussOracle,
        *,
        beliefs: BeliefSettings | None = None,
        seed: int = 0,
        cap: int = 10_000_000,
        threads: int = 1,
    ) -> None:
        self._referee = referee
        shown = ToldOracle(**asdict(search), truth=self._truth, identities=self._identities)
        super().__init__(evaluator, shown, beliefs=beliefs, seed=seed, cap=cap, threads=threads)

    def _truth(self) -> States:
        """The true position as a state of the search."""
        thinking = started(self._thinking)
        return true_state(thinking.model, self._referee.position, thinking.quiet)

    def _identities(self, states: States) -> States:
        return started(self._thinking).model.identities(states)


class OracleMaker(SearchingMaker):
    """See :class:`uci_bridge.match.engines.InsiderMaker`."""

    def make(self, seed: int, referee: Referee) -> OraclePlayer:
        """A player of ``referee``'s game."""
        chosen = self._chosen
        assert isinstance(chosen.search, KlussOracle)
        return OraclePlayer(
            referee, self._evaluator, chosen.search, beliefs=chosen.beliefs,
            seed=seed, cap=chosen.cap, threads=chosen.threads,
        )  # fmt: skip
