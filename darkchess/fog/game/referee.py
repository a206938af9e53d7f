"""The true game: it makes moves, gives each player its views, and declares the result (docs/rules.md, rules 2 to 4).

Only the referee's side imports this file; a player gets :class:`darkchess.fog.game.view.View` objects.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

import chess

from darkchess.board.true_game import TrueGame
from darkchess.fog.game.contest import Setup
from darkchess.fog.game.rules import FIFTY_MOVES_PLIES, PAPER, REPETITIONS, Ruleset
from darkchess.fog.game.view import View, view_of
from klss.play.outcome import Outcome


class Referee(TrueGame):
    """One game of dark chess under a ruleset (:mod:`darkchess.fog.game.rules`), from ``fen`` as in :class:`TrueGame`.

    The game may be over at its start: if the side to move has no move, or if the halfmove counter is at fifty moves.

    >>> game = Referee()
    >>> for text in ("e2e4", "f7f6", "d1h5", "a7a6", "h5e8"):
    ...     game.push(chess.Move.from_uci(text))
    >>> game.outcome
    Outcome(winner=True, reason='king_captured')
    """

    question = "move"
    """See :class:`klss.play.contest.Referee`: always a move."""

    def __init__(self, fen: str | None = None, ruleset: Ruleset = PAPER) -> None:
        self.ruleset = ruleset
        super().__init__(fen)
        self._moves: list[chess.Move] = []
        self._seen = Counter([self.position.key()])
        self.outcome = self._judge()
        self._views: dict[chess.Color, list[View]] = {
            color: [view_of(self.position, color, self.outcome)] for color in chess.COLORS
        }

    @classmethod
    def replay(cls, moves: Iterable[chess.Move], fen: str | None = None, ruleset: Ruleset = PAPER) -> Referee:
        """Return the game after ``moves``; raises as :meth:`push` does."""
        game = cls(fen, ruleset)
        for move in moves:
            game.push(move)
        return game

    @property
    def moves(self) -> tuple[chess.Move, ...]:
        """The moves played."""
        return tuple(self._moves)

    def legal_moves(self) -> tuple[chess.Move, ...]:
        """Return the moves of the side to move, sorted; () once the game is over."""
        return self.position.legal_moves() if self.outcome is None else ()

    def push(self, move: chess.Move) -> None:
        """Play ``move``.

        Raises
        ------
        IllegalMove
            ``move`` is not a move of the side to move, or the game is over.
        """
        self._check_running(f"the move {move.uci()}")
        before = self.position
        self._positions.append(before.after(move))
        captured = before.captured_square(move)
        self._moves.append(move)
        self._seen[self.position.key()] += 1
        self.outcome = self._judge()
        # Both players observe the ply: the mover knows its move; the other player learns where it lost a piece and, if
        # it was not en passant, that the capturing piece stands there.
        for color in chess.COLORS:
            mover = color == before.turn
            self._views[color].append(
                replace(
                    view_of(self.position, color, self.outcome),
                    ply=self.ply,
                    kind="own_move" if mover else "opp_move",
                    own_move=move if mover else None,
                    own_capture_square=None if mover else captured,
                    opp_capture_landing_square=captured if not mover and captured == move.to_square else None,
                )
            )

    @property
    def setup(self) -> Setup:
        return Setup(self._positions[0], self.ruleset)

    def answer(self, move: chess.Move) -> None:
        """See :class:`klss.play.contest.Referee`: :meth:`push`."""
        self.push(move)

    def observations(self, color: chess.Color) -> tuple[View, ...]:
        """See :class:`klss.play.contest.Referee`: a view for each ply."""
        return self.views(color)[1:]

    def view(self, color: chess.Color) -> View:
        """Return the present view of ``color``."""
        return self._views[color][-1]

    def views(self, color: chess.Color) -> tuple[View, ...]:
        """Return all views of ``color``; the index is the ply."""
        return tuple(self._views[color])

    def end(self, outcome: Outcome) -> None:
        """End the game by something that is not a move: a resignation, a flag, a forfeit, an abort. Both players' last
        views then have the outcome.
        """
        super().end(outcome)
        for views in self._views.values():
            views[-1] = replace(views[-1], game_over=outcome, legal_moves=())

    def _judge(self) -> Outcome | None:
        """Return the outcome in the present position, None if there is none; in the order of docs/rules.md: king, no
        move, repetition, fifty moves; then the ply limit."""
        position = self.position
        for color in chess.COLORS:
            if position.king(color) is None:
                return Outcome(not color, "king_captured")
        if not position.legal_moves():
            return Outcome(None if self.ruleset.no_move == "draw" else not position.turn, "no_move")
        if self._seen[position.key()] >= REPETITIONS:
            return Outcome(None, "repetition")
        if position.quiet_plies >= FIFTY_MOVES_PLIES:
            return Outcome(None, "fifty_moves")
        if self.ruleset.ply_limit is not None and self.ply >= self.ruleset.ply_limit:
            return Outcome(None, "ply_limit")
        return None
