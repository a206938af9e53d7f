"""The lines that a match keeps of any game: one in ``games.jsonl``, one a move in ``moves.jsonl``."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Any, Protocol

import chess

from klss.table.contest import TruthCount
from klss.table.outcome import Outcome
from uci_bridge.match.task import GameTask, sides

__all__ = ["finite", "game_line"]

_FAULT_SHOWN = 500


class _Troubled(Protocol):
    @property
    def trouble(self) -> str | None: ...


def game_line(
    task: GameTask,
    outcome: Outcome,
    plies: int,
    seconds: float,
    names: Mapping[chess.Color, str],
    players: Mapping[chess.Color, _Troubled],
    truth: TruthCount | None,
) -> dict[str, Any]:
    """The line of a game that ended; ``truth`` in test mode."""
    side_of = sides(task.game)
    line: dict[str, Any] = {
        "game": task.game,
        "pair": task.pair,
        "white": names[chess.WHITE],
        "black": names[chess.BLACK],
        "result": outcome.result,
        "reason": outcome.reason,
        "winner": None if outcome.winner is None else side_of[outcome.winner],
        "plies": plies,
        "opening": task.opening.text(),
        "seed": task.seed,
        "seconds": round(seconds, 3),
    }
    if outcome.reason in ("forfeit", "flag") and outcome.winner is not None:
        trouble = players[not outcome.winner].trouble
        if trouble:
            line["fault"] = trouble[:_FAULT_SHOWN]
    if truth is not None:
        line["truth"] = dataclasses.asdict(truth)
    return line


def finite(diagnostics: Mapping[str, Any]) -> dict[str, Any]:
    """Diagnostics as JSON can say them, the same from this process and from another: what is not finite is None."""
    return {
        key: None if isinstance(value, float) and not math.isfinite(value) else value
        for key, value in diagnostics.items()
    }
