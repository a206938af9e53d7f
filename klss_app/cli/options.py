"""The flags that commands share, and a parser whose errors are one line."""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import sys
import tempfile
import textwrap
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn, TypeVar

import chess

from darkchess.evaluation.registry import EvaluatorChoice, evaluator_names
from darkchess.fog.game.rules import PAPER, RULESETS
from klss.play.limits import DEFAULT_TIME_S, MOST_NODES
from klss.support.seeds import fresh_seed
from klss.support.text import printable
from klss.support.threads import MOST, VARIABLE, usual
from klss_app.cli.errors import FailedError, UsageError
from klss_app.cli.game_option import FOG, Game, check_evaluator
from klss_app.flag_types import clock, count, positive, seed, whole
from klss_app.kept_games import HUMAN, Terms
from klss_app.stdout import reserve

if TYPE_CHECKING:
    from darkchess.fog.game.record import GameRecord, WrittenGame
    from darkchess.fog.game.rules import Ruleset
    from klss_app.front import Reviewed

CONFIGURATION = "{configurations}; NAME,field=value,…; FILE.toml"
"""The possible values of a configuration in the help; :class:`Parser` puts the names in."""

PLAYERS = "{configurations}; {players}"
"""The possible values of a player in the help."""

T = TypeVar("T")

MOST_BYTES = 1 << 24
"""Largest file of a history; JSON takes many times its size in memory. A long game has a megabyte."""

_UNSET: list[object] = []
"""The value of a flag that was not given; a list, since argparse extends a copy of it for repeatable flags."""


class _Lines(argparse.HelpFormatter):
    """Ends the line of a flag with its default, and breaks lines only between words: ``best-guess`` is one word."""

    def _get_help_string(self, action: argparse.Action) -> str:
        text = action.help or ""
        if action.default is None or action.default is False or action.default == argparse.SUPPRESS:
            return text
        long = isinstance(action.default, int) and action.default >= 100_000
        default = f"{action.default:,}" if long else str(action.default)
        return f"{text} (default {default.removesuffix('.0')})"

    def _split_lines(self, text: str, width: int) -> list[str]:
        return textwrap.wrap(" ".join(text.split()), width, break_on_hyphens=False)


class Parser(argparse.ArgumentParser):
    """argparse, with errors raised as :class:`UsageError` and no abbreviated flags; ``game`` is the game played."""

    def __init__(self, command: str, description: str, game: Game = FOG) -> None:
        self._command, self.game = game.spelled(command), game
        super().__init__(f"klss {self._command}", description=description, formatter_class=_Lines, allow_abbrev=False)

    def format_help(self) -> str:
        """The help, with the names of configurations, which are looked up only here since that loads compiled code."""
        for action in self._actions:
            if action.help is not None and "{" in action.help:
                action.help = action.help.format(**self.names())
        return super().format_help()

    def names(self) -> dict[str, str]:
        """The texts for the words in braces in the help."""
        kit = self.game.kit
        levels = [f"{min(kit.levels)} (easy) to {max(kit.levels)}"] if kit.levels else []
        return {"configurations": ", ".join([*levels, *kit.configurations]), "players": kit.players}

    def error(self, message: str) -> NoReturn:
        """Raise argparse's error as a :class:`UsageError`."""
        raise UsageError(f"{message} (klss {self._command} --help lists the flags)")

    def parse(self, arguments: Sequence[str]) -> argparse.Namespace:
        """The parsed arguments; ``given`` has the names of those that were given. Raises :class:`UsageError`."""
        defaults = {action.dest: action.default for action in self._actions if action.option_strings}
        known = self.parse_args(list(arguments), argparse.Namespace(**dict.fromkeys(defaults, _UNSET)))
        known.given = {name for name in defaults if getattr(known, name) is not _UNSET}
        for name in defaults.keys() - known.given:
            setattr(known, name, defaults[name])
        if "threads" in known.given:  # for this process and all that it starts
            os.environ[VARIABLE] = str(known.threads)
        usual()  # refuses a number of threads in the environment that is none
        if getattr(known, "json", False):
            reserve()
        return known


