"""How people see a game: the class of what a player knows, pictures of the true game once it is over, and its review.

The terminal has boards of it (:mod:`klss_app.cli.screen`), the browser one board (:mod:`klss_app.web.room`). It
is on the referee's side of the wall.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any

import chess

from klss.errors import KlssError
from klss.play.arbiter import SEATS, AnyPlayed
from klss.play.contest import AnyReferee
from klss.play.kit import AnyKit, AnyReplay
from klss.play.outcome import Outcome, Seat
from klss.play.small_game import PlainKit
from klss.support.configuration_text import ConfigurationError
from klss.support.text import Document, counted, printable
from klss_app.known.known import AnyKnown, Picture, PlainKnown, how_ended, over_document

if TYPE_CHECKING:
    from klss_app.analysis.summaries import Turns

MOST_PLIES = 2000
"""Most plies of a game that is reviewed; each is replayed, and sent to the page."""


class BadGame(KlssError, ValueError):
    """A file that holds no game that can be shown; the text says why."""


@dataclass(frozen=True)
class Step:
    """A ply of a game with nothing hidden: the turn that led to it, and the boards after it."""

    words: str  # the turn, with its number
    turn: chess.Color  # the side to move, and the number of its move, as in FEN
    number: int
    truth: Picture  # the true board
    known: Mapping[chess.Color, Picture]  # what each side knew
    # the move that was played in UCI, and the turn in letters as the review lists it; None: none, or the start
    move: str | None = None
    letters: str | None = None
    extra: Mapping[str, object] | None = None  # what only this game's page shows


@dataclass(frozen=True)
class Reviewed:
    """A game whose hidden moves may be shown, as reviews and analyses read it: it is over, or came from a file."""

    replay: AnyReplay
    text: str  # as it is kept in a file
    rules: str | None = None
    plies: int = 0  # the number of turns played
    number: int = 1  # in its file, or in the room
    fen: str | None = None  # its start; None: the usual one
    color: chess.Color = chess.WHITE  # whose side the review is seen from

    @property
    def names(self) -> tuple[str, str]:
        """White's and Black's names."""
        white, black = (printable(self.replay.headers.get(side, "?"), 80) for side in ("White", "Black"))
        return white, black


class Front:
    """A game as people see it; this class takes any game of a :class:`klss.play.small_game.PlainKit`, which it shows as
    text. A game's own class is named by :attr:`klss.play.kit.Kit.front`.
    """

    known: Callable[[Seat, Any], AnyKnown]  # what a player knows, from its seat and the setup
    turns = "turn", "turns"  # the game's words for one turn and for more
    sees = "knew"  # the word for what a side made of the board
    opening: tuple[str, ...] = ()  # a turn of each side, as the kit takes earlier moves
    shown_tags: tuple[str, ...] = ("White", "Black")  # what a review shows of a record's headers

    def __init__(self, kit: AnyKit) -> None:
        self.kit = kit
        if isinstance(kit, PlainKit):
            self.known = partial(PlainKnown, kit)

    def words(self, referee: Any, played: AnyPlayed, name: str) -> str:
        """A turn of a game between engines, just played by ``name``."""
        said = self.kit.line(referee, played)
        answers = said.get("answers")
        shown = answers if isinstance(answers, list) else said.values()
        return f"{played.ply}. {name}: {', '.join(map(str, shown))}"

    def step(self, referee: Any, ply: int) -> Step | None:
        """The ply with its boards, if every turn of a game between engines is shown so."""
        return None

    def steps(self, referee: Any) -> list[Step]:
        """All plies of a game, from the start on; empty: the game has no pictures."""
        return []

    def end_lines(self, referee: Any, names: Mapping[Seat, str]) -> list[str]:
        """The end of a game in words."""
        return [ended_text(referee.outcome, counted(referee.ply, *self.turns))]

    def hints(self, path: str) -> list[str]:
        """Commands for the game kept in ``path``, which is quoted for a shell."""
        return []

    def engines(self) -> Mapping[str, str]:
        """The configurations that a page may ask for, the easiest first, with a few words on each."""
        return {**self.kit.levels, **dict.fromkeys(self.kit.configurations, "")}

    # ------------------------------------------------------------------------------------------------ reviews
    def kept(self, referee: Any, headers: Mapping[str, str], rules: str) -> Reviewed:
        """A game that was just played, under a ruleset."""
        text = self.kit.record(referee, headers)
        return Reviewed(self.kit.replayed(text, rules), text, rules, referee.ply)

    def opened(self, text: str, rules: str | None = None, least: int = 1) -> Reviewed:
        """The game of a record, under a ruleset; raises :class:`BadGame`: it is none, or shorter than ``least``."""
        try:
            replay = self.kit.replayed(text, rules)
            plies = replay.game().ply if len(replay.answers) <= 2 * MOST_PLIES else len(replay.answers)
        except ValueError as error:
            raise BadGame(printable(str(error), 300)) from None
        if not least <= plies <= MOST_PLIES:
            raise BadGame(f"got a game of {counted(plies, *self.turns)}, expected {least} to {MOST_PLIES:,}")
        found = Reviewed(replay, text, rules, plies)
        return replace(found, text=self.annotated(found, []))  # as we write it, not as it was sent

    def review(self, reviewed: Reviewed) -> Document:
        """The document of a review: ``tags``; ``over`` as in a game's messages, or None; ``plies``, from the start
        position on: ``move`` (UCI) and ``san`` that led there, ``turn``, ``number``, FEN's first fields, or texts:
        ``truth``, and what ``white`` and ``black`` saw, and what only this game's page shows.
        """
        replay = reviewed.replay
        tags = {name: value for name, value in replay.headers.items() if name in self.shown_tags}
        plies: list[Document] = [
            {
                "move": step.move,
                "san": step.letters,
                "turn": chess.COLOR_NAMES[step.turn],
                "number": step.number,
                "truth": step.truth.text,
                **{chess.COLOR_NAMES[color]: picture.text for color, picture in step.known.items()},
                **(step.extra or {}),
            }
            for step in self.steps(replay.game())
        ]
        plies = plies or self._texts(replay)
        return {"tags": tags, "over": over_document(replay.outcome), "plies": plies}

    def _texts(self, replay: AnyReplay) -> list[Document]:
        """The plies of a game without pictures: what each side was told."""
        game, shown = replay.begin(), dict.fromkeys(SEATS, 0)
        known = {seat: self.known(seat, game.setup) for seat in SEATS}
        letters, plies = None, list[Document]()
        for at in range(len(replay.answers) + 1):
            show(game, shown, lambda seat, observation: known[seat].observe(observation))
            texts: Document = {chess.COLOR_NAMES[seat]: "\n".join(each.said) for seat, each in known.items()}
            turn = chess.COLOR_NAMES[game.turn]
            plies.append({"move": None, "san": letters, "turn": turn, "number": at + 1, "truth": "", **texts})
            if at < len(replay.answers):
                letters = worded(known[game.turn], replay.answers[at])
                known[game.turn].question = game.question  # so that what is told after the answer begins anew
                game.answer(replay.answers[at])
        return plies

    def annotated(self, reviewed: Reviewed, turns: Turns) -> str:
        """The text of a game's file with the analysis of all turns; without it if the format has no place for it."""
        return reviewed.text

    def moves(self, replay: AnyReplay) -> list[str | None]:
        """The turns as they were asked for, in UCI where there are moves; None: a pass."""
        return [None if answer is None else str(answer) for answer in replay.answers]

    def place(self, referee: Any, ply: int) -> tuple[int, str]:
        """The number of the move to be made at a ply, and the phase of the game; "" where a game has no phases."""
        return ply + 1, ""


