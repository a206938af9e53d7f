"""``klss track``: the size of each player's position set, ply by ply along a game.

Sizes are exact. If a player's set grows past the cap, its list ends at the last size that fits. With ``--stream`` a set
of 10⁸ positions can be followed in a few gigabytes. A long update reports its progress on stderr.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import chess

from klss.support.seeds import fresh_seed
from klss_app.cli.errors import UsageError
from klss_app.cli.games import FOG, Game
from klss_app.cli.options import Parser, add_game_number, check_fen, count, pgn_game, seed, typed_moves
from klss_app.progress import ProgressLine
from klss_app.stdout import print_document

if TYPE_CHECKING:
    from darkchess.fog.belief.position_set import PositionSet

DEFAULT_CAP = 10_000_000


def _parser() -> Parser:
    parser = Parser("track", "Sizes of both players' position sets after 0, 1, 2, … plies of a game.")
    game = parser.add_mutually_exclusive_group(required=True)
    game.add_argument("--moves", metavar="TEXT", help='the moves, SAN or UCI: "e4 e5 Nf3"')
    game.add_argument("--pgn", metavar="FILE", help="a game of a file of games, as klss games lists them")
    add_game_number(parser)
    parser.add_argument("--fen", metavar="FEN", help="start position, with --moves")
    parser.add_argument("--cap", type=count, default=DEFAULT_CAP, metavar="N", help="largest set")
    parser.add_argument(
        "--stream", action="store_true", help="update large sets slice by slice: slower, in about half the memory"
    )
    parser.add_argument(
        "--threads", type=int, choices=[1, 2], default=2, help="threads of an update; sizes are the same"
    )
    parser.add_argument(
        "--seed", type=seed, metavar="N", help="seed of the sets' hashing; the sizes don't depend on it"
    )
    parser.add_argument("--json", action="store_true", help="one JSON document on stdout")
    return parser


def run(arguments: Sequence[str], game: Game = FOG) -> int:
    """Run ``klss track``; see :mod:`klss_app.cli.main`."""
    parsed = _parser().parse(arguments)
    if parsed.fen is not None and parsed.pgn is not None:
        raise UsageError("--fen: got it with --pgn, expected it with --moves only: a PGN names its own start position")
    if parsed.pgn is None and "game" in parsed.given:
        raise UsageError("--game: got it with --moves, expected it with --pgn only: it chooses a game of a file")
    if parsed.pgn is not None:
        record = pgn_game(Path(parsed.pgn), parsed.game, "--pgn: ")
        moves, fen = list(record.moves), record.fen
    else:
        if parsed.fen is not None:
            check_fen(parsed.fen)
        moves, fen = typed_moves(parsed.moves, parsed.fen, "--moves: "), parsed.fen

    from darkchess.fog.belief.position_set import PositionSet
    from darkchess.fog.game.referee import Referee
    from darkchess.fog.game.san import san

    referee = Referee(fen)
    hashing = fresh_seed() if parsed.seed is None else parsed.seed
    known = {
        color: PositionSet(
            referee.view(color), referee.position, cap=parsed.cap, seed=hashing, threads=parsed.threads,
            stream=parsed.stream,
        )
        for color in chess.COLORS
    }  # fmt: skip
    sizes: dict[str, list[int]] = {"white": [1], "black": [1]}
    capped: dict[str, int | None] = {"white": None, "black": None}
    names: list[str] = []
    show = _nothing if parsed.json else _line
    show("ply", "move", {"white": "White", "black": "Black"})
    show(0, "", dict.fromkeys(sizes, "1"))
    for move in moves:
        taken = referee.position.piece_at(move.to_square)
        if (taken is not None and taken.piece_type == chess.KING) or referee.outcome is not None:
            break
        names.append(san(referee.position, move))
        referee.push(move)
        for color, positions in known.items():
            side = chess.COLOR_NAMES[color]
            if capped[side] is None:
                _observe(positions, referee.view(color))
                if positions.capped_by is None:
                    sizes[side].append(positions.size)
                else:
                    capped[side] = referee.ply
        # Long games take minutes, so each line is printed as soon as its ply is done.
        shown = {side: f"{sizes[side][-1]:,}" if capped[side] is None else "past the cap" for side in sizes}
        show(referee.ply, names[-1], shown)
    if parsed.json:
        print_document({"moves": names, **sizes, "capped": capped})
    elif len(names) < len(moves):
        print("(ends before the king is captured)", file=sys.stderr)
    return 0


def _observe(positions: PositionSet, view: Any) -> None:
    """Update a set, and show the progress of a long update."""
    with contextlib.closing(ProgressLine(f"ply {view.ply}, {chess.COLOR_NAMES[view.color]}'s set")) as bar:
        positions.observe(view, progress=lambda done, found: bar.tell(f"{done:.0%}, {found:,} positions"))


def _line(ply: int | str, name: str, sizes: dict[str, str]) -> None:
    print(f"{ply:>4}  {name:<8}{sizes['white']:>12}{sizes['black']:>12}".rstrip(), flush=True)


def _nothing(*_: Any) -> None:
    pass
