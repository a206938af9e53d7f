"""Twins: two true games in which one player is told the same from first to last, in Fog of War and in Reconnaissance
Blind Chess.

``twins.jsonl`` and ``blind_twins.jsonl`` hold them, one pair a line: ``{"source", "fen", "color", "a", "b"}``; both
games end where it is the turn of ``color``. A game is a list of turns: moves (``e2e4``), or where was looked and what
was asked for (``e4 e2e4``; ``-`` for nowhere, and for a pass). They were found by a search in games of our engine
against itself (source ``engine``) and in random games from start positions in which en passant, castling and captures
are near. :mod:`tests.wall.test_wall` tests anew that they are twins.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import chess

from darkchess.fog.game.referee import Referee as FogReferee
from darkchess.rbc.game.referee import Referee as BlindReferee
from klss.play.wire import AnyWire
from uci_bridge.protocol.fog import FOG as FOG_WIRE
from uci_bridge.protocol.rbc import RBC as RBC_WIRE

Turns = tuple[str, ...]


@dataclass(frozen=True)
class Twins:
    """A pair of games."""

    source: str
    fen: str | None
    color: bool
    a: Turns
    b: Turns


@dataclass(frozen=True)
class Game:
    """What the two games differ in."""

    name: str
    file: str
    between: str  # two turns of a game in the file
    wire: AnyWire
    referee: Callable[[str | None], Any]
    answers: Callable[[str], dict[str, Any]]  # to the questions of a turn, in their order


def load(game: Game | None = None) -> list[Twins]:
    """All of them, of Fog of War unless told otherwise."""
    game, found = game or FOG, []
    for line in Path(__file__).with_name(game.file).read_text(encoding="utf-8").splitlines():
        entry = json.loads(line)
        a, b = (tuple(entry[name].split(game.between)) for name in ("a", "b"))
        found.append(Twins(entry.get("source", ""), entry["fen"], entry["color"] == "white", a, b))
    return found


def replayed(turns: Turns, fen: str | None, game: Game | None = None) -> Any:
    """A game after its turns."""
    game = game or FOG
    referee = game.referee(fen)
    for turn in turns:
        for answer in game.answers(turn).values():
            referee.answer(answer)
    return referee


def tags(referee: Any, color: bool) -> set[str]:
    """What happens in a game: ``own: castling``, ``the enemy's: en passant`` and so on."""
    found = set()
    for ply, before in enumerate(referee.positions[: referee.ply]):
        moved = referee.turns[ply].moved if isinstance(referee, BlindReferee) else None
        move = moved.taken if moved else referee.moves[ply]
        happened = {"pass": moved and moved.requested is None, "failed or cut short": moved and moved.requested != move}
        if move is not None:
            captured, piece = before.captured_square(move), before.piece_at(move.from_square)
            king = piece.piece_type == chess.KING
            happened |= {
                "capture": captured == move.to_square,
                "en passant": captured not in (None, move.to_square),
                "castling": king and abs(move.to_square - move.from_square) == 2,
                "promotion": move.promotion is not None,
            }
        whose = "own" if before.turn == color else "the enemy's"
        found |= {f"{whose}: {what}" for what, so in happened.items() if so}
    return found


def blind_answers(turn: str) -> dict[str, Any]:
    look, asked = turn.split()
    return {
        "sense": None if look == "-" else chess.parse_square(look),
        "move": None if asked == "-" else chess.Move.from_uci(asked),
    }


FOG = Game("fog", "twins.jsonl", " ", FOG_WIRE, FogReferee, lambda turn: {"move": chess.Move.from_uci(turn)})
RBC = Game("rbc", "blind_twins.jsonl", ", ", RBC_WIRE, BlindReferee, blind_answers)
