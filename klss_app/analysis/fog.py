"""The record of each turn of a game of Fog of War, by an analyst a side (:mod:`darkchess.fog.analysis.analyst`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing
from dataclasses import replace
from typing import Any

import chess

from darkchess.evaluation.evaluator import Evaluator
from darkchess.evaluation.registry import EvaluatorChoice
from darkchess.fog.analysis.analyst import Analysis, Analyst
from darkchess.fog.analysis.once_over import luck
from darkchess.fog.belief.marginals import marginals
from darkchess.fog.belief.position_set import PositionSet
from darkchess.fog.game.record import read_pgn
from darkchess.fog.game.referee import Referee
from darkchess.fog.game.rules import ruleset
from darkchess.fog.players.named_fog_players import Configuration, configuration
from klss.play.limits import Limit
from klss_app.analysis.summaries import CAP, LEAST_SHOWN, MOST_MOVES, likely, mark, rounded
from uci_bridge.bot.true_game import replayed
from uci_bridge.evaluators import make_evaluator

_NODES_A_ROOT = 80
"""Nodes for each particle of a quick search, so that every root is expanded and some budget is left."""

_LEAST_PARTICLES = 10
"""Particles of the quickest search: with fewer, the moves' values depend on which positions were sampled."""

__all__ = ["analysable", "configuration", "read", "turns"]


def analysable(chosen: Configuration) -> bool:
    """Whether a player can analyse: it solves for a mixed strategy."""
    return chosen.search is not None


def read(text: str, rules: str) -> Referee:
    """The game of a PGN, under a ruleset."""
    return replayed(read_pgn(text)[0], ruleset(rules))


def turns(
    game: Referee, chosen: Configuration, choice: EvaluatorChoice, limit: Limit, *, seed: int = 0, cap: int = CAP
) -> Iterator[dict[str, Any]]:
    """The record of every turn of ``game``, by a search with a new trunk each; each side's set has at most ``cap``
    positions. With nodes nothing reads a clock.
    """
    chosen = replace(chosen, cap=min(chosen.cap, cap))
    # A particle whose root is not expanded tells nothing: so fewer nodes mean fewer particles.
    particles = None if limit.nodes is None else max(_LEAST_PARTICLES, limit.nodes // _NODES_A_ROOT)
    with ExitStack() as stack:
        evaluators = {
            color: stack.enter_context(closing(make_evaluator(chosen, choice, game.ruleset))) for color in chess.COLORS
        }
        analysts = {
            color: Analyst(
                game.views(color)[0],
                game.positions[0],
                game.ruleset,
                evaluator=evaluator,
                configuration=chosen,
                seed=seed,
            )
            for color, evaluator in evaluators.items()
        }
        # At each turn its analyst thinks; then both observe the move that was played.
        for ply in range(len(game.moves)):
            analysis = analysts[game.positions[ply].turn].think(limit, particles=particles)
            yield _record(game, ply, analysis, analysts, evaluators[game.positions[ply].turn])
            for color, analyst in analysts.items():
                view = game.views(color)[ply + 1]
                if view.game_over is None:
                    analyst.observe(view)


def _record(
    game: Referee, ply: int, analysis: Analysis, analysts: Mapping[chess.Color, Analyst], evaluator: Evaluator
) -> dict[str, Any]:
    """The record of a turn.

    ``positions``: the number in each side's position set, and whether that is a sample; ``beliefs``: for both sides,
    square by square, the enemy's pieces and the probability of each, by the learned filter if the configuration has
    one; ``value`` for the mover; ``truth``, the value of the true position for White; ``moves`` of the mixture;
    ``tries``, SAN and cost of every move; ``lines`` in SAN; ``played`` with its ``loss`` over the player's position
    set, and ``turned``, its luck; ``best``.
    """
    position, move, best = game.positions[ply], game.moves[ply], analysis.moves[0]
    played, loss = next(each for each in analysis.moves if each.move == move), analysis.loss(move)
    truth = float(evaluator.values(position.row[None, :])[0])
    sets = {chess.COLOR_NAMES[color]: each.position_set for color, each in analysts.items()}
    shown = [each for each in analysis.moves if each.probability >= LEAST_SHOWN][:MOST_MOVES]
    return {
        "ply": ply,
        "color": chess.COLOR_NAMES[position.turn],
        "positions": {side: [found.size, found.capped_by is not None] for side, found in sets.items()},
        "beliefs": {side: _belief(found) for side, found in sets.items()},
        "value": rounded(analysis.value),
        "truth": rounded(truth if position.turn else -truth),
        "moves": [
            {"move": each.move.uci(), "san": each.san, "p": round(each.probability, 4), "value": rounded(each.value)}
            for each in shown
        ],
        "tries": {each.move.uci(): [each.san, rounded(analysis.loss(each.move))] for each in analysis.moves},
        "lines": [[each.san for each in line] for line in analysis.lines],
        "played": {
            "san": played.san,
            "p": round(played.probability, 4),
            "loss": rounded(loss),
            "mark": mark(loss),
            "turned": rounded(luck(position, move, analysis, analysts[position.turn])),
        },
        "best": {"san": best.san, "p": round(best.probability, 4)},
    }


def _belief(known: PositionSet) -> dict[str, dict[str, float]]:
    """Probability of each enemy piece on each square that is not seen."""
    found = marginals(known, known.weights)
    return {
        chess.SQUARE_NAMES[square]: likely(pieces)
        for square in chess.SQUARES
        if not known.view.sees(square) and (pieces := found.at(square))
    }
