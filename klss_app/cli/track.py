"""``klss track``: the size of each player's position set along a game, after each ply; in Reconnaissance Blind Chess
after each observation of a turn. In a small game, of OpenSpiel or of anybody's, they are sets of true games.

Sizes are exact. A player's set that grows past the cap is followed no further. With ``--stream`` a set of 10⁸ positions
of Fog of War can be followed in a few gigabytes. A long update reports its progress on stderr.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import chess

from klss.support.threads import usual
from klss_app.cli.errors import UsageError
from klss_app.cli.game_option import FOG, Game
from klss_app.cli.options import Parser, add_game_number, add_threads, kept_history, pgn_game, typed_moves
from klss_app.flag_types import count, seed
from klss_app.stdout import print_document

_CAPS = {"fog": 10_000_000, "rbc": 2_000_000}
_SMALL_CAP = 50_000
"""The cap of a small game: of games, with a referee each, that are looked at for an observation."""

Row = tuple[int, str, dict[str, int | None]]
"""A line of the output: its number, the move or the side, and the size in each column; None: past the cap."""


def _parser(game: Game = FOG) -> Parser:
    parser = Parser("track", "Sizes of both players' position sets along a game.", game)
    add = parser.add_argument
    if game.name == "fog":
        which = parser.add_mutually_exclusive_group(required=True)
        which.add_argument("--moves", metavar="TEXT", help='the moves, SAN or UCI: "e4 e5 Nf3"')
        which.add_argument("--pgn", metavar="FILE", help="a game of a file of games, as klss games lists them")
        add_game_number(parser)
        add("--fen", metavar="FEN", help="start position, with --moves")
        add("--stream", action="store_true", help="update large sets slice by slice: slower, in about half the memory")
        hashing = "seed of the sets' hashing; the sizes don't depend on it"
        add("--seed", type=seed, default=0, metavar="N", help=hashing)
    else:
        add("game", metavar="FILE", help="a game that klss kept (JSON), or reconchess")
    cap = _CAPS.get(game.name, _SMALL_CAP)
    add("--cap", type=count, default=cap, metavar="N", help="largest set")
    if game.name in _CAPS:
        add_threads(parser)
    add("--json", action="store_true", help="one JSON document on stdout")
    return parser


def run(arguments: Sequence[str], game: Game = FOG) -> int:
    """Run ``klss track``; see :mod:`klss_app.cli.main`."""
    parsed = _parser(game).parse(arguments)
    by_turn, rows = game.name == "rbc", list[Row]()
    for number, name, sizes in {"fog": _fog, "rbc": _rbc}.get(game.name, partial(_small, game))(parsed):
        # Long games take minutes, so each line is printed as soon as it is known.
        if not parsed.json and not rows:
            _show(*(("turn", "side") if by_turn else ("ply", "move")), [column.capitalize() for column in sizes])
        if not parsed.json:
            _show(number, name, ["past the cap" if size is None else f"{size:,}" for size in sizes.values()])
        rows.append((number, name, sizes))
    if parsed.json and by_turn:
        print_document({"turns": [{"turn": number, "color": side, **sizes} for number, side, sizes in rows]})
    elif parsed.json:
        found = {side: [row[2][side] for row in rows] for side in ("white", "black")}
        sets = {side: [size for size in sizes if size is not None] for side, sizes in found.items()}
        capped = {side: sizes.index(None) if None in sizes else None for side, sizes in found.items()}
        print_document({"moves": [name for _, name, _ in rows[1:]], **sets, "capped": capped})
    return 0


def _show(number: int | str, name: str, cells: Sequence[str]) -> None:
    print(f"{number:>4}  {name:<8}{''.join(f'{cell:>14}' for cell in cells)}".rstrip(), flush=True)


def _fog(parsed: argparse.Namespace) -> Iterator[Row]:
    """Both sets after each ply, up to the capture of a king."""
    for flag, other in (("fen", "moves"), ("game", "pgn")):
        if flag in parsed.given and other not in parsed.given:
            raise UsageError(f"--{flag}: got it without --{other}, expected both: it says which game that is")
    if parsed.pgn is None:
        moves, fen = typed_moves(parsed.moves, parsed.fen), parsed.fen
    else:
        record = pgn_game(Path(parsed.pgn), parsed.game, "--pgn: ")
        moves, fen = list(record.moves), record.fen

    from darkchess.fog.belief.position_set import PositionSet
    from darkchess.fog.game.san import san
    from uci_bridge.bot.true_game import ServerReferee

    referee = ServerReferee(fen)  # games may go on where a draw could have been claimed
    settings = {"cap": parsed.cap, "seed": parsed.seed, "threads": usual(), "stream": parsed.stream}
    sets = {color: PositionSet(referee.view(color), referee.position, **settings) for color in chess.COLORS}
    sizes: dict[str, int | None] = dict.fromkeys(("white", "black"), 1)
    yield 0, "", {**sizes}
    for move in moves:
        taken = referee.position.piece_at(move.to_square)
        if (taken is not None and taken.piece_type == chess.KING) or referee.outcome is not None:
            if not parsed.json:
                print("(ends before the king is captured)", file=sys.stderr)
            return
        name = san(referee.position, move)
        referee.push(move)
        for color, known in sets.items():
            side = chess.COLOR_NAMES[color]
            if known.capped_by is None:
                known.observe(referee.view(color))
            sizes[side] = known.size if known.capped_by is None else None
        yield referee.ply, name, {**sizes}


def _rbc(parsed: argparse.Namespace) -> Iterator[Row]:
    """The mover's set after each observation of a turn."""
    from darkchess.rbc.belief.position_set import PositionSet
    from darkchess.rbc.game.history import replayed

    played = kept_history(Path(parsed.game), replayed)
    sets = {color: PositionSet(color, played.positions[0], cap=parsed.cap, threads=usual()) for color in chess.COLORS}
    for ply, turn in enumerate(played.turns):
        known = sets[turn.color]
        sizes: dict[str, int | None] = {"notice": None, "sense": None, "move": None}
        if known.capped_by is None:
            known.noticed(turn.notice)
        if known.capped_by is None:
            sizes["notice"] = known.size
            known.sensed(turn.sensed)
            sizes["sense"] = known.size
            if ply + 1 < played.ply or played.outcome is None:
                known.moved(turn.moved)
            sizes["move"] = known.size
        yield ply, chess.COLOR_NAMES[turn.color], sizes


def _small(game: Game, parsed: argparse.Namespace) -> Iterator[Row]:
    """Both sets of true games after each answer."""
    from klss.play.possible import sizes
    from klss.play.small_game import PlainKit

    kit = game.kit
    if not isinstance(kit, PlainKit):
        raise UsageError(f"--game: got {game.name!r}, whose kit is no PlainKit; expected fog, rbc or a small game")
    kept = kept_history(Path(parsed.game), kit.replayed)
    for ply, (word, found) in enumerate(sizes(kit, kept, parsed.cap)):
        yield ply, word, {chess.COLOR_NAMES[seat]: size for seat, size in found.items()}
