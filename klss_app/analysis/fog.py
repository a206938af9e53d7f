"""The analysis of a game of Fog of War, by an analyst a side (:mod:`darkchess.fog.analysis.analyst`)."""

from __future__ import annotations

from contextlib import ExitStack, closing
from dataclasses import replace

import chess

from darkchess.evaluation.registry import EvaluatorChoice
from darkchess.fog.analysis.analyst import Analysis as Found
from darkchess.fog.analysis.analyst import Analyst
from darkchess.fog.analysis.because import CLEAR, Reason, reason
from darkchess.fog.analysis.once_over import luck
from darkchess.fog.analysis.principal_lines import Line
from darkchess.fog.belief.marginals import marginals
from darkchess.fog.belief.position_set import PositionSet
from darkchess.fog.game.contest import Setup
from darkchess.fog.game.referee import Referee
from darkchess.fog.game.view import View
from darkchess.fog.players.named_fog_players import Configuration
from klss.play.kit import AnyKit
from klss.play.limits import Limit
from klss_app.analysis.summaries import (
    EXPLAINED,
    LEAST_SHOWN,
    MOST_MOVES,
    Because,
    Belief,
    Step,
    Turn,
    because,
    likely,
    mark,
    rounded,
)
from klss_app.analysis.turns import Analysis
from uci_bridge.evaluators import make_evaluator

_NODES_A_ROOT = 80
"""Nodes for each particle of a quick search, so that every root is expanded and some budget is left."""

_LEAST_PARTICLES = 10
"""Particles of the quickest search: with fewer, the moves' values depend on which positions were sampled."""


class FogAnalysis(Analysis[Configuration, Referee, Setup, View, chess.Move]):
    """A search with a new trunk each turn; beliefs are those of the learned filter if the configuration has one."""

    def __init__(
        self, kit: AnyKit, chosen: Configuration, choice: EvaluatorChoice, setup: Setup, *, seed: int, cap: int
    ) -> None:
        chosen = replace(chosen, cap=min(chosen.cap, cap))
        self._resources = ExitStack()
        self._evaluators = {
            color: self._resources.enter_context(closing(make_evaluator(chosen, choice, setup.ruleset)))
            for color in chess.COLORS
        }
        self._analysts = {color: Analyst(chosen, each, seed=seed) for color, each in self._evaluators.items()}
        for color, analyst in self._analysts.items():
            analyst.begin(color, setup)

    @staticmethod
    def takes(chosen: Configuration) -> bool:
        """Whether the engine solves for a mixed strategy."""
        return chosen.search is not None

    def observe(self, seat: chess.Color, observation: View) -> None:
        self._analysts[seat].observe(observation)

    def think(self, seat: chess.Color, question: str, limit: Limit) -> None:
        self._limit = limit
        self._thought = self._search(seat)

    def _search(self, seat: chess.Color, other: int = 0) -> Found:
        """Think about the present turn; ``other``: which of several searches, with seeds of their own."""
        # A particle whose root is not expanded tells nothing: so fewer nodes mean fewer particles.
        nodes = self._limit.nodes
        particles = None if nodes is None else max(_LEAST_PARTICLES, nodes // _NODES_A_ROOT)
        return self._analysts[seat].think(self._limit, particles=particles, other=other)

    def record(self, game: Referee, ply: int, seat: chess.Color, answer: chess.Move) -> Turn:
        position, analysis = game.positions[ply], self._thought
        best = analysis.moves[0]
        played, loss = next(each for each in analysis.moves if each.move == answer), analysis.loss(answer)
        # A cost that another search does not find is noise: the mark is that of the smaller one.
        again = self._search(seat, 1).loss(answer) if mark(loss) else None
        least = loss if again is None or loss is None else min(loss, again)
        why = None if loss is None or loss < EXPLAINED else reason(answer, analysis, self._analysts[seat])
        truth = float(self._evaluators[seat].values(position.row[None, :])[0])
        sets = {chess.COLOR_NAMES[color]: each.position_set for color, each in self._analysts.items()}
        shown = [each for each in analysis.moves if each.probability >= LEAST_SHOWN][:MOST_MOVES]
        return {
            "ply": ply,
            "color": chess.COLOR_NAMES[seat],
            "positions": {side: (found.size, found.capped_by is not None) for side, found in sets.items()},
            "beliefs": {side: _belief(found) for side, found in sets.items()},
            "value": rounded(analysis.value),
            "truth": rounded(truth if seat else -truth),
            "moves": [
                {"move": each.move.uci(), "san": each.san, "p": rounded(each.probability), "value": rounded(each.value)}
                for each in shown
            ],
            "tries": {each.move.uci(): [each.san, rounded(analysis.loss(each.move))] for each in analysis.moves},
            "lines": [[each.san for each in line] for line in analysis.lines],
            "steps": [_steps(line) for line in analysis.lines],
            "played": {
                "san": played.san,
                "move": answer.uci(),
                "p": rounded(played.probability),
                "loss": rounded(loss),
                "mark": mark(least),
                "turned": rounded(luck(position, answer, analysis, self._analysts[seat])),
            },
            "best": {"san": best.san, "move": best.move.uci(), "p": rounded(best.probability)},
            "because": because(loss, None if why is None else _said(why, analysis)),
        }

    def close(self) -> None:
        self._resources.close()


def _said(why: Reason, analysis: Found) -> Because:
    """A reason as a record has it, with its sentence."""
    side, dots = ("White", "…") if analysis.view.color else ("Black", "")
    share = f"all {why.positions:,}" if why.count == why.positions else f"{why.count:,} of {why.positions:,}"
    where = f"In {share} possible positions" if why.positions > 1 else "In the only possible position"
    if why.positions < analysis.positions:
        where = f"In {share} positions, drawn from {analysis.positions:,} possible ones,"
    replies = [each.san for each in why.line[1:]]
    reply = f"{where} {dots}{replies[0]}"
    if not why.punishes:
        text = f"The engine expects {dots}{' '.join(replies)}."
    elif why.takes is not None:
        text = f"{reply} takes the {chess.piece_name(why.takes)}."
    else:
        text = f"{reply} leaves {side} at least {CLEAR:.2f} worse than after {analysis.moves[0].san}."
    takes = None if why.takes is None else chess.piece_symbol(why.takes)
    return {"text": text, "line": _steps(why.line), "takes": takes, "count": why.count, "of": why.positions}


def _steps(line: Line) -> list[Step]:
    """A line as a record has it."""
    return [{"san": each.san, "move": each.move.uci(), "board": each.after.fen().split()[0]} for each in line]


def _belief(known: PositionSet) -> Belief:
    """Probability of each enemy piece on each square that is not seen."""
    found = marginals(known)
    return {
        chess.SQUARE_NAMES[square]: likely(pieces)
        for square in chess.SQUARES
        if not known.view.sees(square) and (pieces := found.at(square))
    }
