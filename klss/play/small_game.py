"""Games that need little: the parts that are alike in all of them, so that a new game is one short file.

A :class:`PlainKit` is a game with dataclasses as observations and one kind of question: protocol and screens follow. A
:class:`SmallKit` is one whose players have no options either; with a :class:`SmallReferee` it has the rules to write,
and no more. ``tests/table/hidden_tictactoe.py`` is an example.
"""

from __future__ import annotations

import copy
import json
import random
import types
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Generic, Self, TypeVar, get_type_hints

import msgspec
from msgspec import UNSET, Meta, UnsetType

from klss.errors import GameError
from klss.play.contest import Answer, Contradiction, Decision, Observation, Player
from klss.play.kit import Configuration, Kit, Maker, Named, Replay
from klss.play.limits import Limit
from klss.play.messages import Answer as AnswerMessage
from klss.play.messages import GameOver, ProtocolError, Push, Request, Seen, outcome_of, over_shape
from klss.play.outcome import Outcome, Seat
from klss.play.wire import Transcript, Wire
from klss.support.configuration_text import ConfigurationError
from klss.support.text import Document, printable

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


Option = TypeVar("Option")


class Nature:
    """Nature's draws in one game."""

    def __init__(self, seed: int = 0) -> None:
        self.seed, self._random = seed, random.Random(seed)

    def draw(self, options: Sequence[Option], weights: Sequence[float] | None = None) -> Option:
        """Return one of ``options``; each of them is possible, equally so without ``weights``."""
        return self._random.choices(options, weights)[0]


class SmallReferee(ABC, Generic[Observation, Answer]):
    """The true game; see :class:`klss.play.contest.Referee`.

    All chance is in :meth:`draw`, and all else follows from the answers. So a game can be played again, and the games
    that agree with what one seat has seen can be listed (:mod:`klss.play.possible`).
    """

    setup = None
    question = "answer"  # the word of every question

    def __init__(self, nature: Nature) -> None:
        self.nature = nature
        self.turn: Seat = True
        self.outcome: Outcome | None = None
        self.answers: list[tuple[Seat, Answer]] = []
        self._seen: dict[Seat, list[Observation]] = {True: [], False: []}

    @abstractmethod
    def play(self, answer: Answer) -> None:
        """Take the answer of the seat at :attr:`turn`: :meth:`show` observations, set ``turn``, and ``outcome`` at the
        end. Raises ValueError: it is no answer.
        """

    def draw(self, options: Sequence[Option], weights: Sequence[float] | None = None) -> Option:
        """Return nature's draw; see :meth:`Nature.draw`."""
        return self.nature.draw(options, weights)

    def show(self, seat: Seat, observation: Observation) -> None:
        """Give ``seat`` an observation; each has one, at least, before its first question."""
        self._seen[seat].append(observation)

    def state(self) -> Hashable:
        """Return all that the rest of the game depends on, beside the answers that are open to both seats: by default
        the number of answers, the turn, and every attribute that the game's own class has. These are compared by value:
        numbers, texts, frozen dataclasses, and lists, tuples, dicts and sets of them.
        """
        own = vars(self).keys() - {"nature", "answers", "outcome", "_seen"}
        return self.ply, tuple((name, _frozen(vars(self)[name])) for name in sorted(own))

    def copy(self, nature: Nature) -> Self:
        """Return an independent copy that goes on with other draws; observations and answers are shared, not copied."""
        seen = {seat: [*each] for seat, each in self._seen.items()}
        kept = ((self.nature, nature), (self.answers, [*self.answers]), (self._seen, seen))
        return copy.deepcopy(self, {id(old): new for old, new in kept})

    @property
    def ply(self) -> int:
        return len(self.answers)

    @property
    def truth(self) -> npt.NDArray[np.uint64]:
        """See the base; there are no position sets to check."""
        raise NotImplementedError

    def observations(self, seat: Seat) -> Sequence[Observation]:
        return self._seen[seat]

    def answer(self, answer: Answer) -> None:
        seat = self.turn
        self.play(answer)
        self.answers.append((seat, answer))

    def resign(self, seat: Seat) -> None:
        self.end(Outcome(not seat, "resign"))

    def flag(self, seat: Seat) -> None:
        self.end(Outcome(not seat, "flag"))

    def end(self, outcome: Outcome) -> None:
        self.outcome = outcome


def _frozen(value: Any) -> Hashable:
    """The value as one that can be compared and hashed, whatever the order in which dicts and sets were filled."""
    if isinstance(value, Mapping):
        return frozenset((key, _frozen(each)) for key, each in value.items())
    if isinstance(value, list | tuple):
        return tuple(map(_frozen, value))
    return frozenset(value) if isinstance(value, set) else value