def add_game_options(
    parser: Parser,
    *,
    fen: bool = True,  # whether a start position may be given, if the game has others
    seed_default: int | None = None,  # the default seed; None: a random one
    limits: str = "",  # the help's text on limits; the game's own by default
) -> None:
    """Add the flags of :func:`game_options`."""
    game = parser.game
    add = parser.add_argument_group(f"limits of the engine's thinking{limits or game.of}").add_argument
    seconds = f"seconds {game.each}, unless nodes or a clock limit it"
    add("--time", type=positive, default=DEFAULT_TIME_S, metavar="S", help=seconds)
    counted = f"nodes {game.each}: no clock is read, so games can be repeated"
    add("--nodes", type=whole(1, MOST_NODES), metavar="N", help=counted)
    start, _, increment = game.clock.partition("+")
    example = f"{game.clock} is {int(start) // 60} minutes at the start and {increment} s added after each move"
    add("--clock", type=clock, metavar="S+I", help=f"a clock for each side, both numbers in seconds: {example}")
    add = parser.add_argument_group("the game").add_argument
    if game.ruled:
        without = "result for a player without a move: paper, a loss; pychess, a draw"
        add("--rules", default=PAPER.name, metavar="NAME", help=without)
    if fen and game.starts:
        add("--fen", metavar="FEN", help="start position, known to both players")
    fresh = " (default: a random one)" if seed_default is None else ""
    add("--seed", type=seed, default=seed_default, metavar="N", help=f"seed of all random choices{fresh}")
    add_evaluator_options(parser)
    add_threads(parser)


def add_players(parser: Parser, human: str) -> None:
    """Add ``--white`` and ``--black``, which take an engine or ``human``, the help's text for a human."""
    sides = parser.add_argument_group("the players")
    for side in ("white", "black"):
        sides.add_argument(f"--{side}", metavar="PLAYER", help=f"{human}, {PLAYERS}")


def seats(white: str | None, black: str | None, engine: str) -> dict[chess.Color, str]:
    """The players by colour: one that is not named is the human, or ``engine`` if the human has the other side."""
    if white is None:
        white = engine if black == HUMAN else HUMAN
    if black is None:
        black = engine if white == HUMAN else HUMAN
    return {chess.WHITE: white, chess.BLACK: black}


def add_threads(parser: Parser) -> None:
    """Add ``--threads``, which :meth:`Parser.parse` puts into the environment."""
    default = f"default: {VARIABLE}, or the cores that there are, divided among games at a time"
    text = f"threads of an engine; with --nodes no answer depends on them ({default})"
    parser.add_argument("--threads", type=whole(1, MOST), metavar="N", help=text)


def add_evaluator_options(parser: Parser) -> None:
    """Add the flags of the evaluator: ``--evaluator``, ``--stockfish``."""
    add = parser.add_argument_group("the evaluator of positions").add_argument
    add("--evaluator", default=EvaluatorChoice.name, metavar="NAME", help=evaluator_names())
    add("--stockfish", metavar="PATH", help="where Stockfish is (default: KLSS_STOCKFISH, PATH, /usr/games)")


def game_options(arguments: argparse.Namespace) -> Terms:
    """The terms of a game by the flags of :func:`add_game_options`: 5 s a move if there is no other limit, the paper's
    rules where no flag names others, a random seed if there is none. Raises an error of its kind: an unknown ruleset or
    evaluator, a bad FEN, or Stockfish is named and missing.
    """
    rules, fen = getattr(arguments, "rules", PAPER.name), getattr(arguments, "fen", None)
    if rules not in RULESETS:
        raise UsageError(f"--rules: got {rules!r}, expected one of {', '.join(RULESETS)}")
    check_evaluator(arguments.evaluator, arguments.stockfish)
    if fen is not None:
        from darkchess.board.position import Position

        Position.from_fen(fen)  # raises now, not after the first board
    otherwise = arguments.given & {"nodes", "clock"}
    return Terms(
        time_s=None if otherwise and "time" not in arguments.given else arguments.time,
        nodes=arguments.nodes,
        clock=arguments.clock,
        seed=fresh_seed() if arguments.seed is None else arguments.seed,
        ruleset=RULESETS[rules],
        fen=fen,
        evaluator=EvaluatorChoice(arguments.evaluator, arguments.stockfish, reproducible=arguments.nodes is not None),
    )


def add_game(parser: Parser) -> None:
    """Add ``--game``, to the help: :func:`klss_app.cli.game_option.game_of` has removed the one that names a game."""

    def another(text: str) -> NoReturn:
        raise argparse.ArgumentTypeError(f"got {text!r}, expected the name of one game, once")

    what = "fog (the default), rbc, openspiel:GAME, openspiel:MODULE:GAME if a module registers it, or MODULE:NAME"
    parser.add_argument("--game", type=another, metavar="NAME", help=f"the game: {what}")


