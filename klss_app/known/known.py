"""What one player knows of a game, and says: the base of every game's class, and the part that chessboards share."""

from __future__ import annotations

import textwrap
from abc import abstractmethod
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeAlias

import chess

from darkchess.board.fen import board_text
from darkchess.fog.game.render import ALL_SQUARES
from klss.play.contest import Answer, Observation, Setup
from klss.play.outcome import Outcome, Seat
from klss.support.text import Document

if TYPE_CHECKING:  # not at run time: the first board is drawn before compiled code is loaded
    from darkchess.board.position import Position
    from klss.play.small_game import PlainKit

WIDTH = 76
"""Columns of long lists."""

_HARD_SPACE = "\N{NO-BREAK SPACE}"
_LOSSES = {
    "king_captured": "{}'s king was captured",
    "no_move": "{} has no move left",
    "resign": "{} resigned",
    "flag": "{} ran out of time",
    "forfeit": "{} forfeited",
}
_DRAWS = {
    "agreement": "both players agreed",
    "no_move": "no move is left",
    "repetition": "third occurrence of the position",
    "fifty_moves": "fifty moves without a capture or a pawn move",
    "ply_limit": "the limit of plies was reached",
    "turn_limit": "the limit of turns was reached",
}


_NO_BOARD = {"board": "8/8/8/8/8/8/8/8", "past": (), "moves": (), "last": (), "lost": "", "taken": "", "fullmove": 1,
             "first": "white", "firstNumber": 1}  # fmt: skip


class Unread(Exception):
    """The typed text is no answer; the message says why, if there is anything to say."""


@dataclass(frozen=True)
class Picture:
    """A chessboard, as it is or as a player knows it."""

    pieces: Mapping[int, chess.Piece]  # by square (0–63)
    seen: int = ALL_SQUARES  # the squares that are not fog, as a 64-bit set
    marked: tuple[int, ...] = ()  # squares to highlight, such as those of the last move
    # the player's turns since each square was known, own pieces left out; None: a game without ages
    ages: Mapping[int, int] | None = None

    @property
    def text(self) -> str:
        """FEN's first field, with ``?`` for fog."""
        return board_text(self.pieces, ALL_SQUARES & ~self.seen)


class Known(Generic[Setup, Observation, Answer]):
    """What the player at ``seat`` knows of a game, and says. ``setup``: what both players know beforehand."""

    help: str  # what may be typed

    def __init__(self, seat: Seat, setup: Setup) -> None:
        self.seat, self.setup = seat, setup
        # the number of observations so far, and so of the present question; later questions have larger numbers
        self.number = 0
        # what the player is asked, None while it waits; some games' observations tell, else the host sets it
        self.question: str | None = None
        self.said: list[str] = []  # sentences on what happened since the player's last answer
        self.history: list[str] = []
        self.over: Outcome | None = None  # how the game ended; None while it goes on

    @abstractmethod
    def observe(self, observation: Observation) -> None:
        """Take in an observation."""

    def end(self, outcome: Outcome) -> None:
        """Take in how the game ended."""
        self.over, self.question = outcome, None

    @property
    def prompt(self) -> str:
        """The words before a typed answer."""
        return "your answer: "

    def picture(self) -> Picture | None:
        """The board as the player knows it; None: there is none, the game is shown as text."""
        return None

    @abstractmethod
    def answers(self) -> Mapping[str, Answer]:
        """The open answers, by the texts that are typed for them."""

    @abstractmethod
    def read(self, text: str) -> Answer:
        """The answer that is typed as ``text``. Raises :class:`Unread`: it is none."""

    def history_lines(self) -> list[str]:
        """The game so far, as far as the player knows it."""
        return self.history

    def message(self) -> Document:
        """All that a page is sent, so that a reloaded page shows the same as before; a game's own class adds to it."""
        return {
            "color": chess.COLOR_NAMES[self.seat],
            "turn": chess.COLOR_NAMES[not self.seat if self.question is None else self.seat],
            "history": tuple(self.history),
            "said": tuple(self.said),
            "over": over_document(self.over),
        }


AnyKnown: TypeAlias = Known[Any, Any, Any]
"""What a player knows of a game that is chosen by name."""


class PlainKnown(Known[None, Observation, Answer]):
    """What a player knows of a game whose kit has words for it."""

    help = """\
Type an answer of the list or its number, or one of:
  help      this text
  moves     the possible answers
  history   all that you were told
  resign    give up
  quit      leave"""

    def __init__(self, kit: PlainKit[Any, Any, Observation, Answer], seat: Seat, setup: None) -> None:
        super().__init__(seat, setup)
        self._kit, self._seen = kit, list[Observation]()

    def observe(self, observation: Observation) -> None:
        self.number += 1
        if self.question is not None:  # it was answered
            self.said, self.question = [], None
        self._seen.append(observation)
        self.said.append(self._kit.told(self._seen))
        self.history.append(self.said[-1])

    def answers(self) -> Mapping[str, Answer]:
        return {self._kit.word(each, self._seen): each for each in self._kit.choices(self._seen)}

    def read(self, text: str) -> Answer:
        """The answer of that text, or of that number in the list if no answer's text is a number."""
        answers = self.answers()
        if text in answers:
            return answers[text]
        numbered = {str(at): each for at, each in enumerate(answers.values(), 1)}
        if text in numbered and not any(name.isdecimal() for name in answers):
            return numbered[text]
        raise Unread(f"got {text[:40]!r}, expected an answer of the list or its number, resign or quit")

    def message(self) -> Document:
        """See the base; also ``ply`` and ``step``, the question's number; ``question``; ``answers``, the texts of the
        open ones; the fields of a chessboard, which is empty.
        """
        answers = [] if self.question is None else list(self.answers())
        asked = {"ply": self.number, "step": self.number, "question": self.question, "answers": answers}
        return super().message() | asked | _NO_BOARD


