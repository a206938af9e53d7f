"""A whole game, turn by turn: what the engine thinks at each from the mover's views, and what the move gave away.

Stands on the referee's side of the wall: it replays the true game for two analysts, each of which gets one player's
views (:mod:`darkchess.fog.analysis.analyst`) and depends on no more. :meth:`Turn.true_value` and
:meth:`Turn.turned_out` alone look at the truth, which separates luck from error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import chess
import numpy as np

from darkchess.board.position import Position
from darkchess.evaluation.evaluator import Evaluator
from darkchess.fog.analysis.analyst import Analysis, Analyst
from darkchess.fog.game.referee import Referee
from darkchess.fog.game.san import san
from darkchess.fog.players.configuration import Configuration
from klss.table.limits import Limit

__all__ = ["Loss", "Turn", "turns"]

_NODES_A_ROOT = 80
"""Nodes for each particle of a quick search, so that every root is expanded and some budget is left."""

_LEAST_PARTICLES = 10
"""Particles of the quickest search: with fewer, moves' values depend on which positions were sampled."""


@dataclass(frozen=True)
class Loss:
    """What one move gave away.

    Attributes
    ----------
    ply
        Half-moves before it.
    color
        The mover.
    move, san
        The move.
    loss
        Value of the engine's mixed strategy less that of the move, by a quick search from the mover's views; None where
        that was too short to say.
    best, best_san, probability
        The move that the engine plays most there, and how often.
    played
        How often it plays the move itself.
    """

    ply: int
    color: chess.Color
    move: chess.Move
    san: str
    loss: float | None
    best: chess.Move
    best_san: str
    probability: float
    played: float


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
        What was played.
    analysis
        What the engine thinks there, from the mover's views.
    analysts
        One for each side, with the views of its player up to here; they go on with the next turn.
    evaluator
        Of the mover's analyst.
    """

    ply: int
    position: Position
    move: chess.Move
    analysis: Analysis
    analysts: Mapping[chess.Color, Analyst]
    evaluator: Evaluator

    def loss(self) -> Loss:
        """What the move gave away, over the positions that were possible for the mover."""
        # The engine's moves come the most played first; the game's is one of them.
        best = self.analysis.moves[0]
        played = next(each for each in self.analysis.moves if each.move == self.move)
        return Loss(
            self.ply,
            self.position.turn,
            self.move,
            san(self.position, self.move),
            self.analysis.loss(self.move),
            best.move,
            best.san,
            best.probability,
            played.probability,
        )

    def true_value(self) -> float:
        """Value of the true position for White, by the evaluator: in [−1, 1]."""
        value = float(self.evaluator.values(self.position.row[None, :])[0])
        return value if self.position.turn == chess.WHITE else -value

    def turned_out(self) -> float:
        """Value of the move on the true board, by the evaluator, less that of the mixed strategy: in [−2, 2], positive
        where the mover was lucky. No player could have known it.
        """
        # The true positions after all moves, valued for the mover; a king that falls is worth 1 whatever is said of it.
        moves = [each.move for each in self.analysis.moves]
        after = [self.position.after(move) for move in moves]
        rows = np.array([each.row for each in after])
        offsets = np.array([0, len(rows)], dtype=np.int64)
        values = -self.evaluator.child_values(self.position.row[None, :], offsets, rows)
        taken = np.array([each.king(not self.position.turn) is None for each in after])
        values = np.where(taken, 1.0, values)
        # Less what the mixture is worth there.
        mix = np.array([each.probability for each in self.analysis.moves])
        return float(values[moves.index(self.move)] - values @ mix / mix.sum())


def turns(
    game: Referee,
    make_evaluator: Callable[[], Evaluator],
    *,
    configuration: Configuration,
    limit: Limit,
    seed: int = 0,
    first: int = 0,
) -> Iterator[Turn]:
    """Every turn of a game, in its order.

    Parameters
    ----------
    game
        The game; its moves up to where it ended.
    make_evaluator
        Makes the evaluator of one side; it is closed here.
    configuration, seed
        As of :class:`darkchess.fog.analysis.analyst.Analyst`.
    limit
        Of the search at each turn. With nodes nothing reads a clock, and it takes fewer particles than
        ``configuration`` where nodes are few.
    first
        The first turn that is wanted. Those before are observed and not searched. Every search begins with a new trunk,
        so that with nodes the others are the same to the last bit.
    """
    # A particle whose root is not expanded says nothing: fewer nodes, fewer particles.
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
