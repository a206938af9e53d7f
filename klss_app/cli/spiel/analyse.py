"""``klss analyse --game openspiel:GAME``: the engine's analysis of one turn of a kept game, from its player's
observations alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from klss_app.cli.errors import UsageError
from klss_app.cli.games import Game
from klss_app.cli.options import CONFIGURATION, Parser, add_game, add_game_options, game_options, whole
from klss_app.stdout import print_document


def _parser(game: Game) -> Parser:
    parser = Parser("analyse", "What the engine thinks at one turn of a game, for the player whose turn it was.", game)
    parser.add_argument("file", metavar="FILE", help="a game that klss play or klss match kept (JSON)")
    parser.add_argument("--ply", type=whole(0), required=True, metavar="N", help="after N actions of either player")
    parser.add_argument(
        "--configuration", default="kluss", metavar="NAME", help=f"the player that thinks: {CONFIGURATION}"
    )
    add_game(parser)
    add_game_options(parser, game=game, fen=False)
    parser.add_argument("--json", action="store_true", help="one JSON document on stdout")
    return parser


def run(arguments: Sequence[str], game: Game) -> int:
    """Run the command; see :mod:`klss_app.cli.main`."""
    parsed = _parser(game).parse(arguments)
    options = game_options(parsed)
    chosen = game.configuration(parsed.configuration)
    if chosen.search is None:
        raise UsageError(
            f"--configuration: got {parsed.configuration!r}, which does not search; expected kluss, for example"
        )

    from klss.openspiel.configuration import make_player
    from klss.openspiel.games import spiel_game
    from klss.openspiel.observations import Sight
    from klss.openspiel.players import SearchingPlayer

    played, _ = spiel_game(game.title)
    history, seat = _history(Path(parsed.file), played, parsed.ply)
    player = make_player(chosen, played, options.seed)
    assert isinstance(player, SearchingPlayer)
    player.begin(seat)
    # Only what its player had observed up to the turn.
    seen = Sight(played, 0 if seat else 1).along(played.new_initial_state(), history)
    for each in seen:
        player.observe(each)
    decision = player.answer("action", options.limit)
    names = dict(zip(seen[-1].actions, seen[-1].names, strict=True))
    moves = [
        {"move": names[action], "probability": probability, "value": player.values().get(action)}
        for action, probability in sorted(player.mixture.items(), key=lambda item: -item[1])
    ]
    document: dict[str, Any] = {
        "ply": parsed.ply, "color": "white" if seat else "black", **decision.diagnostics, "moves": moves,
        "configuration": chosen.name,
    }  # fmt: skip
    if parsed.json:
        print_document(document)
    else:
        _show(document, seen[-1].text)
    return 0


def _show(document: dict[str, Any], observed: str) -> None:
    sample = "" if document["capped_by"] is None else " (a sample)"
    print(f"after {document['ply']} actions, {document['color']}: {document['positions']:,} states possible{sample}")
    print(observed)
    for move in document["moves"]:
        value = "" if move["value"] is None else f"  {move['value']:+.3f}"
        print(f"  {100 * move['probability']:5.1f} %{value}  {move['move']}")


def _history(path: Path, game: Any, ply: int) -> tuple[list[int], bool]:
    """The game's history up to a turn, including nature's actions before it, and the side whose turn it is."""
    from klss.errors import GameError
    from klss.openspiel.referee import kept_game, replayed
    from klss.support.text import read_text

    acted = 0
    try:
        for referee in replayed(game, kept_game(read_text(path))[1]):
            acted = referee.ply
            if acted == ply and referee.outcome is None:
                return referee.history, referee.turn
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}; expected a game that klss kept") from None
    except (GameError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: {error}") from None
    raise UsageError(f"--ply: got {ply} in a game of {acted} actions, expected a turn of it")
