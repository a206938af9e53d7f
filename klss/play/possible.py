"""The true games that agree with what one seat has seen, in any small game: exact, and from its rules alone.

Every way in which the game may begin, every open answer of the other seat and every draw of nature is tried. Games that
have shown this seat anything else are dropped, and games that can't differ any more are one: their states are equal,
and so are the answers open to the other seat. What the other seat did unseen is in the set: a game in which it has
tried something in vain, and one in which it has not yet.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, NamedTuple, TypeAlias, TypeVar

from klss.play.contest import Answer, Observation
from klss.play.kit import Replay
from klss.play.outcome import Outcome, Seat
from klss.play.small_game import Nature, Option, PlainKit, SmallReferee

_TRIED = 20
"""Games tried for each one that may be looked at: most draws of nature show a seat something else."""

Played = TypeVar("Played")
_Referee: TypeAlias = SmallReferee[Any, Any]


class _Tried(Nature):
    """Draws to try: some that are given, by their indices, then always the first option."""

    def __init__(self, given: Sequence[int]) -> None:
        self.drawn, self.options = [*given], list[int]()  # the index, and how many options there were, of each draw
        self.share = 1.0  # the probability of all draws

    def draw(self, options: Sequence[Option], weights: Sequence[float] | None = None) -> Option:
        at = len(self.options)
        self.options.append(len(options))
        self.drawn += [0] * (at == len(self.drawn))
        self.share *= weights[self.drawn[at]] / sum(weights) if weights is not None else 1 / len(options)
        return options[self.drawn[at]]


def every(play: Callable[[Nature], Played]) -> Iterator[Played]:
    """Yield what ``play`` makes of every series of nature's draws; after equal ones it draws from equal options."""
    given: list[int] = []
    while True:
        nature = _Tried(given)
        yield play(nature)
        given = nature.drawn
        while given and given[-1] + 1 == nature.options[len(given) - 1]:
            given.pop()
        if not given:
            return
        given[-1] += 1


@dataclass(frozen=True)
class _Own(Generic[Answer]):
    """An answer of the seat itself, between its observations."""

    answer: Answer


class _Game(NamedTuple):
    """A game that may be the true one, and how much of what the seat was told it has told so far."""

    referee: _Referee
    told: int


class PossibleGames(Generic[Observation, Answer]):
    """The games of ``kit`` that agree with all that ``seat`` was told; at most ``cap`` are looked at for one
    observation, and at most :data:`_TRIED` times as many tried.
    """

    def __init__(self, kit: PlainKit[Any, Any, Observation, Answer], seat: Seat, cap: int) -> None:
        self._kit, self._seat, self._cap = kit, seat, cap
        self._told: list[object] = []
        self._games: dict[Hashable, _Game] = {}
        self.capped = False  # whether there were too many; the set is followed no further then

    @property
    def size(self) -> int:
        """Number of games."""
        return len(self._games)

    def observe(self, seen: Sequence[Observation], own: Sequence[Answer] = (), outcome: Outcome | None = None) -> None:
        """Take in the seat's ``own`` answer, if it gave one, then its new observations, and the end of the game."""
        news = [*map(_Own, own), *seen, *[outcome] * (outcome is not None)]
        if self.capped or (self._games and not news):
            return
        self._told += news
        ways = [self._next(game) for game in self._games.values()] or [self._telling(every(self._kit.begun), 0, 0)]
        looked, found, self._tried = set(self._games), dict[Hashable, _Game](), 0
        while ways:
            for game in ways.pop():
                key = game.told, game.referee.state(), tuple(self._open(game.referee))
                if key in looked:
                    continue
                looked.add(key)
                if len(looked) > self._cap:
                    self.capped, self._games = True, {}
                    return
                ways.append(self._next(game))
                if game.told == len(self._told):
                    found[key] = game
        self._games = {} if self.capped else found

    def _open(self, referee: _Referee) -> Sequence[Answer]:
        """The answers that the other seat knows to be open."""
        seen = referee.observations(not self._seat)
        return self._kit.choices(seen) if seen else ()

    def _next(self, game: _Game) -> Iterator[_Game]:
        """Yield the games one answer later that tell the seat what it was told."""
        referee, told = game
        if referee.outcome is not None:
            return
        before, answers = len(referee.observations(self._seat)), self._open(referee)
        if referee.turn == self._seat:
            own = self._told[told] if told < len(self._told) else None
            answers, told = [own.answer] if isinstance(own, _Own) else [], told + 1
        for answer in answers:
            yield from self._telling(every(partial(after, referee, answer)), told, before)

    def _telling(self, referees: Iterable[_Referee], told: int, before: int) -> Iterator[_Game]:
        """Yield the games whose observations beyond ``before``, and their end, are those that come next."""
        for referee in referees:
            self._tried += 1
            if self._tried > _TRIED * self._cap:
                self.capped = True
                return
            ended = () if referee.outcome is None else (referee.outcome,)
            news = [*referee.observations(self._seat)[before:], *ended]
            if self._told[told : told + len(news)] == news:
                yield _Game(referee, told + len(news))


def after(referee: _Referee, answer: Any, nature: Nature) -> _Referee:
    """Return the game after one more answer and the draws of ``nature``."""
    later = referee.copy(nature)
    later.answer(answer)
    return later


def sizes(
    kit: PlainKit[Any, _Referee, Observation, Answer], kept: Replay[_Referee, Answer], cap: int
) -> Iterator[tuple[str, dict[Seat, int | None]]]:
    """Yield, at the start of a game and after each answer, the answer as it is typed and the size of each seat's set;
    None: past ``cap``.
    """
    referee, word = kept.begin(), ""
    sets = {seat: PossibleGames(kit, seat, cap) for seat in (True, False)}
    known, own = dict.fromkeys(sets, 0), dict[Seat, list[Any]]()
    for ply in range(len(kept.answers) + 1):
        if ply:
            if referee.outcome is not None:
                return
            answer = kept.answers[ply - 1]
            word, own = kit.word(answer, referee.observations(referee.turn)), {referee.turn: [answer]}
            referee.answer(answer)
        for seat, possible in sets.items():
            seen = referee.observations(seat)
            possible.observe(seen[known[seat] :], own.get(seat, ()), referee.outcome)
            known[seat] = len(seen)
        yield word, {seat: None if possible.capped else possible.size for seat, possible in sets.items()}
