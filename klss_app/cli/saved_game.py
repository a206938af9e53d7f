"""Resume a game that was left: ``--resume FILE|last`` of ``klss play`` and ``klss board``.

It is on the referee's side of the wall: a kept game has the true moves. They go to the referee alone; the players get
their own views of the earlier moves, as in any game.

A file names packaged players with plain settings only. Any other engine (a program, a file, a class of a module) plays
on only if the command line names it, since naming it runs its code.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import chess

from klss.play.contest import AnyReferee
from klss.support.text import printable
from klss_app.cli.errors import UsageError
from klss_app.cli.games import FOG, Game
from klss_app.cli.options import (
    GameOptions,
    Parser,
    game_options,
    kept_history,
    pgn_game,
    seats,
)
from klss_app.flag_types import clock, count, positive, seed
from klss_app.kept_games import DEFAULT_RULES, HUMAN, Earlier, Terms, begun_at, newest_first

if TYPE_CHECKING:
    from darkchess.fog.game.rules import Ruleset

LAST = "last"

_PACKAGED = re.compile(r"[\w-]+(,\s*\w+\s*=\s*([\w+-]+|[-+.\de]+)\s*)*", re.ASCII)
"""Players that a file may name: ``NAME,field=value,…`` with words and numbers, which can't be a path or a module."""


@dataclass(frozen=True, kw_only=True)
class SavedGame(Earlier):
    """One game, kept in ``path``: besides what was played, its start (None: the usual one), the human's colour, the
    other side's name in the file, and the terms of the game."""

    path: Path
    fen: str | None
    human: chess.Color
    engine: str
    ruleset: Ruleset
    terms: Terms


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
    from darkchess.fog.game.rules import RULESETS

    if path.exists() and not path.is_file():  # the game is kept in it again
        raise UsageError(f"--resume: got {str(path)!r}, which is no file; expected the file of a game")
    tags, fen, moves, over = (_pgn if game is FOG else _history)(path)
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
            time_s=positive(tags["MoveTime"]) if "MoveTime" in tags else None,
            nodes=count(tags["MoveNodes"]) if "MoveNodes" in tags else None,
            rules=rules,
        )
        left_s = {} if terms.clock is None else {color: _left(tags, color, terms.clock[0]) for color in chess.COLORS}
    except argparse.ArgumentTypeError as error:
        raise UsageError(f"--resume: a tag of {str(path)!r}: {printable(str(error))}") from None
    try:
        referee: AnyReferee | None = None if over else game.kit.referee(game.kit.setup(fen, rules), moves)
    except DarkchessError as error:
        raise UsageError(f"--resume: {str(path)!r}: {error}") from None
    if referee is None or referee.outcome is not None:
        raise UsageError(f"--resume: got {str(path)!r}, a game that is over; expected an unfinished one")
    human = humans[0]
    return SavedGame(
        moves=moves, plies=referee.ply, left_s=left_s, begun=begun_at(tags), path=path, fen=fen,
        human=human, engine=names[not human], ruleset=RULESETS[rules], terms=terms,
    )  # fmt: skip


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


def asked_game(game: Game, parsed: argparse.Namespace) -> tuple[SavedGame | None, dict[chess.Color, str], GameOptions]:
    """The game to resume (None: a new one begins), the players by colour, and the options: those of the command line,
    or those of the resumed game except for limits and a seed on the command line."""
    resumed = getattr(parsed, "resume", None)
    if resumed is None:
        specs = seats(parsed.white, parsed.black, game.default_player, book=parsed.book)
        return None, specs, game_options(parsed)
    left = saved_game(resumed, game)
    specs, options, terms = _resumed_seats(left, parsed), game_options(parsed), left.terms
    if not parsed.given & {"time", "nodes"} and (terms.time_s, terms.nodes, terms.clock) != (None, None, None):
        options = dataclasses.replace(options, time_s=terms.time_s, nodes=terms.nodes)
    drawn = terms.seed if parsed.seed is None else parsed.seed
    options = dataclasses.replace(options, clock=terms.clock, seed=drawn, fen=left.fen, ruleset=left.ruleset)
    return left, specs, options


def _resumed_seats(left: SavedGame, parsed: argparse.Namespace) -> dict[chess.Color, str]:
    """The human in the same seat, against the earlier engine or the one on the command line. Raises
    :class:`UsageError`: a flag contradicts the game."""
    for flag in ("fen", "clock", "rules", "book"):
        if flag in parsed.given:
            raise UsageError(f"--{flag}: got it with --resume, expected it without: the game keeps its own settings")
    given = {chess.WHITE: parsed.white, chess.BLACK: parsed.black}
    engine = given[not left.human]
    if given[left.human] not in (None, HUMAN) or engine == HUMAN:
        side = chess.COLOR_NAMES[left.human]
        raise UsageError(f"--white and --black: got other seats with --resume, where the human is {side}")
    if engine is None and not _PACKAGED.fullmatch(left.engine):
        raise UsageError(
            f"--resume: got a game against {printable(left.engine)!r}, which a file may not start; expected "
            f"--{chess.COLOR_NAMES[not left.human]} as well, with the engine to play"
        )
    return {left.human: HUMAN, not left.human: engine or left.engine}
