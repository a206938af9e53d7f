"""Every history of an OpenSpiel game that agrees with what a player observed: an exact belief.

A history is kept with how likely nature was to lead there. After the player's own move each goes on by every action of
the opponent and every outcome of nature until the player's next turn; what shows something else on the way is dropped,
transpositions are merged. So the true history is always there, until there are more than ``cap`` of them or there is no
time for all: then they are a sample, and the belief says so. A sample of which nothing is left is drawn anew, by random
histories that agree.
"""

from __future__ import annotations

import math
import random
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from klss.belief.drawing import draw
from klss.movers import TERMINAL
from klss.openspiel.model import OpenSpielModel, Place
from klss.openspiel.observations import NOTHING, Seen, key_of
from klss.search.model import Drawn
from klss.support.arrays import Floats, Int32s, States
from klss.table.contest import Contradiction

__all__ = ["HistoryBelief", "Opponent"]

_LOOK = 64
"""Places that are visited between two looks at the clock."""

_VISITS = 10
"""Places that are visited at a turn, for each history that may be kept: an opponent who may be refused any number of
moves has ways without number.
"""

_ANEW, _ANEW_VISITS = 500, 20_000
"""Histories of a sample that is drawn anew, and the most places that are visited for it."""

_ABSENT = -50.0
"""The logarithm of the weight of a state that is not among the histories: next to none."""


Opponent = Callable[[Any], tuple[Sequence[int], Sequence[float]]]
"""A known strategy: the actions of positive probability at a ``pyspiel.State``, and their probabilities."""


class _History(NamedTuple):
    """A history, or a state that several lead to: its number in the model, and the logarithm of nature's part of its
    probability, all but for one constant."""

    number: int
    log: float