_Referee = TypeVar("_Referee", bound=SmallReferee[Any, Any])


class PlainKit(
    Kit[Configuration, _Referee, None, Observation, Answer], Generic[Configuration, _Referee, Observation, Answer]
):
    """A game with one kind of observation and of question, with a :class:`SmallReferee`, and with nothing to set up."""

    # The names, in messages, of the answer and of the open answers, and of the observation's fields that have others.
    key: ClassVar[str] = SmallReferee.question
    mark: ClassVar[str] = "answers"
    renamed: ClassVar[Mapping[str, str]] = {}
    # a dataclass, and the type of answers, both of parts that msgspec reads and writes
    observation: type[Observation]
    answer: type[Answer]

    def __init__(self) -> None:
        self.wire = PlainWire(self)

    def setup(self, start: str | None = None, rules: str | None = None) -> None:
        return None

    def referee(self, setup: None, moves: Sequence[str] = (), seed: int = 0) -> _Referee:
        return self.begun(Nature(seed))

    @abstractmethod
    def begun(self, nature: Nature) -> _Referee:
        """Return a new game."""

    def record(self, referee: _Referee, headers: Mapping[str, str]) -> str:
        return json.dumps(self.document(referee, headers), ensure_ascii=False) + "\n"

    def document(self, referee: _Referee, headers: Mapping[str, str]) -> Document:
        """Return the content of a record: nature's seed and the answers play the game again."""
        ended = referee.outcome
        result, reason = (None, None) if ended is None else (ended.result, ended.reason)
        played = {"nature": referee.nature.seed, "answers": referee.answers, "result": result, "reason": reason}
        return {"game": self.name, **headers, **played}

    def replayed(self, text: str, rules: str | None = None) -> Replay[_Referee, Answer]:
        try:
            document = json.loads(text)
            answers = [msgspec.convert(answer, self.answer) for _, answer in document["answers"]]
            begin = partial(self.referee, None, (), int(document["nature"]))
            headers = {key: value for key, value in document.items() if key[:1].isupper() and isinstance(value, str)}
            winner = {"1-0": True, "0-1": False}.get(document["result"])
            outcome = None if document["result"] is None else Outcome(winner, str(document["reason"]))
            found = Replay(begin, answers, headers, outcome)
        except (ValueError, TypeError, KeyError, OverflowError, RecursionError) as error:
            kind = type(error).__name__
            raise GameError(f"got no game of {self.title} ({kind}), expected one that klss kept") from None
        if document.get("game") not in (self.name, self.title):
            raise GameError(f"got a game of {printable(str(document.get('game')), 80)}, expected one of {self.title}")
        played = found.game().ply  # raises now if an answer is none
        if played < len(answers):
            raise GameError(f"got {len(answers)} answers of a game that is over after {played}, expected no more")
        return found

    # ``seen``: one player's observations so far; all of this is on the player's side of the wall
    @abstractmethod
    def choices(self, seen: Sequence[Observation]) -> Sequence[Answer]:
        """Return the open answers."""

    def follows(self, seen: Sequence[Observation]) -> None:
        """Raise Contradiction if the last observation can't follow from those before."""
        return

    def told(self, seen: Sequence[Observation]) -> str:
        """Return what the last observation tells, in words or as a drawing."""
        return str(seen[-1])

    def word(self, answer: Answer, seen: Sequence[Observation]) -> str:
        """Return an open answer as it is typed."""
        return str(answer)


class _Plain(Seen, frozen=True, kw_only=True):
    """The fields of a dataclass, or the end of the game; what is not there is UNSET."""

    game_over: GameOver | UnsetType = UNSET


