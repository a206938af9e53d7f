"""A game of OpenSpiel at the board in the browser, played and reviewed as OpenSpiel's text.

It is on the referee's side of the wall.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import chess

from klss.errors import GameError
from klss.openspiel.games import spiel_game
from klss.openspiel.referee import Referee, kept_game, replayed
from klss.support.text import printable
from klss.table.kit import Kit
from klss.table.outcome import Outcome
from klss_app.web.board_game import MOST_PLIES, BadGame, BoardGame, Reviewed
from klss_app.web.messages import over_document
from klss_app.web.seats import Inbox
from klss_app.web.settings import Settings
from klss_app.web.text_seat import TextHuman

__all__ = ["TextBoard"]


@dataclass(frozen=True)
class _Game:
    """A game as its reviews read it: all actions, including nature's; the players' names by colour."""

    history: Sequence[int]
    names: Mapping[str, str]
    outcome: Outcome | None


class TextBoard(BoardGame):
    """See :class:`klss_app.web.board_game.BoardGame`."""

    page = "text"

    def __init__(self, kit: Kit) -> None:
        self.kit = kit
        self._spiel = spiel_game(kit.title)[0]

    def human(self, inbox: Inbox, show: Callable[[dict[str, Any]], None], earlier: int) -> TextHuman:
        """See the base."""
        return TextHuman(inbox, show, earlier)

    def kept(self, referee: Referee, settings: Settings, headers: Mapping[str, str], *, left: bool) -> Reviewed:
        """See the base."""
        names = {name: headers[name] for name in ("White", "Black")}
        game = _Game(referee.history, names, None if left else referee.outcome)
        return Reviewed(game, self.kit.record(referee, headers), referee.ply)

    def opened(self, text: str, settings: Settings, number: int = 1) -> Reviewed:
        """See the base: the JSON of a game that klss kept."""
        try:
            document, history = kept_game(text)
            if document.get("game") != self.kit.title:
                raise BadGame(f"got a game of {document.get('game')!r}, expected one of {self.kit.title!r}")
            *_, last = replayed(self._spiel, history[:MOST_PLIES])
        except GameError as error:
            raise BadGame(printable(str(error), 300)) from None
        names = {name: printable(str(document.get(name.lower(), "?")), 80) for name in ("White", "Black")}
        return Reviewed(_Game(last.history, names, last.outcome), text, last.ply)

    def review(self, reviewed: Reviewed) -> dict[str, Any]:
        """See the base: for each ply the state as OpenSpiel writes it, and each side's last observation."""
        game: _Game = reviewed.game
        plies: list[dict[str, Any]] = []
        number = 0
        for referee in replayed(self._spiel, game.history):
            number += referee.turn or referee.ply == 0
            seen = {chess.COLOR_NAMES[seat]: referee.observations(seat) for seat in chess.COLORS}
            payoffs = "" if referee.returns is None else "\n\nWhite {:+g}, Black {:+g}".format(*referee.returns)
            plies.append(
                {
                    "turn": chess.COLOR_NAMES[referee.turn],
                    "number": number,
                    "move": None,
                    "san": referee.actions[-1][2] if referee.ply else None,
                    "truth": f"{referee}{payoffs}",
                    **{color: found[-1].text if found else "" for color, found in seen.items()},
                }
            )
        return {"tags": dict(game.names), "over": over_document(game.outcome), "plies": plies}

    def request(self, reviewed: Reviewed, settings: Settings) -> dict[str, Any]:
        """See the base: always raises :class:`BadGame`, since the board has no analysis of these games."""
        raise BadGame("this game is not analysed here; klss analyse does that turn by turn")

    def summary(self, turns: Sequence[Mapping[str, Any]], color: str) -> dict[str, Any]:
        """See the base."""
        return {}
