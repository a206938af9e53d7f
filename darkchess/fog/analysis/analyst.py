"""What the engine thinks at one turn of a player, from its views alone: the possible positions, the mixed strategy, the
value of each move, and the lines that it expects.

Stands on the player's side of the wall: nothing here knows a true game. :mod:`darkchess.fog.analysis.once_over`
compares with it.

The search is the player's own (:class:`klss.search.Search` on its exact position set, with the weights that its
configuration asks for), with three differences. Weights are computed without a time limit. It begins with a new trunk,
where in a game the trunk of the moves before would have been carried on. And it is made where the player needs none (a
king to capture, a single move) as well, so that every move has a value. A king that can be captured is captured all the
same, as the player does: a search does not prefer that where the game is all but won without it.

Values of moves: :mod:`klss.search.root_values`. Lines: :mod:`darkchess.fog.analysis.principal_lines`. Beliefs:
:mod:`darkchess.fog.belief.marginals`, :mod:`darkchess.fog.analysis.believed`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, Literal

import chess
import numpy as np

from darkchess.board.move import decode, encode
from darkchess.board.position import Position
from darkchess.errors import DarkchessError
from darkchess.evaluation.evaluator import BuiltinEvaluator, Evaluator
from darkchess.fog.analysis.believed import MOST_LIKELIEST, Believed, ViewInformation, believed
from darkchess.fog.analysis.principal_lines import Line, LineMove, principal_lines
from darkchess.fog.belief.filter import Filter
from darkchess.fog.belief.marginals import Marginals, marginals
from darkchess.fog.belief.policy import Policy
from darkchess.fog.belief.position_set import PositionSet
from darkchess.fog.belief.weights import Belief
from darkchess.fog.game.contest import is_loud, king_capture
from darkchess.fog.game.rules import PAPER, Ruleset
from darkchess.fog.game.san import san
from darkchess.fog.game.view import View
from darkchess.fog.players.configuration import CONFIGURATIONS, Configuration
from darkchess.fog.players.model import DarkChess, PositionBelief
from klss.search import Result, Search
from klss.search.profile import Profile
from klss.search.root_values import RootValues, root_values
from klss.search.trunk import Trunk
from klss.support.arrays import Floats
from klss.table.limits import Limit, Progress
from klss.table.time_plan import TimePlan

__all__ = ["Analysis", "AnalysisError", "Analyst", "MoveValue"]

_LINES = 3
"""Lines that are shown, of the moves that are played most."""


class AnalysisError(DarkchessError, ValueError):
    """An analysis was asked for where the player has no move to make; the message says what, got, expected."""


@dataclass(frozen=True)
class MoveValue:
    """One of the player's moves: its probability in the mixture, and its value (None: the search was too short)."""

    move: chess.Move
    san: str
    probability: float
    value: float | None


@dataclass(frozen=True)
class Analysis:
    """What the engine thinks at one turn.

    Attributes
    ----------
    view
        What the player sees there.
    positions
        Number of possible positions.
    capped_by
        None where they are all that agree with the player's views; else why they are a sample.
    marginals
        Which piece stands where in them, and how likely.
    belief
        What weighs them in that.
    value
        The profile's value for the player; None where the search was too short to say.
    moves
        All legal moves, the most played first, then the most valuable.
    lines
        What the player expects after the first of them.
    diagnostics
        The search's, as in the engine protocol.
    trunk, profile
        The search that all this was read from.
    """

    view: View
    positions: int
    capped_by: Literal["cap", "time"] | None
    marginals: Marginals
    belief: Belief
    value: float | None
    moves: tuple[MoveValue, ...]
    lines: tuple[Line, ...]
    diagnostics: dict[str, Any]
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
        """How much less ``move`` is worth than the mixed strategy; None where the search was too short to say."""
        mix = self.mix_value
        value = next((found.value for found in self.moves if found.move == move), None)
        return None if mix is None or value is None else mix - value


def _filtered(configuration: Configuration) -> bool:
    """Whether a player's search asks the filter."""
    return configuration.beliefs is not None and configuration.beliefs.filtered


