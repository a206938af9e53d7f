"""Every history of an OpenSpiel game that agrees with a player's observations: an exact belief.

A history is kept with nature's part of its probability. After the player's own move each history is extended by every
action of the opponent and every outcome of nature until the player's next turn. Histories with other observations are
dropped. So the true history is always in the belief, unless there are more than ``cap`` histories, or too little time
or too small a node budget for all: then the belief is a sample, and says so. If a sample becomes empty, a new one is
drawn by random histories that agree with the observations.
"""

from __future__ import annotations

import math
import random
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from klss.openspiel.model import OpenSpielModel
from klss.openspiel.observations import Place, Seen, history_key
from klss.play.contest import Contradiction
from klss.search.model import Belief
from klss.support.arrays import Floats, Keys, States
from klss.theory.movers import TERMINAL

_LOOK = 64
"""Places that are visited between two checks of the clock."""

_VISITS = 50
"""Most places visited at a turn, for each history that may be kept. Without a limit there could be infinitely many: an
opponent's moves may be refused any number of times.
"""

_VISITS_A_NODE = 20
"""Most places visited at a turn, for each node of a budget. The value of a node, some random playouts, costs as much as
10 to 50 visits, so that the belief takes about as long as the search.
"""

_ANEW, _ANEW_VISITS = 500, 20_000
"""Histories of a sample that is drawn anew, and most places visited for it."""

_ABSENT = -50.0
"""Log-weight of a state that is not among the histories: its weight is almost 0."""


Opponent = Callable[[Any], tuple[Sequence[int], Sequence[float]]]
"""A known strategy: the actions of positive probability at a ``pyspiel.State``, and their probabilities."""


class _History(NamedTuple):
    """A history."""

    number: int  # in the model
    log: float  # logarithm of nature's part of its probability, up to a common constant


