"""The record of each turn of a game of Reconnaissance Blind Chess: the best look and request for a player that
maximises expectation (:mod:`darkchess.rbc.players.expectation`), beside those that were played.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from typing import Any

import chess

from darkchess.board.position import Position
from darkchess.evaluation.registry import EvaluatorChoice
from darkchess.rbc.belief.senses import partitions
from darkchess.rbc.game.history import replayed
from darkchess.rbc.game.observation import INNER
from darkchess.rbc.game.referee import Referee, Turn
from darkchess.rbc.players.expectation import Expectation, ExpectationPlayer, expected_values
from darkchess.rbc.players.named_rbc_players import Configuration, configuration, make_player
from klss.play.limits import Limit
from klss.support.arrays import Floats
from klss.support.text import counted
from klss_app.analysis.summaries import CAP, MOST_MOVES, likely, mark, rounded
from klss_app.known.rbc import move_letters
from uci_bridge.evaluators import make_evaluator

__all__ = ["analysable", "configuration", "read", "text", "turns"]


def analysable(chosen: Configuration) -> bool:
    """Whether a player can analyse: it values single requests."""
    return isinstance(chosen.thinking, Expectation)


def read(text: str, rules: str) -> Referee:
    """The game of a history; there is one ruleset."""
    return replayed(text)


def turns(
    game: Referee,
    chosen: Configuration,
    choice: EvaluatorChoice,
    limit: Limit,
    *,
    seed: int = 0,
    cap: int = CAP,
    first: int = 0,
) -> Iterator[dict[str, Any]]:
    """The record of every turn of ``game`` from ``first`` on; ``limit`` is that of each of a turn's two questions, and
    each side's set has at most ``cap`` positions.
    """
    chosen = replace(chosen, cap=min(chosen.cap, cap))
    held = {side: [1, False] for side in chess.COLOR_NAMES}
    with closing(make_evaluator(chosen, choice)) as evaluator:
        # Each player gets its own side's observations only.
        players = {color: make_player(chosen, evaluator, seed=seed) for color in chess.COLORS}
        for color, player in players.items():
            player.start(color, game.positions[0])
        for ply, turn in enumerate(game.turns):
            player = players[turn.color]
            assert isinstance(player, ExpectationPlayer)
            player.notice(turn.notice)
            held[chess.COLOR_NAMES[turn.color]] = [player.known.size, player.known.capped_by is not None]
            if ply < first:
                player.sensed(turn.sensed)
            else:
                gains = _gains(player, limit)
                player.sensed(turn.sensed)
                yield {"ply": ply, "positions": dict(held)} | _record(turn, player, gains, limit)
            player.moved(turn.moved)


def _gains(player: ExpectationPlayer, limit: Limit) -> dict[str, float]:
    """The gain of each of the 36 senses, by the middle of its window."""
    found, weights = player.weighed(limit, sense=True)
    after = expected_values(partitions(player.known, found.indices), found.values, weights)
    now = float((weights @ found.values).max())
    return {chess.SQUARE_NAMES[square]: float(value) - now for square, value in zip(INNER, after, strict=True)}


def _record(turn: Turn, player: ExpectationPlayer, gains: Mapping[str, float], limit: Limit) -> dict[str, Any]:
    """The fields of :mod:`klss_app.analysis.fog`'s records that this game has, and ``looks``: the gain of each.

    The cost of a look is None if it was nowhere or at the edge, which is not compared; that of a request if it was not
    valued.
    """
    found, weights = player.weighed(limit, sense=False)
    values, pieces = weights @ found.values, turn.before.pieces
    moves = [
        (_uci(player.known.request(int(found.codes[i]))), float(values[i]))
        for i in (-values).argsort(kind="stable").tolist()
    ]
    (best, value), asked, color = moves[0], _uci(turn.moved.requested), chess.COLOR_NAMES[turn.color]
    loss = next((value - worth for move, worth in moves if move == asked), None)
    looked = None if turn.sensed.square is None else chess.SQUARE_NAMES[turn.sensed.square]
    look = max(gains, key=lambda square: gains[square])
    letters = {move: move_letters(move, pieces) for move in (asked, *(move for move, _ in moves))}
    return {
        "color": color,
        "after_look": player.known.size,
        "beliefs": {side: {} for side in chess.COLOR_NAMES} | {color: _beliefs(player, found.indices, weights)},
        "value": rounded(value),
        "truth": None,
        "moves": [
            {"move": move, "san": letters[move], "p": None, "value": rounded(worth)}
            for move, worth in moves[:MOST_MOVES]
        ],
        "tries": {move: [letters[move], rounded(value - worth)] for move, worth in moves},
        "looks": {square: rounded(gain) for square, gain in gains.items()},
        "look": {"played": looked, "best": look},
        "lines": [],
        "played": {
            "san": letters[asked],
            "p": None,
            "loss": rounded(loss),
            "look_loss": rounded(gains[look] - gains[looked]) if looked is not None and looked in gains else None,
            "mark": mark(loss),
            "turned": None,
        },
        "best": {"san": letters[best], "p": None},
    }


def _beliefs(player: ExpectationPlayer, indices: Any, weights: Floats) -> dict[str, dict[str, float]]:
    """The probability of each enemy piece on each square."""
    found: dict[str, dict[str, float]] = {}
    for row, weight in zip(player.known.rows(indices), weights.tolist(), strict=True):
        for square, piece in Position(row).pieces.items():
            if piece.color != player.known.own.color:
                at = found.setdefault(chess.SQUARE_NAMES[square], {})
                at[piece.symbol()] = at.get(piece.symbol(), 0.0) + weight
    return {square: likely(found[square]) for square in sorted(found)}


def _uci(move: chess.Move | None) -> str:
    return "pass" if move is None else move.uci()


def text(turn: Mapping[str, Any]) -> list[str]:
    """The record of one turn for people."""
    (size, sample), look = turn["positions"][turn["color"]], turn["look"]
    gains = sorted(turn["looks"].items(), key=lambda window: -window[1])[:MOST_MOVES]
    return [
        f"turn {turn['ply']}, {turn['color']}: {counted(size, 'position')} possible{' (a sample)' if sample else ''}",
        f"best look {look['best']} (played: {look['played'] or 'nowhere'}); gain of a look:",
        "  " + "  ".join(f"{square} {gain:+.2f}" for square, gain in gains),
        f"after the played look {counted(turn['after_look'], 'position')}",
        f"best request {turn['best']['san']} (played: {turn['played']['san']}):",
        *(f"  {each['san']:<6} {each['value']:+.3f}" for each in turn["moves"]),
    ]
