"""Players: each is given her views and her own clock, nothing else, and answers with moves.

:class:`KlssPlayer` is the engine: its own position set and a :class:`klss.search.Search`, whose configuration says
whether it is klss2021, the paper's baseline, or another. :class:`RandomPlayer` doesn't look. Those in between stand in
:mod:`darkchess.players.one_position`.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import chess
import numpy as np

from darkchess.belief.position_set import PositionSet
from darkchess.board.move import decode, encode
from darkchess.board.position import Position
from darkchess.errors import DarkchessError
from darkchess.evaluation.evaluator import Evaluator
from darkchess.game.rules import PAPER, Ruleset
from darkchess.game.view import View
from darkchess.players.model import DarkChess, PositionBelief
from klss.search import Budget, Klss2021, Report, Search, SearchConfiguration

__all__ = [
    "Decision", "Forfeit", "KlssPlayer", "Limit", "OutOfTime", "Player", "PlayerError", "Progress", "RandomPlayer",
    "Resignation", "TrackingPlayer", "is_loud", "king_capture",
]  # fmt: skip

Progress = Callable[[dict[str, float]], None]

DEFAULT_TIME_S = 5.0
_MOVES_TO_GO = 25.0
_SET_SHARE = 0.5
_RESERVE_S = 0.4
"""Kept on a clock for one slow move: an equilibrium that can't be cut off, a busy machine."""
_LEAST_SEARCH_S = 0.01
"""Time that a search gets however long the position set took."""


class PlayerError(DarkchessError, ValueError):
    """A player was used out of order; the message says what, got, expected."""


class Resignation(Exception):
    """Raised by a player's ``choose``: she gives up."""


class OutOfTime(Exception):
    """Raised by a player's ``choose``: she noticed herself that her clock ran out."""


class Forfeit(Exception):
    """Raised by a player's ``choose``: there is no move to be had from her, or none that is legal; says why."""


@dataclass(frozen=True)
class Limit:
    """What limits one move; nodes go before time, time before the clock, and 5 s a move stand where nothing is given.

    Attributes
    ----------
    time_s : float or None
        Seconds for this move.
    nodes : int or None
        Nodes added to the trunk in this move; nothing then reads a clock.
    clock : (float, float) or None
        Seconds remaining on the player's clock, and increment.
    """

    time_s: float | None = None
    nodes: int | None = None
    clock: tuple[float, float] | None = None

    def seconds(self) -> float | None:
        """Seconds to spend on this move; None with a node limit."""
        if self.nodes is not None:
            return None
        if self.time_s is not None:
            return self.time_s
        if self.clock is None:
            return DEFAULT_TIME_S
        remaining, increment = self.clock
        usable = max(0.0, remaining - _RESERVE_S)
        return max(0.01, min(usable / _MOVES_TO_GO + 0.8 * increment, 0.5 * usable))

    def set_seconds(self) -> float | None:
        """The position set's share: half the move's time, or of a twentieth of the clock."""
        seconds = self.seconds()
        if seconds is None:
            return None
        if self.time_s is None and self.clock is not None:
            return _SET_SHARE * min(self.clock[0] / 20.0, seconds)
        return _SET_SHARE * seconds


@dataclass(frozen=True)
class Decision:
    """A move and what the player has to say about it (the engine protocol's ``diagnostics``)."""

    move: chess.Move
    diagnostics: dict[str, Any]


class Player(Protocol):
    """Whoever plays one colour of one game."""

    @property
    def position_set(self) -> PositionSet | None:
        """The player's own set of possible positions, up to date with her last view; None if she keeps none."""
        ...

    def start(self, view: View, start: Position, ruleset: Ruleset = PAPER) -> None:
        """Begin a game. Both players know the start position; ``view`` is the player's initial one."""
        ...

    def observe(self, view: View) -> None:
        """Take in what is seen after a ply, the player's own or the opponent's."""
        ...

    def choose(self, limit: Limit, progress: Progress | None = None) -> Decision:
        """The player's move; it has to be her turn."""
        ...

    def close(self) -> None:
        """Free what is held."""
        ...


class TrackingPlayer:
    """Common to all players: the views so far, and a position set brought up to date when it is wanted."""

    def __init__(self, *, seed: int, cap: int, threads: int) -> None:
        """``cap`` and ``threads``: of the position set."""
        self._seed = seed
        self._cap = cap
        self._threads = threads
        self._views: list[View] = []
        self._start: Position | None = None
        self._ruleset: Ruleset = PAPER
        self._set: PositionSet | None = None
        self._taken_in = 0

    def start(self, view: View, start: Position, ruleset: Ruleset = PAPER) -> None:
        """See :class:`Player`."""
        self._views = [view]
        self._start = start
        self._ruleset = ruleset
        self._set = None
        self._taken_in = 0

    def observe(self, view: View) -> None:
        """See :class:`Player`."""
        if not self._views:
            raise PlayerError("observe: got a view before the game was started, expected start() first")
        self._views.append(view)

    @property
    def view(self) -> View:
        """The player's last view."""
        if not self._views:
            raise PlayerError("the game was not started; call start() first")
        return self._views[-1]

    @property
    def position_set(self) -> PositionSet | None:
        """See :class:`Player`."""
        return self._up_to_date(None)

    def _up_to_date(self, deadline: float | None) -> PositionSet:
        if self._set is None:
            assert self._start is not None
            self._set = PositionSet(self._views[0], self._start, cap=self._cap, seed=self._seed, threads=self._threads)
            self._taken_in = 1
        while self._taken_in < len(self._views):
            view = self._views[self._taken_in]
            if view.game_over is not None:
                break
            self._set.observe(view, deadline=deadline)
            self._taken_in += 1
        return self._set

    def _turn(self) -> View:
        view = self.view
        if view.to_move != view.color or view.game_over is not None or not view.legal_moves:
            raise PlayerError(f"choose: it is not the player's turn at ply {view.ply}; give her the next view first")
        return view

    def close(self) -> None:
        """See :class:`Player`."""
        self._set = None


