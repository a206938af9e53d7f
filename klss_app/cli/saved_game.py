"""Resume a game that was left: ``--resume FILE|last`` of ``klss play`` and ``klss board``.

It is on the referee's side of the wall: a kept game has the true moves. They go to the referee alone; the players get
their own views of the earlier moves, as in any game.

A file names packaged players with plain settings only. Any other engine (a program, a file, a class of a module) plays
on only if the command line names it, since naming it runs its code.
"""

from __future__ import annotations

import argparse
import contextlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import chess

from darkchess.fog.game.rules import PAPER, RULESETS
from klss.play.contest import AnyReferee
from klss.support.text import printable
from klss_app.cli.errors import UsageError
from klss_app.cli.game_option import FOG, Game
from klss_app.cli.options import Parser, game_options, kept_history, output_file, pgn_game, seats
from klss_app.flag_types import clock, positive
from klss_app.kept_games import HUMAN, Earlier, Settings, begun_at, newest_first

LAST = "last"

_PACKAGED = re.compile(r"[\w-]+(,\s*\w+\s*=\s*([\w+-]+|[-+\de]*\.[-+.\de]*)\s*)*", re.ASCII)
"""Players that a file may name: ``NAME,field=value,…`` with words and numbers, which can't be a path or a
module. The two kinds of value share no text, so that nothing is tried twice."""

_FLAGS = {"Seed": "seed", "TimeControl": "clock", "MoveTime": "time", "MoveNodes": "nodes", "Rules": "rules"}
"""The tags that hold the terms of a game, and the flags of the same values."""


@dataclass(frozen=True, kw_only=True)
class SavedGame(Earlier):
    """One game, kept in ``path``: besides what was played, its start (None: the usual one), its tags, and the human's
    colour."""

    path: Path
    fen: str | None
    tags: Mapping[str, str]
    human: chess.Color


def saved_game(text: str, game: Game = FOG) -> SavedGame:
    """The game that ``--resume`` names: a file's, or with ``last`` the one that was left last. Raises
    :class:`UsageError`: there is none, it is over, or it is not between a human and an engine."""
    if text != LAST:
        kept = {path.stem: path for path in newest_first(game.kit.suffix)}
        return _read(Path(text) if Path(text).exists() else kept.get(text, Path(text)), game)
    for path in newest_first(game.kit.suffix):
        with contextlib.suppress(UsageError):  # it can't be resumed
            return _read(path, game)
    raise UsageError("--resume: got last, and klss-games has no unfinished game; expected one, or a file")


def _read(path: Path, game: Game) -> SavedGame:
    from darkchess.errors import DarkchessError

    if path.exists() and not path.is_file():  # the game is kept in it again
        raise UsageError(f"--resume: got {str(path)!r}, which is no file; expected the file of a game")
    tags, fen, moves, over = (_pgn if game is FOG else _history)(path)
    humans = [color for color in chess.COLORS if _name(tags, color) == HUMAN]
    if len(humans) != 1:
        raise UsageError(f"--resume: got {str(path)!r}, expected a game between {HUMAN} and an engine")
    rules = tags.get("Rules", PAPER.name)
    if rules not in RULESETS:
        raise UsageError(f"--resume: got the rules {rules!r} in {str(path)!r}, expected {' or '.join(RULESETS)}")
    try:
        at_first = clock(tags["TimeControl"])[0] if "TimeControl" in tags else None
        left_s = {} if at_first is None else {color: _left(tags, color, at_first) for color in chess.COLORS}
        referee: AnyReferee | None = None if over else game.kit.referee(game.kit.setup(fen, rules), moves)
    except (argparse.ArgumentTypeError, DarkchessError) as error:
        raise UsageError(f"--resume: {str(path)!r}: {printable(str(error))}") from None
    if referee is None or referee.outcome is not None:
        raise UsageError(f"--resume: got {str(path)!r}, a game that is over; expected an unfinished one")
    return SavedGame(
        moves=moves, left_s=left_s, begun=begun_at(tags), path=path, fen=fen, tags=tags,
        human=humans[0],
    )  # fmt: skip


