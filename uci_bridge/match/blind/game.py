"""One game of a match of Reconnaissance Blind Chess: from its number and seed to its lines, as any worker plays it.

With a node budget a game is a function of the setup, its number and its seed, whoever plays it.
"""

from __future__ import annotations

import time
from typing import Any

import chess

from darkchess.rbc.game.arbiter import Arbiter, Played
from darkchess.rbc.game.history import history_text
from darkchess.rbc.game.referee import Referee
from klss.support.seeds import player_seed
from klss.table.contest import TruthCount
from uci_bridge.match.blind.engines import BlindEngines, BlindSetup
from uci_bridge.match.lines import finite, game_line
from uci_bridge.match.task import GameResult, GameTask, sides

__all__ = ["play_game"]

_TROUBLE_SHOWN = 500


def play_game(setup: BlindSetup, task: GameTask, engines: BlindEngines) -> GameResult:
    """Play a game to its end; what an engine does wrong costs it the game and raises nothing."""
    referee = Referee(task.opening.fen)
    side_of = sides(task.game)
    engines.get_ready()
    players = {
        color: engines.player(side, player_seed(task.seed, chess.COLOR_NAMES[color])) for color, side in side_of.items()
    }
    moves: list[dict[str, Any]] = []

    def on_turn(played: Played) -> None:
        turn = played.turn
        square, requested, taken = turn.sensed.square, turn.moved.requested, turn.moved.taken
        named = {
            "game": task.game,
            "ply": played.ply,
            "player": side_of[turn.color],
            "sense": None if square is None else chess.SQUARE_NAMES[square],
            "move": None if requested is None else requested.uci(),
            "taken": None if taken is None else taken.uci(),
            "seconds_wall": round(played.sense_s + played.move_s, 4),
            "seconds_sense": round(played.sense_s, 4),
        }
        if played.look.diagnostics:
            named["look"] = finite(played.look.diagnostics)
        moves.append(named | {key: told for key, told in finite(played.asked.diagnostics).items() if key not in named})

    truth = TruthCount() if setup.check_truth else None
    begin = time.monotonic()
    try:
        Arbiter(referee, players, dict.fromkeys(chess.COLORS, setup.budget), on_turn, truth).play()
    finally:
        for player in players.values():
            player.close()
    seconds = time.monotonic() - begin
    outcome = referee.outcome
    assert outcome is not None
    names = {color: setup.spec(side).name for color, side in side_of.items()}
    line = game_line(task, outcome, referee.ply, seconds, names, players, truth)
    if "fault" not in line:
        trouble = {side: players[color].trouble for color, side in side_of.items()}
        told = {side: each[:_TROUBLE_SHOWN] for side, each in trouble.items() if each}
        line |= {"trouble": told} if told else {}
    return GameResult(line, history_text(referee, names[chess.WHITE], names[chess.BLACK]), moves, ".json")
