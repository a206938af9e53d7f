"""Twins: two true games in which one player sees the same from first to last.

``twins.jsonl`` holds them, one pair a line: ``{"source", "fen", "color", "a", "b"}``; both games end where it is the
turn of ``color``. They were found by :func:`twin` in games of our engine against itself (source ``engine``) and in
random games from start positions in which en passant, castling and captures are near (source: the start's name), and
written by ``python -m tests.wall.twins GAMES.pgn …``.
"""

from __future__ import annotations

import json
import random
import sys
from dataclasses import dataclass
from pathlib import Path

import chess

from darkchess.board.position import Position
from darkchess.errors import GameOverError
from darkchess.fog.game.record import read_pgn
from darkchess.fog.game.referee import Referee
from darkchess.fog.game.view import observe
from tests.darkchess.fog.position_set_games import STARTS, choose, kinds

FILE = Path(__file__).with_name("twins.jsonl")
PAIRS = 220
PER_GAME = 3
PLIES = range(6, 27)


@dataclass(frozen=True)
class Twins:
    """A pair of games."""

    source: str
    fen: str | None
    color: bool
    a: tuple[str, ...]
    b: tuple[str, ...]


def load() -> list[Twins]:
    """All of them."""
    found = []
    for line in FILE.read_text(encoding="utf-8").splitlines():
        entry = json.loads(line)
        color = entry["color"] == "white"
        found.append(Twins(entry["source"], entry["fen"], color, tuple(entry["a"].split()), tuple(entry["b"].split())))
    return found


def replayed(moves: tuple[str, ...], fen: str | None) -> Referee:
    """A game after its moves."""
    return Referee.replay(map(chess.Move.from_uci, moves), fen)


def tags(moves: tuple[str, ...], fen: str | None, color: bool) -> set[str]:
    """What happens in a game: ``own: castling``, ``the enemy's: en passant`` and so on."""
    game, found = Referee(fen), set()
    for move in map(chess.Move.from_uci, moves):
        whose = "own" if game.turn == color else "the enemy's"
        found |= {f"{whose}: {kind}" for kind in kinds(game, move)}
        game.push(move)
    return found


def twin(game: Referee, color: bool, ply: int, last: int, rng: random.Random) -> tuple[str, ...] | None:
    """A game that parts from ``game`` by the enemy's move after ``ply`` plies and looks the same to ``color`` up to a
    turn of its own, at most ``last``; None when none is found.
    """
    position, moves = game.positions[ply], [move.uci() for move in game.moves[:ply]]
    for i in range(ply, last):
        true = game.moves[i]
        if position.turn == color:
            position = position.after(true)
            moves.append(true.uci())
            continue
        others = [move for move in position.legal_moves() if move != true]
        rng.shuffle(others)
        for move in others if i == ply or not position.is_legal(true) else [true, *others]:
            captured = position.captured_square(move)
            after = position.after(move)
            if any(after.king(side) is None for side in chess.COLORS) or not after.legal_moves():
                continue
            view = observe(
                after, color, ply=i + 1, kind="opp_move", own_capture_square=captured,
                opp_capture_landing_square=captured if captured == move.to_square else None,
            )  # fmt: skip
            if view == game.views(color)[i + 1]:
                position = after
                moves.append(move.uci())
                break
        else:
            break
    while len(moves) > ply and game.positions[len(moves)].turn != color:
        moves.pop()
    try:
        other = replayed(tuple(moves), None if game.positions[0] == Position.start() else game.positions[0].fen())
    except GameOverError:  # a position came up for the third time in this one
        return None
    same = other.outcome is None and other.views(color) == game.views(color)[: other.ply + 1]
    return tuple(moves) if len(moves) > ply and same else None


def _pairs_of(game: Referee, source: str, fen: str | None, rng: random.Random) -> list[Twins]:
    found = []
    for color in chess.COLORS:
        plies = [ply for ply in range(game.ply) if game.positions[ply].turn != color]
        rng.shuffle(plies)
        mine: list[Twins] = []
        for ply in plies:
            last = min(game.ply - (game.outcome is not None), PLIES.stop - 1)
            other = twin(game, color, ply, last, rng) if ply < last else None
            if other is not None and len(other) in PLIES and len(mine) < PER_GAME:
                mine.append(Twins(source, fen, color, tuple(move.uci() for move in game.moves[: len(other)]), other))
        found += mine
    return found


def main(games: list[str]) -> None:
    """Find pairs and write them."""
    rng = random.Random(20)
    pairs: list[Twins] = []
    for path in games:
        for record in read_pgn(Path(path).read_text(encoding="utf-8")):
            pairs += _pairs_of(Referee.replay(record.moves), "engine", None, rng)
    for name, fen in STARTS.items():
        for _ in range(8):
            game = Referee(fen)
            while game.outcome is None and game.ply < PLIES.stop:
                game.push(choose(game, rng))
            pairs += _pairs_of(game, name, fen, rng)
    # The rare things first, then whatever comes.
    rare = ("en passant", "castling", "promotion")
    pairs = sorted(set(pairs), key=repr)
    rng.shuffle(pairs)
    pairs.sort(
        key=lambda pair: -len([tag for tag in tags(pair.a, pair.fen, pair.color) | tags(pair.b, pair.fen, pair.color)
                               if tag.split(": ")[1] in rare])
    )  # fmt: skip
    engine = [pair for pair in pairs if pair.source == "engine"]
    others = [pair for pair in pairs if pair.source != "engine"]
    chosen = engine[: PAIRS // 2] + others[: PAIRS - min(len(engine), PAIRS // 2)]
    lines = [
        json.dumps(
            {
                "source": pair.source, "fen": pair.fen, "color": chess.COLOR_NAMES[pair.color],
                "a": " ".join(pair.a), "b": " ".join(pair.b),
            }
        )
        for pair in chosen
    ]  # fmt: skip
    FILE.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
