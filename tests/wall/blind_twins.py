"""Twins of Reconnaissance Blind Chess: two true games in which one player is given the same from first to last.

``blind_twins.jsonl`` holds them, one pair a line: ``{"fen", "color", "a", "b"}``; a game is a list of turns, each where
was looked and what was asked for (``e4 e2e4``; ``-`` for nowhere, and for a pass), up to a turn of ``color``. They were
found by :func:`twin` in random games from the usual start and from those in which en passant, castling and captures are
near, and written by ``python -m tests.wall.blind_twins``.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import chess

from darkchess.errors import GameOverError, IllegalMove
from darkchess.rbc.game.referee import Referee
from tests.darkchess.fog.position_set_games import STARTS
from tests.uci_bridge.blind_games import random_turn

FILE = Path(__file__).with_name("blind_twins.jsonl")
PAIRS = 220
PER_GAME = 4
TURNS = range(4, 22)

Turns = tuple[str, ...]


@dataclass(frozen=True)
class Twins:
    """A pair of games."""

    fen: str | None
    color: bool
    a: Turns
    b: Turns


def load() -> list[Twins]:
    """All of them."""
    found = []
    for line in FILE.read_text(encoding="utf-8").splitlines():
        entry = json.loads(line)
        games = (tuple(entry[name].split(", ")) for name in ("a", "b"))
        found.append(Twins(entry["fen"], entry["color"] == "white", *games))
    return found


def read_turn(text: str) -> tuple[int | None, chess.Move | None]:
    """Where was looked, and what was asked for."""
    look, asked = text.split()
    return (
        None if look == "-" else chess.SQUARE_NAMES.index(look),
        None if asked == "-" else chess.Move.from_uci(asked),
    )


def turns_of(game: Referee) -> Turns:
    """The turns of a game, as they are written."""
    return tuple(
        f"{'-' if turn.sensed.square is None else chess.SQUARE_NAMES[turn.sensed.square]} "
        f"{'-' if turn.moved.requested is None else turn.moved.requested.uci()}"
        for turn in game.turns
    )


def replayed(turns: Turns, fen: str | None) -> Referee:
    """A game after its turns."""
    game = Referee(fen)
    for text in turns:
        look, asked = read_turn(text)
        game.sense(look)
        game.move(asked)
    return game


def tags(game: Referee, color: bool) -> Iterator[str]:
    """What happens in a game: ``own: capture``, ``the enemy's: castling`` and so on."""
    for turn in game.turns:
        whose = "own" if turn.color == color else "the enemy's"
        taken, piece = turn.moved.taken, None
        if taken is not None:
            piece = turn.before.piece_at(taken.from_square)
        if turn.moved.capture_square is not None and taken is not None:
            yield f"{whose}: {'capture' if turn.moved.capture_square == taken.to_square else 'en passant'}"
        if turn.moved.requested != taken:
            yield f"{whose}: failed or cut short"
        if turn.moved.requested is None:
            yield f"{whose}: pass"
        king = piece is not None and piece.piece_type == chess.KING
        if king and taken is not None and abs(taken.to_square - taken.from_square) == 2:
            yield f"{whose}: castling"
        if taken is not None and taken.promotion is not None:
            yield f"{whose}: promotion"


def twin(game: Referee, fen: str | None, color: bool, rng: random.Random) -> tuple[Turns, Turns] | None:
    """The turns of ``game`` and of one that differs by the enemy's requests and looks, both up to a turn of ``color``;
    None where none is found.
    """
    turns = turns_of(game)
    enemy = [ply for ply, turn in enumerate(game.turns) if turn.color != color]
    if not enemy:
        return None
    part = rng.choice(enemy)
    for _ in range(12):
        other = replayed(turns[:part], fen)
        try:
            for ply in range(part, len(turns)):
                look, asked = read_turn(turns[ply])
                if game.turns[ply].color == color:
                    other.sense(look)
                    other.move(asked)
                    continue
                if ply == part or asked not in other.requests():
                    asked = rng.choice([None, *other.requests()])
                other.sense(rng.choice([None, *range(64)]))
                other.move(asked)
        except (GameOverError, IllegalMove):
            pass
        both = min(other.ply, game.ply)
        while both > part:
            last = replayed(turns[:both], fen)
            twins = replayed(turns_of(other)[:both], fen)
            alike = last.outcome is None and twins.outcome is None and last.turn == color
            if alike and last.observations(color) == twins.observations(color) and last.position != twins.position:
                return turns[:both], turns_of(twins)
            both -= 1
    return None


def main() -> None:
    """Find pairs and write them."""
    rng, pairs = random.Random(31), []
    starts = [None, *STARTS.values()]
    while len(pairs) < 6 * PAIRS:
        fen = rng.choice(starts) if rng.random() < 0.6 else None
        game = Referee(fen)
        while game.outcome is None and game.ply < rng.choice(TURNS):
            random_turn(game, rng)
        if game.ply < TURNS.start:
            continue
        for _ in range(PER_GAME):
            color = rng.random() < 0.5
            found = twin(game, fen, color, rng)
            if found is not None and len(found[0]) >= TURNS.start:
                pairs.append(Twins(fen, color, *found))
    rare = ("en passant", "castling", "promotion")
    pairs = sorted(set(pairs), key=repr)
    rng.shuffle(pairs)
    pairs.sort(
        key=lambda pair: (
            -len({tag for tag in tags(replayed(pair.a, pair.fen), pair.color) if tag.split(": ")[1] in rare})
        )
    )
    chosen = pairs[: PAIRS // 2] + rng.sample(pairs[PAIRS // 2 :], PAIRS - PAIRS // 2)
    lines = [
        json.dumps(
            {"fen": each.fen, "color": chess.COLOR_NAMES[each.color], "a": ", ".join(each.a), "b": ", ".join(each.b)}
        )
        for each in chosen
    ]
    FILE.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
