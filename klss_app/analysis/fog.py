"""The record of each turn of a game of Fog of War (:mod:`darkchess.fog.analysis.whole_game`)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import chess

from darkchess.evaluation.registry import EvaluatorChoice
from darkchess.fog.analysis import whole_game
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
    """The record of every turn of ``game``; each side's set has at most ``cap`` positions."""
    evaluator = partial(make_evaluator, chosen, choice, game.ruleset)
    chosen = replace(chosen, cap=min(chosen.cap, cap))
    return map(_record, whole_game.turns(game, evaluator, configuration=chosen, limit=limit, seed=seed))


def _record(turn: whole_game.Turn) -> dict[str, Any]:
    """The record of a turn.

    ``positions``: the number in each side's position set, and whether that is a sample; ``beliefs``: for both sides,
    square by square, the enemy's pieces and the probability of each, by the learned filter if the configuration has
    one; ``value`` for the mover; ``truth``, the value of the true position for White; ``moves`` of the mixture;
    ``tries``, SAN and cost of every move; ``lines`` in SAN; ``played`` with its ``loss`` over the player's position
    set, and ``turned``, its luck; ``best``.
    """
    analysis, played = turn.analysis, turn.played
    loss, best = analysis.loss(turn.move), analysis.moves[0]
    sets = {color: analyst.position_set for color, analyst in turn.analysts.items()}
    shown = [each for each in analysis.moves if each.probability >= LEAST_SHOWN][:MOST_MOVES]
    return {
        "ply": turn.ply,
        "color": chess.COLOR_NAMES[analysis.view.color],
        "positions": {
            chess.COLOR_NAMES[color]: [found.size, found.capped_by is not None] for color, found in sets.items()
        },
        "beliefs": {chess.COLOR_NAMES[color]: _belief(found) for color, found in sets.items()},
        "value": rounded(analysis.value),
        "truth": rounded(turn.true_value()),
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
            "turned": rounded(turn.luck()),
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
