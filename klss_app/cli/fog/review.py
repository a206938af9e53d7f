"""A game shown with everything on the table: each ply's true board between what White and what Black saw."""

from __future__ import annotations

from typing import TYPE_CHECKING

import chess

from darkchess.fog.game.render import Style, beside, board_lines
from klss_app.cli.screen import ended_text, step_through
from klss_app.cli.terminal import Terminal

if TYPE_CHECKING:
    from darkchess.fog.game.referee import Referee

__all__ = ["ply_lines", "result_text", "review"]


def result_text(referee: Referee) -> str:
    """How the game ended, in one line.

    >>> from darkchess.fog.game.referee import Referee
    >>> game = Referee(); game.resign(chess.WHITE); result_text(game)
    'Black wins: White resigned. 0-1 after 0 plies.'
    """
    return ended_text(referee.outcome, f"{referee.ply} plies")


def _numbered(referee: Referee, ply: int) -> str:
    """The move that led to ``ply``, numbered: ``7. Nf3`` or ``7... Nf6``."""
    from darkchess.fog.game.san import san

    before = referee.positions[ply - 1]
    dots = "." if before.turn else "..."
    return f"{before.fullmove}{dots} {san(before, referee.moves[ply - 1])}"


def ply_lines(referee: Referee, ply: int, terminal: Terminal, bottom: chess.Color, fog: bool = True) -> list[str]:
    """The block of one ply: the move that led there, and the boards after it.

    Parameters
    ----------
    referee
        The game.
    ply
        0 to its last.
    terminal
        Decides figures and colours.
    bottom
        Who sits at the bottom.
    fog
        Both views beside the board; without it the board alone.
    """
    style = Style(unicode=terminal.unicode, color=terminal.color)
    position = referee.positions[ply]
    marked: tuple[int, ...] = ()
    title = "start"
    if ply:
        move = referee.moves[ply - 1]
        marked = (move.from_square, move.to_square)
        title = _numbered(referee, ply)
    board = board_lines(position.pieces, bottom=bottom, style=style, marked=marked)
    if not fog:
        return [title, *board]
    blocks = []
    for color in chess.COLORS:
        view = referee.views(color)[ply]
        own = tuple(square for square in marked if view.own_move is not None) or tuple(
            square for square in (view.own_capture_square,) if square is not None
        )
        lines = board_lines(view.pieces, view.visible, bottom=bottom, style=style, marked=own)
        blocks.append((f"  {'White' if color else 'Black'} sees", lines))
    return [title, *beside([blocks[0], ("  the board", board), blocks[1]])]


def review(referee: Referee, terminal: Terminal, bottom: chess.Color) -> None:
    """Show a finished game ply by ply; see :func:`klss_app.cli.screen.step_through`."""
    step_through(terminal, referee.ply, bottom, lambda ply, bottom, fog: ply_lines(referee, ply, terminal, bottom, fog))
