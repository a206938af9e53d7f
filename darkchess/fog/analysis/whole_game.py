"""A whole game, turn by turn: the engine's analysis of each from the mover's views, and the luck of the move.

This is on the referee's side: it replays the true game for two analysts, each of which gets one player's views
(:mod:`darkchess.fog.analysis.analyst`) and nothing else. Only :meth:`Turn.true_value` and :meth:`Turn.luck` use the
true position.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import chess
import numpy as np

from darkchess.board.move import encode
from darkchess.board.position import Position
from darkchess.evaluation.evaluator import Evaluator
from darkchess.fog.analysis.analyst import Analysis, Analyst, MoveValue
from darkchess.fog.game.referee import Referee
from darkchess.fog.players.named_fog_players import Configuration
from klss.play.limits import Limit

_NODES_A_ROOT = 80
"""Nodes for each particle of a quick search, so that every root is expanded and some budget is left."""

_LEAST_PARTICLES = 10
"""Particles of the quickest search: with fewer, the moves' values depend on which positions were sampled."""


_MOST_VALUED = 256
"""Most possible positions over which luck values each move; of a larger set as many are drawn."""


@dataclass(frozen=True)
class Turn:
    """One turn of a game.

    Attributes
    ----------
    ply
        Half-moves before it.
    position
        The true position.
    move
        The move that was played.
    analysis
        The engine's analysis of the turn, from the mover's views.
    analysts
        One for each side, with its player's views up to here; they are updated at the next turn.
    evaluator
        The evaluator of the mover's analyst.
    """

    ply: int
    position: Position
    move: chess.Move
    analysis: Analysis
    analysts: Mapping[chess.Color, Analyst]
    evaluator: Evaluator

    @property
    def played(self) -> MoveValue:
        """The move that was played, with its probability and value; ``analysis.moves[0]`` is the engine's."""
        return next(each for each in self.analysis.moves if each.move == self.move)

    def true_value(self) -> float:
        """Return the value of the true position for White, by the evaluator: in [−1, 1]."""
        value = float(self.evaluator.values(self.position.row[None, :])[0])
        return value if self.position.turn == chess.WHITE else -value

    def luck(self) -> float:
        """Return the luck of the move: its value on the true board less its mean over the possible positions, less the
        same of the mixed strategy, by the evaluator. In [−4, 4], positive if the mover was lucky. Its mean over the
        possible positions is 0; so it is 0 if only one position was possible.
        """
        analyst = self.analysts[self.position.turn]
        rows, weights = analyst.possible(_MOST_VALUED)
        values = analyst.move_values(np.concatenate([self.position.row[None, :], rows]))
        gain = dict(zip(analyst.move_codes, values[0] - weights @ values[1:], strict=True))
        mix = sum(each.probability for each in self.analysis.moves)
        chosen = sum(each.probability * gain[encode(each.move)] for each in self.analysis.moves) / mix
        return float(gain[encode(self.move)] - chosen)


def turns(
    game: Referee,
    make_evaluator: Callable[[], Evaluator],
    *,
    configuration: Configuration,
    limit: Limit,
    seed: int = 0,
    first: int = 0,
) -> Iterator[Turn]:
    """Yield every turn of a game, in order.

    Parameters
    ----------
    game
        The game; its moves are analysed up to its end.
    make_evaluator
        Makes the evaluator of one side, which is closed here.
    configuration, seed
        As for :class:`darkchess.fog.analysis.analyst.Analyst`.
    limit
        The limit of the search at each turn. With nodes nothing reads a clock; few nodes mean fewer particles than in
        ``configuration``.
    first
        The first turn that is wanted. Earlier ones are observed, but not searched. Every search begins with a new
        trunk, so that with nodes the other turns are the same to the last bit.
    """
    # A particle whose root is not expanded tells nothing: so fewer nodes mean fewer particles.
    particles = None if limit.nodes is None else max(_LEAST_PARTICLES, limit.nodes // _NODES_A_ROOT)
    evaluators = {color: make_evaluator() for color in chess.COLORS}
    try:
        analysts = {
            color: Analyst(
                game.views(color)[0],
                game.positions[0],
                game.ruleset,
                evaluator=evaluators[color],
                configuration=configuration,
                seed=seed,
            )
            for color in chess.COLORS
        }
        # At each turn its analyst thinks; then both observe the move that was played.
        for ply, move in enumerate(game.moves):
            color = game.positions[ply].turn
            if ply >= first:
                analysis = analysts[color].think(limit, particles=particles)
                yield Turn(ply, game.positions[ply], move, analysis, analysts, evaluators[color])
            for each, analyst in analysts.items():
                view = game.views(each)[ply + 1]
                if view.game_over is None:
                    analyst.observe(view)
    finally:
        for evaluator in evaluators.values():
            evaluator.close()
