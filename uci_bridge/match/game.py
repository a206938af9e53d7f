"""One game of a match of Fog of War: from its number, seed and opening to its lines, as any worker plays it.

The players get their seeds from the game's as in ``klss play`` (:mod:`klss.support.seeds`), so that ``klss play
--seed`` with a line's ``seed`` and the same node budget replays a game without an opening. With a node budget a game is
a function of the setup, its number, seed and opening, whoever plays it.
"""

from __future__ import annotations

import time
from typing import Any

import chess

from darkchess.fog.game.arbiter import Arbiter, Played
from darkchess.fog.game.record import GameRecord, write_pgn
from klss.support.seeds import player_seed
from klss.table.contest import TruthCount
from uci_bridge.match.engines import Engines, Setup
from uci_bridge.match.lines import finite, game_line
from uci_bridge.match.task import GameResult, GameTask, sides

__all__ = ["play_game"]


def play_game(setup: Setup, task: GameTask, engines: Engines) -> GameResult:
    """Play a game to its end; what an engine does wrong costs it the game and raises nothing."""
    referee = task.opening.referee(setup.ruleset)
    side_of = sides(task.game)
    engines.get_ready()
    players = {
        color: engines.player(side, player_seed(task.seed, chess.COLOR_NAMES[color]), referee)
        for color, side in side_of.items()
    }
    moves: list[dict[str, Any]] = []

    def on_ply(played: Played) -> None:
        named = {
            "game": task.game,
            "ply": played.ply,
            "player": side_of[played.color],
            "move": played.decision.move.uci(),
            "seconds_wall": round(played.seconds, 4),
        }
        told = played.decision.diagnostics
        moves.append(named | {key: value for key, value in finite(told).items() if key not in named})

    truth = TruthCount() if setup.check_truth else None
    begin = time.monotonic()
    try:
        controls = {color: setup.budget_of(side) for color, side in side_of.items()}
        Arbiter(referee, players, controls, on_ply, truth).play()
    finally:
        for player in players.values():
            player.close()
    seconds = time.monotonic() - begin
    outcome = referee.outcome
    assert outcome is not None
    names = {color: setup.spec(side).name for color, side in side_of.items()}
    line = game_line(task, outcome, referee.ply, seconds, names, players, truth)
    headers = {
        "Event": "klss match",
        "Round": str(task.game),
        "White": names[chess.WHITE],
        "Black": names[chess.BLACK],
        "Seed": str(task.seed),
    }
    for color, side in side_of.items():
        label = setup.evaluator_label(side)
        if label is not None:
            headers[f"{'White' if color else 'Black'}Evaluator"] = label
    return GameResult(line, write_pgn(GameRecord(referee.moves, outcome, task.opening.fen, headers)), moves)
