"""``klss rbc track``: the size of each player's position set along a kept game."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import chess

from klss_app.cli.errors import UsageError
from klss_app.cli.games import Game
from klss_app.cli.options import Parser, count
from klss_app.stdout import print_document

if TYPE_CHECKING:
    from darkchess.rbc.game.referee import Referee

T = TypeVar("T")

_DEFAULT_CAP = 2_000_000

_MOST_BYTES = 1 << 24
"""Largest file of a history; JSON takes many times its size in memory. A long game has a megabyte."""


def _parser(game: Game) -> Parser:
    parser = Parser("track", "Sizes of both players' position sets after each observation.", game)
    parser.add_argument("game", metavar="FILE", help="a game's history (JSON of klss rbc or reconchess)")
    parser.add_argument("--cap", type=count, default=_DEFAULT_CAP, metavar="N", help="largest set")
    parser.add_argument("--threads", type=int, choices=[1, 2], default=2, help="threads of an update")
    parser.add_argument("--json", action="store_true", help="one JSON document on stdout")
    return parser


def kept_game(path: Path) -> Referee:
    """The game in a history's file. Raises :class:`UsageError`: it can't be read, or is not a history."""
    from darkchess.rbc.game.history import replayed

    return read_history_file(path, replayed)


def read_history_file(path: Path, read: Callable[[str], T]) -> T:
    """What ``read`` makes of a history's file. Raises :class:`UsageError`: it can't be read, or is not a history."""
    from darkchess.errors import RecordError
    from klss.support.text import read_text
    from klss_app.web.board_game import BadGame

    try:
        return read(read_text(path, _MOST_BYTES))
    except OSError as error:
        raise UsageError(f"can't read {str(path)!r}: {error.strerror}; expected a game's history") from None
    except (RecordError, BadGame, UnicodeDecodeError) as error:
        raise UsageError(f"{str(path)!r}: {error}") from None


def run(arguments: Sequence[str], game: Game) -> int:
    """Run ``klss rbc track``; see :mod:`klss_app.cli.main`."""
    parsed = _parser(game).parse(arguments)
    from darkchess.rbc.belief.position_set import PositionSet

    played = kept_game(Path(parsed.game))
    known = {
        color: PositionSet(color, played.positions[0], cap=parsed.cap, threads=parsed.threads) for color in chess.COLORS
    }
    turns: list[dict[str, Any]] = []
    for ply, turn in enumerate(played.turns):
        mine = known[turn.color]
        sizes: dict[str, int | None] = {"notice": None, "sense": None, "move": None}  # past the cap sizes are unknown
        if mine.capped_by is None:
            mine.noticed(turn.notice)
        if mine.capped_by is None:
            sizes["notice"] = mine.size
            mine.sensed(turn.sensed)
            sizes["sense"] = mine.size
            if ply + 1 < played.ply or played.outcome is None:
                mine.moved(turn.moved)
            sizes["move"] = mine.size
        turns.append({"turn": ply, "color": chess.COLOR_NAMES[turn.color], **sizes})
    if parsed.json:
        print_document({"turns": turns})
        return 0
    print(f"{'turn':>5}  {'':<5}  {'notice':>12}  {'sense':>12}  {'move':>12}")
    for row in turns:
        shown = [_number(row[key]) for key in ("notice", "sense", "move")]
        print(f"{row['turn']:>5}  {row['color']:<5}  {shown[0]:>12}  {shown[1]:>12}  {shown[2]:>12}")
    return 0


def _number(size: int | None) -> str:
    return "past the cap" if size is None else f"{size:,}"