class PlainWire(Wire[None, _Plain, Observation, Answer]):
    """The vocabulary of a :class:`PlainKit`.

    In messages an observation is an object with the fields of its dataclass, and its number as ``ply``. The end of the
    game has a number of its own, and ``game_over``.
    """

    def __init__(self, kit: PlainKit[Any, Any, Observation, Answer]) -> None:
        self.kit, self.game, self.asked = kit, kit.name, kit.mark
        hints = get_type_hints(kit.observation)
        self._numbered = hints.pop("ply", None) is not None
        self._names = list(hints)
        fields = [(name, hint | UnsetType, UNSET) for name, hint in hints.items()]
        shape: Any = msgspec.defstruct(  # made here: no static type
            "Observation", fields, bases=(_Plain,), frozen=True, kw_only=True, rename=kit.renamed
        )
        open_answers = {kit.mark: Annotated[list[kit.answer], Meta(min_length=1)]}  # type: ignore[name-defined]
        options = {"frozen": True, "kw_only": True}
        self._shape = shape
        self.request = types.new_class(
            "Question", (Request[shape],), options, lambda body: body.update(__annotations__=open_answers)
        )
        self.push = Push[shape]
        self.answers = {kit.key: AnswerMessage[kit.answer]}  # type: ignore[name-defined]

    def transcript(self, seat: Seat, setup: None) -> PlainTranscript[Observation, Answer]:
        return PlainTranscript(self)

    def setup(self, request: Request[_Plain]) -> None:
        return None

    def rehearse(self, player: Player[None, Observation, Answer], limit: Limit) -> None:
        referee = self.kit.begun(Nature())
        player.begin(referee.turn, None)
        for each in referee.observations(referee.turn):
            player.observe(each)
        player.answer(self.kit.key, limit)

    def told(self, seen: _Plain) -> Observation:
        """Return the observation of a message. Raises ProtocolError: it is none."""
        numbered = {"ply": seen.ply} if self._numbered else {}
        fields = {name: value for name in self._names if (value := getattr(seen, name)) is not UNSET}
        try:
            return self.kit.observation(**numbered, **fields)
        except (TypeError, ValueError) as error:
            raise ProtocolError(f"observation of ply {seen.ply}: {error}") from None

    def shown(self, ply: int, observation: Observation) -> _Plain:
        """Return an observation as messages have it."""
        shown: _Plain = self._shape(ply=ply, **{name: getattr(observation, name) for name in self._names})
        return shown

    def over(self, ply: int, outcome: Outcome) -> _Plain:
        """Return the end of the game as messages have it."""
        shown: _Plain = self._shape(ply=ply, game_over=over_shape(outcome))
        return shown


class PlainTranscript(Transcript[_Plain, Observation, Answer]):
    """The observations in a game of a :class:`PlainWire`."""

    gapless = True

    def __init__(self, wire: PlainWire[Observation, Answer]) -> None:
        super().__init__()
        self._wire = wire

    def take(self, seen: _Plain, request: Request[_Plain] | None = None) -> None:
        if isinstance(seen.game_over, GameOver):
            self.outcome = outcome_of(seen.game_over)
        else:
            self.given.append(self._wire.told(seen))
            self._wire.kit.follows(self.given)
        self.seen.append(seen)

    def check(self, request: Request[_Plain]) -> None:
        mark = self._wire.asked
        got, expected = getattr(request, mark), list(self._wire.kit.choices(self.given))
        if got != expected:
            raise Contradiction(f"{mark}: got {got[:20]}, expected those of the observations: {expected[:20]}")

    def add(self, observation: Observation) -> None:
        self.seen.append(self._wire.shown(len(self.seen), observation))
        self.given.append(observation)

    def end(self, outcome: Outcome) -> _Plain | None:
        self.outcome = outcome
        self.seen.append(self._wire.over(len(self.seen), outcome))
        return self.seen[-1] if len(self.seen) > 1 else None

    def asks(self, question: str) -> Document:
        return {self._wire.asked: list(self._wire.kit.choices(self.given))}

    def complaint(self, question: str, answer: Answer) -> str | None:
        choices = self._wire.kit.choices(self.given)
        return None if answer in choices else f"{answer}, expected one of its {len(choices)} choices"


class SmallKit(PlainKit[Named, _Referee, Observation, Answer], Generic[_Referee, Observation, Answer]):
    """A game whose players have names and no options."""

    true_game: Callable[[Nature], _Referee]  # the class of its referee
    own = Named
    configurations: Sequence[str] = ("random",)
    default_player = "random"

    def begun(self, nature: Nature) -> _Referee:
        return self.true_game(nature)

    def spec(self, text: str) -> Named:
        if text not in self.configurations:
            raise ConfigurationError(f"player: got {text[:80]!r}, expected one of {', '.join(self.configurations)}")
        return Named(text)

    def maker(self, spec: Named, choice: object, setup: None) -> Maker[None, Observation, Answer]:
        return Maker(partial(_Chooser, self, spec.name))

    def choose(self, name: str, seen: Sequence[Observation], chance: random.Random) -> Answer:
        """Return the answer of the player ``name``: any open one, unless a game's own kit has other players."""
        return chance.choice(self.choices(seen))


class _Chooser(Player[None, Observation, Answer]):
    """A player of a :class:`SmallKit`, by its name."""

    def __init__(self, kit: SmallKit[Any, Observation, Answer], name: str, seed: int) -> None:
        self._kit, self._name, self._seed = kit, name, seed

    def begin(self, seat: Seat, setup: None) -> None:
        self._random = random.Random(self._seed)
        self._seen: list[Observation] = []

    def observe(self, observation: Observation) -> None:
        self._seen.append(observation)

    def answer(self, question: str, limit: Limit) -> Decision[Answer]:
        return Decision(self._kit.choose(self._name, self._seen, self._random))
