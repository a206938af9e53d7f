"""The position set: every position consistent with what one player has seen, merged by transposition.

docs/position_set.md; paper D.3 (the set I). A position is consistent if some sequence of moves leads to it, shows the
player exactly these views, and does not end the game on the way (no king captured; nobody without a move). Draws by
repetition or by fifty moves depend on the path and are not considered.

This file has the update, view by view. Positions are stored by :mod:`darkchess.board.position_store` and drawn by
:mod:`darkchess.fog.belief.weighed_positions`; :mod:`darkchess.fog.belief.view_masks` turns a view into masks.

Deviation: if no position of a sample agrees with a new view, the sample is repaired (``recoveries``,
:mod:`darkchess.board.position_repair`), so that the player can go on.
"""

from __future__ import annotations

import math
import time
from dataclasses import replace
from typing import Literal

import chess
import numpy as np

from darkchess.board.kernels import board
from darkchess.board.kernels.halves import encode_half
from darkchess.board.kernels.tables import TABLES
from darkchess.board.position import START_FEN, Position, upward
from darkchess.board.position_repair import Observed, repaired
from darkchess.board.position_step import PART, Step, across_enemy_move, key_of, merged, next_key
from darkchess.board.position_table import exercise_table, smallest
from darkchess.errors import ViewError
from darkchess.fog.belief._kernels import position_set
from darkchess.fog.belief._kernels.filter import Sources, add
from darkchess.fog.belief.filter import Crossing, Filter, find
from darkchess.fog.belief.tower import Observer
from darkchess.fog.belief.view_masks import ViewMasks
from darkchess.fog.belief.weighed_positions import WeighedPositions
from darkchess.fog.game.view import View
from klss.support.arrays import Floats, Ints, Words
from klss.support.drawing import draw
from klss.support.greatest import greatest
from klss.support.threads import share

_ATTEMPTS, _STRICT_ATTEMPTS = 8, 6
"""Most attempts of a recovery, each with new random numbers. The first (strict) ones also ask that the enemy has a
move; the last ones do not, since a doubtful sample is better than none.
"""

_FOLLOWED_PER_S = 500_000
"""Positions that are followed across an enemy move, for each second until the deadline, if there is no time for all.
Two threads could follow twice as many, but then the set after the move would be too large for the filter to weigh.
"""

_LEAST_FOLLOWED = 2_000
"""Fewest positions that are followed, however late it is."""

_ANY = 0.1
"""Share of the followed positions that is drawn uniformly, in case the weights are wrong about this opponent; the other
ones are the likeliest.
"""

_ROOK_CORNERS = 1 << 56 | 1 << 63
"""The enemy rooks' squares at the start, as the viewer sees them."""


