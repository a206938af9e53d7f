"""The analysis of a game of Reconnaissance Blind Chess: the best look and request for a player that maximises
expectation (:mod:`darkchess.rbc.players.expectation`), beside those that were played.
"""

from __future__ import annotations

from dataclasses import replace

import chess

from darkchess.board.position import Position
from darkchess.evaluation.registry import EvaluatorChoice
from darkchess.rbc.belief.senses import partitions
from darkchess.rbc.game.contest import Answer
from darkchess.rbc.game.observation import INNER, Notice, Observation
from darkchess.rbc.game.referee import Referee
from darkchess.rbc.players.expectation import Expectation, ExpectationPlayer
from darkchess.rbc.players.named_rbc_players import Configuration, make_player
from klss.play.kit import AnyKit
from klss.play.limits import Limit
from klss.support.arrays import Floats, Ints
from klss_app.analysis.summaries import MOST_MOVES, Belief, Possible, Turn, because, likely, mark, rounded
from klss_app.analysis.turns import Analysis
from klss_app.known.rbc import move_letters
from uci_bridge.evaluators import make_evaluator


class RbcAnalysis(Analysis[Configuration, Referee, Position, Observation, Answer]):
    """The limit is that of each of a turn's two questions."""

    def __init__(
        self, kit: AnyKit, chosen: Configuration, choice: EvaluatorChoice, setup: Position, *, seed: int, cap: int
    ) -> None:
        chosen = replace(chosen, cap=min(chosen.cap, cap))
        self._evaluator = make_evaluator(chosen, choice)
        self._sides: dict[chess.Color, ExpectationPlayer] = {}
        for color in chess.COLORS:
            player = make_player(chosen, self._evaluator, seed=seed)
            assert isinstance(player, ExpectationPlayer)
            player.begin(color, setup)
            self._sides[color] = player
        self._sizes: dict[str, Possible | None] = dict.fromkeys(chess.COLOR_NAMES, (1, False))

    @staticmethod
    def takes(chosen: Configuration) -> bool:
        """Whether the engine values single requests."""
        return isinstance(chosen.thinking, Expectation)

    def observe(self, seat: chess.Color, observation: Observation) -> None:
        player = self._sides[seat]
        player.observe(observation)
        if isinstance(observation, Notice):
            self._sizes[chess.COLOR_NAMES[seat]] = player.known.size, player.known.capped_by is not None

    def think(self, seat: chess.Color, question: str, limit: Limit) -> None:
        player = self._sides[seat]
        self._found, self._weights = found, weights = player.weighed(limit, sense=question == "sense")
        if question == "sense":  # the gain of each of the 36 senses, by the middle of its window
            after = partitions(player.known, found.indices).best_values(found.values, weights)
            now = float((weights @ found.values).max())
            self._gains = {
                chess.SQUARE_NAMES[square]: float(value) - now for square, value in zip(INNER, after, strict=True)
            }

    def record(self, game: Referee, ply: int, seat: chess.Color, answer: Answer) -> Turn:
        """See the base; also ``looks``: the gain of each. The cost of a look is None if it was nowhere or at the edge,
        which is not compared; that of a request if it was not valued.
        """
        player, turn, gains, found = self._sides[seat], game.turns[-1], self._gains, self._found
        values, pieces, color = self._weights @ found.values, turn.before.pieces, chess.COLOR_NAMES[seat]
        moves = [
            (_uci(player.known.request(int(found.codes[i]))), float(values[i]))
            for i in (-values).argsort(kind="stable").tolist()
        ]
        (best, value), asked = moves[0], _uci(turn.moved.requested)
        loss = next((value - worth for move, worth in moves if move == asked), None)
        looked = None if turn.sensed.square is None else chess.SQUARE_NAMES[turn.sensed.square]
        look = max(gains, key=lambda square: gains[square])
        every = (turn.moved.requested, *map(player.known.request, found.codes.tolist()))
        letters = {_uci(move): "pass" if move is None else move_letters(move, pieces) for move in every}
        return {
            "ply": ply,
            "positions": dict(self._sizes),
            "color": color,
            "after_look": player.known.size,
            "beliefs": {side: {} for side in chess.COLOR_NAMES}
            | {color: _beliefs(player, found.indices, self._weights)},
            "value": rounded(value),
            "truth": None,
            "moves": [
                {"move": move, "san": letters[move], "p": None, "value": rounded(worth)}
                for move, worth in moves[:MOST_MOVES]
            ],
            "tries": {move: [letters[move], rounded(value - worth)] for move, worth in moves},
            "looks": {square: round(gain, 4) for square, gain in gains.items()},
            "look": {"played": looked, "best": look},
            "lines": [],
            "played": {
                "san": letters[asked],
                "move": asked,
                "p": None,
                "loss": rounded(loss),
                "look_loss": rounded(gains[look] - gains[looked]) if looked is not None and looked in gains else None,
                "mark": mark(loss),
                "turned": None,
            },
            "best": {"san": letters[best], "move": best, "p": None},
            "because": because(loss),
        }

    def close(self) -> None:
        self._evaluator.close()


def _beliefs(player: ExpectationPlayer, indices: Ints, weights: Floats) -> Belief:
    """The probability of each enemy piece on each square."""
    found: Belief = {}
    for row, weight in zip(player.known.rows(indices), weights.tolist(), strict=True):
        for square, piece in Position(row).pieces.items():
            if piece.color != player.known.own.color:
                at = found.setdefault(chess.SQUARE_NAMES[square], {})
                at[piece.symbol()] = at.get(piece.symbol(), 0.0) + weight
    return {square: likely(found[square]) for square in sorted(found)}


def _uci(move: chess.Move | None) -> str:
    return "pass" if move is None else move.uci()
