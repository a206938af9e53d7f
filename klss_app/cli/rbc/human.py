"""A human at the terminal, as a player of Reconnaissance Blind Chess: sees that player's observations alone."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import chess

from darkchess.board.position import Position
from darkchess.fog.game.render import beside
from darkchess.rbc.game.contest import Player, observed_before
from darkchess.rbc.game.observation import Moved, Notice, Observation, Sensed
from klss.play.contest import Decision
from klss.play.limits import Limit
from klss.play.outcome import Outcome
from klss_app.cli.human import Typist, drawn
from klss_app.rbc_spoken import UnknownRequest, lost_text, move_letters, moved_text, request_of, sensed_text
from klss_app.web.rbc_seat import Knowledge

HELP = """\
A turn has two parts. First say where to look: a square (e5), and you see the
nine squares around it; Enter alone looks nowhere. Then ask for a move: as
squares (g1f3, e7e8q) or in letters (Nf3, exd5, e8=Q, O-O), or pass. Or type:
  help      this text
  moves     the moves you may ask for: only your own pieces block them
  flip      turn the board around
  resign    give up
  quit      leave; the game is kept, --resume continues (Ctrl-C does the same)
You see your own pieces and what you last knew of the rest; the board beside it
says how many turns ago that was. There is no check: capture the king to win."""


class BlindHuman(Typist, Player):
    """The human; see :class:`darkchess.rbc.game.contest.Player` and :class:`klss_app.cli.human.Typist`. In a game that
    is resumed after ``resumed`` turns, nothing is shown before the last earlier observation.
    """

    help = HELP

    def __init__(self, *seat: Any, resumed: int = 0) -> None:
        super().__init__(*seat)
        self._resumed, self._unseen = resumed, 0
        self._marked: tuple[int, ...] = ()

    def start(self, color: chess.Color, start: Position) -> None:
        self._known = Knowledge(color, start)
        self.bottom, self._news = color, []
        self._unseen = observed_before(self._resumed, color, start) if self._resumed else 0

    def observe(self, observation: Observation) -> None:
        self._unseen = max(0, self._unseen - 1)
        super().observe(observation)

    def notice(self, notice: Notice) -> None:
        pieces = self._known.pieces
        self._known.notice(notice)
        self._marked = () if notice.square is None else (notice.square,)
        if notice.square is not None or self._known.turn > 1:
            self._news.append(lost_text(notice, pieces))
        self.draw()

    def choose_sense(self, limit: Limit) -> Decision[int | None]:
        """Ask until a square, or nothing, is typed; raises as :meth:`klss_app.cli.human.Typist.ask` does."""
        self.question_begins(limit)
        while True:
            text = self.ask(f" {self._known.turn}. look at: ")
            if text is None:
                continue
            if not text:
                return Decision(None)
            if text.lower() in chess.SQUARE_NAMES:
                return Decision(chess.SQUARE_NAMES.index(text.lower()))
            self._terminal.say(
                f" {text[:40]!r} is not a square; type one such as e5, or Enter alone to look nowhere. You move next."
            )

    def sensed(self, sensed: Sensed) -> None:
        self._known.sensed(sensed)
        if sensed.square is not None:
            self._news.append(sensed_text(sensed, self._known.color))
            self._marked = (sensed.square,)
            self.draw()

    def choose_move(self, limit: Limit) -> Decision[chess.Move | None]:
        """Ask until a request, or ``pass``, is typed; raises as :meth:`choose_sense` does."""
        self.question_begins(limit)
        while True:
            text = self.ask(f" {self._known.turn}. your move: ")
            if not text:
                continue
            try:
                return Decision(request_of(text, self._known.own.requests(), self._known.pieces))
            except UnknownRequest as error:
                self._terminal.say(f" {error}")

    def moved(self, moved: Moved) -> None:
        self._news = [moved_text(moved, self._known.pieces)]
        self._known.moved(moved)
        if moved.taken is not None:
            self._marked = (moved.taken.from_square, moved.taken.to_square)
        if self._terminal.screen or self._unseen:
            self.draw()
        else:
            self._terminal.say(f" {self._news[0]}")
            self._news = []

    def end(self, outcome: Outcome) -> None:
        if self._news and self._terminal.screen:
            self._terminal.clear()
            self._terminal.say(*(f" {line}" for line in self._news))

    def draw(self) -> None:
        """Draw the own pieces, what was last known of the other squares and its ages, and the events since the last
        move."""
        if self._unseen:
            return
        board = drawn(self._terminal, *known_board(self._known), self.bottom, self._marked)
        _, *lines = beside([("", board), ("", [*self._ages(), "turns ago"])])
        self.show(lines)

    def _ages(self) -> list[str]:
        """Turns since each square was known: a dot for never, nothing for squares with own pieces."""
        pieces, seen, never = self._known.pieces, self._known.seen, "·" if self._terminal.unicode else "."
        ranks = range(7, -1, -1) if self.bottom else range(8)
        files = range(8) if self.bottom else range(7, -1, -1)

        def age(square: int) -> str:
            if square in pieces:
                return " "
            turns = self._known.turn - seen[square][1] if square in seen else None
            return never if turns is None else str(turns) if turns < 10 else "+"

        return [" ".join(age(8 * rank + file) for file in files).rstrip() for rank in ranks]

    def choices(self) -> Iterable[str]:
        """A pass, and the possible requests."""
        pieces = self._known.pieces
        return ["pass", *(move_letters(move.uci(), pieces) for move in self._known.own.requests())]


def known_board(known: Knowledge) -> tuple[dict[int, chess.Piece], int]:
    """The pieces that a player last knew, its own among them, and the squares that it ever knew, as a 64-bit set."""
    own = known.pieces
    seen = {square: piece for square, (piece, _) in known.seen.items() if piece is not None}
    return seen | own, sum(1 << square for square in {*known.seen, *own})
