"""The terms of a game, the names of players, and a human's games, in a file each (by default in ``klss-games``)."""

from __future__ import annotations

import datetime
import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import chess

from darkchess.evaluation.registry import EvaluatorChoice
from darkchess.fog.game.rules import PAPER, Ruleset
from klss.play.limits import DEFAULT_TIME_S, Limit
from klss.support.seeds import fresh_seed
from klss.support.text import printable
from klss.support.whole_file import write_whole

HUMAN = "human"
"""The name of a human among players."""

_FOLDER = "klss-games"


def shown_name(spec: str) -> str:
    """A player's name on screens and pages: its text, without the directories of a command line. ``cmd:`` stays, since
    a program may have the name of a player of ours."""
    if not spec.startswith("cmd:"):
        return spec
    return "cmd:" + printable(" ".join(word.rsplit("/", 1)[-1] for word in spec[4:].split()))


@dataclass(frozen=True, kw_only=True)
class Terms:
    """The terms of a game, besides its players."""

    time_s: float | None = DEFAULT_TIME_S  # the limits of an engine's moves
    nodes: int | None = None
    clock: tuple[float, float] | None = None  # seconds at the start, and added after each move
    seed: int = field(default_factory=fresh_seed)  # of all random choices
    ruleset: Ruleset = PAPER
    fen: str | None = None  # the start position; None: the usual one
    evaluator: EvaluatorChoice = field(default_factory=EvaluatorChoice)  # for configurations that leave it open

    @property
    def limit(self) -> Limit:
        """The limit of an engine."""
        return Limit(self.time_s, self.nodes, self.clock)


@dataclass(frozen=True)
class Earlier:
    """The part of a resumed game that was played before, for the referee alone: the moves as the kit takes them,
    seconds left on the clocks (empty without), the time of its beginning in UTC, and its file."""

    moves: tuple[str, ...]
    left_s: Mapping[chess.Color, float]
    begun: datetime.datetime
    path: Path | None = None


@dataclass(frozen=True)
class Settings(Terms):
    """The settings of a game on a screen; ``players`` holds ``human``, a configuration's text or ``cmd:…``."""

    players: Mapping[chess.Color, str]
    earlier: Earlier | None = None
    asks: bool = False  # whether the browser's page asks for the first game's settings, which are these by default

    @property
    def humans(self) -> list[chess.Color]:
        """The colours that humans play."""
        return [color for color in chess.COLORS if self.players[color] == HUMAN]

    @property
    def engine(self) -> str | None:
        """The engine's text; None where two humans play."""
        return next((spec for spec in self.players.values() if spec != HUMAN), None)

    @property
    def controls(self) -> dict[chess.Color, Limit]:
        """Each side's limits: an engine's, or a human's clock alone."""
        human = Limit(clock=self.clock)
        return {color: human if spec == HUMAN else self.limit for color, spec in self.players.items()}

    @property
    def left_s(self) -> dict[chess.Color, float]:
        """Seconds on the clocks when the game begins or goes on; empty without clocks."""
        at_first = {} if self.clock is None else dict.fromkeys(chess.COLORS, self.clock[0])
        return at_first if self.earlier is None else at_first | dict(self.earlier.left_s)


def game_headers(
    event: str,
    names: Mapping[chess.Color, str],
    begun: datetime.datetime,
    terms: Terms,
    left_s: Mapping[chess.Color, float] | None = None,
) -> dict[str, str]:
    """The PGN tags of a game, which :mod:`klss_app.cli.saved_game` reads; ``begun`` is in UTC, ``left_s`` are the
    seconds on the clocks of a game that was left."""
    headers = {
        "Event": event,
        "Date": begun.strftime("%Y.%m.%d"),
        "UTCTime": begun.strftime("%H:%M:%S"),
        "White": names[chess.WHITE],
        "Black": names[chess.BLACK],
        "Seed": str(terms.seed),
    }
    if terms.ruleset != PAPER:
        headers["Rules"] = terms.ruleset.name
    if terms.clock is not None:
        headers["TimeControl"] = f"{terms.clock[0]:g}+{terms.clock[1]:g}"
    if terms.time_s is not None:
        headers["MoveTime"] = f"{terms.time_s:g}"
    if terms.nodes is not None:
        headers["MoveNodes"] = str(terms.nodes)
    for color, seconds in (left_s or {}).items():
        headers[f"{'White' if color else 'Black'}Clock"] = f"{seconds:.1f}"
    return headers


def begun_at(headers: Mapping[str, str]) -> datetime.datetime:
    """The time of a game's beginning, by its tags; now if they don't have it."""
    try:
        begun = datetime.datetime.strptime(f"{headers['Date']} {headers['UTCTime']}", "%Y.%m.%d %H:%M:%S")
    except (KeyError, ValueError):
        return datetime.datetime.now(datetime.UTC)
    return begun.replace(tzinfo=datetime.UTC)


def newest_first(suffix: str = ".pgn") -> list[Path]:
    """The games in ``klss-games`` whose names end in ``suffix``, the last written first."""
    games = (path for path in Path(_FOLDER).glob(f"*{suffix}") if path.is_file())  # editors leave links to nothing
    return sorted(games, key=lambda path: path.stat().st_mtime, reverse=True)


def keep_game(text: str, begun: datetime.datetime, path: Path | None = None, suffix: str = ".pgn") -> Path:
    """Write a game to ``path``, or to a new file named by the time ``begun`` and ``suffix``; return the path.

    Only the owner may read it: a game that was left has the true moves of one that may be resumed. Raises OSError, with
    ``filename``: it can't be written.
    """
    if path is None:
        path = Path(_FOLDER) / f"{begun.strftime('%Y-%m-%dT%H%M%SZ')}{suffix}"
        path.parent.mkdir(exist_ok=True)
        begun_then = itertools.count(2)
        stem = path.stem
        while path.exists():  # several games may begin within a second
            path = path.with_name(f"{stem}-{next(begun_then)}{suffix}")
    write_whole(path, text, 0o600)
    return path
