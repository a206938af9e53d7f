"""``kluss-oracle``: ``kluss-value`` with the true position among its roots, at a prior that is given; what it gains on
``kluss-value`` is the headroom of a better belief.

It stands on the referee's side of the wall: it is handed the :class:`darkchess.game.referee.Referee` itself, is no
named configuration (:data:`darkchess.players.configuration.CONFIGURATIONS`), and only matches that ask for it
(``klss match --allow-cheat``, ``experiments.headroom``) may have it. All else is as in ``kluss-value``: her position
set is that of her views, and only the roots of her search, and how they are weighed, tell that she knows more.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Final, TypeGuard

import chess
import numpy as np

from darkchess.board.position import Position
from darkchess.evaluation.evaluator import Evaluator
from darkchess.game.referee import Referee
from darkchess.game.rules import PAPER, Ruleset
from darkchess.players import configuration as named
from darkchess.players.configuration import Configuration
from darkchess.players.model import DarkChess
from darkchess.players.player import KlssPlayer
from darkchess.players.tracking import started
from darkchess.warm_up import warm_up
from klss.arrays import States
from klss.search import Kluss, SearchConfigurationError
from klss.search.likelihood.oracle import Oracle
from klss.search.parts import Likelihood
from uci_bridge.evaluators import EvaluatorChoice, make_evaluator

__all__ = [
    "ORACLE", "KlussOracle", "OracleMaker", "OraclePlayer", "ToldOracle", "configuration", "sees_truth", "true_state",
]  # fmt: skip

ORACLE: Final = "kluss-oracle"
"""Its name; fields may follow: ``kluss-oracle,prior=0.4,order=1``."""


@dataclass(frozen=True, kw_only=True)
class KlussOracle(Kluss):
    """``kluss-value``, and what the truth weighs. By itself it has no parts: whoever plays it has to be told the truth.

    Attributes
    ----------
    prior : float
        Of player 1's root infoset that holds the true position, from 0 to 1. ``root="maxmargin"`` asks for no prior.
    """

    prior: float = 0.1

    def __post_init__(self) -> None:
        """Refuse numbers that make no sense."""
        super().__post_init__()
        if not 0.0 <= self.prior <= 1.0:
            raise SearchConfigurationError(f"prior is {self.prior}, expected a number from 0 to 1")

    def likelihood(self) -> Likelihood:
        """Refused: nobody has told it the truth."""
        raise SearchConfigurationError(f"{ORACLE} sees the true game; expected a referee's side to play it on")


@dataclass(frozen=True, kw_only=True)
class ToldOracle(KlussOracle):
    """One that was told.

    Attributes
    ----------
    truth, identities : callable
        See :class:`klss.search.likelihood.oracle.Oracle`.
    """

    truth: Callable[[], States]
    identities: Callable[[States], States]

    def likelihood(self) -> Likelihood:
        """See :class:`klss.search.kluss.Kluss`."""
        return Oracle(Kluss.likelihood(self), self.prior, self.truth, self.identities)


def true_state(model: DarkChess, position: Position, quiet: int) -> States:
    """``position`` as the states of a search have it, ``quiet`` plies after its player last saw a pawn move or a
    capture: uint64[1, w].
    """
    row = model.identities(np.array(position.row)[None])  # no quiet plies, as in a position set
    return model.states(row, quiet)


class OraclePlayer(KlssPlayer):
    """A player of :class:`darkchess.game.arbiter.Arbiter`'s that looks at the true game; one for one game.

    Parameters
    ----------
    referee : Referee
        The game it plays in.
    evaluator : Evaluator
    search : KlussOracle
    seed, cap, threads
        See :class:`darkchess.players.player.KlssPlayer`.
    """

    def __init__(
        self,
        referee: Referee,
        evaluator: Evaluator,
        search: KlussOracle,
        *,
        seed: int = 0,
        cap: int = 10_000_000,
        threads: int = 1,
    ) -> None:
        self._referee = referee
        told = ToldOracle(**asdict(search), truth=self._truth, identities=self._identities)
        super().__init__(evaluator, told, seed=seed, cap=cap, threads=threads)

    def _truth(self) -> States:
        """The true position as the search's own states have it."""
        thinking = started(self._thinking)
        return true_state(thinking.model, self._referee.position, thinking.quiet)

    def _identities(self, states: States) -> States:
        return started(self._thinking).model.identities(states)


_NAMED = Configuration(ORACLE, ORACLE, search=KlussOracle())


def configuration(text: str) -> Configuration:
    """The configuration that ``text`` describes: ``kluss-oracle`` too, beside those that
    :func:`darkchess.players.configuration.configuration` knows.

    Raises
    ------
    ConfigurationError
        See there.

    Examples
    --------
    >>> configuration("kluss-oracle,prior=0.4").fields()["prior"]
    0.4
    """
    return named.configuration(text, named.CONFIGURATIONS | {ORACLE: _NAMED})


def sees_truth(spec: object) -> TypeGuard[Configuration]:
    """Whether that is a configuration of ``kluss-oracle``."""
    return isinstance(spec, Configuration) and spec.player == ORACLE


class OracleMaker:
    """Makes the players of one configuration, game after game; see :class:`uci_bridge.players.PlayerMaker`.

    Parameters
    ----------
    chosen
        Of ``kluss-oracle``.
    choice, ruleset
        See :func:`uci_bridge.evaluators.make_evaluator`.
    """

    def __init__(self, chosen: Configuration, choice: EvaluatorChoice, ruleset: Ruleset = PAPER) -> None:
        assert isinstance(chosen.search, KlussOracle)
        self._chosen, self._search = chosen, chosen.search
        self._evaluator = make_evaluator(chosen, choice, ruleset)

    def make(self, seed: int, referee: Referee) -> OraclePlayer:
        """A player of ``referee``'s game."""
        chosen = self._chosen
        return OraclePlayer(referee, self._evaluator, self._search, seed=seed, cap=chosen.cap, threads=chosen.threads)

    def warm_up(self, color: chess.Color) -> None:
        """Load what a player needs before time counts: in a game that nobody sees, so it is ``kluss`` who plays it."""
        warm_up(KlssPlayer(self._evaluator, Kluss(), threads=self._chosen.threads), color)

    def close(self) -> None:
        """End the evaluator."""
        self._evaluator.close()
