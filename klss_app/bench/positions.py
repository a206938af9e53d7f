"""The packaged positions: the start, and three middlegames of our own games, by the views of the player to move."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import resources
from typing import TypeVar

import chess
import msgspec

from darkchess.board.position import Position
from darkchess.fog.game.contest import Player, Setup
from darkchess.fog.game.referee import Referee
from darkchess.fog.game.view import View

_Shape = TypeVar("_Shape")


@dataclass(frozen=True)
class BenchPosition:
    """A position by the knowledge of the player to move: the start and its views."""

    name: str
    start: Position
    views: tuple[View, ...]


def packaged(name: str, shape: type[_Shape]) -> _Shape:
    """The document ``name`` of the folder ``data``."""
    return msgspec.json.decode(resources.files("klss_app.bench").joinpath(f"data/{name}").read_bytes(), type=shape)


def parsed_moves(text: str) -> tuple[chess.Move, ...]:
    """Moves in UCI, separated by spaces."""
    return tuple(chess.Move.from_uci(move) for move in text.split())


def bench_games() -> list[tuple[str, list[chess.Move]]]:
    """Name and moves from the start of each packaged position."""
    found = packaged("bench_positions.json", list[dict[str, str]])
    return [(entry["name"], list(parsed_moves(entry["moves"]))) for entry in found]


def bench_positions() -> list[BenchPosition]:
    """The packaged positions."""
    positions = []
    for name, moves in bench_games():
        referee = Referee.replay(moves)
        positions.append(BenchPosition(name, referee.positions[0], tuple(referee.views(referee.turn))))
    return positions


def seated(player: Player, position: BenchPosition) -> Player:
    """``player`` brought to the position by its views."""
    player.begin(position.views[0].color, Setup(position.start))
    for view in position.views[1:]:
        player.observe(view)
    return player
