"""Requests of the engine protocol made by hand, from docs/engine-protocol.md alone: uci_bridge makes none."""

from __future__ import annotations

import random
from typing import Any

import chess

from darkchess.fog.game.referee import Referee
from darkchess.fog.game.view import View

COLORS = {True: "white", False: "black"}
NAMES = {chess.QUEEN: "queen", chess.ROOK: "rook", chess.BISHOP: "bishop", chess.KNIGHT: "knight"}


def move_json(move: chess.Move) -> dict[str, str]:
    """A move."""
    found = {"from": chess.square_name(move.from_square), "to": chess.square_name(move.to_square)}
    return found | ({"promotion": NAMES[move.promotion]} if move.promotion else {})


def observation_json(view: View) -> dict[str, Any]:
    """An observation."""
    return {
        "ply": view.ply,
        "kind": view.kind,
        "own_move": move_json(view.own_move) if view.own_move else None,
        "visibility_mask": f"0x{view.visible:016x}",
        "visible_pieces": [
            [square, {"type": view.pieces[square].symbol().upper(), "color": COLORS[view.pieces[square].color]}]
            for square in sorted(view.pieces)
        ],
        "own_capture_square": view.own_capture_square,
        "opp_capture_landing_square": view.opp_capture_landing_square,
        "game_over": {"winner": COLORS.get(view.game_over.winner), "reason": view.game_over.reason}  # type: ignore[arg-type]
        if view.game_over
        else None,
    }


def ids(session: str = "s1") -> dict[str, Any]:
    """A message's head."""
    return {"protocolVersion": "1", "gameId": "g1", "engineId": "klss", "sessionId": session}


def turn(
    game: Referee, *, ply: int | None = None, delta: bool = False, session: str = "s1", **fields: Any
) -> dict[str, Any]:
    """The turn request of the player who is to move (after ``ply`` half-moves); 10 nodes unless ``fields`` differ."""
    color = game.turn if ply is None else game.positions[ply].turn
    views = game.views(color)[: None if ply is None else ply + 1]
    shown: dict[str, Any] = {"latestObservationDelta": observation_json(views[-1])}
    if not delta:
        shown = {"observationTranscript": [observation_json(view) for view in views]}
    request = {
        **ids(session),
        "color": COLORS[color],
        "ply": views[-1].ply,
        "engineSeed": 7,
        "clock": {"remaining_ms": None, "increment_ms": 0},
        "legalMoves": [move_json(move) for move in views[-1].legal_moves],
        **shown,
        "nodes": 10,
    }
    return {key: value for key, value in (request | fields).items() if value is not ...}


def push(game: Referee, color: bool, *, ply: int | None = None, session: str = "s1") -> dict[str, Any]:
    """The push of what ``color`` saw after ``ply`` half-moves, or last."""
    view = game.view(color) if ply is None else game.views(color)[ply]
    return {**ids(session), "color": COLORS[color], "ply": view.ply, "observation": observation_json(view)}


def game_of(*moves: str, fen: str | None = None) -> Referee:
    """The game after ``moves``."""
    return Referee.replay([chess.Move.from_uci(move) for move in moves], fen)


def random_game(seed: int, plies: int, fen: str | None = None) -> Referee:
    """A game of random moves, of at most ``plies``."""
    rng = random.Random(seed)
    game = Referee(fen)
    while game.outcome is None and game.ply < plies:
        game.push(rng.choice(game.legal_moves()))
    return game