class Analyst:
    """Follows one player's views through a game and thinks where it is asked to.

    Parameters
    ----------
    view, start, ruleset
        As a player gets them at the start (:class:`darkchess.fog.game.contest.Player`).
    evaluator
        What values positions.
    configuration
        The player's choices, with a search. What they say of carrying a trunk on has no effect.
    seed
        As of :class:`darkchess.fog.players.player.KlssPlayer`.
    belief
        What weighs positions in the marginals and in :meth:`believed`. The search has the weights that its
        configuration asks for, whatever is given here.

    Attributes
    ----------
    position_set
        The possible positions.
    model, quiet
        The game from the player's seat, and the plies since it last observed a pawn move or a capture.
    """

    def __init__(
        self,
        view: View,
        start: Position,
        ruleset: Ruleset = PAPER,
        *,
        evaluator: Evaluator,
        configuration: Configuration = CONFIGURATIONS["klss2021"],
        seed: int = 0,
        belief: Belief = "uniform",
    ) -> None:
        self._configuration = configuration
        self._evaluator = evaluator
        self._seed = seed
        self.model = DarkChess(view.color, ruleset, evaluator)
        self._views = [view]
        self.quiet = 0
        self._belief: Belief = belief
        # A filter goes along with the set wherever the belief or the search asks for its weights.
        threads = configuration.threads
        filtered = belief == "filter" or _filtered(configuration)
        weigher = Filter(Policy.packaged(), BuiltinEvaluator(threads=threads)) if filtered else None
        self.position_set = PositionSet(view, start, cap=configuration.cap, seed=seed, threads=threads, weigher=weigher)
        self._information: list[ViewInformation] = []
        evaluator.new_game()

    @property
    def view(self) -> View:
        """The last view."""
        return self._views[-1]

    def observe(self, view: View) -> None:
        """Take in what is seen after a ply. The position set is brought up to date without a deadline."""
        # The fall of the filter's total weight is the view's probability, unless the filter had to start again.
        weigher = self.position_set.weigher
        before = None if weigher is None else (weigher.log_total, weigher.restarts)
        self.position_set.observe(view)
        if weigher is not None and before is not None and weigher.restarts == before[1]:
            own = None if view.own_move is None else san(self.view, view.own_move)
            bits = max(0.0, (before[0] - weigher.log_total) / math.log(2.0))
            self._information.append(ViewInformation(view.ply, own, bits))
        # Quiet plies as the player counts them.
        self.quiet = 0 if is_loud(self.view, view) else self.quiet + 1
        self._views.append(view)

    @property
    def weights(self) -> Floats | None:
        """How likely each position is by the belief, at a turn of the player: float64[size], summing to 1; None: all
        are alike.
        """
        return self.position_set.weights if self._belief == "filter" else None

    def believed(self, count: int = MOST_LIKELIEST) -> Believed:
        """What the belief amounts to, with the ``count`` likeliest positions; it has to be the player's turn."""
        views = None if self.position_set.weigher is None else self._information
        return believed(self.position_set, self._belief, self.weights, views, count)

    def search(
        self, limit: Limit, configuration: Configuration | None = None, progress: Progress | None = None
    ) -> tuple[Search, Result]:
        """Search with a new trunk; it has to be the player's turn.

        Parameters
        ----------
        limit
            Of the search alone; the position set is there already.
        configuration
            With the search; None: the analyst's own. Where it asks the filter, the analyst's own has to ask it too, or
            the analyst's belief has to be the filter.
        progress
            As in :meth:`darkchess.fog.game.contest.Player.choose`.

        Returns
        -------
        tuple of Search and Result
            The search, which has the trunk, and the mixed strategy.

        Raises
        ------
        AnalysisError
            The player has no move to make here.
        """
        # Only where there is something to choose.
        view = self.view
        if view.to_move != view.color or view.game_over is not None or not view.legal_moves:
            raise AnalysisError(
                f"analysis: got ply {view.ply}, where {chess.COLOR_NAMES[view.color]} has no move to make; expected a "
                "turn of that player"
            )
        chosen = configuration or self._configuration
        assert chosen.search is not None
        # As a player's search, but for the trunk, which is new.
        search = Search(self.model, chosen.search, seed=self._seed)
        plan = TimePlan(limit)
        self.model.deadline = plan.deadline
        history = np.array([int(each.key()) for each in self._views], dtype=np.uint64)
        belief = PositionBelief(self.position_set, self.model, self.quiet, _filtered(chosen))
        result = search.search(belief, plan.budget(), history=history, progress=progress)
        self.model.deadline = None
        return search, result

    def think(self, limit: Limit, *, particles: int | None = None, progress: Progress | None = None) -> Analysis:
        """What the engine thinks now; it has to be the player's turn.

        Parameters
        ----------
        limit
            Of the search alone; the position set is there already.
        particles
            Take at most so many, where the configuration takes more.
        progress
            As in :meth:`darkchess.fog.game.contest.Player.choose`.

        Raises
        ------
        AnalysisError
            The player has no move to make here.
        """
        # The search, perhaps with fewer particles than the player takes.
        configuration = self._configuration
        assert configuration.search is not None
        if particles is not None:
            fewer = replace(configuration.search, particles=min(particles, configuration.search.particles))
            configuration = replace(configuration, search=fewer)
        search, result = self.search(limit, configuration, progress)
        # Values of the moves in the solved trunk; a king that can be captured is captured.
        view = self.view
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
            lines = [Line((LineMove(taking, san(view, taking), True, 1.0),))]
        return Analysis(
            view=view,
            positions=self.position_set.size,
            capped_by=self.position_set.capped_by,
            marginals=marginals(self.position_set, self.weights),
            belief=self._belief,
            value=value if math.isfinite(value) else None,
            moves=tuple(moves),
            lines=tuple(lines),
            diagnostics=result.report.diagnostics(),
            trunk=trunk,
            profile=profile,
        )
