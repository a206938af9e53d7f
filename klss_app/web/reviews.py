"""The review of a finished game of Fog of War: the true position and both sides' views, ply by ply.

It is on the referee's side of the wall.
"""

from __future__ import annotations

import io
from typing import Any

import chess

from darkchess.board import fen as fen_text
from darkchess.errors import DarkchessError
from darkchess.fog.game.record import GameRecord, WrittenGame, read_game, write_pgn, written_games
from darkchess.fog.game.referee import Referee
from darkchess.fog.game.rules import Ruleset
from darkchess.fog.game.san import san
from klss.support.text import printable
from klss_app.web.board_game import MOST_PLIES, BadGame
from klss_app.web.messages import board_text, over_document
from uci_bridge.bot.true_game import ServerReferee

_SHOWN_TAGS = ("Event", "Site", "Date", "White", "Black", "Result", "Termination", "TimeControl")
_MOST_LISTED = 500
"""Most rows of a list: the game of each row is replayed, which takes a few milliseconds."""
_MOST_WHY = 200
_NO_GAME = "got no game with a move in it, expected a PGN file"


def listed_games(text: str) -> tuple[list[dict[str, Any]], int]:
    """The first games of a PGN as rows to choose from, and the number of its games; no rows if it is 0 or 1.

    Returns
    -------
    list of dict
        ``number``, from 1 on; ``white`` and ``black``, names; ``result``; ``plies``; ``why``, the reason if the game
        can't be opened, else None.
    """
    rows: list[WrittenGame] = []
    count = 0
    for count, written in enumerate(written_games(io.StringIO(text)), 1):
        if count <= _MOST_LISTED:
            rows.append(written)
    return ([] if count <= 1 else [_row(written) for written in rows]), count


def _row(written: WrittenGame) -> dict[str, Any]:
    names = {side.lower(): printable(written.tags.get(side, "?"), 80) for side in ("White", "Black")}
    row = {"number": written.number, **names, "result": "*", "plies": len(written.words), "why": None}
    try:
        record = written.record(MOST_PLIES)
    except DarkchessError as error:
        why = str(error).removeprefix(f"game {written.number}").lstrip(":, ")  # the row says which game
        return row | {"why": printable(why, _MOST_WHY)}
    return row | {"result": record.result, "why": None if record.moves else _NO_GAME}


def opened_game(text: str, number: int = 1) -> tuple[GameRecord, str, int]:
    """A game of a PGN, its text as klss writes it, and the number of games in the PGN; raises :class:`BadGame`."""
    try:
        record, count = read_game(written_games(io.StringIO(text)), number, most_moves=MOST_PLIES)
        if record is None or not record.moves:
            raise BadGame(_NO_GAME)
        return record, write_pgn(record), count
    except DarkchessError as error:
        raise BadGame(printable(str(error), 300)) from None


def replayed(record: GameRecord, ruleset: Ruleset) -> Referee:
    """A game after all of its moves; no draw by rule ends it, since the record says how it ended."""
    game = ServerReferee(record.fen, ruleset)
    for move in record.moves:
        if game.outcome is None:
            game.push(move)
    return game


def review(record: GameRecord, ruleset: Ruleset) -> dict[str, Any]:
    """The document of a review.

    Returns
    -------
    dict
        ``tags``; ``over`` as in a game's messages, or None; ``plies``, from the start position on: ``move`` (UCI) and
        ``san`` that led there, ``turn``, ``number``, and FEN's first fields: ``truth``, and the views ``white`` and
        ``black``.
    """
    game = replayed(record, ruleset)
    plies = []
    for ply, position in enumerate(game.positions):
        before, move = (None, None) if ply == 0 else (game.positions[ply - 1], game.moves[ply - 1])
        plies.append(
            {
                "move": None if move is None else move.uci(),
                "san": None if before is None or move is None else san(before, move),
                "turn": chess.COLOR_NAMES[position.turn],
                "number": position.fullmove,
                "truth": fen_text.board_text(position.pieces, 0),
                "white": board_text(game.views(chess.WHITE)[ply]),
                "black": board_text(game.views(chess.BLACK)[ply]),
            }
        )
    tags = {name: value for name, value in record.headers.items() if name in _SHOWN_TAGS}
    return {"tags": tags, "over": over_document(record.outcome), "plies": plies}
