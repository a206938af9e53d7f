"""Every turn of a kept game: the look and the request that a player who maximises expectation holds best, beside what
was done.
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
from klss.support.arrays import Floats
from klss.table.limits import Limit

__all__ = ["AnalysedTurn", "marginals", "requests", "square_name", "turns", "uci", "windows"]


@dataclass(frozen=True)
class AnalysedTurn:
    """A turn, and what its player could think in it from what it had observed."""

    number: int  # turns of either side before it
    turn: Turn
    held: tuple[int, bool]  # positions possible before the look, and whether that is a sample
    held_after: int  # after it
    gains: Mapping[str, float]  # of each of the 36 looks, by the square in its middle
    moves: list[dict[str, Any]]  # see :func:`requests`
    pieces: Mapping[str, Mapping[str, float]]  # see :func:`marginals`; after the look

    @property
    def best_look(self) -> str:
        """The look that gains most."""
        return max(self.gains, key=lambda square: self.gains[square])

    @property
    def look_cost(self) -> float | None:
        """What the look that was made gains less than the best; None: it was nowhere or at the edge, which is not
        compared.
        """
        looked = self.gains.get(square_name(self.turn.sensed.square) or "")
        return None if looked is None else self.gains[self.best_look] - looked

    @property
    def request_cost(self) -> float | None:
        """What the request is worth less than the best; None: it was not valued."""
        asked = uci(self.turn.moved.requested) or "pass"
        worth = next((each["value"] for each in self.moves if each["move"] == asked), None)
        return None if worth is None else self.moves[0]["value"] - worth


def turns(
    played: Referee, players: Mapping[chess.Color, ExpectationPlayer], limit: Limit, first: int = 0
) -> Iterator[AnalysedTurn]:
    """The turns of a game, those from ``first`` on.

    Parameters
    ----------
    played
        The game.
    players
        One for each side, not started; each is given what its side observed, and no more.
    limit
        Of each of a turn's two questions.
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
            gains = {square: each["gain"] for square, each in windows(player, limit).items()}
            player.sensed(turn.sensed)
            found, weights = player.weighed(limit, sense=False)
            moves, pieces = requests(player, found, weights), marginals(player, found.indices, weights)
            yield AnalysedTurn(number, turn, held, player.known.size, gains, moves, pieces)
        player.moved(turn.moved)


def windows(player: ExpectationPlayer, limit: Limit) -> dict[str, dict[str, float]]:
    """What each look would gain, and leaves over, by the square in its middle."""
    found, weights = player.weighed(limit, sense=True)
    divided = partitions(player.known, found.indices)
    after = expected_values(divided, found.values, weights)
    now = float((weights @ found.values).max())
    return {
        chess.SQUARE_NAMES[square]: {"gain": float(value) - now, "left_over": float(share)}
        for square, value, share in zip(INNER, after, divided.left_over(weights), strict=True)
    }


def requests(player: ExpectationPlayer, found: Outlook, weights: Floats) -> list[dict[str, Any]]:
    """The requests that were valued, best first, each with its expected value."""
    values = weights @ found.values
    return [
        {"move": uci(player.known.request(int(found.codes[i]))) or "pass", "value": float(values[i])}
        for i in (-values).argsort(kind="stable").tolist()
    ]


def marginals(player: ExpectationPlayer, indices: Any, weights: Floats) -> dict[str, dict[str, float]]:
    """How likely each enemy piece stands on each square."""
    found: dict[str, dict[str, float]] = {}
    for row, weight in zip(player.known.rows(indices), weights.tolist(), strict=True):
        for square, piece in Position(row).pieces.items():
            if piece.color != player.known.own.color:
                at = found.setdefault(chess.SQUARE_NAMES[square], {})
                at[piece.symbol()] = at.get(piece.symbol(), 0.0) + weight
    return {name: found[name] for name in sorted(found)}


def square_name(square: int | None) -> str | None:
    """Of a look; None: nowhere."""
    return None if square is None else chess.SQUARE_NAMES[square]


def uci(move: chess.Move | None) -> str | None:
    """A request as squares; None: a pass."""
    return None if move is None else move.uci()
