"""A human at the terminal, as a player: shown that player's views and nothing else, asked for moves."""

from __future__ import annotations

import textwrap
import time
from collections import Counter
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NoReturn

import chess

from darkchess.fog.game.contest import Player
from darkchess.fog.game.render import Style, board_lines
from darkchess.fog.game.rules import PAPER, Ruleset
from klss.table.contest import Decision, OutOfTime, Resignation
from klss.table.limits import Limit, Progress
from klss_app.cli.screen import Quit
from klss_app.cli.terminal import Terminal, TimeUp
from klss_app.view_events import view_events

if TYPE_CHECKING:
    from darkchess.board.position import Position
    from darkchess.fog.game.view import View

__all__ = ["HELP", "HumanPlayer", "clock_text", "events", "screen"]

HELP = """\
Type a move as SAN (Nf3, exd5, e8=Q, O-O), as squares (g1f3, e7e8q), or one of:
  help      this text
  moves     your legal moves
  history   the game so far as you know it, and the pieces captured
  flip      turn the board around
  resign    give up
  quit      leave; the game is kept, --resume goes on (Ctrl-C does the same)
  undo      is refused, and says why; so is fog off until the game is over
You see your own pieces and every square they could move to. There is no
check: capture the king to win."""

UNDO = "undo: refused: a move also shows what was hidden, and that can't be taken back."
FOG = "fog off: refused while the game lasts; once it is over you'll see everything."


_HARD_SPACE = "\N{NO-BREAK SPACE}"


def clock_text(remaining_s: float) -> str:
    """Seconds as a clock shows them.

    >>> clock_text(179.2), clock_text(7.25)
    ('2:59', '0:07.2')
    """
    minutes, rest = divmod(max(0.0, remaining_s), 60.0)
    if remaining_s < 10.0:
        return f"{int(minutes)}:{int(rest * 10) / 10:04.1f}"
    return f"{int(minutes)}:{int(rest):02d}"


def _name(color: chess.Color) -> str:
    return "White" if color else "Black"


def events(before: View | None, view: View) -> list[str]:
    """What ``view`` tells its player that ``before``, one ply earlier, did not: sentences."""
    news, fresh = [], []
    for each in view_events(before, view):
        square = "" if each.square is None else chess.SQUARE_NAMES[each.square]
        man = "" if each.piece is None else chess.PIECE_NAMES[each.piece.piece_type]
        how = " en passant" if each.en_passant else ""
        if each.kind == "captured":
            article = "the" if man == "king" else "a"
            news.append(f"You captured {article} {man}{how} on {square}.")
        elif each.kind == "lost":
            news.append(f"Your {man} on {square} was captured{how}.")
        elif each.kind == "moved":
            news.append(f"{_name(not view.color)} moved.")
        elif each.kind == "sight":
            fresh.append(f"{man} {square}")
        else:
            news.append(f"You can capture en passant on {square}.")
    if fresh:
        at = len(news) - (view.ep_square is not None and view.to_move == view.color)
        news.insert(at, f"Now in sight: {', '.join(fresh)}.")
    return news


def screen(
    pieces: Mapping[int, chess.Piece],
    visible: int,
    marked: tuple[int, ...],
    bottom: chess.Color,
    names: Mapping[chess.Color, str],
    clocks: Mapping[chess.Color, float],
    terminal: Terminal,
) -> list[str]:
    """The lines of a player's board between the two players' names and clocks."""

    def player(color: chess.Color) -> str:
        clock = f"   {clock_text(clocks[color])}" if color in clocks else ""
        return f"   {_name(color)}: {names[color]}{clock}"

    style = Style(unicode=terminal.unicode, color=terminal.color)
    board = board_lines(pieces, visible, bottom=bottom, style=style, marked=marked, cell=3 if terminal.color else 2)
    return [player(not bottom), *(" " + line for line in board), player(bottom)]


def _pieces(letters: str) -> str:
    """Pieces by FEN's letters, the like together, in words.

    >>> _pieces("QNppp"), _pieces("")
    ('a queen, a knight, 3 pawns', 'nothing')
    """
    counts = Counter(chess.PIECE_NAMES[chess.Piece.from_symbol(letter).piece_type] for letter in letters)
    words = [f"a {name}" if count == 1 else f"{count} {name}s" for name, count in counts.items()]
    return ", ".join(words) or "nothing"


