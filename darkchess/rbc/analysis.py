"""Analysis of every turn of a recorded game: the best sense and request for a player that maximises expectation, beside
those that were played.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import chess

from darkchess.board.position import Position
from darkchess.rbc.belief.senses import partitions
from darkchess.rbc.game.observation import INNER
from darkchess.rbc.game.referee import Referee, Turn
from darkchess.rbc.players.expectation import ExpectationPlayer, expected_values
from darkchess.rbc.players.outlook import Outlook
from klss.play.limits import Limit
from klss.support.arrays import Floats


@dataclass(frozen=True)
class AnalysedTurn:
    """A turn, with an analysis from its player's observations alone."""

    number: int  # turns of both sides before it
    turn: Turn
    held: tuple[int, bool]  # number of possible positions before the sense, and whether that is a sample
    held_after: int  # the same after it
    gains: Mapping[str, float]  # gain of each of the 36 senses, by the middle of its window
    moves: list[dict[str, Any]]  # ``move`` and ``value`` of each request that was valued, best first
    pieces: Mapping[str, Mapping[str, float]]  # probability of each enemy piece on each square, after the sense

    @property
    def best_look(self) -> str:
        """The sense with the largest gain."""
        return max(self.gains, key=lambda square: self.gains[square])

    @property
    def look_cost(self) -> float | None:
        """The best gain less that of the sense that was made; None: it was nowhere or at the edge, which is not
        compared.
        """
        looked = self.gains.get(square_name(self.turn.sensed.square) or "")
        return None if looked is None else self.gains[self.best_look] - looked

    @property
    def request_cost(self) -> float | None:
        """The best request's value less that of the one that was made; None: that was not valued."""
        asked = uci(self.turn.moved.requested) or "pass"
        worth = next((each["value"] for each in self.moves if each["move"] == asked), None)
        return None if worth is None else self.moves[0]["value"] - worth


def turns(
    played: Referee, players: Mapping[chess.Color, ExpectationPlayer], limit: Limit, first: int = 0
) -> Iterator[AnalysedTurn]:
    """Analyse the turns of a game, from ``first`` on.

    Parameters
    ----------
    played
        The game.
    players
        One for each side, not started; each gets its side's observations only.
    limit
        Limit of each of a turn's two questions.
    """
    for color, player in players.items():
        player.start(color, played.positions[0])
    for number, turn in enumerate(played.turns):
        player = players[turn.color]
        player.notice(turn.notice)
        known = player.known
        held = known.size, known.capped_by is not None
        if number < first:
            player.sensed(turn.sensed)
        else:
            gains = _gains(player, limit)
            player.sensed(turn.sensed)
            found, weights = player.weighed(limit, sense=False)
            moves, pieces = _requests(player, found, weights), _marginals(player, found.indices, weights)
            yield AnalysedTurn(number, turn, held, player.known.size, gains, moves, pieces)
        player.moved(turn.moved)


def _gains(player: ExpectationPlayer, limit: Limit) -> dict[str, float]:
    """Each sense's gain, by the middle of its window."""
    found, weights = player.weighed(limit, sense=True)
    after = expected_values(partitions(player.known, found.indices), found.values, weights)
    now = float((weights @ found.values).max())
    return {chess.SQUARE_NAMES[square]: float(value) - now for square, value in zip(INNER, after, strict=True)}


def _requests(player: ExpectationPlayer, found: Outlook, weights: Floats) -> list[dict[str, Any]]:
    """The requests that were valued, best first, each with its expected value."""
    values = weights @ found.values
    return [
        {"move": uci(player.known.request(int(found.codes[i]))) or "pass", "value": float(values[i])}
        for i in (-values).argsort(kind="stable").tolist()
    ]


def _marginals(player: ExpectationPlayer, indices: Any, weights: Floats) -> dict[str, dict[str, float]]:
    """The probability of each enemy piece on each square."""
    found: dict[str, dict[str, float]] = {}
    for row, weight in zip(player.known.rows(indices), weights.tolist(), strict=True):
        for square, piece in Position(row).pieces.items():
            if piece.color != player.known.own.color:
                at = found.setdefault(chess.SQUARE_NAMES[square], {})
                at[piece.symbol()] = at.get(piece.symbol(), 0.0) + weight
    return {name: found[name] for name in sorted(found)}


def square_name(square: int | None) -> str | None:
    """Return the name of a sense's square; None: nowhere."""
    return None if square is None else chess.SQUARE_NAMES[square]


def uci(move: chess.Move | None) -> str | None:
    """Return a request in UCI notation; None: a pass."""
    return None if move is None else move.uci()
