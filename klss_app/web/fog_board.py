"""Fog of War at the board in the browser."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from darkchess.fog.game.contest import DEFAULT_PLAYER
from darkchess.fog.game.record import GameRecord, write_pgn
from darkchess.fog.game.referee import Referee
from darkchess.fog.game.rules import Ruleset
from darkchess.fog.players.configuration import LEVELS, about, main_names
from klss_app.web.board_game import BoardGame, Reviewed
from klss_app.web.fog_seat import FogHuman
from klss_app.web.reviews import listed_games, opened_game, review
from klss_app.web.seats import Inbox
from klss_app.web.settings import Settings
from uci_bridge.kits.fog import FOG


@dataclass(frozen=True)
class FogGame:
    """A game as its reviews read it."""

    record: GameRecord
    ruleset: Ruleset


def reviewed(record: GameRecord, ruleset: Ruleset) -> Reviewed:
    """A kept game, for a review."""
    names = record.headers.get("White", "?"), record.headers.get("Black", "?")
    return Reviewed(FogGame(record, ruleset), write_pgn(record), len(record.moves), names)


class FogBoard(BoardGame):
    """See :class:`klss_app.web.board_game.BoardGame`."""

    kit = FOG
    rehearsal = ("e4", "d5")
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

    def listed(self, text: str) -> tuple[list[dict[str, Any]], int]:
        """See the base: of a PGN."""
        return listed_games(text)

    def opened(self, text: str, settings: Settings, number: int = 1) -> Reviewed:
        """See the base: of a PGN."""
        return reviewed(opened_game(text, number)[0], settings.ruleset)

    def review(self, reviewed: Reviewed) -> dict[str, Any]:
        """See the base."""
        return review(reviewed.game.record, reviewed.game.ruleset)

    def annotated(self, reviewed: Reviewed, turns: Sequence[dict[str, Any]]) -> str:
        """See the base."""
        return annotated(reviewed.game.record, turns)

    def request(self, reviewed: Reviewed, settings: Settings) -> dict[str, Any]:
        """See the base."""
        return {
            "pgn": reviewed.text,
            "rules": reviewed.game.ruleset.name,
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