class PositionSet(WeighedPositions):
    """Every position that a player can't rule out.

    Parameters
    ----------
    view
        The player's view of ply 0.
    start
        The start position, which both players know.
    cap
        Most positions to keep. A larger set becomes a sample: with a weigher mostly successors of the likeliest
        positions, without one the positions with the smallest keyed hash.
    seed
        Seed of that hash's key, and of the repairs of a sample. Each step from a sample uses a new key.
    threads
        Most threads of an update. No result depends on it.
    stream
        Whether an update goes slice by slice (:mod:`darkchess.board.position_step`): slower, in about half the memory;
        for sets of 10⁸. The set is the same.
    weigher
        Filter that updates the weights (:mod:`darkchess.fog.belief.filter`); None: no weights. An exact set does not
        depend on it.

    Attributes
    ----------
    numbers
        What learned weights read of the player's last turn (:mod:`darkchess.fog.belief.tower`); None: nothing yet.

    Raises
    ------
    ValueError
        The view is not the start position's first view, or an argument is out of range.

    Examples
    --------
    >>> from darkchess import Referee
    >>> game = Referee()
    >>> known = PositionSet(game.view(chess.BLACK), game.position)
    >>> game.push(chess.Move.from_uci("e2e4"))
    >>> known.observe(game.view(chess.BLACK))
    >>> known.size, known.contains(game.position.row)
    (20, True)
    """

    def __init__(
        self,
        view: View,
        start: Position,
        *,
        cap: int = 10_000_000,
        seed: int = 0,
        threads: int = 1,
        stream: bool = False,
        weigher: Filter | None = None,
    ) -> None:
        if view.kind != "initial" or view.to_move != start.turn:
            raise ViewError(
                f"bad first view: got kind {view.kind!r} with {chess.COLOR_NAMES[view.to_move]} to move, expected "
                f"'initial' with {chess.COLOR_NAMES[start.turn]} to move"
            )
        flipped = view.color == chess.BLACK
        super().__init__(start, flipped=flipped, cap=cap, seed=seed, threads=threads, stream=stream)
        self._shown = ViewMasks.of(view, passed=start.ep_square if view.to_move != view.color else None)
        self.weigher = weigher
        self._weights = np.ones(0 if weigher is None else 1)
        self.view = view  # the last one
        self._observer = Observer(view, self._positions) if weigher is not None and weigher.tower else None
        if int(self._array[0, 0]) & int(self._shown.masks[position_set.EMPTY]):
            raise ViewError("bad first view: got one that contradicts the start position, expected a view of it")

    @property
    def fullmove(self) -> int:
        """Number of the current move, as FEN counts."""
        return self.view.fullmove

    def observe(self, view: View, *, deadline: float | None = None, allowance: float = math.inf) -> None:
        """Update the set by one ply, to ``view``.

        Parameters
        ----------
        view
            The player's view after the next ply, its own or the enemy's. A view that ends the game leaves the set as
            it is.
        deadline
            A moment of :func:`time.monotonic`, after which the set becomes a sample of the positions found until then;
            None reads no clock. If a set with weights has no time, or no room below its cap, for all positions, mostly
            the likeliest are followed.
            After an own move the deadline is ignored: that step only drops positions, 100 million a second.
        allowance
            Seconds of one thread that the filter may take, by its own estimate: no clock is read.

        Raises
        ------
        ViewError
            The view does not follow the last one; or the set is exact and no position agrees with the view, so that the
            views contradict one another. The set is then left as it was.
        """
        # The next view of the same player, of a game that goes on.
        before = self.view
        if view.color != before.color or view.ply != before.ply + 1 or before.game_over is not None:
            raise ViewError(
                f"bad view: got {chess.COLOR_NAMES[view.color]}'s of ply {view.ply}, expected "
                f"{chess.COLOR_NAMES[before.color]}'s of ply {before.ply + 1} of a game that goes on"
            )
        if view.game_over is not None:
            self.view = view
            return
        # Turn the view into masks, and keep or make the positions that agree with it.
        shown_before = self._shown
        if view.kind == "own_move":
            self._shown = ViewMasks.after_own_move(before, view)
            found = self._own_move(before, view)
        else:
            self._shown = ViewMasks.after_enemy_move(before, view)
            found = self._enemy_move(before, shown_before, deadline, allowance)
        # No position agrees: in an exact set the views contradict each other; a sample has lost the true position.
        if not found:
            if not self.sampled:
                self._shown = shown_before
                raise ViewError(
                    f"contradicting views: got one of ply {view.ply} that agrees with none of the {self.size} "
                    "positions possible before it, expected at least one"
                )
            self._recover(view)
        self.view = view
        # The learned weights, if there are any, read the view.
        self._corrected = None
        if self._observer is not None and view.kind == "own_move":
            self._observer.moved(view)
        elif self._observer is not None:
            self.numbers = self._observer.turn(view, self._positions, self._weights)

    # ------------------------------------------------------------------------------------------------ own moves
    def _own_move(self, before: View, view: View) -> bool:
        """Drop the positions that do not agree; False if none would be left (the set is then as it was)."""
        move, shown = view.own_move, self._shown
        assert move is not None
        taken = before.piece_at(move.to_square)
        kept = self._positions, self._weights
        # En passant after a rebuilt view that could not report it: first keep only positions with a pawn on the square
        # of the captured piece, in copies, since the rest of the view may contradict them.
        if shown.captured and taken is None and before.ep_square is None:
            self._positions, self._weights = kept[0].copy(), kept[1].copy()
            masks, expected = np.zeros(position_set.MASKS, dtype=np.uint64), np.full(64, -1, dtype=np.int64)
            masks[[position_set.REQUIRED, position_set.SEEN]] = shown.captured
            expected[shown.captured.bit_length() - 1] = board.PAWN
            count = self._filter(masks, expected, 0, must_move=False)
            self._positions = self._positions[: count or self.size]
            self._keep_weights(self._weights[: self.size])
        # Remove the captured piece, and every position that contradicts the view.
        count = self._filter(shown.masks, shown.expected, shown.captured, must_move=True)
        if not count:
            self._positions, self._weights = kept
            return False
        self._positions = self._positions[:count]
        self._ordered = self._ordered and not shown.captured
        self._keep_weights(self._weights[:count])
        self.successors = count
        # Positions that differed only in the castling right of a captured rook are now the same, so merge them.
        if shown.captured & _ROOK_CORNERS and taken is not None and taken.piece_type == chess.ROOK:
            before_merging = self._positions
            step = merged(before_merging, key=self._key, cap=self._cap)
            if self.weigher is not None:
                at = find(before_merging, step.positions, self._key)
                self._keep_weights(np.bincount(at, self._weights, step.positions.shape[0]).astype(np.float64))
            self._keep(step)
        return True

    def _filter(self, masks: Words, expected: Ints, captured: int, *, must_move: bool) -> int:
        """Move the positions that agree to the front, with their weights; return how many (0: nothing was moved)."""
        positions, weights, taken = self._positions, self._weights, np.uint64(captured)
        parts = max(1, min(self._threads, self.size // PART))
        bounds = [self.size * part // parts for part in range(parts + 1)]
        kept = [0] * parts

        def keep(part: int) -> None:
            of = slice(bounds[part], bounds[part + 1])
            kept[part] = position_set.filter_positions(
                positions[of], weights[of], taken, masks, expected, must_move, TABLES
            )

        # Each part closes up by itself; then all of them do.
        share(keep, parts, self._threads)
        end = kept[0]
        for start, count in zip(bounds[1:], kept[1:]):
            for array in (positions, weights):
                array[end : end + count] = array[start : start + count]
            end += count
        return end

    def _keep_weights(self, weights: Floats) -> None:
        """Store the weights of the positions that are left, normalised; without a weigher do nothing."""
        if self.weigher is not None:
            self._weights = self.weigher.normalised(weights)

    # ------------------------------------------------------------------------------------------------ enemy moves
    def _enemy_move(self, before: View, shown_before: ViewMasks, deadline: float | None, allowance: float) -> bool:
        """Replace the set by its consistent successors; False when there is none (the set is then as it was)."""
        key = self._next_key
        sources, weights, step = self._cross(key, deadline)
        self.successors = step.successors
        if not step.positions.shape[0]:
            return False
        # Weights go from each source to its successors, so the filter runs before the sources are replaced.
        if self.weigher is not None:
            own_row = upward(before.row(), flipped=self.flipped)
            own_row[: board.WHITE] &= own_row[board.WHITE]
            passed = shown_before.ep_meta
            passed = (self._square((passed >> 8) - 1) + 1) << 8 if passed else 0
            captors = shown_before.masks[position_set.EP_CAPTORS]
            before_move = Sources(sources, weights, own_row, captors, np.uint64(passed))
            crossing = Crossing(before_move, self._shown.masks, step.positions, key, self._threads)
            self._weights = self.weigher.across(crossing, allowance)
        self._key = key
        self._keep(step)
        return True

    def _cross(self, key: np.uint64, deadline: float | None) -> tuple[Words, Floats, Step]:
        """Return the step's sources, their weights and the step. The sources are the whole set or, if there is no time
        or no room for all, mostly the likeliest positions.
        """

        def step_from(sources: Words, spare: Words | None) -> Step:
            return across_enemy_move(
                sources,
                self._consistent_successors,
                key=key,
                cap=self._cap,
                spare=spare,
                deadline=deadline,
                threads=self._threads,
                stream=self._stream,
            )

        def step_from_some(
            followed: Ints, capped_by: Literal["cap", "time"], spare: Words | None
        ) -> tuple[Words, Floats, Step] | None:
            sources, weights = self._positions[followed], self._weights[followed]
            step = step_from(sources, spare)
            if not step.positions.shape[0]:
                return None
            return sources, weights, replace(step, capped_by=capped_by, part=step.part * float(weights.sum()))

        followed = self._followed_by(deadline)
        if followed is not None:
            found = step_from_some(followed, "time", self._spare)
            if found is not None:
                return found
        # All positions; also if the likeliest ones have no consistent successor.
        began = 0.0 if deadline is None else time.monotonic()
        step = step_from(self._positions, self._spare)
        if step.capped_by == "cap" and self.weigher is not None:
            # The cap kept any of the successors. If there is time for a second step, follow only as many positions as
            # the cap has room for.
            late = deadline is not None and 2.0 * time.monotonic() - began > deadline
            if not late:
                found = step_from_some(self._likeliest(max(1, int(step.part * self.size))), "cap", None)
                if found is not None:
                    return found
        return self._positions, self._weights, step

    def _followed_by(self, deadline: float | None) -> Ints | None:
        """Indices of the positions to follow across an enemy move by ``deadline``, ascending; None: all of them."""
        if deadline is None or self.weigher is None:
            return None
        count = max(_LEAST_FOLLOWED, (deadline - time.monotonic()) * _FOLLOWED_PER_S)
        return self._likeliest(int(count)) if count < self.size else None

    def _likeliest(self, count: int) -> Ints:
        """Indices of ``count`` positions, ascending: mostly the likeliest."""
        chosen = np.zeros(self.size, dtype=np.bool_)
        chosen[greatest(self._weights, count - int(_ANY * count))] = True
        # The others are drawn under the next key: under this set's own key the draw would be the first ones stored.
        others = np.flatnonzero(~chosen)
        chosen[others[smallest(self._positions[others], int(_ANY * count), next_key(self._key))]] = True
        return np.flatnonzero(chosen)

    def _consistent_successors(self, sources: Words, start: int, stop: int, out: Words, room: int, counts: Ints) -> int:
        """See :data:`darkchess.board.position_step.Successors`."""
        masks, expected = self._shown.masks, self._shown.expected
        return int(position_set.successors(sources, start, stop, masks, expected, TABLES, out, room, counts))

    def _keep(self, step: Step) -> None:
        super()._keep(step)
        self._ordered = True

    def _recover(self, view: View) -> None:
        """Replace the sample by repaired copies of its members, since none of them has a consistent successor."""
        shown, kernels = self._shown, position_set
        own, empty, required, seen = (
            int(shown.masks[at]) for at in (kernels.OWN, kernels.EMPTY, kernels.REQUIRED, kernels.SEEN)
        )
        known = Observed(own, empty, required, seen, shown.expected.tolist(), shown.captured)
        must_move = view.to_move != view.color
        for attempt in range(_ATTEMPTS):
            # Each attempt at each ply has its own random numbers.
            seed = key_of(int(self._key) + _ATTEMPTS * view.ply + attempt)
            found = repaired(self._positions, known, seed, self._cap)
            if must_move and attempt < _STRICT_ATTEMPTS:
                captors = shown.masks[kernels.EP_CAPTORS]
                found = found[[kernels.can_move(*half, np.uint64(own), captors, TABLES) for half in found]]
            if len(found):
                break
        assert len(found), "no repaired position agrees with the view"
        # The weights of the lost positions say nothing about the repaired ones, so these all weigh the same.
        self._keep(merged(found, key=self._key, cap=self._cap))
        if self.weigher is not None:
            self._weights = np.full(self.size, 1.0 / self.size)
        self.held = 0.0
        self.recoveries += 1


def compile_rare_kernels() -> None:
    """Compile, or load, the kernels that only some games call: to grow or cut a table, to repair a sample, to draw from
    many positions, to look up a few among many.

    The first compilation takes seconds, which no player can spend during a game.
    """
    start = Position.from_fen(START_FEN)
    half = np.empty((1, 2), dtype=np.uint64)
    encode_half(start.row, half[0])
    exercise_table(half)
    position_set.can_move(*half[0], np.uint64(0), np.uint64(0), TABLES)
    draw(np.full(8, 1 / 8), np.arange(8, dtype=np.uint64), 0)
    find(half[:0], np.repeat(half, 64, axis=0), np.uint64(1))
    add(np.empty(0, dtype=np.int64), np.empty(0), 0, 0, np.empty((1, 1)))
