"""Requests of Reconnaissance Blind Chess made by hand, from docs/engine-protocol.md alone: uci_bridge makes none."""

from __future__ import annotations

import random
from typing import Any

from darkchess.rbc.game.observation import Moved, Notice, Sensed
from darkchess.rbc.game.referee import Referee
from klss.play.outcome import Outcome
from tests.uci_bridge.protocol_games import COLORS, move_json

Told = Notice | Sensed | Moved | Outcome


def told_json(ply: int, said: Told) -> dict[str, Any]:
    """An observation."""
    if isinstance(said, Notice):
        return {"ply": ply, "kind": "capture_notice", "own_capture_square": said.square}
    if isinstance(said, Sensed):
        shown = [
            [square, piece and {"type": piece.symbol().upper(), "color": COLORS[piece.color]}]
            for square, piece in said.contents
        ]
        return {"ply": ply, "kind": "sense_result", "sense": said.square, "sensed_squares": shown}
    if isinstance(said, Moved):
        return {
            "ply": ply,
            "kind": "move_result",
            "requested": said.requested and move_json(said.requested),
            "taken": said.taken and move_json(said.taken),
            "capture_square": said.capture_square,
        }
    winner = None if said.winner is None else COLORS[said.winner]
    return {"ply": ply, "kind": "game_over", "game_over": {"winner": winner, "reason": said.reason}}


def transcript(game: Referee, color: bool) -> list[dict[str, Any]]:
    """Everything that ``color`` was given."""
    first = 0 if game.positions[0].turn == color else 1
    return [told_json(first + 2 * (i // 3) + (i % 3 == 2), said) for i, said in enumerate(game.observations(color))]


def head(color: bool, session: str = "s1") -> dict[str, Any]:
    """What all messages have."""
    ids = {"protocolVersion": "1", "game": "rbc", "gameId": "g1", "engineId": "klss", "sessionId": session}
    return ids | {"color": COLORS[color]}


def question(game: Referee, *, delta: bool = False, session: str = "s1", **fields: Any) -> dict[str, Any]:
    """The question that is due; 10 nodes unless ``fields`` differ."""
    said = transcript(game, game.turn)
    request = {
        **head(game.turn, session),
        "ply": game.ply,
        "phase": game.question,
        "engineSeed": 7,
        "clock": {"remaining_ms": None, "increment_ms": 0},
        **({"senseActions": list(range(64))} if game.question == "sense" else {}),
        "legalMoves": [move_json(move) for move in game.requests()],
        **({"latestObservationDelta": said[-1]} if delta else {"observationTranscript": said}),
        "nodes": 10,
    }
    return {key: value for key, value in (request | fields).items() if value is not ...}


def push(game: Referee, color: bool, *, session: str = "s1") -> dict[str, Any]:
    """The push of what ``color`` was given last, or of the end of the game."""
    seen = transcript(game, color)[-1]
    if game.outcome is not None:
        seen = told_json(seen["ply"], game.outcome)
    return {**head(color, session), "ply": seen["ply"], "observation": seen}


def random_turn(game: Referee, rng: random.Random) -> None:
    """A turn: looks anywhere, asks for anything, kings and captures rather than not."""
    game.sense(rng.choice([None, *range(64)]))
    asked = list(game.requests())
    taking = [
        move for move in asked if game.position.is_legal(move) and game.position.captured_square(move) is not None
    ]
    taking = [move for move in taking if move.to_square != game.position.king(not game.turn)]
    game.move(rng.choice(taking if taking and rng.random() < 0.4 else [None, *asked]))


def random_game(seed: int, turns: int, fen: str | None = None) -> Referee:
    """A game after some random turns, kings uncaptured where that can be."""
    rng, game = random.Random(f"blind {seed}"), Referee(fen)
    while game.outcome is None and game.ply < turns:
        random_turn(game, rng)
    return game
