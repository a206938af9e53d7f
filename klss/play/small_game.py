"""Games that need little: the parts that are alike in all of them, so that a new game is one short file.

A :class:`PlainKit` is a game with dataclasses as observations and one kind of question: protocol and screens follow. A
:class:`SmallKit` is one whose players have no options either; with a :class:`SmallReferee` it has the rules to write,
and no more. ``tests/table/hidden_tictactoe.py`` is an example.
"""

from __future__ import annotations

import copy
import json
import random
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self, TypeGuard, TypeVar

import msgspec

from klss.errors import GameError
from klss.play.contest import Answer, Decision, Observation, Player
from klss.play.kit import Configuration, Kit, Named, Replay, Spec
from klss.play.limits import Limit, Progress
from klss.play.outcome import Outcome, Seat
from klss.play.wire import PlainWire
from klss.support.configuration_text import ConfigurationError
from klss.support.text import Document

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
        the number of answers, the turn, and every attribute that the game's own class has.
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
        self.wire = PlainWire(
            self.name, self.observation, self.answer, self.choices, self._opening,
            key=self.key, mark=self.mark, rename=self.renamed, follows=self.follows,
        )  # fmt: skip

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
            return Replay(begin, answers, headers, outcome)
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            kind = type(error).__name__
            raise GameError(f"got no game of {self.title} ({kind}), expected one that klss kept") from None

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

    def _opening(self) -> tuple[Seat, Sequence[Observation]]:
        referee = self.referee(None)
        return referee.turn, referee.observations(referee.turn)


class SmallKit(PlainKit[Named, _Referee, Observation, Answer], Generic[_Referee, Observation, Answer]):
    """A game whose players have names and no options."""

    true_game: Callable[[Nature], _Referee]  # the class of its referee
    configurations: Sequence[str] = ("random",)
    default_player = "random"

    def begun(self, nature: Nature) -> _Referee:
        return self.true_game(nature)

    def spec(self, text: str) -> Named:
        if text not in self.configurations:
            raise ConfigurationError(f"player: got {text[:80]!r}, expected one of {', '.join(self.configurations)}")
        return Named(text)

    def is_ours(self, spec: Spec) -> TypeGuard[Named]:
        return isinstance(spec, Named)

    def player(self, spec: Named, seed: int) -> Player[None, Observation, Answer]:
        return _Chooser(self, spec.name, seed)

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

    def answer(self, question: str, limit: Limit, progress: Progress | None = None) -> Decision[Answer]:
        return Decision(self._kit.choose(self._name, self._seen, self._random))
