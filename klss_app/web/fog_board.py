"""Fog of War at the board in the browser: the game, and the review of one that is over.

It is on the referee's side of the wall.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import chess

from darkchess.board import fen as fen_text
from darkchess.errors import DarkchessError
from darkchess.fog.game.contest import DEFAULT_PLAYER
from darkchess.fog.game.record import GameRecord, read_game, write_pgn, written_games
from darkchess.fog.game.referee import Referee
from darkchess.fog.game.rules import Ruleset
from darkchess.fog.game.san import san
from darkchess.fog.players.configuration import LEVELS, about, main_names
from klss.support.text import printable
from klss_app.web.board_game import MOST_PLIES, BadGame, BoardGame, Reviewed, Settings
from klss_app.web.fog_seat import FogHuman, board_text
from klss_app.web.seats import Inbox, over_document
from uci_bridge.bot.true_game import replayed
from uci_bridge.kits.fog import FOG

_SHOWN_TAGS = ("Event", "Site", "Date", "White", "Black", "Result", "Termination", "TimeControl")


def reviewed(record: GameRecord, ruleset: Ruleset) -> Reviewed:
    """A kept game, for a review: its ``game`` is the record and the ruleset."""
    names = record.headers.get("White", "?"), record.headers.get("Black", "?")
    return Reviewed((record, ruleset), write_pgn(record), len(record.moves), names)


class FogBoard(BoardGame):
    """See :class:`klss_app.web.board_game.BoardGame`."""

    kit = FOG
    opening = ("e2e4", "d7d5")
    analysis = "klss_app.web.game_analysis"

    def engines(self) -> Mapping[str, str]:
        """See the base: levels, then named configurations."""
        return {name: about(name) for name in (*LEVELS, *main_names())}

    def human(self, inbox: Inbox, show: Callable[[dict[str, Any]], None], earlier: int) -> FogHuman:
        """See the base."""
        return FogHuman(inbox, show, earlier)

    def kept(self, referee: Referee, settings: Settings, headers: Mapping[str, str], *, left: bool) -> Reviewed:
        """See the base."""
        record = GameRecord(referee.moves, None if left else referee.outcome, settings.fen, dict(headers))
        return reviewed(record, settings.ruleset)

    def opened(self, text: str, settings: Settings) -> Reviewed:
        """See the base: of a PGN."""
        try:
            record, count = read_game(written_games(io.StringIO(text)), most_moves=MOST_PLIES)
            if count > 1:
                raise BadGame(f"got a file of {count:,} games, expected one; klss board FILE --game N opens any")
            if record is None or not record.moves:
                raise BadGame("got no game with a move in it, expected a PGN file")
            return reviewed(record, settings.ruleset)
        except DarkchessError as error:
            raise BadGame(printable(str(error), 300)) from None

    def review(self, reviewed: Reviewed) -> dict[str, Any]:
        """See the base."""
        record, ruleset = reviewed.game
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

    def annotated(self, reviewed: Reviewed, turns: Sequence[dict[str, Any]]) -> str:
        """See the base."""
        return annotated(reviewed.game[0], turns)

    def request(self, reviewed: Reviewed, settings: Settings) -> dict[str, Any]:
        """See the base."""
        return {
            "pgn": reviewed.text,
            "rules": reviewed.game[1].name,
            "configuration": DEFAULT_PLAYER,
            "evaluator": settings.evaluator.name,
            "stockfish": settings.evaluator.stockfish,
        }


_GLYPHS = {"?!": "$6", "?": "$2", "??": "$4"}
"""The marks of :mod:`klss_app.web.summaries` by PGN's numbers (PGN standard, section 10)."""


def annotated(record: GameRecord, turns: Sequence[dict[str, Any]]) -> str:
    """``record`` as PGN with a comment on each move of ``turns``: documents of
    :func:`klss_app.web.game_analysis.turn_document`, from the first turn on: the move's cost, and the engine's move."""
    return write_pgn(
        record,
        comments=[_comment(turn) for turn in turns],
        glyphs=[_GLYPHS.get(turn["played"]["mark"] or "", "") for turn in turns],
    )


def _comment(turn: dict[str, Any]) -> str:
    """The comment on one move.

    >>> played, best = {"san": "a6", "loss": 0.254, "mark": "??"}, {"san": "Kxf7", "p": 0.9}
    >>> _comment({"played": played, "best": best, "positions": {"white": [3, False], "black": [41000, True]}})
    'cost 0.25, best Kxf7 (0.90); possible for White: 3, for Black: 41000 or more'
    """
    loss, best = turn["played"]["loss"], turn["best"]
    cost = "unknown" if loss is None else f"{max(0.0, loss):.2f}"
    sets = ((name, *turn["positions"][name]) for name in ("white", "black"))
    possible = (f"for {name.capitalize()}: {size}{' or more' if sampled else ''}" for name, size, sampled in sets)
    return f"cost {cost}, best {best['san']} ({best['p']:.2f}); possible {', '.join(possible)}"
