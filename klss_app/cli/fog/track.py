"""``klss track``: the size of each player's position set, ply by ply along a game.

Sizes are exact. If a player's set grows past the cap, its list ends at the last size that fits. With ``--stream`` a set
of 10⁸ positions can be followed in a few gigabytes. A long update reports its progress on stderr.

With ``--weights`` a filter (:mod:`darkchess.fog.belief.filter`) weighs each set, and since the true position is known
here, its weight is shown.
"""

from __future__ import annotations

import argparse
import contextlib
import math
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import chess

from klss.support.seeds import fresh_seed
from klss_app.cli.errors import UsageError
from klss_app.cli.fog.moves import typed_moves
from klss_app.cli.games import FOG, Game
from klss_app.cli.options import Parser, add_game_number, cap, check_fen, pgn_game, seconds, seed
from klss_app.progress import ProgressLine
from klss_app.stdout import print_document

if TYPE_CHECKING:
    from darkchess.board.position import Position
    from darkchess.fog.belief.policy import Level
    from darkchess.fog.belief.position_set import PositionSet
    from darkchess.fog.game.referee import Referee

DEFAULT_CAP = 10_000_000
_LEVEL_SIGNS = {"values": "v", "features": "f", "tables": "t", "even": "e"}


def _parser() -> Parser:
    parser = Parser("track", "Sizes of both players' position sets after 0, 1, 2, … plies of a game.")
    game = parser.add_mutually_exclusive_group(required=True)
    game.add_argument("--moves", metavar="TEXT", help='the moves, SAN or UCI: "e4 e5 Nf3"')
    game.add_argument("--pgn", metavar="FILE", help="a game of a file of games, as klss games lists them")
    add_game_number(parser)
    parser.add_argument("--fen", metavar="FEN", help="start position, with --moves")
    parser.add_argument("--cap", type=cap, default=DEFAULT_CAP, metavar="N", help="largest set")
    parser.add_argument(
        "--stream", action="store_true", help="update large sets slice by slice: slower, in about half the memory"
    )
    parser.add_argument(
        "--threads", type=int, choices=[1, 2], default=2, help="threads of an update; sizes are the same"
    )
    parser.add_argument(
        "--seed", type=seed, metavar="N", help="seed of the sets' hashing; the sizes don't depend on it"
    )
    weights = parser.add_argument_group("how likely the positions are")
    weights.add_argument(
        "--weights",
        action="store_true",
        help="also the filter's weight of the true position, in nats above the uniform weight; the number of equally "
        "likely positions that would be equally uncertain; and how the last enemy move was weighed: v by values, f "
        "features, t tables (- not at all: the weights were reset)",
    )
    weights.add_argument(
        "--allowance",
        type=seconds,
        metavar="S",
        help="with --weights: seconds of one thread for the weights of a ply (default: no limit)",
    )
    parser.add_argument("--json", action="store_true", help="one JSON document on stdout")
    return parser


@dataclass(frozen=True)
class Weighed:
    """A filter's figures on a set, after one ply."""

    # logarithm of the true position's weight over the uniform one; None: the weight is 0
    truth: float | None
    effective: float  # number of equally likely positions with the same uncertainty
    level: Level | None  # method that weighed most of the enemy's last move; None: not at all, or there was none yet
    reached: float  # share of the weight that was weighed so; the rest was spread evenly
    restarts: int  # number of times that the weights began afresh


@dataclass
class Track:
    """The sizes so far of one player's set, after 0, 1, 2, … plies, and the figures of its filter, if it has one.
    ``capped`` is the ply at which the set passed the cap; None if it has not."""

    known: PositionSet
    sizes: list[int] = field(default_factory=lambda: [1])
    weighed: list[Weighed] = field(default_factory=list)
    capped: int | None = None

    def weigh(self, truth: Position) -> None:
        """Add the filter's figures, if there is one, on the current set; ``truth`` is the true position."""
        from darkchess.fog.analysis.believed import effective

        weigher = self.known.weigher
        if weigher is None:
            return
        weights = self.known.weights
        at = int(self.known.indices(truth.row)[0])
        given = float(weights[at]) * len(weights) if at >= 0 else 0.0
        nats = math.log(given) if given > 0.0 else None
        self.weighed.append(Weighed(nats, effective(weights), weigher.level, weigher.reached, weigher.restarts))