def typed_moves(text: str, fen: str | None = None) -> list[chess.Move]:
    """Moves as they are typed, ``1. e4 e5 Nf3``, in SAN or UCI, from the usual start position or ``fen``."""
    from darkchess.board.position import START_FEN, Position
    from darkchess.fog.game.san import parse_moves

    return parse_moves(Position.from_fen(fen or START_FEN), re.sub(r"\d+\.+", " ", text).split())[0]


def add_game_number(parser: Parser) -> None:
    """Add ``--game``, for :func:`pgn_game`."""
    parser.add_argument("--game", type=count, default=1, metavar="N", help="which game of a file that holds several")


def pgn_game(path: Path, number: int, flag: str = "", *, alone: bool = False) -> GameRecord:
    """Game ``number`` of a PGN file; if it has others, a line on stderr says so. Raises :class:`UsageError`: there is
    no such game, it can't be read or has no move, or others are in the file of a game that has to be ``alone``;
    messages begin with ``flag``."""
    from darkchess.fog.game.record import read_game

    record, count = read_game(written_games_of(path, flag), number)
    if record is None or not record.moves:
        raise UsageError(f"{flag}got no game {number} with a move in {str(path)!r}, which holds {count:,} games")
    if count > 1 and alone:
        raise UsageError(f"{flag}got {count:,} games in {str(path)!r}, expected one in a file of its own")
    if count > 1:
        others = f"{path} holds {count:,} games; this is game {number} (--game N chooses another)"
        print(printable(others), file=sys.stderr)
    return record


@contextlib.contextmanager
def readable(path: Path, expected: str, flag: str = "") -> Iterator[None]:
    """Raise :class:`UsageError` if the block can't open or read the file: one line that begins with ``flag``."""
    try:
        yield
    except OSError as error:
        raise UsageError(f"{flag}can't read {str(path)!r}: {error.strerror}; expected {expected}") from None


def written_games_of(path: Path, flag: str = "") -> Iterator[WrittenGame]:
    """See :func:`darkchess.fog.game.archive.games_of`. Raises :class:`UsageError`: the file can't be read."""
    from darkchess.fog.game.archive import games_of

    with readable(path, "a file of games", flag):
        yield from games_of(path)


def kept_history(path: Path, read: Callable[[str], T]) -> T:
    """What ``read`` makes of a game in JSON that was kept, such as a history of Reconnaissance Blind Chess. Raises
    :class:`UsageError`: it can't be read, or is no such game."""
    from klss.support.text import read_text

    with readable(path, "a game that klss kept"):
        try:
            return read(read_text(path, MOST_BYTES))
        except ValueError as error:
            raise UsageError(f"{str(path)!r}: {error}") from None


def kept_game(game: Game, path: Path, number: int, rules: Ruleset, least: int = 1) -> Reviewed:
    """The game of a record, or number ``number`` of a PGN file, for a review or an analysis. Raises
    :class:`UsageError`: it can't be read, or is shorter than ``least``."""
    if game is FOG:
        from klss_app.web.fog_board import reviewed

        return reviewed(pgn_game(path, number), rules, number)
    return kept_history(path, partial(game.front.opened, least=least))


def output_file(path: Path | str | None, flag: str, read: str | None = None) -> Path | None:
    """The path of a file to write (None: none was given). Raises :class:`UsageError`: it can't be written, or is
    ``read``, the file that is read."""
    path = None if path is None else Path(path)
    if path is not None:
        try:
            if path.is_file() or not path.exists():  # written beside its place at first (klss.support.whole_file)
                with tempfile.TemporaryFile(dir=path.resolve().parent) as probe:
                    probe.write(bytes(4096))  # a disk may be full
            elif path.is_dir() or not os.access(path, os.W_OK):
                raise PermissionError
        except OSError:
            raise UsageError(f"{flag}: got {str(path)!r}, expected a file that can be written") from None
    if path is not None and read is not None and path.exists() and Path(read).exists() and path.samefile(read):
        raise UsageError(f"{flag}: got {str(path)!r}, the game itself; expected another file")
    return path


def write_output(path: Path | str | None, flag: str, write: Callable[[Path], object]) -> None:
    """Have ``write`` write a result to ``path``, if there is one. Raises :class:`FailedError`: it can't be written
    there, and is kept among temporary files."""
    if path is None:
        return
    try:
        write(Path(path))
    except OSError as error:
        write(spare := Path(tempfile.mkdtemp(prefix="klss-"), Path(path).name))
        why = f"can't write {str(path)!r}: {error.strerror}; the result is kept in {str(spare)!r}"
        raise FailedError(f"{flag}: {why}") from None
