"""``klss rbc analyse``: the engine's analysis of one turn of a kept game, from its player's observations alone; or of
all turns, beside what was played.
"""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import chess

from darkchess.rbc.game.contest import DEFAULT_PLAYER
from klss.support.text import counted
from klss_app.cli.errors import UsageError
from klss_app.cli.games import Game
from klss_app.cli.options import (
    CONFIGURATION,
    GameOptions,
    Parser,
    add_game_options,
    game_options,
    whole,
    writable_file,
)
from klss_app.cli.rbc.track import kept_game, reviewed_game
from klss_app.cli.terminal import Terminal
from klss_app.progress import ProgressLine
from klss_app.stdout import print_document

if TYPE_CHECKING:
    from darkchess.board.position import Position
    from darkchess.rbc.game.contest import Player
    from darkchess.rbc.game.referee import Referee, Turn
    from darkchess.rbc.players.configuration import Configuration
    from klss.table.limits import Limit

__all__ = ["run"]


def _parser(game: Game) -> Parser:
    parser = Parser(
        "analyse",
        "What the engine thinks at one turn of a game, for the player whose turn it was; without --turn which looks "
        "and requests of the game cost the most.",
        game,
    )
    parser.add_argument("game", metavar="FILE", help="a game's history (JSON of klss rbc or reconchess)")
    turn = whole("a number of turns, 0 or more", 0, 999_999)
    which = parser.add_mutually_exclusive_group()
    which.add_argument(
        "--turn", type=turn, metavar="N", help="after N turns of both sides; the analysis is of the player to move"
    )
    which.add_argument(
        "--whole", action="store_true", help="every turn, by rbc-expect or a variant of it; so it is without --turn"
    )
    parser.add_argument(
        "--html",
        metavar="FILE",
        help="for the whole game: write the board's review there, one file that opens without a server",
    )
    parser.add_argument(
        "--configuration", default=DEFAULT_PLAYER, metavar="NAME", help=f"the player that thinks: {CONFIGURATION}"
    )
    add_game_options(parser, game=game, fen=False, path_suffices=False)
    parser.add_argument(
        "--planes",
        action="append",
        metavar="WHICH",
        help="for dsmcp: planes that the network reads, by number (35,70-72) or part of a name; may be repeated",
    )
    parser.add_argument("--ascii", action="store_true", help="ASCII characters only")
    parser.add_argument("--json", action="store_true", help="one JSON document on stdout")
    return parser


def run(arguments: Sequence[str], game: Game) -> int:
    """Run ``klss rbc analyse``; see :mod:`klss_app.cli.main`."""
    parsed = _parser(game).parse(arguments)
    options = game_options(parsed)
    chosen = game.configuration(parsed.configuration, options.stockfish)
    planes = _planes(parsed, chosen)
    played = kept_game(Path(parsed.game))
    if parsed.turn is None:
        return _whole(parsed, options, chosen, played)
    if parsed.html is not None:
        raise UsageError("--html: got it with --turn, expected it for a whole game")
    if parsed.turn >= played.ply:
        raise UsageError(f"--turn: got {parsed.turn} in a game of {played.ply} turns, expected 0 to {played.ply - 1}")

    from darkchess.rbc.players.configuration import make_player
    from uci_bridge.evaluators import make_evaluator

    terminal = Terminal(parsed.ascii)
    with (
        closing(make_evaluator(chosen, options.evaluator_choice(), options.ruleset)) as evaluator,
        closing(make_player(chosen, evaluator, seed=options.seed)) as player,
    ):
        turn = played.turns[parsed.turn]
        _tell(player, turn, played.turns[: parsed.turn], played.positions[0])
        document = {"turn": parsed.turn, "color": chess.COLOR_NAMES[turn.color]}
        document |= _thoughts(player, turn, options.limit, planes)
    document["configuration"] = chosen.name
    if parsed.json:
        print_document(document)
        return 0
    sample = "" if document["capped_by"] is None else " (a sample)"
    terminal.say(
        f"turn {document['turn']}, {document['color']}: {counted(document['positions'], 'position')} possible{sample}",
        *_text(document, turn.before.pieces, terminal.unicode),
    )
    return 0