def run(arguments: Sequence[str], game: Game = FOG) -> int:
    """Run ``klss track``; see :mod:`klss_app.cli.main`."""
    parsed = _parser().parse(arguments)
    if parsed.fen is not None and parsed.pgn is not None:
        raise UsageError("--fen: got it with --pgn, expected it with --moves only: a PGN names its own start position")
    if parsed.pgn is None and "game" in parsed.given:
        raise UsageError("--game: got it with --moves, expected it with --pgn only: it chooses a game of a file")
    if parsed.allowance is not None and not parsed.weights:
        raise UsageError("--allowance: got it without --weights, expected both: without weights it limits nothing")
    if parsed.fen is not None:
        check_fen(parsed.fen)
    if parsed.pgn is not None:
        record = pgn_game(Path(parsed.pgn), parsed.game, "--pgn: ")
        moves, fen = list(record.moves), record.fen
    else:
        moves, fen = typed_moves(parsed.moves, parsed.fen, "--moves: "), parsed.fen

    from darkchess.fog.game.referee import Referee

    referee = Referee(fen)
    tracks = _new_tracks(parsed, referee)
    if not parsed.json:
        head = f" {{:>12}}{'truth':>7}{'effective':>10}{'by':>3}" if parsed.weights else "{:>12}"
        print(f"{'ply':>4}  {'move':<8}{head.format('White')}{head.format('Black')}")
        print(_line(0, "", tracks), flush=True)
    names = []
    # Long games take minutes, so each line is printed as soon as its ply is done.
    for name in _tracked(referee, moves, tracks, math.inf if parsed.allowance is None else parsed.allowance):
        names.append(name)
        if not parsed.json:
            print(_line(referee.ply, name, tracks), flush=True)
    if parsed.json:
        print_document(_document(names, tracks))
    elif len(names) < len(moves):
        print("(ends before the king is captured)", file=sys.stderr)
    return 0


def _new_tracks(parsed: argparse.Namespace, referee: Referee) -> dict[chess.Color, Track]:
    """Both players' sets before the first ply, and with ``--weights`` a filter for each."""
    from darkchess.evaluation.evaluator import BuiltinEvaluator
    from darkchess.fog.belief.filter import Filter
    from darkchess.fog.belief.policy import Policy
    from darkchess.fog.belief.position_set import PositionSet

    tracks = {}
    for color in chess.COLORS:
        known = PositionSet(
            referee.view(color),
            referee.position,
            cap=parsed.cap,
            seed=fresh_seed() if parsed.seed is None else parsed.seed,
            threads=parsed.threads,
            stream=parsed.stream,
            weigher=Filter(Policy.packaged(), BuiltinEvaluator(threads=parsed.threads)) if parsed.weights else None,
        )
        tracks[color] = Track(known)
        tracks[color].weigh(referee.position)
    return tracks


def _tracked(
    referee: Referee, moves: Sequence[chess.Move], tracks: dict[chess.Color, Track], allowance: float
) -> Iterator[str]:
    """Play ``moves`` and update ``tracks``; yields each move in SAN, and ends before a king is captured. ``allowance``:
    seconds for the weights, per set and ply.
    """
    from darkchess.fog.game.san import san

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

                track.known.observe(referee.view(color), progress=tell, allowance=allowance)
            if track.known.capped_by is not None:
                track.capped = referee.ply
            else:
                track.sizes.append(track.known.size)
                track.weigh(referee.position)
        yield name


def _line(ply: int, name: str, tracks: dict[chess.Color, Track]) -> str:
    return f"{ply:>4}  {name:<8}{''.join(_told(tracks[color]) for color in chess.COLORS)}".rstrip()


def _told(track: Track) -> str:
    """The columns of a track's last ply."""
    size = f"{track.sizes[-1]:,}" if track.capped is None else "past the cap"
    if not track.weighed:
        return f"{size:>12}"
    last = track.weighed[-1]
    if track.capped is not None:
        return f"{size:>13}{'':20}"
    truth = "none" if last.truth is None else f"{round(last.truth, 2) + 0.0:+.2f}"  # no −0.00
    level = "-" if last.level is None else _LEVEL_SIGNS[last.level]
    return f"{size:>13}{truth:>7}{_alike(last.effective):>11}{level:>2}"


def _alike(count: float) -> str:
    return f"{count:.1f}" if count < 1000.0 else f"{count:,.0f}"


def _document(names: list[str], tracks: dict[chess.Color, Track]) -> dict[str, Any]:
    white, black = tracks[chess.WHITE], tracks[chess.BLACK]
    capped = {"white": white.capped, "black": black.capped}
    document: dict[str, Any] = {"moves": names, "white": white.sizes, "black": black.sizes, "capped": capped}
    if white.weighed:
        document["weights"] = {
            chess.COLOR_NAMES[color]: [asdict(each) for each in track.weighed] for color, track in tracks.items()
        }
    return document
