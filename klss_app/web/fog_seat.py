"""A human at the page who plays Fog of War: what the page is sent, and the moves that it sends.

It is on the player's side of the wall: a :class:`Telling` is a function of one player's views only. Every message holds
all that its player may know, so that a reloaded page shows the same as before.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import chess

from darkchess.errors import IllegalMove
from darkchess.fog.game.contest import Setup
from darkchess.fog.game.san import parse_move, san
from darkchess.fog.game.view import View, initial_view
from klss.play.contest import Decision
from klss.play.outcome import Outcome
from klss.support.text import printable
from klss_app.view_events import ViewEvent, view_events
from klss_app.web.seats import MOST_TEXT, Answer, HumanAtBoard, letters, over_document


class Telling:
    """A player's knowledge, as a message after each of its views.

    Parameters
    ----------
    view
        The player's view of the start position.
    """

    def __init__(self, view: View) -> None:
        self._first = view
        self._view = view
        self._history: list[str] = []
        self._past = [board_text(view)]
        self._happened: list[ViewEvent] = []
        self._lost: Counter[str] = Counter()
        self._taken: Counter[str] = Counter()

    def observe(self, view: View) -> None:
        """Add the view after a ply."""
        before, self._view = self._view, view
        self._history.append(_ply_text(before, view))
        self._past.append(board_text(view))
        fresh = view_events(before, view)
        self._happened = fresh if view.kind == "own_move" else [*self._happened, *fresh]
        for each in fresh:
            if each.piece is not None and each.kind in ("captured", "lost"):
                (self._taken if each.kind == "captured" else self._lost)[each.piece.symbol()] += 1

    def end(self, view: View) -> None:
        """Replace the last view by one that has the end of the game, for an end without a ply (a resignation)."""
        self._view = view

    def message(self) -> dict[str, Any]:
        """The message's fields.

        Returns
        -------
        dict
            ``color``; ``ply``; ``fullmove``; ``first`` and ``firstNumber``, the side that began and its move number;
            ``board``, FEN's first field with ``?`` for unseen squares; ``past``, that of every ply so far; ``turn``;
            ``moves``, the player's legal moves in UCI; ``last``, the squares of the last ply as far as they were seen;
            ``history``, a text per ply: an own move in SAN, ``?`` for an enemy's, ``?xd5`` if that captured;
            ``happened``, the events since the player's last move; ``lost`` and ``taken``, pieces by FEN's letters;
            ``over``.
        """
        view = self._view
        return {
            "color": chess.COLOR_NAMES[view.color],
            "ply": view.ply,
            "fullmove": view.fullmove,
            "first": chess.COLOR_NAMES[self._first.to_move],
            "firstNumber": self._first.fullmove,
            "board": board_text(view),
            "past": tuple(self._past),
            "turn": chess.COLOR_NAMES[view.to_move],
            "moves": [move.uci() for move in view.legal_moves],
            "last": _last(view),
            "history": tuple(self._history),
            "happened": [_happened(each) for each in self._happened],
            "lost": letters(self._lost),
            "taken": letters(self._taken),
            "over": over_document(view.game_over),
        }


def board_text(view: View) -> str:
    """The first field of a view's fog FEN."""
    return view.fog_fen().split()[0]


def _last(view: View) -> list[str]:
    if view.own_move is not None:
        return [chess.SQUARE_NAMES[view.own_move.from_square], chess.SQUARE_NAMES[view.own_move.to_square]]
    return [] if view.own_capture_square is None else [chess.SQUARE_NAMES[view.own_capture_square]]


def _ply_text(before: View, after: View) -> str:
    if after.own_move is not None:
        return san(before, after.own_move)
    if after.own_capture_square is None:
        return "?"
    return f"?x{chess.SQUARE_NAMES[after.own_capture_square]}"


def _happened(each: ViewEvent) -> dict[str, Any]:
    return {
        "kind": each.kind,
        "square": None if each.square is None else chess.SQUARE_NAMES[each.square],
        "man": None if each.piece is None else chess.PIECE_NAMES[each.piece.piece_type],
        "enPassant": each.en_passant,
    }


class FogHuman(HumanAtBoard):
    """See :class:`klss_app.web.seats.HumanAtBoard`; a question's number is the ply."""

    _view: View | None = None

    def begin(self, seat: chess.Color, setup: Setup) -> None:
        self._view = initial_view(setup.start, seat)
        self._telling = Telling(self._view)
        if not self._earlier:
            self._show(self._telling.message())

    def observe(self, view: View) -> None:
        self._telling.observe(view)
        self._view = view
        if view.ply >= self._earlier:
            self._show(self._telling.message())

    def end(self, outcome: Outcome) -> None:
        """See :class:`klss.play.contest.Player`: the last view again, unless it says how the game ended."""
        if self._view is not None and self._view.game_over is None:
            self._view = replace(self._view, game_over=outcome, legal_moves=())
            self._telling.end(self._view)
            self._show(self._telling.message())

    @property
    def asked(self) -> tuple[chess.Color, int]:
        """See the base."""
        assert self._view is not None
        return self._view.color, self._view.ply

    def move(self, text: str, number: int) -> str | None:
        """See the base: a move, SAN or UCI."""
        view = self._view
        if view is None or view.game_over is not None or view.to_move != view.color:
            return "it is not your turn"
        if number != view.ply:
            return "the board has changed since"
        try:
            move = parse_move(view, text[:MOST_TEXT])
        except IllegalMove as error:
            return printable(str(error))
        self._inbox.put(Answer(view.color, view.ply, Decision(move, {})))
        return None
