"""``kluss-contrary`` exploits a learned belief on moves: of the moves that are about as good as its best, it plays the
one that the packaged policy (:mod:`darkchess.fog.belief.policy`) gives the least probability.

This does not make it stronger. It tests players that weigh positions by that policy: their beliefs after its moves are
wrong wherever that costs it nothing (docs/belief.md, "What it may not be trusted with"). It uses its own views only; a
move's probability is the mean over positions of its set.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from darkchess.board.move import decode
from darkchess.fog.belief.policy import Policy
from darkchess.fog.game.contest import king_capture
from darkchess.fog.game.referee import Referee
from darkchess.fog.players.player import KlssPlayer
from darkchess.fog.players.tracking import started
from experiments.players.makers import SearchingMaker
from klss.search import Kluss, SearchConfigurationError
from klss.search.root_values import root_values
from klss.support.arrays import Words
from klss.table.contest import Decision
from klss.table.limits import Limit, Progress

__all__ = ["Contrary", "ContraryMaker", "ContraryPlayer"]

SAMPLE = 24
"""Positions over which a move's probability is averaged."""


@dataclass(frozen=True, kw_only=True)
class Contrary(Kluss):
    """``kluss`` with a margin.

    Attributes
    ----------
    margin : float
        Most value, in [0, 2], by which a move may be worse than its mixture by its own search.
    """

    margin: float = 0.03

    def __post_init__(self) -> None:
        """Refuse numbers out of range."""
        super().__post_init__()
        if not self.margin >= 0.0:
            raise SearchConfigurationError(f"margin is {self.margin}, expected a number from 0 on")

    @property
    def ponders(self) -> bool:
        """False: a search would ponder below the move that it drew, but another one is played."""
        return False


class ContraryPlayer(KlssPlayer):
    """See the module; takes the arguments of :class:`darkchess.fog.players.player.KlssPlayer`, a :class:`Contrary`
    among them.
    """

    def choose(self, limit: Limit, progress: Progress | None = None) -> Decision:
        """See :class:`darkchess.fog.game.contest.Player`."""
        decision = super().choose(limit, progress)
        followed, thinking = self._turn(), started(self._thinking)
        view, standing = followed.views[-1], thinking.search.standing
        if king_capture(view) is not None or len(view.legal_moves) == 1 or standing is None:
            return decision
        assert isinstance(self._configuration, Contrary)
        found = root_values(standing.trunk, standing.profile)
        least = float(np.nansum(found.probabilities * found.values)) - self._configuration.margin
        good = found.actions[found.values >= least]
        if not len(good):
            return decision
        likely = self._likely(followed.up_to_date().sample(SAMPLE, self._seed * 1_000_003 + view.ply))
        move = decode(min(good.tolist(), key=lambda code: (likely[code], code)))
        self.mixture = {move: 1.0}
        return replace(decision, answer=move)

    def _likely(self, rows: Words) -> dict[int, float]:
        """By code of the move: the sum over ``rows`` (uint64[n, 9]) of its probability by the packaged policy."""
        total: dict[int, float] = {}
        for row in rows:
            for code, likelihood in Policy.packaged().likelihoods(row).items():
                total[code] = total.get(code, 0.0) + likelihood
        return total


class ContraryMaker(SearchingMaker):
    """See :class:`uci_bridge.match.engines.InsiderMaker`."""

    def make(self, seed: int, referee: Referee) -> ContraryPlayer:
        """A player of a game; the referee is not used."""
        chosen = self._chosen
        assert isinstance(chosen.search, Contrary)
        return ContraryPlayer(
            self._evaluator, chosen.search, beliefs=chosen.beliefs,
            seed=seed, cap=chosen.cap, threads=chosen.threads,
        )  # fmt: skip