def _whole(parsed: argparse.Namespace, options: GameOptions, chosen: Configuration, played: Referee) -> int:
    """Analyse every turn; return the exit code."""
    from darkchess.rbc.analysis import turns
    from darkchess.rbc.players.configuration import make_player
    from darkchess.rbc.players.expectation import ExpectationPlayer
    from klss_app.cli.rbc.whole_game import document, text
    from klss_app.web.rbc_board import RbcBoard, opened
    from uci_bridge.evaluators import make_evaluator

    html = None if parsed.html is None else writable_file(Path(parsed.html), "--html")
    if html is not None and html.exists() and html.samefile(parsed.game):
        raise UsageError(f"--html: got {parsed.html!r}, the game itself; expected another file")
    reviewed = None if html is None else reviewed_game(opened, Path(parsed.game))
    with (
        closing(make_evaluator(chosen, options.evaluator_choice(), options.ruleset)) as evaluator,
        closing(ProgressLine("klss rbc analyse")) as line,
    ):
        players = {}
        for color in chess.COLORS:
            player = make_player(chosen, evaluator, seed=options.seed)
            if not isinstance(player, ExpectationPlayer):
                raise UsageError(f"--whole: got {parsed.configuration!r}, expected rbc-expect, rbc-siamese, …")
            players[color] = player
        found = []
        for turn in turns(played, players, options.limit):
            found.append(turn)
            line.tell(f"turn {turn.number + 1} of {played.ply}")
    if html is not None and reviewed is not None:
        from klss.support.whole_file import write_whole
        from klss_app.web.one_file import kept, one_file
        from klss_app.web.rbc_analysis import turn_documents

        review = kept(RbcBoard(), reviewed, list(turn_documents(found)))
        write_whole(html, one_file({1: review}, kind="rbc"))
    documents = [document(turn) for turn in found]
    if parsed.json:
        print_document({"configuration": chosen.name, "turns": documents})
        return 0
    pieces = [turn.before.pieces for turn in played.turns]
    Terminal(parsed.ascii).say(f"{chosen.name}, {counted(played.ply, 'turn')}", *text(documents, pieces))
    return 0


def _thoughts(player: Player, turn: Turn, limit: Limit, planes: Sequence[int]) -> dict[str, Any]:
    """The size of the player's set, and its thoughts."""
    from darkchess.rbc.players.dsmcp import SynopticPlayer
    from darkchess.rbc.players.expectation import ExpectationPlayer
    from klss_app.cli.rbc import expectation_thoughts, synoptic_thoughts

    known = player.position_set
    assert known is not None
    held = {"positions": known.size, "capped_by": known.capped_by}  # before it looks
    if isinstance(player, SynopticPlayer):
        return held | synoptic_thoughts.thoughts(player, turn, limit, planes)
    assert isinstance(player, ExpectationPlayer)
    return held | expectation_thoughts.thoughts(player, turn, limit)


def _text(document: dict[str, Any], pieces: Mapping[int, chess.Piece], unicode: bool) -> list[str]:
    from klss_app.cli.rbc import expectation_thoughts, synoptic_thoughts

    if "planes" in document["sense"]:
        return synoptic_thoughts.text(document, pieces, shutil.get_terminal_size().columns, unicode=unicode)
    return expectation_thoughts.text(document, pieces)


def _planes(parsed: argparse.Namespace, chosen: Configuration) -> list[int]:
    """The planes to show of a player that plans on synopses: the named ones, or a few; in a document all."""
    from darkchess.rbc.players.dsmcp import Synoptic
    from darkchess.rbc.synoptic.synopsis import PLANES
    from klss_app.cli.rbc.synoptic_thoughts import SHOWN_PLANES, UnknownPlane, planes_of

    if chosen.thinking is None:
        raise UsageError(
            f"--configuration: got {parsed.configuration!r}, which values nothing; expected rbc-expect, for example"
        )
    if not parsed.planes:
        return list(range(PLANES) if parsed.json else SHOWN_PLANES)
    if not isinstance(chosen.thinking, Synoptic):
        raise UsageError(
            f"--planes: {parsed.configuration!r} reads positions and has no planes; expected dsmcp, for example"
        )
    try:
        return list(dict.fromkeys(plane for text in parsed.planes for plane in planes_of(text)))
    except UnknownPlane as error:
        raise UsageError(f"--planes: {error}") from None


def _tell(player: Player, turn: Turn, earlier: Sequence[Turn], start: Position) -> None:
    """Give a player all its observations before its sense in ``turn``."""
    player.start(turn.color, start)
    for each in earlier:
        if each.color == turn.color:
            player.notice(each.notice)
            player.sensed(each.sensed)
            player.moved(each.moved)
    player.notice(turn.notice)
