"""The packaged positions: the start, and three middlegames of our own games, by the views of the player to move."""

from __future__ import annotations

from importlib import resources
from typing import TypeVar

import chess
import msgspec

from darkchess.fog.game.contest import Player, Setup
from darkchess.fog.game.referee import Referee

_Shape = TypeVar("_Shape")


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


def bench_positions() -> list[tuple[str, Referee]]:
    """Name and true game of each packaged position."""
    return [(name, Referee.replay(moves)) for name, moves in bench_games()]


def seated(player: Player, game: Referee, color: chess.Color | None = None) -> Player:
    """``player`` brought to the present turn by the views of its colour, by default of the side to move."""
    views = game.views(game.turn if color is None else color)
    player.begin(views[0].color, Setup(game.positions[0]))
    for view in views[1:]:
        player.observe(view)
    return player