class _Visits:
    """How many places may still be visited, by number and by the clock; ``ended_by`` says which of them ended it."""

    def __init__(self, most: int, deadline: float | None) -> None:
        self.left, self._deadline, self._count = most, deadline, 0
        self.ended_by: str | None = None
        self._until, self._until_s = 0, math.inf

    def share(self, parts: int) -> None:
        """From now on, until the next call, no more than one of so many equal parts of what is left."""
        self._until = self.left - max(_LOOK, self.left // parts)
        if self._deadline is not None:
            now = time.monotonic()
            self._until_s = now + (self._deadline - now) / parts

    def shared_out(self) -> bool:
        """Whether that part is used up."""
        late = self._deadline is not None and self._count % _LOOK == 0 and time.monotonic() > self._until_s
        return late or self.left <= self._until

    def over(self) -> bool:
        """Whether this visit is one too many."""
        self.left -= 1
        self._count += 1
        if self.left <= 0:
            self.ended_by = self.ended_by or "cap"
        elif self._deadline is not None and self._count % _LOOK == 0 and time.monotonic() > self._deadline:
            self.left, self.ended_by = 0, "time"
        return self.left <= 0


class HistoryBelief:
    """What the searching player of ``model`` holds possible; see :class:`klss.search.model.Belief`.

    Parameters
    ----------
    model
        The game from the player's seat; it holds the states.
    cap
        Most histories that are kept.
    seed
        Of samples.
    opponent
        The opponent's strategy, where it is known: histories are then as likely as nature and that make them, and those
        that it does not play are dropped. The model has to keep transpositions apart, which it may play differently.

    Attributes
    ----------
    capped_by
        None while all possible histories are there; "cap" or "time" from then on.
    """

    weighted = True

    def __init__(
        self, model: OpenSpielModel, *, cap: int = 20_000, seed: int = 0, opponent: Opponent | None = None
    ) -> None:
        self._model, self._cap, self._opponent = model, cap, opponent
        self._rng = random.Random(seed)
        self._known = {model.identity(model.start): _History(model.hold(model.start), 0.0)}
        self._observed: list[Seen] = []
        self.capped_by: str | None = None

    @property
    def size(self) -> int:
        """See :class:`klss.search.model.Belief`."""
        return len(self._known)

    @property
    def numbers(self) -> list[int]:
        """The states, by their numbers in the model."""
        return [history.number for history in self._known.values()]

    def sampler(self, rng: random.Random) -> Callable[[], Any]:
        """A function that draws a copy of a state, a ``pyspiel.State``, by the histories' weights at each call."""
        histories = list(self._known.values())
        logs = np.array([history.log for history in histories])
        weights = np.cumsum(np.exp(logs - logs.max())).tolist()

        def sample() -> Any:
            (history,) = rng.choices(histories, cum_weights=weights)
            return self._model.place(history.number).state.clone()

        return sample

    def contains(self, identity: tuple[int, int]) -> bool:
        """Whether a state of that :meth:`klss.openspiel.model.OpenSpielModel.identity` is among them."""
        return identity in self._known

    def observe(self, seen: Sequence[Seen], deadline: float | None = None) -> None:
        """Take in what the player observed since its last turn, the last of it at its next one.

        A sample may have nothing left, and nothing may be found anew in time: then the belief is empty.

        Raises
        ------
        Contradiction
            No history agrees with it.
        """
        began, first = time.monotonic(), not self._observed
        self._observed += seen
        visits = _Visits(_VISITS * self._cap, deadline)
        found = self._followed(seen, first, visits)
        self.capped_by = visits.ended_by or self.capped_by
        if not found and self.capped_by is None:
            raise Contradiction(f"observation {seen[-1].text[:200]!r}: no history agrees with it and those before it")
        # A sample is drawn anew in half as much time again.
        late = None if deadline is None else deadline + (deadline - began) / 2
        self._known = found or self._drawn_anew(_Visits(_ANEW_VISITS, late))

    def _followed(self, seen: Sequence[Seen], first: bool, visits: _Visits) -> dict[tuple[int, int], _History]:
        """The histories that agree with ``seen``; of too many, those that follow from a random part.

        The sources take turns: from a false one an opponent who may be refused any number of moves can go on for ever
        without what was observed.
        """
        sources = list(self._known.values())
        self._rng.shuffle(sources)
        waiting = deque(
            self._paths(self._model.place(source.number), source.log, seen, first, visits) for source in sources
        )
        found: dict[tuple[int, int], _History] = {}
        while waiting:
            paths = waiting.popleft()
            visits.share(len(waiting) + 1)
            for path in paths:
                if path is None:
                    waiting.append(paths)
                    break
                place, log = path
                same = self._model.identity(place)
                if same in found:  # two ways to one state: their probabilities add up
                    number, before = found[same]
                    found[same] = _History(number, float(np.logaddexp(before, log)))
                elif len(found) >= self._cap:
                    self.capped_by = "cap"
                    return found
                else:
                    found[same] = _History(self._model.hold(place), log)
        return found

    def _drawn_anew(self, visits: _Visits) -> dict[tuple[int, int], _History]:
        """Histories that agree with all that was observed, each found by random steps from the game's start."""
        found: dict[tuple[int, int], _History] = {}
        while len(found) < _ANEW and visits.left > 0:
            path = next(self._paths(self._model.start, 0.0, self._observed, True, visits), None)
            if path is None:
                break
            found[self._model.identity(path[0])] = _History(self._model.hold(path[0]), path[1])
        return found

    def _paths(
        self, begin: Place, log: float, seen: Sequence[Seen], first: bool, visits: _Visits
    ) -> Iterator[tuple[Place, float] | None]:
        """The places that ``seen`` leads to from one, depth first in random order, and the logarithms of nature's part;
        ``first``: the game begins there. None: its share of the visits is used up, and it goes on when asked again.
        """
        keys = [key_of(each.text) for each in seen]
        # What the game's first place shows is the first observation.
        shown = 1 if first and begin.shown[0] != NOTHING else 0
        if shown and begin.shown[0] != keys[0]:
            return
        if shown == len(seen):
            yield begin, log
            return
        stack = [(begin, log, shown)]
        while stack:
            place, log, at = stack.pop()
            if visits.over():
                return
            if visits.shared_out():
                yield None
            for action, more in self._steps(place, seen[at]):
                child = self._model.child(place, action)
                if child.mover == TERMINAL:
                    continue
                if child.shown[0] == NOTHING:
                    stack.append((child, log + more, at))
                elif child.shown[0] == keys[at] and _fits(child, seen[at]):
                    if at + 1 == len(seen):  # at once: before what is refused is followed deeper
                        yield child, log + more
                    else:
                        stack.append((child, log + more, at + 1))

    def _steps(self, place: Place, seen: Seen) -> list[tuple[int, float]]:
        """The actions that may have been played at a place before ``seen``, in random order, with the logarithms of
        nature's probabilities, and of a known opponent's.
        """
        if place.mover == 0:
            return [] if seen.own is None else [(seen.own, 0.0)]
        actions: Sequence[int]
        shares: Sequence[float] | None
        if place.mover == 1 and self._opponent is not None:
            actions, shares = self._opponent(place.state)
        else:
            actions, shares = self._model.edges(place)
        logs = [0.0] * len(actions) if shares is None else [math.log(share) for share in shares]
        steps = list(zip(actions, logs, strict=True))
        self._rng.shuffle(steps)
        return steps

    # ------------------------------------------------------------------------------------------------ the search's
    def sample(self, count: int, exclude: States, seed: int) -> States:
        """See :class:`klss.search.model.Belief`."""
        rest = self._rest(exclude)
        chosen = np.random.default_rng(seed).permutation(len(rest))[:count]
        return _rows([rest[at] for at in np.sort(chosen)])

    def draw(self, count: int, exclude: States, seed: int, uniform_mix: float) -> Drawn:
        """See :class:`klss.search.model.Belief`."""
        rest = self._rest(exclude)
        weights = np.exp([history.log for history in rest])
        weights = (1.0 - uniform_mix) * weights / weights.sum() + uniform_mix / max(1, len(rest))
        hashes = np.random.default_rng(seed).integers(0, 2**64, size=len(rest), dtype=np.uint64)
        drawn = draw(weights, hashes, count)
        return Drawn(_rows([rest[at] for at in drawn.indices]), drawn.inclusion(weights[drawn.indices]))

    def log_weights(self, states: States) -> Floats:
        """See :class:`klss.search.model.Belief`."""
        found = [self._known.get((int(low), int(high))) for low, high in self._model.identities(states)]
        return np.array([_ABSENT if history is None else history.log for history in found])

    def information(self, actions: Int32s) -> Floats:
        """Nothing is charged for: infinite information."""
        return np.full(len(actions), np.inf)

    def _rest(self, exclude: States) -> list[_History]:
        excluded = {(int(low), int(high)) for low, high in self._model.identities(exclude)}
        return [history for identity, history in self._known.items() if identity not in excluded]


def _fits(place: Place, seen: Seen) -> bool:
    """Whether a place that shows the text of ``seen`` is one where the player acts, or waits, as it did."""
    if not seen.acts:
        return place.mover != 0
    return place.mover == 0 and tuple(place.state.legal_actions()) == seen.actions


def _rows(histories: Sequence[_History]) -> States:
    return np.array([history.number for history in histories], dtype=np.uint64).reshape(-1, 1)
