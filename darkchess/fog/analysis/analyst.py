"""The engine's analysis of one turn of a player, from its views alone: the possible positions, the mixed strategy, the
value of each move, and the lines that it expects.

This is on the player's side: nothing here knows a true game. :mod:`darkchess.fog.analysis.once_over` compares with it.

The search is the player's own (:class:`klss.search.Search` on its exact position set, with the weights of its
configuration), with three differences. Weights are computed without a time limit. The search begins with a new trunk,
while in a game it would carry on the trunk of earlier moves. And it also runs where the player needs no search (a king
to capture, a single move), so that every move has a value. A king that can be captured is always captured, as the
player does, although a search need not prefer that if the game is almost won without it.

Values of moves: :mod:`klss.search.root_values`. Lines: :mod:`darkchess.fog.analysis.principal_lines`. Beliefs:
:mod:`darkchess.fog.belief.marginals`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

import chess
import numpy as np

from darkchess.board.move import decode, encode
from darkchess.board.position import Position
from darkchess.evaluation.evaluator import Evaluator
from darkchess.fog.analysis.principal_lines import Line, LineMove, principal_lines
from darkchess.fog.belief.marginals import Marginals, marginals
from darkchess.fog.game.contest import Setup, king_capture
from darkchess.fog.game.san import san
from darkchess.fog.game.view import View
from darkchess.fog.players.model import DarkChess, PositionBelief
from darkchess.fog.players.named_fog_players import Configuration
from darkchess.fog.players.tracking import TrackingPlayer
from klss.play.limits import Limit
from klss.play.time_plan import TimePlan
from klss.search import Search
from klss.search.growth import Progress
from klss.search.profile import Profile
from klss.search.root_values import RootValues, root_values
from klss.search.trunk import Trunk
from klss.support.arrays import Floats, Words

_LINES = 3
"""Number of lines: those of the moves that are played most."""


@dataclass(frozen=True)
class MoveValue:
    """One of the player's moves: its probability in the mixture, and its value (None: the search was too short)."""

    move: chess.Move
    san: str
    probability: float
    value: float | None


@dataclass(frozen=True)
class Analysis:
    """The engine's analysis of one turn.

    Attributes
    ----------
    view
        The player's view there.
    positions
        Number of possible positions.
    capped_by
        None if these are all that agree with the player's views; else why they are a sample.
    marginals
        Probability of each piece on each square, by the filter.
    value
        The profile's value for the player; None if the search was too short.
    moves
        All legal moves, the most played first, then the most valuable.
    lines
        The lines that the player expects after the first of them.
    diagnostics
        The diagnostics of the search, as in the engine protocol.
    trunk, profile
        The trunk and the profile of the search that all this was read from.
    """

    view: View
    positions: int
    capped_by: Literal["cap", "time"] | None
    marginals: Marginals
    value: float | None
    moves: tuple[MoveValue, ...]
    lines: tuple[Line, ...]
    diagnostics: Mapping[str, object]
    trunk: Trunk
    profile: Profile

    @property
    def mix_value(self) -> float | None:
        """Value of the mixed strategy: the mean of the moves' values, weighted by their probabilities."""
        played = [move for move in self.moves if move.probability > 0.0]
        total = 0.0
        for move in played:
            if move.value is None:
                return None
            total += move.probability * move.value
        return total

    def loss(self, move: chess.Move) -> float | None:
        """Return the value of the mixed strategy less that of ``move``; None if the search was too short."""
        mix = self.mix_value
        value = next((found.value for found in self.moves if found.move == move), None)
        return None if mix is None or value is None else mix - value


class Analyst(TrackingPlayer):
    """Follower of one player's views through a game, which analyses turns on request. Its positions are weighed by the
    filter; the search uses the weights of its configuration.

    Parameters
    ----------
    configuration
        The player's settings, with a search. Settings of the carrying of a trunk have no effect.
    evaluator
        The evaluator of positions.
    seed
        As for :class:`darkchess.fog.players.player.KlssPlayer`.

    Attributes
    ----------
    model
        The game as the player sees it.
    """

    filtered = True

    def __init__(self, configuration: Configuration, evaluator: Evaluator, *, seed: int) -> None:
        super().__init__(seed=seed, cap=configuration.cap, threads=configuration.thread_count)
        self._configuration, self._evaluator = configuration, evaluator

    def begin(self, seat: chess.Color, setup: Setup) -> None:
        super().begin(seat, setup)
        self.model = DarkChess(seat, setup.ruleset, self._evaluator)
        self._evaluator.new_game()

    def possible(self, count: int) -> tuple[Words, Floats]:
        """Return possible positions, as the search weighs them: uint64[n, 9], float64[n] that sum to 1. All of them, or
        ``count`` that are drawn by weight.
        """
        known = self.position_set
        rows, inclusion = known.draw(count, self._seed)
        weights = known.weights[known.indices(rows)] / inclusion
        return rows, weights / weights.sum()

    def think(
        self, limit: Limit, *, particles: int | None = None, other: int = 0, progress: Progress | None = None
    ) -> Analysis:
        """Analyse the present turn, in which the player has a move to make.

        Parameters
        ----------
        limit
            The limit of the search alone, since the position set is already there.
        particles
            Most particles of the search; None: as many as the configuration says.
        other
            Added to the seed, for another search of the same turn.
        progress
            See :data:`klss.search.growth.Progress`.
        """
        view, known, settings = self.view, self.position_set, self._configuration.search
        assert view.to_move == view.color and view.legal_moves and settings is not None
        # As a player's search, but with a new trunk and, if wanted, with fewer particles.
        if particles is not None:
            settings = replace(settings, particles=min(particles, settings.particles))
        search = Search(self.model, settings, seed=self._seed + other)
        plan = TimePlan(limit)
        self.model.deadline = plan.deadline
        history = np.array([int(each.key()) for each in self._views], dtype=np.uint64)
        beliefs = self._configuration.beliefs
        weighted = beliefs is not None and beliefs.belief == "filter"
        belief = PositionBelief(known, self.model, self.quiet, weighted)
        result = search.search(belief, plan.budget(), history=history, progress=progress)
        self.model.deadline = None
        # Values of the moves in the solved trunk; but a king that can be captured is always captured.
        assert search.standing is not None
        trunk, profile = search.standing.trunk, search.standing.profile
        found = root_values(trunk, profile)
        value = result.report.value
        taking = king_capture(view)
        if taking is not None:
            taken = found.actions == encode(taking)
            found = RootValues(found.actions, taken.astype(np.float64), np.where(taken, 1.0, found.values))
            value = 1.0
        # The most played first, then the most valuable.
        moves = sorted(
            (
                MoveValue(decode(code), san(view, decode(code)), probability, None if math.isnan(value) else value)
                for code, probability, value in zip(*(part.tolist() for part in found), strict=True)
            ),
            key=lambda each: (-each.probability, -(each.value or 0.0), encode(each.move)),
        )
        # Lines after the moves that are played most.
        shown = [encode(move.move) for move in moves[:_LINES] if move.probability > 0.0]
        lines = principal_lines(trunk, profile, shown, view.fullmove)
        if taking is not None:
            after = Position(known.rows([0])[0], view.fullmove).after(taking)
            lines = [(LineMove(taking, san(view, taking), True, 1.0, after),)]
        return Analysis(
            view=view,
            positions=known.size,
            capped_by=known.capped_by,
            marginals=marginals(known),
            value=value if math.isfinite(value) else None,
            moves=tuple(moves),
            lines=tuple(lines),
            diagnostics=result.report.diagnostics(),
            trunk=trunk,
            profile=profile,
        )