def king_capture(view: View) -> chess.Move | None:
    """A move that takes the enemy king, which is always seen when it can be taken."""
    for move in view.legal_moves:
        piece = view.pieces.get(move.to_square)
        if piece is not None and piece.piece_type == chess.KING and piece.color != view.color:
            return move
    return None


class RandomPlayer(TrackingPlayer):
    """Plays uniformly over the legal moves."""

    def __init__(self, *, seed: int = 0, cap: int = 10_000_000, threads: int = 1) -> None:
        """``cap`` and ``threads`` matter only to who asks for the position set."""
        super().__init__(seed=seed, cap=cap, threads=threads)

    def choose(self, limit: Limit, progress: Progress | None = None) -> Decision:
        """See :class:`Player`."""
        view = self._turn()
        rng = np.random.default_rng([self._seed, view.ply])
        return Decision(view.legal_moves[int(rng.integers(len(view.legal_moves)))], {})


@dataclass
class _Thinking:
    """What the engine has during a game: how it sees the game, its search, and what that has been told.

    Attributes
    ----------
    model
        The game from her seat.
    search
        Hers.
    keys
        Keys of all views that the search was told, the first one's first.
    quiet
        Plies since she last observed a pawn move or a capture.
    value
        What the last search thought of the game.
    """

    model: DarkChess
    search: Search
    keys: list[int]
    quiet: int = 0
    value: float = 0.0

    def walk(self, views: list[View]) -> None:
        """Let the search walk down by those of ``views``, all since the start, that it has not seen."""
        walked = len(self.keys)
        for before, view in zip(views[walked - 1 :], views[walked:], strict=False):
            own = encode(view.own_move) if view.own_move is not None else -1
            key = _key(view)
            self.search.observe(own, key, view.to_move == view.color)
            self.keys.append(key)
            self.quiet = 0 if is_loud(before, view) else self.quiet + 1


class KlssPlayer(TrackingPlayer):
    """The engine: an exact position set under a search of :mod:`klss.search`."""

    def __init__(
        self,
        evaluator: Evaluator,
        configuration: SearchConfiguration | None = None,
        *,
        seed: int = 0,
        cap: int = 10_000_000,
        threads: int = 1,
    ) -> None:
        """``cap`` and ``threads``: of the position set; by default klss2021's search."""
        super().__init__(seed=seed, cap=cap, threads=threads)
        self._evaluator = evaluator
        self._configuration = configuration or Klss2021()
        self._thinking: _Thinking | None = None

    def start(self, view: View, start: Position, ruleset: Ruleset = PAPER) -> None:
        """See :class:`Player`."""
        super().start(view, start, ruleset)
        self._evaluator.new_game()
        model = DarkChess(view.color, ruleset, self._evaluator)
        self._thinking = _Thinking(model, Search(model, self._configuration, seed=self._seed), [_key(view)])

    def observe(self, view: View) -> None:
        """See :class:`Player`. What she sees after her own move is taken in at once, on the opponent's time."""
        super().observe(view)
        if view.kind == "own_move" and self._set is not None and self._taken_in == len(self._views) - 1:
            self._up_to_date(None)

    def choose(self, limit: Limit, progress: Progress | None = None) -> Decision:
        """See :class:`Player`."""
        began = time.monotonic()
        view = self._turn()
        assert self._thinking is not None, "a turn is only had in a game that was started"
        thinking = self._thinking
        share, seconds = limit.set_seconds(), limit.seconds()
        positions = self._up_to_date(None if share is None else began + share)
        thinking.walk(self._views)
        taking = king_capture(view)
        if taking is not None or len(view.legal_moves) == 1:
            value = thinking.value if taking is None else 1.0
            report = Report(  # without a search; the trunk stays, for the next move to be carried on from
                positions=positions.size,
                capped_by=positions.capped_by,
                carried=thinking.search.known,
                value=value,
                seconds=0.0 if seconds is None else time.monotonic() - began,
            )
            return Decision(taking or view.legal_moves[0], report.diagnostics())
        if seconds is None:
            self._evaluator.deadline = None
            budget = Budget(nodes=limit.nodes)
        else:
            self._evaluator.deadline = began + seconds
            budget = Budget(seconds=max(seconds, time.monotonic() - began + _LEAST_SEARCH_S), started=began)
        belief = PositionBelief(positions, thinking.model, thinking.quiet)
        history = np.array(thinking.keys, dtype=np.uint64)
        result = thinking.search.search(belief, budget, history=history, progress=progress)
        thinking.value = result.report.value
        return Decision(decode(result.action), result.report.diagnostics())


def _key(view: View) -> int:
    """The view's key, as the search's own children carry it."""
    return int(view.key())


def is_loud(before: View, view: View) -> bool:
    """Whether the player observed a pawn move or a capture on the way from ``before`` to ``view``."""
    if view.own_capture_square is not None:
        return True
    if view.own_move is None:
        return False
    mover = before.pieces.get(view.own_move.from_square)
    target = before.pieces.get(view.own_move.to_square)
    return (mover is not None and mover.piece_type == chess.PAWN) or (target is not None and target.color != view.color)
