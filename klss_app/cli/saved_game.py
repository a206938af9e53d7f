"""A game that was left, and goes on: ``--resume FILE|last`` of ``klss play`` and ``klss board``.

Stands on the referee's side of the wall: a kept game holds the true moves. What is read here goes to the referee alone;
the players are shown their own views of what was played, as everybody is.

A file says who plays, not what is run: an engine that is a program is started only if the command line names it.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import chess

from klss.support.text import printable
from klss_app.cli.errors import UsageError
from klss_app.cli.options import GameOptions, clock, nodes, read_pgn_file, seconds, seed
from klss_app.kept_games import DEFAULT_RULES, HUMAN, Terms, newest_first

if TYPE_CHECKING:
    from darkchess.fog.game.record import GameRecord
    from darkchess.fog.game.rules import Ruleset

__all__ = ["LAST", "LIST", "SavedGame", "list_saved_games", "resumed_options", "resumed_seats", "saved_game"]

LAST = "last"

LIST = ""
"""Stands for ``--resume`` without a name: the games that may go on are listed."""


@dataclass(frozen=True)
class SavedGame:
    """One game, kept in ``path``: what was played, the colour of the human, what the other side is called there, what
    the game is played by, and seconds on the clocks (empty without one)."""

    path: Path
    record: GameRecord
    human: chess.Color
    engine: str
    ruleset: Ruleset
    terms: Terms
    left_s: dict[chess.Color, float]


def saved_game(text: str) -> SavedGame:
    """The game that ``--resume`` names: a file's, or with ``last`` the one that was left last. Raises
    :class:`UsageError` where there is none, it is over, or it is not one between a human and an engine."""
    if text != LAST:
        kept = {path.stem: path for path in newest_first()}
        return _read(Path(text) if Path(text).exists() else kept.get(text, Path(text)))
    for game in _unfinished():
        return game
    raise UsageError("--resume: got last, and klss-games has no unfinished game; expected one, or a file")


def _unfinished() -> Iterator[SavedGame]:
    """The games in ``klss-games`` that may go on, that which was left last first."""
    for path in newest_first():
        with contextlib.suppress(UsageError):
            yield _read(path)


def list_saved_games() -> int:
    """Print the name of each game that may go on, the human's side, the engine, and how many plies were played; the
    exit code. No move is shown: a listed game may still be played."""
    games = list(_unfinished())
    if not games:
        raise UsageError("--resume: klss-games has no unfinished game; expected one, or a file")
    for game in games:
        side = chess.COLOR_NAMES[game.human].capitalize()
        print(f"{game.path.stem:<22} {side} against {printable(game.engine)}, {len(game.record.moves)} plies")
    return 0


def _read(path: Path) -> SavedGame:
    from darkchess.fog.game.referee import Referee
    from darkchess.fog.game.rules import RULESETS

    record, count = read_pgn_file(path, 1, "--resume: ")
    if record is None or not record.moves:
        raise UsageError(f"--resume: got no game with a move in {str(path)!r}, expected at least one")
    if count > 1:  # the file is written anew as the game goes on
        raise UsageError(f"--resume: got {count:,} games in {str(path)!r}, expected one in a file of its own")
    tags = record.headers
    if record.outcome is not None:
        raise UsageError(f"--resume: got {str(path)!r}, a game that is over; expected an unfinished one")
    names = {color: tags.get(chess.COLOR_NAMES[color].capitalize(), "?") for color in chess.COLORS}
    humans = [color for color, name in names.items() if name == HUMAN]
    if len(humans) != 1:
        raise UsageError(
            f"--resume: got {str(path)!r}, a game between {names[chess.WHITE]} and {names[chess.BLACK]}; expected one "
            "between human and an engine"
        )
    rules = tags.get("Rules", DEFAULT_RULES)
    if rules not in RULESETS:
        raise UsageError(f"--resume: got the rules {rules!r} in {str(path)!r}, expected {' or '.join(RULESETS)}")
    try:
        terms = Terms(
            seed=seed(tags.get("Seed", "0")),
            clock=clock(tags["TimeControl"]) if "TimeControl" in tags else None,
            time_s=seconds(tags["MoveTime"]) if "MoveTime" in tags else None,
            nodes=nodes(tags["MoveNodes"]) if "MoveNodes" in tags else None,
            rules=rules,
        )
        left_s = {} if terms.clock is None else {color: _left(tags, color, terms.clock[0]) for color in chess.COLORS}
    except argparse.ArgumentTypeError as error:
        raise UsageError(f"--resume: a tag of {str(path)!r}: {printable(str(error))}") from None
    game = Referee(record.fen, RULESETS[rules])
    for move in record.moves:
        if game.outcome is None:
            game.push(move)
    if game.outcome is not None:
        raise UsageError(f"--resume: got {str(path)!r}, a game that is over; expected an unfinished one")
    return SavedGame(path, record, humans[0], names[not humans[0]], RULESETS[rules], terms, left_s)


def _left(tags: Mapping[str, str], color: chess.Color, at_first: float) -> float:
    """Seconds on a clock; those that it began with where the file does not say."""
    text = tags.get(f"{chess.COLOR_NAMES[color].capitalize()}Clock")
    if text is None:
        return at_first
    left = seconds(text) if text != "0.0" else 0.0
    if not math.isfinite(left):
        raise argparse.ArgumentTypeError(f"got {text!r}, expected seconds")
    # A clock that stood at nothing runs out at once, and not before it has begun.
    return max(left, 0.1)


def resumed_seats(left: SavedGame, parsed: argparse.Namespace) -> dict[chess.Color, str]:
    """The players of a game that goes on: the human at the same seat, against the engine of then or the one that the
    command line names; raises :class:`UsageError` for what does not go with it."""
    for flag in ("fen", "clock", "rules", "book"):
        if flag in parsed.given:
            raise UsageError(f"--{flag}: got it with --resume, expected it without: the game keeps its own settings")
    given = {chess.WHITE: parsed.white, chess.BLACK: parsed.black}
    if given[left.human] not in (None, HUMAN):
        side = chess.COLOR_NAMES[left.human]
        raise UsageError(f"--{side}: got {given[left.human]!r} with --resume, where {side} is human; expected human")
    engine = given[not left.human]
    if engine == HUMAN:
        side = chess.COLOR_NAMES[not left.human]
        raise UsageError(f"--{side}: got human with --resume, where the human is on the other side; expected an engine")
    if engine is None and (left.engine.startswith("cmd:") or left.engine.endswith(".toml")):
        raise UsageError(
            f"--resume: got a game against {printable(left.engine)!r}, which a file may not start; expected "
            f"--{chess.COLOR_NAMES[not left.human]} as well, with the engine to play"
        )
    return {left.human: HUMAN, not left.human: engine or left.engine}


def resumed_options(left: SavedGame, parsed: argparse.Namespace, options: GameOptions) -> GameOptions:
    """The game's own options, but for limits and a seed that the command line gives."""
    terms = left.terms
    if not parsed.given & {"time", "nodes"} and (terms.time_s, terms.nodes, terms.clock) != (None, None, None):
        options = dataclasses.replace(options, time_s=terms.time_s, nodes=terms.nodes)
    return dataclasses.replace(
        options,
        clock=terms.clock,
        seed=terms.seed if parsed.seed is None else parsed.seed,
        fen=left.record.fen,
        ruleset=left.ruleset,
    )
