"""One game of a match: from its number, seed and opening to its lines, as any worker plays it.

The players' seeds are derived from the game's as in ``klss play`` (:mod:`klss.support.seeds`), so that ``klss play
--seed`` with a line's ``seed`` and the same node budget replays a game without an opening. With a node budget a game is
a function of the setup, its number, seed and opening; it does not depend on the worker.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Mapping
from typing import Any

from klss.support.seeds import NATURE, player_seed
from klss.table.arbiter import SEATS, Arbiter, Played
from klss.table.contest import Player, TruthCount
from klss.table.outcome import Outcome, Seat
from uci_bridge.errors import FAULT_SHOWN
from uci_bridge.match.engines import Engines, Setup
from uci_bridge.match.task import GameResult, GameTask, sides
from uci_bridge.protocol.diagnostics import plain

_COLORS = {True: "white", False: "black"}
"""The seats as results name them, in every game."""


def play_game(setup: Setup, task: GameTask, engines: Engines) -> GameResult:
    """Play a game to its end; a fault of an engine loses it the game and raises nothing.

    Raises NeverAnswered: a program failed before its first answer.
    """
    kit = setup.kit
    start = kit.setup(task.opening.fen, setup.rules)
    referee = kit.referee(start, task.opening.moves, player_seed(task.seed, NATURE))
    side_of = sides(task.game)
    engines.get_ready()
    players = {seat: engines.player(side, player_seed(task.seed, _COLORS[seat])) for seat, side in side_of.items()}
    moves: list[dict[str, Any]] = []  # for ``moves.jsonl``; what an engine reports never replaces a field of ours

    def on_turn(played: Played) -> None:
        named = {
            "game": task.game,
            "ply": played.ply,
            "player": side_of[played.seat],
            **kit.line(referee, played),
            "seconds_wall": round(played.seconds, 4),
        }
        said = plain(played.decision.diagnostics)  # the same from this process and from another
        moves.append(named | {key: value for key, value in said.items() if key not in named})

    truth = TruthCount() if setup.check_truth else None
    begin = time.monotonic()
    try:
        Arbiter(referee, players, dict.fromkeys(SEATS, setup.budget), on_turn, truth).play()
    finally:
        for player in players.values():
            player.close()
    seconds = time.monotonic() - begin
    assert referee.outcome is not None
    names = {seat: setup.spec(side).name for seat, side in side_of.items()}
    line = _line(task, referee.outcome, referee.ply, seconds, names, players, truth)
    return GameResult(line, kit.record(referee, _headers(setup, task, names)), moves, kit.suffix)


def _headers(setup: Setup, task: GameTask, names: Mapping[Seat, str]) -> dict[str, str]:
    """The headers of the game's record: the match and its players."""
    headers = {"Event": "klss match", "Round": str(task.game), "Seed": str(task.seed)}
    for seat, side in sides(task.game).items():
        color = _COLORS[seat].capitalize()
        headers[color] = names[seat]
        label = setup.evaluator_label(side)
        if label is not None:
            headers[f"{color}Evaluator"] = label
    return headers


def _line(
    task: GameTask,
    outcome: Outcome,
    plies: int,
    seconds: float,
    names: Mapping[Seat, str],
    players: Mapping[Seat, Player],
    truth: TruthCount | None,
) -> dict[str, Any]:
    """The line of ``games.jsonl`` of a game that ended; ``truth`` in test mode."""
    side_of = sides(task.game)
    line: dict[str, Any] = {
        "game": task.game,
        "pair": task.pair,
        "white": names[True],
        "black": names[False],
        "result": outcome.result,
        "reason": outcome.reason,
        "winner": None if outcome.winner is None else side_of[outcome.winner],
        "plies": plies,
        "opening": task.opening.text(),
        "seed": task.seed,
        "seconds": round(seconds, 3),
    }
    faults = {seat: (players[seat].last_fault or "")[:FAULT_SHOWN] for seat in SEATS}
    lost_by_fault = outcome.reason in ("forfeit", "flag") and outcome.winner is not None
    if lost_by_fault and faults[not outcome.winner]:
        line["fault"] = faults[not outcome.winner]
    elif any(faults.values()):
        line["trouble"] = {side_of[seat]: fault for seat, fault in faults.items() if fault}
    if truth is not None:
        line["truth"] = dataclasses.asdict(truth)
    return line