class HumanPlayer(Player):
    """The human; see :class:`darkchess.fog.game.contest.Player`.

    Parameters
    ----------
    terminal
        Where the human sits.
    names
        What both players are called.
    clocks
        Seconds left on the clocks, kept up to date by the arbiter.
    resumed
        Plies of a game that was left and goes on: they are shown at once, with the last of them.
    """

    def __init__(
        self,
        terminal: Terminal,
        names: Mapping[chess.Color, str],
        clocks: Mapping[chess.Color, float],
        resumed: int = 0,
    ) -> None:
        self._terminal = terminal
        self._names = names
        self._clocks = clocks
        self._views: list[View] = []
        self._news: list[str] = []
        self._drawn = -1
        self._resumed = resumed
        self._deadline: float | None = None
        self.bottom: chess.Color = chess.WHITE

    def start(self, view: View, start: Position, ruleset: Ruleset = PAPER) -> None:
        """A new game: the board is drawn when it is the human's turn."""
        from klss_app.web.messages import Telling

        self._views = [view]
        self._telling = Telling(view)
        self.bottom = view.color

    def board_is_drawn(self) -> None:
        """The first board is on the screen already: don't draw it again."""
        self._drawn = 0

    def observe(self, view: View) -> None:
        """The view after a ply."""
        news = events(self._views[-1], view)
        self._news = news if view.kind == "own_move" else [*self._news, *news]
        self._views.append(view)
        self._telling.observe(view)
        if view.ply < self._resumed:
            return
        if view.ply == self._resumed:
            self.draw()
        elif view.game_over is not None or view.kind == "own_move":
            if self._terminal.screen:
                self.draw()
            elif news:
                self._terminal.say(" " + " ".join(news))
                self._news = []

    def draw(self) -> None:
        """Draw the board as it is now, and say what happened since the human's last move."""
        view = self._views[-1]
        squares = (
            (view.own_capture_square,)
            if view.own_move is None
            else (view.own_move.from_square, view.own_move.to_square)
        )
        marked = tuple(square for square in squares if square is not None)
        self._terminal.clear()
        self._terminal.say(
            *screen(view.pieces, view.visible, marked, self.bottom, self._names, self._clocks, self._terminal)
        )
        if self._news:
            self._terminal.say(" " + " ".join(self._news))
        self._drawn = len(self._views) - 1

    def choose(self, limit: Limit, progress: Progress | None = None) -> Decision:
        """Ask until a legal move is typed.

        Raises
        ------
        Resignation, OutOfTime
            See :mod:`darkchess.fog.game.contest`.
        Quit, InputClosed
            The human leaves.
        """
        view = self._views[-1]
        if self._drawn != len(self._views) - 1:
            self.draw()
        self._deadline = None if limit.clock is None else time.monotonic() + limit.clock[0]
        while True:
            left = self.seconds_left()
            try:
                text = self._terminal.ask(f" {view.fullmove}. your move: ", left)
            except TimeUp:
                raise OutOfTime from None
            move = self._understand(text)
            if move is not None:
                self._deadline = None
                return Decision(move, {})

    def seconds_left(self) -> float | None:
        """On the clock in the middle of the human's turn; None without one, and on the opponent's time."""
        return None if self._deadline is None else self._deadline - time.monotonic()

    def _understand(self, text: str) -> chess.Move | None:
        """The move that ``text`` means; None after a command or a slip was answered."""
        from darkchess.errors import IllegalMove
        from darkchess.fog.game.san import parse_move

        command = " ".join(text.lower().split())
        action = self._commands().get(command)
        if action is not None:
            action()
            return None
        if not text:
            return None
        try:
            return parse_move(self._views[-1], text)
        except IllegalMove as error:
            self._terminal.say(f" {error}")
            return None

    def _commands(self) -> dict[str, Callable[[], Any]]:
        say = self._terminal.say
        return {
            "help": lambda: say(HELP),
            "?": lambda: say(HELP),
            "moves": lambda: say(self._moves_text()),
            "history": lambda: say(*self._history_lines()),
            "undo": lambda: say(" " + UNDO),
            "fog off": lambda: say(" " + FOG),
            "fog": lambda: say(" " + FOG),
            "flip": self._flip,
            "resign": self._resign,
            "quit": self._quit,
            "exit": self._quit,
        }

    def _moves_text(self) -> str:
        from darkchess.fog.game.san import san

        view = self._views[-1]
        text = "  ".join(san(view, move) for move in view.legal_moves)
        return textwrap.fill(text, width=76, initial_indent=" ", subsequent_indent=" ", break_on_hyphens=False)

    def _history_lines(self) -> list[str]:
        """The human's moves, ``?`` for the opponent's, and the pieces that either side lost, as far as known."""
        message = self._telling.message()
        plies = [*(["..."] if message["first"] == "black" else []), *message["history"]]
        turns = [
            _HARD_SPACE.join((f"{number}.", *plies[at : at + 2]))
            for number, at in enumerate(range(0, len(plies), 2), message["firstNumber"])
        ]
        text = "  ".join(turns) or "no move yet"
        lines = textwrap.wrap(text, width=76, initial_indent=" ", subsequent_indent=" ", break_on_hyphens=False)
        return [
            *(line.replace(_HARD_SPACE, " ") for line in lines),
            f" You captured {_pieces(message['taken'])}; you lost {_pieces(message['lost'])}.",
        ]

    def _flip(self) -> None:
        self.bottom = not self.bottom
        self.draw()

    def _resign(self) -> NoReturn:
        raise Resignation

    def _quit(self) -> NoReturn:
        raise Quit
