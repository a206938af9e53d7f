"""The packaged positions: the start, and three middlegames of our own games, as the player to move knows them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib import resources

import chess

from darkchess.board.position import Position
from darkchess.fog.game.contest import Player
from darkchess.fog.game.referee import Referee
from darkchess.fog.game.rules import PAPER
from darkchess.fog.game.view import View

__all__ = ["BenchPosition", "bench_games", "bench_positions", "seated"]


@dataclass(frozen=True)
class BenchPosition:
    """A position as the player to move knows it: the start and its views."""

    name: str
    start: Position
    views: tuple[View, ...]


def bench_games() -> list[tuple[str, list[chess.Move]]]:
    """Name and moves from the start of each packaged position."""
    text = resources.files("klss_app.bench").joinpath("data/bench_positions.json").read_text(encoding="utf-8")
    return [
        (entry["name"], [chess.Move.from_uci(move) for move in entry["moves"].split()]) for entry in json.loads(text)
    ]


def bench_positions() -> list[BenchPosition]:
    """The packaged positions."""
    positions = []
    for name, moves in bench_games():
        referee = Referee.replay(moves)
        positions.append(BenchPosition(name, referee.positions[0], tuple(referee.views(referee.turn))))
    return positions


def seated(player: Player, position: BenchPosition) -> Player:
    """``player`` brought to the position by its views."""
    player.start(position.views[0], position.start, PAPER)
    for view in position.views[1:]:
        player.observe(view)
    return player