def _name(tags: Mapping[str, str], color: chess.Color) -> str:
    return tags.get(chess.COLOR_NAMES[color].capitalize(), "?")


def _pgn(path: Path) -> tuple[Mapping[str, str], str | None, tuple[str, ...], bool]:
    """The tags, start and moves of a game in PGN, and whether the game is over by its result."""
    record = pgn_game(path, 1, "--resume: ", alone=True)  # resuming overwrites the file
    return record.headers, record.fen, tuple(move.uci() for move in record.moves), record.outcome is not None


def _history(path: Path) -> tuple[Mapping[str, str], str | None, tuple[str, ...], bool]:
    """The same for a history of Reconnaissance Blind Chess."""
    from darkchess.board.position import START_FEN
    from darkchess.rbc.game.history import read_history

    written = kept_history(path, read_history)
    return written.tags, None if written.fen == START_FEN else written.fen, written.answers, written.reason != "aborted"


def _left(tags: Mapping[str, str], color: chess.Color, at_first: float) -> float:
    """Seconds on a clock by the file's tags; ``at_first`` if they don't have it."""
    text = tags.get(f"{chess.COLOR_NAMES[color].capitalize()}Clock")
    if text is None:
        return at_first
    # A clock at 0 s shall run out at once, but only after it has started.
    return 0.1 if text == "0.0" else max(positive(text), 0.1)


def add_resume(parser: Parser) -> None:
    """Add ``--resume``."""
    parser.add_argument(
        "--resume",
        nargs="?",
        const=LAST,
        metavar="FILE",
        help="go on with a game that was left, by its own clocks and limits: a file or its name in klss-games (without "
        "FILE: the last one)",
    )


def asked_game(parser: Parser, arguments: Sequence[str], parsed: argparse.Namespace) -> Settings:
    """The settings of the game that is asked for: a new one by the command line, or one that is resumed by its own
    terms except for limits and a seed on the command line."""
    game, left = parser.game, None
    if getattr(parsed, "resume", None) is None:
        specs = seats(parsed.white, parsed.black, game.default_player)
    else:
        left = saved_game(parsed.resume, game)
        specs = _resumed_seats(left, parsed)
        kept = {flag: left.tags[tag] for tag, flag in _FLAGS.items() if tag in left.tags}
        if left.fen is not None:
            kept["fen"] = left.fen
        given = ("time", "nodes") if parsed.given & {"time", "nodes"} else ()
        flags = [f"--{flag}={text}" for flag, text in kept.items() if flag not in given]
        parsed = parser.parse([*flags, *arguments])
        if getattr(parsed, "record", None) is None:
            output_file(left.path, "--resume")
    terms = game_options(parsed)
    for spec in specs.values():
        if spec != HUMAN and spec not in game.known:
            game.player(spec, parsed.stockfish)
    return Settings(specs, left, **vars(terms))


def _resumed_seats(left: SavedGame, parsed: argparse.Namespace) -> dict[chess.Color, str]:
    """The human in the same seat, against the earlier engine or the one on the command line. Raises
    :class:`UsageError`: a flag contradicts the game."""
    for flag in ("fen", "clock", "rules"):
        if flag in parsed.given:
            raise UsageError(f"--{flag}: got it with --resume, expected it without: the game keeps its own settings")
    given = {chess.WHITE: parsed.white, chess.BLACK: parsed.black}
    engine, kept = given[not left.human], _name(left.tags, not left.human)
    if given[left.human] not in (None, HUMAN) or engine == HUMAN:
        side = chess.COLOR_NAMES[left.human]
        raise UsageError(f"--white and --black: got other seats with --resume, where the human is {side}")
    if engine is None and not _PACKAGED.fullmatch(kept):
        raise UsageError(
            f"--resume: got a game against {printable(kept, 60)!r}, which a file may not start; expected "
            f"--{chess.COLOR_NAMES[not left.human]} as well, with the engine to play"
        )
    return {left.human: HUMAN, not left.human: engine or kept}
