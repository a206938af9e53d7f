"""``klss rbc analyse``: the engine's analysis of one turn of a kept game, from its player's observations alone; or of
all turns, beside what was played (:mod:`darkchess.rbc.analysis`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import chess

from darkchess.rbc.game.contest import DEFAULT_PLAYER
from klss.support.text import counted
from klss_app.cli.errors import UsageError
from klss_app.cli.games import Game
from klss_app.cli.options import CONFIGURATION, Parser, add_game_options, game_options, kept_history, output_file, whole
from klss_app.cli.terminal import Terminal
from klss_app.known.rbc import move_letters
from klss_app.progress import ProgressLine
from klss_app.stdout import print_document

if TYPE_CHECKING:
    from darkchess.rbc.analysis import AnalysedTurn

_SHOWN, _SHOWN_OF_TURN = 10, 8


def _parser(game: Game) -> Parser:
    parser = Parser(
        "analyse",
        "What the engine thinks at one turn of a game, for the player whose turn it was; without --turn which looks "
        "and requests of the game cost the most.",
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
    from darkchess.rbc.game.history import replayed

    played = kept_history(Path(parsed.game), replayed)
    if parsed.turn is not None and parsed.html is not None:
        raise UsageError("--html: got it with --turn, expected it for a whole game")
    if parsed.turn is not None and parsed.turn >= played.ply:
        raise UsageError(f"--turn: got {parsed.turn} in a game of {played.ply} turns, expected 0 to {played.ply - 1}")
    html = output_file(parsed.html, "--html", parsed.game)
    from darkchess.rbc.analysis import turns
    from darkchess.rbc.players.configuration import make_player
    from darkchess.rbc.players.expectation import ExpectationPlayer
    from uci_bridge.evaluators import make_evaluator

    with (
        closing(make_evaluator(chosen, options.evaluator_choice(), options.ruleset)) as evaluator,
        closing(ProgressLine("klss rbc analyse")) as line,
    ):
        made = {color: make_player(chosen, evaluator, seed=options.seed) for color in chess.COLORS}
        players = {color: player for color, player in made.items() if isinstance(player, ExpectationPlayer)}
        if len(players) < len(made):
            raise UsageError(
                f"--configuration: got {parsed.configuration!r}, which values no single "
                "requests; expected rbc-siamese, rbc-expect, …"
            )
        if parsed.turn is not None:
            found = next(turns(played, players, options.limit, parsed.turn))
            shown = _turn_document(found) | {"capped_by": players[found.turn.color].known.capped_by}
            return _show(parsed, shown | {"configuration": chosen.name}, _turn_text(shown, found.turn.before.pieces))
        analysed = []
        for turn in turns(played, players, options.limit):
            analysed.append(turn)
            line.tell(f"turn {turn.number + 1} of {played.ply}")
    if html is not None:
        from klss.support.whole_file import write_whole
        from klss_app.web.one_file import one_file
        from klss_app.web.rbc_analysis import turn_documents
        from klss_app.web.rbc_board import RbcBoard, opened

        reviewed = kept_history(Path(parsed.game), opened)
        write_whole(html, one_file(RbcBoard(), {1: (reviewed, list(turn_documents(analysed)))}))
    documents = [_document(turn) for turn in analysed]
    text = [f"{chosen.name}, {played.ply} turns", *_text(documents, [turn.before.pieces for turn in played.turns])]
    return _show(parsed, {"configuration": chosen.name, "turns": documents}, text)


def _show(parsed: Any, document: dict[str, Any], text: list[str]) -> int:
    if parsed.json:
        print_document(document)
    else:
        Terminal(parsed.ascii).say(*text)
    return 0


def _document(found: AnalysedTurn) -> dict[str, Any]:
    """The document of a turn."""
    from darkchess.rbc.analysis import square_name, uci

    return {
        "turn": found.number,
        "color": chess.COLOR_NAMES[found.turn.color],
        "positions": found.held[0],
        "positions_after_sense": found.held_after,
        "sense": {
            "played": square_name(found.turn.sensed.square),
            "best": found.best_look,
            "cost": found.look_cost,
        },
        "move": {
            "played": uci(found.turn.moved.requested),
            "best": found.moves[0]["move"],
            "value": found.moves[0]["value"],
            "cost": found.request_cost,
        },
    }


def _turn_document(found: AnalysedTurn) -> dict[str, Any]:
    """The document of a turn, with the gain of each sense, the value of each request, and what stands where."""
    shown = _document(found)
    shown["sense"]["gains"] = found.gains
    shown["move"]["moves"] = found.moves
    return shown | {"marginals": found.pieces}


def _turn_text(document: dict[str, Any], pieces: Mapping[int, chess.Piece]) -> list[str]:
    """The text of a :func:`_turn_document`; ``pieces``: on the board at the turn."""
    sense, move = document["sense"], document["move"]
    sample = "" if document["capped_by"] is None else " (a sample)"
    count = counted(document["positions"], "position")
    gains = sorted(sense["gains"].items(), key=lambda window: -window[1])
    asked, played = (move_letters(move[name], pieces) for name in ("best", "played"))
    return [
        f"turn {document['turn']}, {document['color']}: {count} possible{sample}",
        f"best look {sense['best']} (played: {sense['played'] or 'nowhere'}); gain of a look:",
        "  " + "  ".join(f"{name} {gain:+.2f}" for name, gain in gains[:_SHOWN_OF_TURN]),
        f"after the played look {counted(document['positions_after_sense'], 'position')}",
        f"best request {asked} (played: {played}):",
        *(f"  {move_letters(each['move'], pieces):<6} {each['value']:+.3f}" for each in move["moves"][:_SHOWN_OF_TURN]),
    ]


def _text(turns: Sequence[dict[str, Any]], pieces: Sequence[Mapping[int, chess.Piece]]) -> list[str]:
    """Both sides' mean costs, and the costliest looks and requests; ``pieces``: on the board at each turn."""
    lines = []
    for part, what in (("sense", "looks"), ("move", "requests")):
        known = [turn for turn in turns if turn[part]["cost"] is not None]
        if not known:
            continue
        means = []
        for color in ("white", "black"):
            costs = [turn[part]["cost"] for turn in known if turn["color"] == color]
            means.append(f"{color} {sum(costs) / len(costs):.3f}" if costs else f"{color} ?")
        lines += ["", f"{what}, mean cost: {', '.join(means)}; the costliest:"]
        for turn in sorted(known, key=lambda turn: -turn[part]["cost"])[:_SHOWN]:
            did, best = turn[part]["played"], turn[part]["best"]
            if part == "move":
                did, best = (move_letters(move, pieces[turn["turn"]]) for move in (did, best))
            held = turn["positions"] if part == "sense" else turn["positions_after_sense"]
            lines.append(
                f"  turn {turn['turn']:>3} {turn['color']:<5} {did or 'nothing':<8} cost {turn[part]['cost']:.3f}, "
                f"best {best or 'nothing':<8} of {counted(held, 'position')}"
            )
    return lines[1:]
