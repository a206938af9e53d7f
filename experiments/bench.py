"""How fast the engine is here: figures with their spread, and one signature of what it does.

Positions: the start and three middlegames of our own games (``data/bench_positions.json``, moves from the start), each
seen by the player to move through her views alone. Every figure comes from warm runs.
"""

from __future__ import annotations

import json
import statistics
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Any

import chess

from darkchess.configuration import Configuration, make_player
from darkchess.evaluation import Evaluator
from darkchess.player import Limit, Player
from darkchess.position import Position
from darkchess.referee import Referee
from darkchess.rules import PAPER
from darkchess.view import View

__all__ = ["BenchPosition", "Report", "bench_positions", "search"]

SIGNATURE_NODES = 3000
"""Node budget of the searches that make up the signature."""

Progress = Callable[[str], None]


@dataclass(frozen=True)
class BenchPosition:
    """A position as the player to move knows it: the start and her views."""

    name: str
    start: Position
    views: tuple[View, ...]


@dataclass(frozen=True)
class Report:
    """Figures (each min, median, max and unit, or None where it can't be had here) and the behaviour's signature."""

    figures: dict[str, dict[str, Any] | None]
    signature: int | None
    rows: list[dict[str, Any]]


def bench_positions() -> list[BenchPosition]:
    """The packaged positions."""
    text = resources.files("experiments").joinpath("data/bench_positions.json").read_text(encoding="utf-8")
    positions = []
    for entry in json.loads(text):
        referee = Referee.replay([chess.Move.from_uci(move) for move in entry["moves"].split()])
        positions.append(BenchPosition(entry["name"], referee.positions[0], tuple(referee.views(referee.turn))))
    return positions


def spread(values: Sequence[float], unit: str) -> dict[str, Any]:
    """A figure: min, median and max of its samples."""
    return {"min": min(values), "median": statistics.median(values), "max": max(values), "unit": unit}


def seated(player: Player, position: BenchPosition) -> Player:
    """``player`` brought to the position by its views."""
    player.start(position.views[0], position.start, PAPER)
    for view in position.views[1:]:
        player.observe(view)
    return player


def search(
    chosen: Configuration,
    evaluators: dict[str, Evaluator | None],
    *,
    seconds: float = 5.0,
    repetitions: int = 3,
    seed: int = 0,
    say: Progress = lambda line: None,
) -> Report:
    """Nodes and depth of a search of ``seconds`` at each position, for each evaluator ("builtin", "stockfish"; None:
    not here).

    The figures ``nodes_NAME`` are taken over all positions and repetitions, so that their minimum is the slowest
    position's.
    """
    positions = bench_positions()
    figures: dict[str, dict[str, Any] | None] = {}
    rows: list[dict[str, Any]] = []
    crc = 0
    for position in positions:  # also warms up
        decision = seated(make_player(chosen, evaluators["builtin"], seed=seed), position).choose(
            Limit(nodes=SIGNATURE_NODES)
        )
        found = decision.diagnostics
        said = (decision.move.uci(), found["nodes"], found["depth"], found["iterations"], round(found["value"], 6))
        crc = zlib.crc32(repr(said).encode(), crc)
        say(f"{position.name}: {SIGNATURE_NODES} nodes, {decision.move.uci()}")
    for name, evaluator in evaluators.items():
        if evaluator is None:
            figures[f"nodes_{name}"] = None
            continue
        nodes, depths, gaps = [], [], []
        for position in positions:
            for repetition in range(repetitions):
                player = seated(make_player(chosen, evaluator, seed=seed + repetition), position)
                found = player.choose(Limit(time_s=seconds)).diagnostics
                nodes.append(float(found["nodes"]))
                depths.append(float(found["depth"]))
                gaps.append(float(found["gap"]))
                rows.append({"position": position.name, "evaluator": name, "repetition": repetition, **found})
                say(
                    f"{position.name}, {name}: {found['nodes']} nodes, depth {found['depth']}, {found['iterations']} iterations, "
                    f"{found['positions']} positions, gap {found['gap']:.1e}, {found['seconds']:.2f} s"
                )
        unit = f"nodes per {seconds:g} s"
        figures[f"nodes_{name}"] = spread(nodes, unit)
        figures[f"depth_{name}"] = spread(depths, "plies")
        figures[f"gap_{name}"] = spread(gaps, "utility")
    return Report(figures, crc, rows)
