"""``klss rbc analyse``: the engine's analysis of one turn of a kept game, from its player's observations alone; or of
all turns, beside what was played.
"""

from __future__ import annotations

import argparse
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
    from darkchess.rbc.players.expectation import ExpectationPlayer
    from klss.table.limits import Limit


def _parser(game: Game) -> Parser:
    parser = Parser(
        "analyse",
        "What the engine thinks at one turn of a game, for the player whose turn it was; without --turn which looks "
        "and requests of the game cost the most, by rbc-expect or a variant of it.",
        game,
    )
    parser.add_argument("game", metavar="FILE", help="a game's history (JSON of klss rbc or reconchess)")
    parser.add_argument(
        "--turn", type=whole(0), metavar="N", help="after N turns of both sides; the analysis is of the player to move"
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
    parser.add_argument("--ascii", action="store_true", help="ASCII characters only")
    parser.add_argument("--json", action="store_true", help="one JSON document on stdout")
    return parser


def run(arguments: Sequence[str], game: Game) -> int:
    """Run ``klss rbc analyse``; see :mod:`klss_app.cli.main`."""
    parsed = _parser(game).parse(arguments)
    options = game_options(parsed)
    chosen = game.configuration(parsed.configuration, options.stockfish)
    if chosen.thinking is None:
        raise UsageError(
            f"--configuration: got {parsed.configuration!r}, which values nothing; expected rbc-expect, for example"
        )
    played = kept_game(Path(parsed.game))
    if parsed.turn is not None and parsed.html is not None:
        raise UsageError("--html: got it with --turn, expected it for a whole game")
    if parsed.turn is not None and parsed.turn >= played.ply:
        raise UsageError(f"--turn: got {parsed.turn} in a game of {played.ply} turns, expected 0 to {played.ply - 1}")
    from darkchess.rbc.players.configuration import make_player
    from uci_bridge.evaluators import make_evaluator

    with closing(make_evaluator(chosen, options.evaluator_choice(), options.ruleset)) as evaluator:
        players = {color: make_player(chosen, evaluator, seed=options.seed) for color in chess.COLORS}
        if parsed.turn is None:
            return _whole(parsed, options.limit, chosen, played, players)
        document, lines = _one_turn(played, players, parsed.turn, options.limit)
    document["configuration"] = chosen.name
    if parsed.json:
        print_document(document)
        return 0
    sample = "" if document["capped_by"] is None else " (a sample)"
    count = counted(document["positions"], "position")
    Terminal(parsed.ascii).say(f"turn {document['turn']}, {document['color']}: {count} possible{sample}", *lines)
    return 0


def _one_turn(
    played: Referee, players: Mapping[chess.Color, Player], number: int, limit: Limit
) -> tuple[dict[str, Any], list[str]]:
    """Analyse a turn; return its document and its text."""
    from darkchess.rbc.analysis import turns
    from darkchess.rbc.players.dsmcp import SynopticPlayer
    from klss_app.cli.rbc import analyse_report

    turn = played.turns[number]
    player, pieces = players[turn.color], turn.before.pieces
    if isinstance(player, SynopticPlayer):
        _tell(player, turn, played.turns[:number], played.positions[0])
        document = {"turn": number, "color": chess.COLOR_NAMES[turn.color], "positions": player.known.size}
        document |= {"capped_by": player.known.capped_by} | analyse_report.thoughts(player, turn, limit)
        return document, analyse_report.thoughts_text(document, pieces)
    found = next(turns(played, _expecting(players), limit, number))
    document = analyse_report.full_document(found) | {"capped_by": _expecting(players)[turn.color].known.capped_by}
    return document, analyse_report.full_text(document, pieces)


def _whole(
    parsed: argparse.Namespace,
    limit: Limit,
    chosen: Configuration,
    played: Referee,
    players: Mapping[chess.Color, Player],
) -> int:
    """Analyse every turn; return the exit code."""
    from darkchess.rbc.analysis import turns
    from klss_app.cli.rbc.analyse_report import document, text
    from klss_app.web.rbc_board import RbcBoard, opened

    html = None if parsed.html is None else writable_file(Path(parsed.html), "--html")
    if html is not None and html.exists() and html.samefile(parsed.game):
        raise UsageError(f"--html: got {parsed.html!r}, the game itself; expected another file")
    reviewed = None if html is None else reviewed_game(opened, Path(parsed.game))
    found = []
    with closing(ProgressLine("klss rbc analyse")) as line:
        for turn in turns(played, _expecting(players), limit):
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
    Terminal(parsed.ascii).say(f"{chosen.name}, {played.ply} turns", *text(documents, pieces))
    return 0


def _expecting(players: Mapping[chess.Color, Player]) -> dict[chess.Color, ExpectationPlayer]:
    """The same players, which must be of the kind that values single requests."""
    from darkchess.rbc.players.expectation import ExpectationPlayer

    found = {color: player for color, player in players.items() if isinstance(player, ExpectationPlayer)}
    if len(found) < len(players):
        raise UsageError("--configuration: got one that plans, for a whole game expected rbc-expect, rbc-siamese, …")
    return found


def _tell(player: Player, turn: Turn, earlier: Sequence[Turn], start: Position) -> None:
    """Give a player all its observations before its sense in ``turn``."""
    player.start(turn.color, start)
    for each in earlier:
        if each.color == turn.color:
            player.notice(each.notice)
            player.sensed(each.sensed)
            player.moved(each.moved)
    player.notice(turn.notice)
