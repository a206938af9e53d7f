"""Fog of War as people see it: the game, and the review of one that is over.

It is on the referee's side of the wall.
"""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import chess

from darkchess.errors import DarkchessError
from darkchess.fog.game.record import GameRecord, read_game, read_pgn, write_pgn, written_games
from darkchess.fog.game.referee import Referee
from darkchess.fog.game.rules import Ruleset
from darkchess.fog.game.san import san
from darkchess.fog.players.named_fog_players import LEVELS, about, main_names
from klss.play.kit import AnyKit
from klss.support.text import printable
from klss_app.front import Step
from klss_app.known.fog import FogKnown, pictured
from klss_app.known.known import Picture
from klss_app.web.board_game import MOST_PLIES, BadGame, BoardGame, Reviewed, Settings
from uci_bridge.bot.true_game import replayed
from uci_bridge.kits.fog import FOG

_SHOWN_TAGS = ("Event", "Site", "Date", "White", "Black", "Result", "Termination", "TimeControl")


def reviewed(record: GameRecord, ruleset: Ruleset) -> Reviewed:
    """A kept game, for a review."""
    tags = {name: value for name, value in record.headers.items() if name in _SHOWN_TAGS}
    game = partial(replayed, record, ruleset)
    return Reviewed(game, record.outcome, write_pgn(record), len(record.moves), tags, ruleset.name)


class FogBoard(BoardGame):
    """See :class:`klss_app.web.board_game.BoardGame`."""

    known = FogKnown
    turns = "ply", "plies"
    sees = "sees"
    opening = ("e2e4", "d7d5")

    def __init__(self, kit: AnyKit = FOG) -> None:
        super().__init__(kit)

    def step(self, referee: Referee, ply: int) -> Step:
        position, words, move, letters = referee.positions[ply], "start", None, None
        marked: tuple[int, ...] = ()
        if ply:
            before, move = referee.positions[ply - 1], referee.moves[ply - 1]
            letters, marked = san(before, move), (move.from_square, move.to_square)
            words = f"{before.fullmove}{'.' if before.turn else '...'} {letters}"
        views = {color: referee.views(color)[ply] for color in chess.COLORS}
        return Step(
            words,
            position.turn,
            position.fullmove,
            Picture(position.pieces, marked=marked),
            {color: pictured(view) for color, view in views.items()},
            None if move is None else move.uci(),
            letters,
        )

    def steps(self, referee: Referee) -> list[Step]:
        return [self.step(referee, ply) for ply in range(referee.ply + 1)]

    def hints(self, path: str) -> list[str]:
        return [f"see it again: klss board {path}", f"what moves cost: klss analyse {path}"]

    def engines(self) -> Mapping[str, str]:
        """See the base: levels, then named configurations."""
        return {name: about(name) for name in (*LEVELS, *main_names())}

    def kept(self, referee: Referee, settings: Settings, headers: Mapping[str, str], *, left: bool) -> Reviewed:
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

    def annotated(self, reviewed: Reviewed, turns: Sequence[dict[str, Any]]) -> str:
        return annotated(read_pgn(reviewed.text)[0], turns)


_GLYPHS = {"?!": "$6", "?": "$2", "??": "$4"}
"""The marks of :mod:`klss_app.analysis.summaries` by PGN's numbers (PGN standard, section 10)."""


def annotated(record: GameRecord, turns: Sequence[dict[str, Any]]) -> str:
    """``record`` as PGN with a comment on each move of ``turns``: records of
    :mod:`klss_app.analysis`, from the first turn on: the move's cost, and the engine's move."""
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
