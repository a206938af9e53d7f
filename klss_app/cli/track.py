"""``klss track``: how many positions each player holds possible, ply by ply along a game.

Sizes are exact. The list of a player whose set grows past the cap ends at the last size that fits. With ``--stream`` a
set of 10⁸ positions can be followed in a few gigabytes. A long update tells on stderr how far it is.
"""

from __future__ import annotations

import contextlib
import json
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import chess

from klss_app.cli.errors import UsageError
from klss_app.cli.options import Parser, cap, check_fen, chosen_seed, pgn_games, seed
from klss_app.progress import ProgressLine

if TYPE_CHECKING:
    from darkchess.belief.position_set import PositionSet
    from darkchess.game.referee import Referee

__all__ = ["run"]

DEFAULT_CAP = 10_000_000
_NUMBER = re.compile(r"\d+\.+")


def _parser() -> Parser:
    parser = Parser("track", "Sizes of both players' position sets after 0, 1, 2, … plies of a game.")
    game = parser.add_mutually_exclusive_group(required=True)
    game.add_argument("--moves", metavar="TEXT", help='the moves, SAN or UCI: "e4 e5 Nf3"')
    game.add_argument("--pgn", metavar="FILE", help="the first game of a PGN file")
    parser.add_argument("--fen", metavar="FEN", help="start position, with --moves")
    parser.add_argument(
        "--cap", type=cap, default=DEFAULT_CAP, metavar="N", help=f"largest set (default {DEFAULT_CAP:,})"
    )
    parser.add_argument(
        "--stream", action="store_true", help="update large sets slice by slice: slower, in about half the memory"
    )
    parser.add_argument(
        "--threads", type=int, choices=[1, 2], default=2, help="threads of an update (default 2); sizes are the same"
    )
    parser.add_argument(
        "--seed", type=seed, metavar="N", help="seed of the sets' hashing; the sizes don't depend on it"
    )
    parser.add_argument("--json", action="store_true", help="one JSON document on stdout")
    return parser


@dataclass
class Track:
    """The sizes so far of one player's set.

    Attributes
    ----------
    sizes
        After 0, 1, 2, … plies.
    capped
        The ply at which the set passed the cap; None while it has not.
    """

    known: PositionSet
    sizes: list[int] = field(default_factory=lambda: [1])
    capped: int | None = None


def run(arguments: Sequence[str]) -> int:
    """Run ``klss track``; see :mod:`klss_app.cli.main`."""
    parsed = _parser().parse(arguments)
    if parsed.fen is not None and parsed.pgn is not None:
        raise UsageError("--fen: got it with --pgn, expected it with --moves only: a PGN names its own start position")
    if parsed.fen is not None:
        check_fen(parsed.fen)
    moves, fen = _moves(parsed.moves, parsed.fen) if parsed.moves is not None else _pgn_moves(Path(parsed.pgn))

    from darkchess.belief.position_set import PositionSet
    from darkchess.game.referee import Referee

    referee = Referee(fen)
    tracks = {
        color: Track(
            PositionSet(
                referee.view(color),
                referee.position,
                cap=parsed.cap,
                seed=chosen_seed(parsed.seed),
                threads=parsed.threads,
                stream=parsed.stream,
            )
        )
        for color in chess.COLORS
    }
    if not parsed.json:
        print(f"{'ply':>4}  {'move':<8}{'White':>12}{'Black':>12}")
        print(f"{0:>4}  {'':<8}{1:>12,}{1:>12,}", flush=True)
    names = []
    for name in _tracked(referee, moves, tracks):
        names.append(name)
        if not parsed.json:
            print(
                f"{referee.ply:>4}  {name:<8}" + "".join(f"{_size(tracks[color]):>12}" for color in chess.COLORS),
                flush=True,
            )
    if parsed.json:
        print(json.dumps(_document(names, tracks), allow_nan=False))
    elif len(names) < len(moves):
        print("(ends before the king is captured)", file=sys.stderr)
    return 0


def _moves(text: str, fen: str | None) -> tuple[list[chess.Move], str | None]:
    """The moves of ``--moves``, each checked."""
    from darkchess.board.position import START_FEN, Position
    from darkchess.errors import IllegalMove
    from darkchess.game.san import parse_move

    position = Position.from_fen(fen or START_FEN)
    moves = []
    for ply, word in enumerate(_NUMBER.sub(" ", text).split(), 1):
        try:
            move = parse_move(position, word)
        except IllegalMove as error:
            raise UsageError(f"--moves: ply {ply}: {error}") from None
        moves.append(move)
        position = position.after(move)
    return moves, fen


def _pgn_moves(path: Path) -> tuple[list[chess.Move], str | None]:
    """The moves and the start position of the first game of a PGN file."""
    games = pgn_games(path, "--pgn: ")
    if not games:
        raise UsageError(f"--pgn: got no game in {str(path)!r}, expected at least one")
    return list(games[0].moves), games[0].fen


def _tracked(referee: Referee, moves: Sequence[chess.Move], tracks: dict[chess.Color, Track]) -> Iterator[str]:
    """Play ``moves`` and bring ``tracks`` up to date; yields each move in SAN, ends before a king is captured."""
    from darkchess.game.san import san

    for move in moves:
        taken = referee.position.piece_at(move.to_square)
        if (taken is not None and taken.piece_type == chess.KING) or referee.outcome is not None:
            return
        name = san(referee.position, move)
        referee.push(move)
        for color, track in tracks.items():
            if track.capped is not None:
                continue
            with contextlib.closing(ProgressLine(f"ply {referee.ply}, {chess.COLOR_NAMES[color]}'s set")) as bar:

                def tell(done: float, found: int, bar: ProgressLine = bar) -> None:
                    bar.tell(f"{done:.0%}, {found:,} positions")

                track.known.observe(referee.view(color), progress=tell)
            if track.known.capped_by is not None:
                track.capped = referee.ply
            else:
                track.sizes.append(track.known.size)
        yield name


def _size(track: Track) -> str:
    return f"{track.sizes[-1]:,}" if track.capped is None else "past the cap"


def _document(names: list[str], tracks: dict[chess.Color, Track]) -> dict[str, Any]:
    white, black = tracks[chess.WHITE], tracks[chess.BLACK]
    capped = {"white": white.capped, "black": black.capped}
    return {"moves": names, "white": white.sizes, "black": black.sizes, "capped": capped}