def show(game: AnyReferee, shown: dict[Seat, int], observe: Callable[[Seat, Any], None]) -> None:
    """Give both seats their new observations; ``shown`` has the number that each has got."""
    for seat in SEATS:
        observations = game.observations(seat)
        for observation in observations[shown[seat] :]:
            observe(seat, observation)
        shown[seat] = len(observations)


def worded(known: AnyKnown, answer: Any) -> str:
    """An answer as it is typed."""
    return next((text for text, each in known.answers().items() if each == answer), str(answer))


class ChessFront(Front):
    """What games on a chessboard have in common."""

    def place(self, referee: Any, ply: int) -> tuple[int, str]:
        position = referee.positions[ply]
        men = sum(piece.piece_type not in (chess.PAWN, chess.KING) for piece in position.pieces.values())
        return position.fullmove, "end" if men <= _END_MEN else "opening" if ply < _OPENING_PLIES else "middle"


PHASES = ("opening", "middle", "end")
_OPENING_PLIES = 20
_END_MEN = 6
"""Most queens, rooks, bishops and knights on the board in an endgame, as lichess divides games."""


class OpenSpielFront(Front):
    """A game of OpenSpiel; see :class:`Front`."""

    def end_lines(self, referee: Any, names: Mapping[Seat, str]) -> list[str]:
        """The true state, as OpenSpiel prints it, and both payoffs."""
        if referee.returns is None:
            return [str(referee), f"{referee.outcome.result} ({referee.outcome.reason})"]
        first, second = referee.returns
        return [str(referee), f"{names[True]} {first:+g}, {names[False]} {second:+g}"]


def front_of(kit: AnyKit) -> Front:
    """The front of a kit's game. Raises ConfigurationError: it has none."""
    if kit.front is None and not isinstance(kit, PlainKit):
        raise ConfigurationError(f"--game: got {kit.name}, a kit without a front; klss match and engine play it")
    front: Front = Front(kit) if kit.front is None else resolve_name(kit.front)(kit)
    return front


def ended_text(outcome: Outcome | None, after: str) -> str:
    """The end of any game in one line; ``after``: its length in words.

    >>> ended_text(None, "3 turns"), ended_text(Outcome(False, "resign"), "0 plies")
    ('Unfinished after 3 turns.', 'Black wins: White resigned. 0-1 after 0 plies.')
    """
    return f"Unfinished after {after}." if outcome is None else f"{how_ended(outcome)} {outcome.result} after {after}."