class _Visits:
    """A budget of visits of places, by number and by the clock; ``ended_by`` says which of the two ended it."""

    def __init__(self, most: int, deadline: float | None) -> None:
        self.left, self._deadline, self._count = most, deadline, 0
        self.ended_by: str | None = None
        self._until, self._until_s = 0, math.inf

    def share(self, parts: int) -> None:
        """Limit the visits until the next call to one of ``parts`` equal parts of what is left."""
        self._until = self.left - max(_LOOK, self.left // parts)
        if self._deadline is not None:
            now = time.monotonic()
            self._until_s = now + (self._deadline - now) / parts

    def shared_out(self) -> bool:
        """Whether that part is used up (see :meth:`share`)."""
        late = self._deadline is not None and self._count % _LOOK == 0 and time.monotonic() > self._until_s
        return late or self.left <= self._until

    def over(self) -> bool:
        """Count a visit; return whether the budget is used up."""
        self.left -= 1
        self._count += 1
        if self.left <= 0:
            self.ended_by = self.ended_by or "cap"
        elif self._deadline is not None and self._count % _LOOK == 0 and time.monotonic() > self._deadline:
            self.left, self.ended_by = 0, "time"
        return self.left <= 0


class HistoryBelief(Belief):
    """The belief of the searching player of ``model``, which keeps the states; see :class:`klss.search.model.Belief`.

    At most ``cap`` histories are kept; ``seed`` is that of samples. If the strategy of the ``opponent`` is known, a
    history's probability includes its actions, and histories that it does not play are dropped.
    """

    weighted = True
    capped_by: str | None = None  # None while all possible histories are in the belief; afterwards "cap" or "time"

    def __init__(
        self, model: OpenSpielModel, *, cap: int = 20_000, seed: int = 0, opponent: Opponent | None = None
    ) -> None:
        self._model, self._cap, self._opponent = model, cap, opponent
        self._rng = random.Random(seed)
        self._known = {history_key(model.start.state): _History(model.hold(model.start), 0.0)}
        self._observed: list[Seen] = []

    @property
    def size(self) -> int:
        return len(self._known)

    @property
    def numbers(self) -> list[int]:
        """The histories, by their numbers in the model."""
        return [history.number for history in self._known.values()]

    @property
    def first(self) -> Any:
        """One of the histories, a ``pyspiel.State``."""
        return self._model.place(self.numbers[0]).state

    def sampler(self, rng: random.Random) -> Callable[[], Any]:
        """Return a function that draws a copy of a state, a ``pyspiel.State``, by the histories' weights."""
        histories = list(self._known.values())
        logs = np.array([history.log for history in histories])
        weights = np.cumsum(np.exp(logs - logs.max())).tolist()

        def sample() -> Any:
            (history,) = rng.choices(histories, cum_weights=weights)
            return self._model.place(history.number).state.clone()

        return sample

    def contains(self, row: Keys, /) -> bool:
        """Whether a history with that key, uint64[2], is in the belief (:func:`history_key`)."""
        return (int(row[0]), int(row[1])) in self._known

    def observe(self, seen: Sequence[Seen], deadline: float | None = None, nodes: int | None = None) -> None:
        """Take in the player's observations since its last turn; the last one is that of its present turn. ``nodes`` is
        the node budget of the answer, which bounds the places visited.

        The belief may become empty: if no history of a sample is left, and no new one is found in time. Raises
        Contradiction: no history agrees with the observations.
        """
        began, first = time.monotonic(), not self._observed
        self._observed += seen
        most = _VISITS * self._cap if nodes is None else min(_VISITS * self._cap, _VISITS_A_NODE * max(1, nodes))
        visits = _Visits(most, deadline)
        found = self._followed(seen, first, visits)
        self.capped_by = visits.ended_by or self.capped_by
        if not found and self.capped_by is None:
            raise Contradiction(f"observation {seen[-1].text[:200]!r}: no history agrees with it and those before it")
        # An empty sample is drawn anew, in at most half as much time again.
        late = None if deadline is None else deadline + (deadline - began) / 2
        self._known = found or self._drawn_anew(_Visits(min(most, _ANEW_VISITS), late))

    def _followed(self, seen: Sequence[Seen], first: bool, visits: _Visits) -> dict[tuple[int, int], _History]:
        """Return the histories that agree with ``seen``; if there are too many, those from random sources.

        The sources take turns, because the search from a false one may never end: an opponent whose moves can be
        refused any number of times may go on without the observation.
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
                if len(found) >= self._cap:
                    self.capped_by = "cap"
                    return found
                place, log = path
                found[history_key(place.state)] = _History(self._model.hold(place), log)
        return found

    def _drawn_anew(self, visits: _Visits) -> dict[tuple[int, int], _History]:
        """Return histories that agree with all observations, each found by random steps from the game's start."""
        found: dict[tuple[int, int], _History] = {}
        while len(found) < _ANEW and visits.left > 0:
            path = next(self._paths(self._model.start, 0.0, self._observed, True, visits), None)
            if path is None:
                break
            found[history_key(path[0].state)] = _History(self._model.hold(path[0]), path[1])
        return found

    def _paths(
        self, begin: Place, log: float, seen: Sequence[Seen], first: bool, visits: _Visits
    ) -> Iterator[tuple[Place, float] | None]:
        """Yield the places to which ``seen`` leads from ``begin``, depth first in random order, with their log-weights;
        ``first``: the game begins at ``begin``. Yield None when the share of the visits is used up; then it can go on.
        """
        told = [(each.text, each.actions) for each in seen]
        # If the game's first place shows something, that is the first observation.
        opening = begin.shown[0] if first else None
        if opening is not None and opening[:2] != told[0]:
            return
        shown = 0 if opening is None else 1
        if shown == len(seen):
            yield begin, log
            return
        stack = [(begin, log, shown)]
        while stack:
            place, log, at = stack.pop()
            if visits.shared_out():
                yield None
            for action, more in self._steps(place, seen[at]):
                if visits.over():
                    return
                child = self._model.child(place, action)
                if child.mover == TERMINAL:
                    continue
                now = child.shown[0]
                if now is None:
                    stack.append((child, log + more, at))
                elif now[:2] == told[at]:
                    if at + 1 == len(seen):  # yield at once, before refused moves are followed deeper
                        yield child, log + more
                    else:
                        stack.append((child, log + more, at + 1))

    def _steps(self, place: Place, seen: Seen) -> list[tuple[int, float]]:
        """Return the actions that may have been played at a place before ``seen``, in random order, with the logarithms
        of nature's or a known opponent's probabilities.
        """
        if place.mover == 0:
            return [] if seen.own is None else [(seen.own, 0.0)]
        actions: Sequence[int]
        shares: Sequence[float] | None
        if place.mover == 1 and self._opponent is not None:
            actions, shares = self._opponent(place.state)
        else:
            actions, shares = self._model.edges(place)
        weighed = zip(actions, [1.0] * len(actions) if shares is None else shares, strict=True)
        steps = [(action, math.log(share)) for action, share in weighed if share > 0.0]
        self._rng.shuffle(steps)
        return steps

    # ------------------------------------------------------------------------------------------------ the search's
    def sample(self, count: int, exclude: States, seed: int) -> States:
        excluded = {(int(low), int(high)) for low, high in self._model.identities(exclude)}
        rest = [history.number for identity, history in self._known.items() if identity not in excluded]
        chosen = np.random.default_rng(seed).permutation(len(rest))[:count]
        return np.array([rest[at] for at in np.sort(chosen)], dtype=np.uint64).reshape(-1, 1)

    def log_weights(self, states: States) -> Floats:
        found = [self._known.get((int(low), int(high))) for low, high in self._model.identities(states)]
        return np.array([_ABSENT if history is None else history.log for history in found])
