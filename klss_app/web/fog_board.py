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
from klss_app.annotated_pgn import annotated
from klss_app.web import summaries
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

    def summary(self, turns: Sequence[Mapping[str, Any]], color: str) -> dict[str, Any]:
        """See the base."""
        return summaries.summary(turns, color)
