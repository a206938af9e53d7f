"""Base of most players: it keeps the views of a game, and updates a position set when it is needed.

:class:`RandomPlayer` is here too, which needs no position set.
"""

from __future__ import annotations

import math
from functools import partial
from typing import TypeVar

import numpy as np

from darkchess.board.position import Position
from darkchess.fog.belief.filter import Filter
from darkchess.fog.belief.position_set import PositionSet
from darkchess.fog.game.contest import Player, PlayerError
from darkchess.fog.game.rules import PAPER, Ruleset
from darkchess.fog.game.view import View
from klss.table.contest import Decision
from klss.table.limits import Limit, Progress

_Part = TypeVar("_Part")


def started(part: _Part | None) -> _Part:
    """Return ``part``, which a player has during a game only; :class:`PlayerError` before the game was started."""
    if part is None:
        raise PlayerError("the game was not started; call start() first")
    return part


class Followed:
    """A game from the side of its player: views and a position set.

    Parameters
    ----------
    view, start, ruleset
        See :meth:`darkchess.fog.game.contest.Player.start`.
    cap, seed, threads, weigher
        Those of the position set.

    Attributes
    ----------
    views
        The player's views so far.
    ruleset
        The ruleset of the game.
    known
        The position set, after the views that it was updated by; None until it is first needed.
    weighed
        Whether a filter updates weights with the set.
    allowance : float
        Seconds of one thread that the filter may take for each view. The player sets it at each move, and it then
        stays, so that weights do not depend on whether a host asks for the set before the move.
    """

    def __init__(
        self,
        view: View,
        start: Position,
        ruleset: Ruleset,
        *,
        cap: int,
        seed: int,
        threads: int,
        weigher: Filter | None = None,
    ) -> None:
        self.views = [view]
        self.ruleset = ruleset
        self.known: PositionSet | None = None
        self.weighed = weigher is not None
        self._begun = partial(PositionSet, view, start, cap=cap, seed=seed, threads=threads, weigher=weigher)
        self.allowance = math.inf
        self._taken_in = 0

    @property
    def behind(self) -> int:
        """Number of views by which the position set has not been updated yet."""
        return len(self.views) - self._taken_in

    def up_to_date(self, deadline: float | None = None) -> PositionSet:
        """Return the position set after all views, in steps that end by ``deadline`` (of :func:`time.monotonic`)."""
        if self.known is None:
            self.known = self._begun()
            self._taken_in = 1
        while self.behind and self.views[self._taken_in].game_over is None:
            self.known.observe(self.views[self._taken_in], deadline=deadline, allowance=self.allowance)
            self._taken_in += 1
        return self.known


class TrackingPlayer(Player):
    """Base of players that follow a game; a subclass chooses the moves."""

    def __init__(self, *, seed: int, cap: int, threads: int) -> None:
        """``cap`` and ``threads`` are those of the position set."""
        self._seed = seed
        self._cap = cap
        self._threads = threads
        self._followed: Followed | None = None

    def start(self, view: View, start: Position, ruleset: Ruleset = PAPER) -> None:
        self._followed = Followed(
            view, start, ruleset, cap=self._cap, seed=self._seed, threads=self._threads, weigher=self._weigher()
        )

    def _weigher(self) -> Filter | None:
        """Return the filter of the position set; None: no weights."""
        return None

    def observe(self, view: View) -> None:
        started(self._followed).views.append(view)

    @property
    def view(self) -> View:
        """The player's last view."""
        return started(self._followed).views[-1]

    @property
    def position_set(self) -> PositionSet:
        return started(self._followed).up_to_date()

    def _turn(self) -> Followed:
        """Return the game; :class:`PlayerError` unless it is the player's turn."""
        followed = started(self._followed)
        view = followed.views[-1]
        if view.to_move != view.color or view.game_over is not None or not view.legal_moves:
            raise PlayerError(f"choose: it is not the player's turn at ply {view.ply}; show the next view first")
        return followed

    def close(self) -> None:
        self._followed = None


class RandomPlayer(TrackingPlayer):
    """Plays uniformly over the legal moves."""

    def __init__(self, *, seed: int = 0, cap: int = 10_000_000, threads: int = 1) -> None:
        """``cap`` and ``threads`` matter only to a host that asks for the position set."""
        super().__init__(seed=seed, cap=cap, threads=threads)

    def choose(self, limit: Limit, progress: Progress | None = None) -> Decision:
        view = self._turn().views[-1]
        rng = np.random.default_rng([self._seed, view.ply])
        return Decision(view.legal_moves[int(rng.integers(len(view.legal_moves)))], {})
