"""The settings of a game at the board."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import chess

from darkchess.evaluation.registry import EvaluatorChoice
from darkchess.fog.game.rules import PAPER, Ruleset
from klss_app.kept_games import HUMAN


@dataclass(frozen=True)
class Earlier:
    """The part of a resumed game that was played before, for the referee alone: the moves as the kit takes them, the
    number of turns, seconds left on the clocks (empty without), the time of its beginning in UTC, and its file."""

    moves: tuple[str, ...]
    plies: int
    left_s: Mapping[chess.Color, float]
    begun: datetime.datetime
    path: Path | None = None


@dataclass(frozen=True)
class Settings:
    """The settings of a game; ``players`` holds ``human``, a configuration's text or ``cmd:…``."""

    players: Mapping[chess.Color, str]
    time_s: float | None = 5.0
    nodes: int | None = None
    clock: tuple[float, float] | None = None
    fen: str | None = None
    ruleset: Ruleset = PAPER
    seed: int | None = None
    evaluator: EvaluatorChoice = field(default_factory=EvaluatorChoice)
    earlier: Earlier | None = None

    @property
    def humans(self) -> list[chess.Color]:
        """The colours that humans play."""
        return [color for color in chess.COLORS if self.players[color] == HUMAN]

    @property
    def engine(self) -> str | None:
        """The engine's text; None where two humans play."""
        return next((spec for spec in self.players.values() if spec != HUMAN), None)
