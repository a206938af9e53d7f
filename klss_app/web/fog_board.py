"""Fog of War as people see it: the game, and the review of one that is over.

It is on the referee's side of the wall.
"""

from __future__ import annotations

from collections.abc import Mapping

import chess

from darkchess.fog.game.record import GameRecord, read_pgn, write_pgn
from darkchess.fog.game.referee import Referee
from darkchess.fog.game.rules import Ruleset
from darkchess.fog.game.san import san
from darkchess.fog.players.named_fog_players import ABOUT
from klss_app.analysis.summaries import Turn, Turns
from klss_app.front import ChessFront, Reviewed, Step
from klss_app.known.fog import FogKnown, pictured
from klss_app.known.known import Picture
from uci_bridge.kits.fog import replay


def reviewed(record: GameRecord, rules: Ruleset, number: int = 1) -> Reviewed:
    """A game of a file."""
    return Reviewed(replay(record, rules), write_pgn(record), rules.name, len(record.moves), number, record.fen)


class FogBoard(ChessFront):
    """See :class:`klss_app.front.Front`."""

    known = FogKnown
    turns = "ply", "plies"
    sees = "sees"
    opening = ("e2e4", "d7d5")
    shown_tags = ("Event", "Site", "Date", "White", "Black", "Result", "Termination", "TimeControl")

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
        return {**self.kit.levels, **{name: ABOUT[name] for name in self.kit.configurations}}

    def annotated(self, reviewed: Reviewed, turns: Turns) -> str:
        """See the base: a comment on each move, with its cost and the engine's move."""
        return write_pgn(
            read_pgn(reviewed.text)[0],
            comments=[_comment(turn) for turn in turns],
            glyphs=[_GLYPHS.get(turn["played"]["mark"], "") for turn in turns],
        )


_GLYPHS = {"?!": "$6", "?": "$2", "??": "$4"}
"""The marks of :mod:`klss_app.analysis.summaries` by PGN's numbers (PGN standard, section 10)."""


def _comment(turn: Turn) -> str:
    """The comment on one move.

    >>> played, best = {"san": "a6", "loss": 0.254, "mark": "??"}, {"san": "Kxf7", "p": 0.9}
    >>> sets, why = {"white": [3, False], "black": [41000, True]}, {"text": "It is taken."}
    >>> _comment({"played": played, "best": best, "positions": sets, "because": why})
    'cost 0.25, best Kxf7 (0.90); possible for White: 3, for Black: 41000 or more. It is taken.'
    """
    loss, best = turn["played"]["loss"], turn["best"]
    cost = "unknown" if loss is None else f"{max(0.0, loss):.2f}"
    sets = ((name, turn["positions"][name] or (0, True)) for name in ("white", "black"))
    possible = (f"for {name.capitalize()}: {size}{' or more' if sampled else ''}" for name, (size, sampled) in sets)
    because = "" if turn["because"] is None else f". {turn['because']['text']}"
    return f"cost {cost}, best {best['san']} ({best['p']:.2f}); possible {', '.join(possible)}{because}"
