"""A human at the terminal, as a player: sees that player's views and nothing else, and types moves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import chess

from darkchess.fog.game.contest import Player
from darkchess.fog.game.rules import PAPER, Ruleset
from klss.play.contest import Decision
from klss.play.limits import Limit, Progress
from klss_app.cli.human import Typist, drawn, side_name, wrapped
from klss_app.cli.terminal import Terminal
from klss_app.view_events import view_events

if TYPE_CHECKING:
    from darkchess.board.position import Position
    from darkchess.fog.game.view import View

HELP = """\
Type a move as SAN (Nf3, exd5, e8=Q, O-O), as squares (g1f3, e7e8q), or one of:
  help      this text
  moves     your legal moves
  history   the game so far as you know it, and the pieces captured
  flip      turn the board around
  resign    give up
  quit      leave; the game is kept, --resume continues (Ctrl-C does the same)
You see your own pieces and every square they could move to. There is no
check: capture the king to win."""

_HARD_SPACE = "\N{NO-BREAK SPACE}"


def events(before: View | None, view: View) -> list[str]:
    """Sentences on the new facts in ``view``, compared with ``before``, one ply earlier."""
    news: list[str] = []
    shown: list[str] = []
    fresh: list[str] = []
    for each in view_events(before, view):
        square = "" if each.square is None else chess.SQUARE_NAMES[each.square]
        name = "" if each.piece is None else chess.PIECE_NAMES[each.piece.piece_type]
        how = " en passant" if each.en_passant else ""
        if each.kind == "captured":
            article = "the" if name == "king" else "a"
            news.append(f"You captured {article} {name}{how} on {square}.")
        elif each.kind == "lost":
            news.append(f"Your {name} on {square} was captured{how}.")
        elif each.kind == "moved":
            news.append(f"{side_name(not view.color)} moved.")
        elif each.kind in ("shown", "sight"):
            (shown if each.kind == "shown" else fresh).append(f"{name} {square}")
    if shown:
        news.append(f"Your move showed: {', '.join(shown)}.")
    if fresh:
        news.append(f"Now in sight: {', '.join(fresh)}.")
    if view.ep_square is not None and view.to_move == view.color:
        news.append(f"You can capture en passant on {chess.SQUARE_NAMES[view.ep_square]}.")
    return news


def _pieces(letters: str) -> str:
    """Pieces by FEN's letters, in words, with equal ones counted together.

    >>> _pieces("QNppp"), _pieces("")
    ('a queen, a knight, 3 pawns', 'nothing')
    """
    counts = Counter(chess.PIECE_NAMES[chess.Piece.from_symbol(letter).piece_type] for letter in letters)
    words = [f"a {name}" if count == 1 else f"{count} {name}s" for name, count in counts.items()]
    return ", ".join(words) or "nothing"


class HumanPlayer(Typist, Player):
    """The human; see :class:`darkchess.fog.game.contest.Player` and :class:`klss_app.cli.human.Typist`. The first
    ``resumed`` plies of a resumed game are shown at once, with the last of them.
    """

    help = HELP

    def __init__(
        self,
        terminal: Terminal,
        names: Mapping[chess.Color, str],
        clocks: Mapping[chess.Color, float],
        resumed: int = 0,
    ) -> None:
        super().__init__(terminal, names, clocks)
        self._views: list[View] = []
        self._drawn = -1
        self._resumed = resumed

    def start(self, view: View, start: Position, ruleset: Ruleset = PAPER) -> None:
        """Begin a game; the board is drawn at the human's first turn."""
        from klss_app.web.fog_seat import Telling

        self._views = [view]
        self._telling = Telling(view)
        self.bottom = view.color

    def board_is_drawn(self) -> None:
        """Don't draw the first board again: it is on the screen already."""
        self._drawn = 0

    def observe(self, view: View) -> None:
        """Add the view after a ply."""
        # Separate lines for the player's own move and the enemy's: a piece that the first showed may have moved since.
        news = " ".join(events(self._views[-1], view))
        before = [] if view.kind == "own_move" else self._news
        self._news = [*before, news] if news else before
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
                self._terminal.say(f" {news}")
                self._news = []

    def draw(self) -> None:
        view = self._views[-1]
        last = view.own_move
        squares = (view.own_capture_square,) if last is None else (last.from_square, last.to_square)
        marked = tuple(square for square in squares if square is not None)
        self.show(drawn(self._terminal, view.pieces, view.visible, self.bottom, marked))
        self._drawn = len(self._views) - 1

    def choose(self, limit: Limit, progress: Progress | None = None) -> Decision[chess.Move]:
        """Ask until a legal move is typed; raises as :meth:`klss_app.cli.human.Typist.ask` does."""
        from darkchess.errors import IllegalMove
        from darkchess.fog.game.san import parse_move

        view = self._views[-1]
        if self._drawn != len(self._views) - 1:
            self.draw()
        self.question_begins(limit)
        while True:
            text = self.ask(f" {view.fullmove}. your move: ")
            if not text:
                continue
            try:
                move = parse_move(view, text)
            except IllegalMove as error:
                self._terminal.say(f" {error}")
                continue
            self._deadline = None
            return Decision(move, {})

    def commands(self) -> dict[str, Callable[[], Any]]:
        return super().commands() | {"history": lambda: self._terminal.say(*self._history_lines())}

    def choices(self) -> Iterator[str]:
        """The legal moves in SAN."""
        from darkchess.fog.game.san import san

        view = self._views[-1]
        return (san(view, move) for move in view.legal_moves)

    def _history_lines(self) -> list[str]:
        """The human's moves, ``?`` for the opponent's, and the pieces that either side lost, as far as known."""
        message = self._telling.message()
        plies = [*(["..."] if message["first"] == "black" else []), *message["history"]]
        turns = [
            _HARD_SPACE.join((f"{number}.", *plies[at : at + 2]))
            for number, at in enumerate(range(0, len(plies), 2), message["firstNumber"])
        ]
        return [
            wrapped("  ".join(turns) or "no move yet").replace(_HARD_SPACE, " "),
            f" You captured {_pieces(message['taken'])}; you lost {_pieces(message['lost'])}.",
        ]