class ChessKnown(Known[Setup, Observation, Answer]):
    """What a player of a game on a chessboard knows; both players know ``start``. ``history`` has a text per ply: an
    own move in letters, ``?`` for an enemy's, ``?xd5`` if that captured.
    """

    def __init__(self, seat: Seat, setup: Setup, start: Position) -> None:
        super().__init__(seat, setup)
        self.first, self.first_number = start.turn, start.fullmove
        self.last: tuple[int, ...] = ()  # the squares of the last ply, as far as the player knows them
        self.lost, self.taken = Counter[str](), Counter[str]()  # pieces by FEN's letters
        self.past = [self.picture().text]  # what the board looked like at each ply, from the start on

    @abstractmethod
    def picture(self) -> Picture:
        raise NotImplementedError

    @property
    @abstractmethod
    def fullmove(self) -> int:
        """The number of the player's present or next turn, as in FEN."""

    @property
    def prompt(self) -> str:
        return f" {self.fullmove}. your move: "

    @abstractmethod
    def moves(self) -> Sequence[chess.Move]:
        """The moves that the player may play, or ask for, in its turn."""

    def ply_ends(self, text: str) -> None:
        """Add a ply, ``text`` in the history; the board is known as it is after it."""
        self.history.append(text)
        self.past.append(self.picture().text)

    def message(self) -> Document:
        """See the base; also ``ply``; ``fullmove``; ``first`` and ``firstNumber``, the side that began and its move
        number; ``board``, FEN's first field with ``?`` for fog; ``past``, that of every ply so far; ``moves``, in UCI;
        ``last``, ``lost``, ``taken``: see the class.
        """
        return super().message() | {
            "ply": len(self.history),
            "fullmove": self.fullmove,
            "first": chess.COLOR_NAMES[self.first],
            "firstNumber": self.first_number,
            "board": self.picture().text,
            "past": tuple(self.past),
            "moves": [move.uci() for move in self.moves()] if self.question == "move" else [],
            "last": [chess.SQUARE_NAMES[square] for square in self.last],
            "lost": letters(self.lost),
            "taken": letters(self.taken),
        }

    def history_lines(self) -> list[str]:
        """The player's moves, ``?`` for the opponent's, and the pieces that either side lost, as far as known."""
        plies = [*([] if self.first else ["..."]), *self.history]
        turns = [
            _HARD_SPACE.join((f"{number}.", *plies[at : at + 2]))
            for number, at in enumerate(range(0, len(plies), 2), self.first_number)
        ]
        return [
            wrapped("  ".join(turns) or "no move yet").replace(_HARD_SPACE, " "),
            f" You captured {self.captured()}; you lost {_counted(self.lost)}.",
        ]

    def captured(self) -> str:
        """What the player captured, in words."""
        return _counted(self.taken)


def wrapped(text: str) -> str:
    """A long list, wrapped into lines for a terminal."""
    return textwrap.fill(text, width=WIDTH, initial_indent=" ", subsequent_indent=" ", break_on_hyphens=False)


def letters(pieces: Counter[str]) -> str:
    """Pieces by their letters, the most valuable first."""
    return "".join(sorted(pieces.elements(), key=lambda piece: ("qrbnpk".index(piece.lower()), piece)))


def _counted(pieces: Counter[str]) -> str:
    """Pieces by FEN's letters, in words, with equal ones counted together.

    >>> _counted(Counter("pNpQp")), _counted(Counter())
    ('a queen, a knight, 3 pawns', 'nothing')
    """
    counts = Counter(chess.PIECE_NAMES[chess.Piece.from_symbol(letter).piece_type] for letter in letters(pieces))
    return ", ".join(f"a {name}" if count == 1 else f"{count} {name}s" for name, count in counts.items()) or "nothing"


def how_ended(outcome: Outcome) -> str:
    """How a game ended, in a sentence. A reason that no table here has is shown if it can be the word of a game's own
    rules; others are of files that other programs wrote.

    >>> how_ended(Outcome(True, "flag")), how_ended(Outcome(None, "Normal")), how_ended(Outcome(None, "aborted"))
    ('White wins: Black ran out of time.', 'A draw.', 'The game was left.')
    >>> how_ended(Outcome(True, "three_in_a_row")), how_ended(Outcome(False, "unknown"))
    ('White wins: three in a row.', 'Black wins.')
    """
    if outcome.reason == "aborted" and outcome.winner is None:
        return "The game was left."
    own = outcome.reason.isidentifier() and outcome.reason.islower() and outcome.reason != "unknown"
    word = outcome.reason.replace("_", " ") if own else ""
    if outcome.winner is None:
        why = _DRAWS.get(outcome.reason, word)
        return f"Draw: {why}." if why else "A draw."
    winner, loser = ("White", "Black") if outcome.winner else ("Black", "White")
    why = _LOSSES.get(outcome.reason, word).format(loser)
    return f"{winner} wins: {why}." if why else f"{winner} wins."


def over_document(outcome: Outcome | None) -> Document | None:
    """The end of a game, for a page; None while it goes on."""
    if outcome is None:
        return None
    winner = None if outcome.winner is None else chess.COLOR_NAMES[outcome.winner]
    return {"winner": winner, "reason": outcome.reason, "result": outcome.result, "text": how_ended(outcome)}
