"""A game shown with everything on the table: each ply's true board between what White and what Black saw."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import chess

from darkchess.fog.game.render import Style, beside, board_lines
from klss_app.cli.terminal import InputClosed, Terminal

if TYPE_CHECKING:
    from darkchess.fog.game.referee import Referee
    from klss.table.outcome import Outcome

__all__ = ["HELP", "ended_text", "ply_lines", "result_text", "review", "step_through"]

_LOSSES = {
    "king_captured": "{}'s king was captured",
    "no_move": "{} has no move left",
    "resign": "{} resigned",
    "flag": "{} ran out of time",
    "forfeit": "{} forfeited",
}
_DRAWS = {
    "no_move": "no move is left",
    "repetition": "third occurrence of the position",
    "fifty_moves": "fifty moves without a capture or a pawn move",
    "ply_limit": "the limit of plies was reached",
}
HELP = """\
 Enter: the next ply (after the last the start), b: back, a number: that ply,
 all: every ply, fog off: the board alone, fog on: both views again, flip, quit"""


def result_text(referee: Referee) -> str:
    """How the game ended, in one line.

    >>> from darkchess.fog.game.referee import Referee
    >>> game = Referee(); game.resign(chess.WHITE); result_text(game)
    'Black wins: White resigned. 0-1 after 0 plies.'
    """
    return ended_text(referee.outcome, f"{referee.ply} plies")


def ended_text(outcome: Outcome | None, after: str) -> str:
    """How a game of any kind ended ``after`` so much, in one line.

    >>> ended_text(None, "3 turns")
    'Unfinished after 3 turns.'
    """
    if outcome is None:
        return f"Unfinished after {after}."
    if outcome.winner is None:
        return f"Draw: {_DRAWS.get(outcome.reason, outcome.reason)}. {outcome.result} after {after}."
    winner, loser = ("White", "Black") if outcome.winner else ("Black", "White")
    reason = _LOSSES.get(outcome.reason, outcome.reason).format(loser)
    return f"{winner} wins: {reason}. {outcome.result} after {after}."


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
    """Show a finished game ply by ply; see :func:`step_through`."""
    step_through(terminal, referee.ply, bottom, lambda ply, bottom, fog: ply_lines(referee, ply, terminal, bottom, fog))


def step_through(
    terminal: Terminal, last: int, bottom: chess.Color, lines: Callable[[int, chess.Color, bool], list[str]]
) -> None:
    """Show a game step by step: as the human asks for it at a terminal, else all of it at once.

    Parameters
    ----------
    terminal
        Where.
    last
        The last step, which is shown first; the first is 0.
    bottom
        Who sits at the bottom.
    lines
        The block of a step: its number, who sits at the bottom, whether beside the board stands what players knew.
    """
    fog = True
    ply = last
    shown = [ply] if terminal.interactive else range(last + 1)
    for each in shown:
        terminal.say("", *lines(each, bottom, fog))
    if terminal.interactive:
        terminal.say(HELP)
    while True:
        try:
            text = " ".join(terminal.ask(f" review {ply}/{last}> ").lower().split())
        except InputClosed:
            return
        if text in ("quit", "exit", "q"):
            return
        if text == "all":
            for each in range(last + 1):
                terminal.say("", *lines(each, bottom, fog))
            continue
        if text in ("", "n", "next"):
            ply = (ply + 1) % (last + 1)
        elif text in ("b", "back", "p"):
            ply = max(0, ply - 1)
        elif text.isascii() and text.isdigit() and int(text) <= last:
            ply = int(text)
        elif text in ("fog off", "fog on"):
            fog = text == "fog on"
        elif text == "flip":
            bottom = not bottom
        else:
            terminal.say(f" got {text!r}, expected one of:", HELP)
            continue
        terminal.say("", *lines(ply, bottom, fog))
