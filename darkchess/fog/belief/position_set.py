"""The position set: every position consistent with what one player has seen, merged by transposition.

docs/position_set.md; docs/rules.md, "Consistency is a few masks"; paper D.3 (the set I). A position costs 16 bytes: the
enemy's half. The player's own half is known and kept once.

Consistent means: reachable by some play that would have shown the player exactly her views, with the game still going
on after every ply of it (no king captured; nobody without a move). Draws by repetition or by fifty moves depend on the
path and are not considered.

Deviations: past ``cap``, or past a deadline, the set becomes a *declared* sample (``capped_by``, ``sampled``); the true
position may then be missing, and members may be missing ever after. A sample in which nothing agrees with a new view
is mended (``recoveries``, :mod:`darkchess.fog.belief._kernels.position_repair`) so that the player can go on.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Literal

import chess
import numpy as np
import numpy.typing as npt

from darkchess.board.kernels import board, position_table
from darkchess.board.kernels.halves import decode_halves, encode_half
from darkchess.board.kernels.position_table import Layout
from darkchess.board.kernels.tables import TABLES
from darkchess.board.position import START_FEN, Position, upward
from darkchess.board.position_step import Step, UpdateProgress, across_enemy_move, key_of, merged, next_key
from darkchess.board.position_table import HASHES, exercise_table, smallest
from darkchess.errors import ViewError
from darkchess.fog.belief._kernels import information, position_repair, position_set
from darkchess.fog.belief.filter import Crossing, Filter, find
from darkchess.fog.game.view import View
from klss.belief.drawing import draw
from klss.support.arrays import Floats, Ints, Words

__all__ = ["PositionSet", "compile_rare_kernels"]

_NOT_A, _NOT_H = 0xFEFEFEFEFEFEFEFE, 0x7F7F7F7F7F7F7F7F
_RANK_5 = 0xFF00000000
_MENDED = 1024
"""Positions that a recovery tries to make."""


class PositionSet:
    """Every position that a player holds possible.

    Parameters
    ----------
    view
        Her view of ply 0.
    start
        The start position, which both players know.
    no_move_ends
        Whether a player who cannot move ends the game (so by both rulesets).
    cap
        Most positions that are kept. Past it the set is a sample: those with the smallest keyed hash.
    seed
        Keys that hash, and draws when a sample has to be mended. Each step from a sample has a key of its own.
    threads
        1 or 2; the set is the same, and so is every answer.
    stream
        Whether an update goes slice by slice (:mod:`darkchess.board.position_step`): slower, in about half the memory.
        For sets of 10⁸. The set is the same.
    weigher
        What takes weights along (:mod:`darkchess.fog.belief.filter`); None: there are none. The set is the same.

    Attributes
    ----------
    capped_by
        None while the set is exact; ``"cap"`` or ``"time"``: what last made it a sample. It stays.
    recoveries
        How often a sample died out and was mended.
    successors
        Consistent successors that the last :meth:`observe` found: (source, move) pairs before duplicates merge.

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
        no_move_ends: bool = True,
        cap: int = 10_000_000,
        seed: int = 0,
        threads: int = 1,
        stream: bool = False,
        weigher: Filter | None = None,
    ) -> None:
        if cap < 1:
            raise ValueError(f"bad cap: got {cap}, expected at least 1")
        if threads not in (1, 2):
            raise ValueError(f"bad number of threads: got {threads}, expected 1 or 2")
        if view.kind != "initial" or view.to_move != start.turn:
            raise ViewError(
                f"bad first view: got kind {view.kind!r} with {chess.COLOR_NAMES[view.to_move]} to move, expected "
                f"'initial' with {chess.COLOR_NAMES[start.turn]} to move"
            )
        self.capped_by: Literal["cap", "time"] | None = None
        self.recoveries = 0
        self.successors = 1
        self._cap = cap
        self._threads = threads
        self._stream = stream
        self._no_move_ends = no_move_ends
        self._flipped = view.color == chess.BLACK
        self._key = key_of(seed)
        self._masks = np.zeros(position_set.MASKS, dtype=np.uint64)
        self._expected = np.empty(64, dtype=np.int64)
        self._array: Words = np.zeros((1, 2), dtype=np.uint64)
        self._spare: Words | None = None
        self._passed: int | None = None
        self._captured = 0
        self._own_row: Words = np.zeros(board.WIDTH, dtype=np.uint64)
        encode_half(upward(start.row, flipped=self._flipped), self._array[0])
        self._positions = self._array
        self._ordered = True  # canonically: not after a capture of her own, which changes what is hashed
        self._weigher = weigher
        self._weights: Floats = np.ones(0 if weigher is None else 1)
        self._view = view
        self._read(view)
        if int(self._array[0, 0]) & int(self._masks[position_set.EMPTY]):
            raise ViewError("bad first view: got one that contradicts the start position, expected a view of it")
        if view.to_move != view.color and start.ep_square is not None:
            self._passed = start.ep_square
            landing = self._square(start.ep_square) + 8
            self._masks[position_set.EP_CAPTORS] = _beside(1 << landing)

    # ------------------------------------------------------------------------------------------------ what it says
    @property
    def size(self) -> int:
        """Number of positions."""
        return int(self._positions.shape[0])

    def __len__(self) -> int:
        return self.size

    @property
    def view(self) -> View:
        """The last view."""
        return self._view

    @property
    def sampled(self) -> bool:
        """Whether this is a sample only: the true position may be missing."""
        return self.capped_by is not None

    @property
    def halves(self) -> Words:
        """The positions as they are kept: uint64[n, 2], the enemy's halves seen from the viewer's side
        (:mod:`darkchess.board.kernels.halves`); not to be written to, and good until the next :meth:`observe`.
        """
        halves = self._positions.view()
        halves.flags.writeable = False
        return halves

    @property
    def resident_bytes(self) -> int:
        """Bytes of the arrays that are held, the spare one for the next step included."""
        return self._array.nbytes + (0 if self._spare is None else self._spare.nbytes)

    @property
    def weigher(self) -> Filter | None:
        """What takes weights along."""
        return self._weigher

    @property
    def weights(self) -> Floats:
        """How likely each position is, in the order of :meth:`rows`: float64[size], summing to 1; all alike where
        nothing takes weights along.
        """
        return self._weights if self._weigher is not None else np.full(self.size, 1.0 / self.size)

    def indices(self, rows: npt.ArrayLike) -> Ints:
        """Where positions are in the order of :meth:`rows`: int64[n], −1 for one that is not in the set.

        Parameters
        ----------
        rows
            uint64[n, 9].
        """
        wanted = np.asarray(rows, dtype=np.uint64).reshape(-1, board.WIDTH)
        halves = np.array([self._encode(row) for row in wanted], dtype=np.uint64).reshape(-1, 2)
        if not self._ordered:
            return np.array([position_table.rank(self._positions, *half) for half in halves], dtype=np.int64)
        return find(halves, self._positions, self._key)

    def rows(self, indices: npt.ArrayLike) -> Words:
        """Full positions.

        Parameters
        ----------
        indices
            int[n], each in [0, size). The order of the set is the same on one thread and on two, and says nothing else.

        Returns
        -------
        uint64[n, 9]
            Rows of :mod:`darkchess.board.kernels.board`: side to move, castling rights of both sides and en passant
            square as they are there. Quiet plies are 0: she does not know them.
        """
        chosen = np.atleast_1d(np.asarray(indices, dtype=np.int64))
        if chosen.size and (chosen.min() < 0 or chosen.max() >= self.size):
            raise IndexError(f"bad index: got {chosen.min()} … {chosen.max()}, expected 0 … {self.size - 1}")
        out = np.empty((chosen.shape[0], board.WIDTH), dtype=np.uint64)
        ep_meta = np.uint64(0 if self._passed is None else (self._passed + 1) << 8)
        captors = self._masks[position_set.EP_CAPTORS]
        decode_halves(self._positions, chosen, self._own_row, self._flipped, captors, ep_meta, out)
        return out

    def __iter__(self) -> Iterator[Position]:
        for start in range(0, self.size, 4096):
            for row in self.rows(np.arange(start, min(start + 4096, self.size))):
                yield Position(row, self._view.fullmove)

    def contains(self, row: npt.ArrayLike) -> bool:
        """Whether the position ``row`` (uint64[9]) is in the set: men, side to move, castling rights, en passant."""
        wanted = np.array(row, dtype=np.uint64)
        index = self._index(wanted)
        if index < 0:
            return False
        wanted[board.META] &= board.IDENTITY
        return bool((self.rows(index)[0] == wanted).all())

    def sample(
        self, count: int, seed: int | np.random.Generator = 0, exclude_rows: npt.ArrayLike | None = None
    ) -> Words:
        """Positions drawn uniformly without replacement.

        Those with the smallest hash under a key that comes from ``seed``: what is drawn depends on the set and the
        seed only.

        Parameters
        ----------
        count
            How many; fewer come when the set has fewer.
        seed
            A number, or a generator, from which one is drawn.
        exclude_rows
            uint64[m, 9], positions that are not to be drawn.

        Returns
        -------
        uint64[n, 9]
            As :meth:`rows` gives them, in the order of the hash.
        """
        number = int(seed.integers(0, 1 << 63)) if isinstance(seed, np.random.Generator) else seed
        excluded: set[tuple[int, int]] = set()
        if exclude_rows is not None:
            rows = np.asarray(exclude_rows, dtype=np.uint64).reshape(-1, board.WIDTH)
            excluded = {(int(half[0]), int(half[1])) for half in map(self._encode, rows)}
        indices = smallest(self._positions, count + len(excluded), key_of(number ^ 0x5A3D))
        if excluded:
            halves = self._positions[indices].tolist()
            keep = [i for i, half in enumerate(halves) if (half[0], half[1]) not in excluded]
            indices = indices[keep]
        return self.rows(indices[:count])

    def draw(
        self,
        count: int,
        seed: int,
        exclude_rows: npt.ArrayLike | None = None,
        *,
        uniform_mix: float = 0.0,
        weights: Floats | None = None,
    ) -> tuple[Words, Floats]:
        """Positions drawn by weight, one by one among those that are left (:mod:`klss.belief.drawing`).

        What is drawn depends on the set, the weights and the seed only.

        Parameters
        ----------
        count
            How many; fewer come when the set has fewer.
        seed
            A number.
        exclude_rows
            uint64[m, 9], positions that are not to be drawn.
        uniform_mix
            The part of all weight, from 0 to 1, that is spread evenly first.
        weights
            float64[size], summing to 1: others than :attr:`weights`.

        Returns
        -------
        uint64[n, 9], float64[n]
            Rows as :meth:`rows` gives them, and with what probability each was drawn.
        """
        likely = (1.0 - uniform_mix) * (self.weights if weights is None else weights) + uniform_mix / self.size
        if exclude_rows is not None:
            excluded = self.indices(exclude_rows)
            likely[excluded[excluded >= 0]] = 0.0
        chosen, inclusion = self._drawn(likely, count, key_of(seed ^ 0xD4A3))
        return self.rows(chosen), inclusion

    def information(
        self, moves: npt.ArrayLike, limit: int = 2048, seed: int = 0, *, weights: Floats | None = None
    ) -> Floats:
        """Binary entropy of what she will see right after each of her moves: H(a) of the paper's D.3.

        Parameters
        ----------
        moves
            int[m], codes of her moves (:mod:`darkchess.board.move`), legal now.
        limit
            The true position is taken to be uniform over the set, or over this many of it, drawn as :meth:`sample`
            does.
        weights
            float64[size], summing to 1: how likely each position is the true one instead. Of more than ``limit`` some
            are drawn by weight, and each stands for its weight by the probability with which it was drawn.

        Returns
        -------
        float64[m]
            Bits.
        """
        codes = np.atleast_1d(np.asarray(moves, dtype=np.int64))
        key = key_of(seed ^ 0x1F0)
        if weights is None:
            indices = smallest(self._positions, limit, key)
        else:
            indices, inclusion = self._drawn(weights, limit, key)
            stands_for = weights[indices] / inclusion
        keys = np.empty((codes.shape[0], indices.shape[0]), dtype=np.uint64)
        information.observation_keys(
            self._positions, indices, self._own_row, self._flipped, codes, self._no_move_ends, TABLES, keys
        )
        bits = np.zeros(codes.shape[0])
        for i, row in enumerate(keys):
            if weights is None:
                shares = np.unique(row, return_counts=True)[1] / row.shape[0]
            else:
                shares = np.bincount(np.unique(row, return_inverse=True)[1], stands_for) / stands_for.sum()
            bits[i] = -(shares * np.log2(shares)).sum()
        return np.maximum(bits, 0.0)

    # ------------------------------------------------------------------------------------------------ the next view
    def observe(
        self,
        view: View,
        *,
        deadline: float | None = None,
        progress: UpdateProgress | None = None,
        allowance: float = math.inf,
    ) -> None:
        """Go one ply on, to ``view``.

        Parameters
        ----------
        view
            Her view after the next ply, her own or the enemy's. A view that ends the game leaves the set as it is.
        deadline
            A moment of :func:`time.monotonic` after which the set becomes a sample of what was found until then; None
            reads no clock. After an own move it is not looked at: that step only drops positions, 100 million a second.
        progress
            Called now and then with the part of the work that is done, and the number of positions found.

        allowance
            Seconds of one thread that the weights may take, by their own estimate: no clock is read.

        Raises
        ------
        ViewError
            The view does not follow the last one; or no position agrees with it while the set is exact, so the views
            contradict one another. The set is then left as it was.
        """
        before = self._view
        if view.color != before.color or view.ply != before.ply + 1 or before.game_over is not None:
            raise ViewError(
                f"bad view: got {chess.COLOR_NAMES[view.color]}'s of ply {view.ply}, expected "
                f"{chess.COLOR_NAMES[before.color]}'s of ply {before.ply + 1} of a game that goes on"
            )
        if view.game_over is not None:
            self._view = view
            return
        held = self._masks, self._expected, self._own_row, self._passed
        self._masks, self._expected = np.zeros_like(self._masks), np.empty_like(self._expected)
        self._passed = None
        self._read(view)
        if view.kind == "own_move":
            found = self._own_move(before, view)
        else:
            found = self._enemy_move(
                before, view, deadline, progress, allowance, held[0][position_set.EP_CAPTORS], held[3]
            )
        if not found:
            if self.capped_by is None:
                self._masks, self._expected, self._own_row, self._passed = held
                raise ViewError(
                    f"contradicting views: got one of ply {view.ply} that agrees with none of the {self.size} "
                    "positions possible before it, expected at least one"
                )
            self._recover(view)
        self._view = view

    def _read(self, view: View) -> None:
        """Take in what the view shows: her half, and the masks that need no earlier view."""
        row = view.row()
        position_set.observation_masks(
            upward(row, flipped=self._flipped), np.uint64(self._bits(view.visible)), self._masks, self._expected
        )
        own = row[board.BLACK if self._flipped else board.WHITE]
        self._own_row = row & own
        self._own_row[board.META] = row[board.META]

    def _own_move(self, before: View, view: View) -> bool:
        """Drop what does not agree; False when nothing would be left (the set is then as it was)."""
        move = view.own_move
        assert move is not None
        origin, target = self._square(move.from_square), self._square(move.to_square)
        piece = before.piece_at(move.from_square)
        taken = before.piece_at(move.to_square)
        captured = 0
        if taken is not None and taken.color != view.color:
            captured = 1 << target
        elif piece is not None and piece.piece_type == chess.PAWN and abs(target - origin) in (7, 9):
            captured = 1 << target - 8
            if before.ep_square is None:  # a rebuilt view that could not tell: now it is known that a pawn stood there
                self._keep_pawns_on(target - 8)
        if piece is not None and piece.piece_type == chess.PAWN and target - origin == 16:
            self._passed = (move.from_square + move.to_square) // 2
            self._masks[position_set.EP_CAPTORS] = _beside(1 << target)
        self._captured = captured
        count = int(
            position_set.filter_positions(
                self._positions,
                self._weights,
                self.size,
                np.uint64(captured),
                self._masks,
                self._expected,
                self._no_move_ends,
                TABLES,
            )
        )
        if not count:
            return False
        self._positions = self._positions[:count]
        self._ordered = self._ordered and not captured
        self._keep_weights(self._weights[:count])
        self.successors = count
        if captured & (1 << 56 | 1 << 63) and taken is not None and taken.piece_type == chess.ROOK:
            # Positions that differed in that rook's castling right are now the same.
            before_merging = self._positions
            step = merged(before_merging, key=self._key, cap=self._cap)
            if self._weigher is not None:
                at = find(before_merging, step.positions, self._key)
                self._keep_weights(np.bincount(at, self._weights, step.positions.shape[0]).astype(np.float64))
            self._keep(step)
        return True

    def _keep_weights(self, weights: Floats) -> None:
        """Weights of the positions that are left, which need not sum to 1; nothing, where nothing takes them along."""
        if self._weigher is not None:
            self._weights = self._weigher.normalised(weights)

    def _keep_pawns_on(self, square: int) -> None:
        """Drop positions without an enemy pawn on ``square``, unless all would go."""
        masks, expected = np.zeros_like(self._masks), np.full(64, -1, dtype=np.int64)
        masks[[position_set.REQUIRED, position_set.SEEN]] = 1 << square
        expected[square] = board.PAWN
        count = int(
            position_set.filter_positions(
                self._positions, self._weights, self.size, np.uint64(0), masks, expected, False, TABLES
            )
        )
        self._positions = self._positions[: count or self.size]
        self._keep_weights(self._weights[: self.size])

    def _enemy_move(
        self,
        before: View,
        view: View,
        deadline: float | None,
        progress: UpdateProgress | None,
        allowance: float,
        captors: np.uint64,
        passed: int | None,
    ) -> bool:
        """Replace the set by its consistent successors; False when there is none (the set is then as it was)."""
        masks = self._masks
        row_before = upward(before.row(), flipped=self._flipped)
        masks[position_set.OWN_BEFORE] = row_before[board.WHITE]
        if view.own_capture_square is not None:
            square = self._square(view.own_capture_square)
            if view.opp_capture_landing_square is None:
                masks[position_set.EP_LANDING] = 1 << square - 8
                self._expect_pawn(square - 8)
                masks[position_set.EMPTY] |= np.uint64(1 << square)
            else:
                masks[position_set.CAPTURED] = 1 << square
                masks[position_set.REQUIRED] |= np.uint64(1 << square)
        if view.ep_square is not None:
            square = self._square(view.ep_square)
            masks[position_set.EP_TOLD] = 1 << square
            self._expect_pawn(square - 8)
            masks[position_set.EMPTY] |= np.uint64(1 << square | 1 << square + 8)
        elif view.ep_known:
            row = upward(view.row(), flipped=self._flipped)
            masks[position_set.FORBIDDEN] = _beside(int(row[board.PAWN]) & int(row[board.WHITE]) & _RANK_5)
        self._captured = 0
        key = next_key(self._key) if self.sampled else self._key
        step = across_enemy_move(
            self._positions,
            self._consistent_successors,
            key=key,
            cap=self._cap,
            spare=self._spare,
            deadline=deadline,
            threads=self._threads,
            stream=self._stream,
            progress=progress,
        )
        self.successors = step.successors
        if not step.positions.shape[0]:
            return False
        if self._weigher is not None:
            row_before[: board.WHITE] &= row_before[board.WHITE]
            crossing = Crossing(
                sources=self._positions,
                weights=self._weights,
                own_row=row_before,
                captors=captors,
                passed=np.uint64(0 if passed is None else (self._square(passed) + 1) << 8),
                masks=masks,
                positions=step.positions,
                key=key,
                threads=self._threads,
            )
            self._weights = self._weigher.across(crossing, allowance)
        self._key = key
        self._keep(step)
        return True

    def _consistent_successors(
        self, sources: Words, start: int, stop: int, layout: Layout, split: bool, out: Words, room: int, counts: Ints
    ) -> int:
        """See :data:`darkchess.board.position_step.Successors`."""
        return int(
            position_set.successors(
                sources, start, stop, self._masks, self._expected, TABLES, layout, split, out, room, counts
            )
        )

    def _keep(self, step: Step) -> None:
        self._spare = None if self._stream else self._array
        self._array = step.array
        self._positions = step.positions
        self._ordered = True
        if step.capped_by is not None:
            self.capped_by = step.capped_by

    def _expect_pawn(self, square: int) -> None:
        """She knows that an enemy pawn stands there, seen or not."""
        self._masks[position_set.REQUIRED] |= np.uint64(1 << square)
        self._masks[position_set.SEEN] |= np.uint64(1 << square)
        self._expected[square] = board.PAWN

    def _recover(self, view: View) -> None:
        """Mend the sample's last members, since none of them leads to what is seen."""
        sources = self._positions
        if self._captured:
            sources = position_repair.without_captured(sources, np.uint64(self._captured))
        out = np.empty((min(self._cap, _MENDED), 2), dtype=np.uint64)
        must_move = self._no_move_ends and view.to_move != view.color
        for attempt in range(8):
            seed = key_of(int(self._key) + 8 * view.ply + attempt)
            # The last attempts ask for less: a player who goes on with a doubtful sample beats one who stops.
            count = position_repair.repair(
                sources, self._masks, self._expected, must_move and attempt < 6, seed, TABLES, out
            )
            if count:
                break
        assert count, "no mended position agrees with the view"
        self._keep(merged(out[:count], key=self._key, cap=self._cap))
        if self._weigher is not None:
            self._weights = self._weigher.reset(self.size)
        self.recoveries += 1

    # ------------------------------------------------------------------------------------------------ helpers
    def _drawn(self, weights: Floats, count: int, key: np.uint64) -> tuple[Ints, Floats]:
        """Indices drawn by weight, none of weight 0, and with what probability each was: int64[n], float64[n]."""
        hashes, indices = np.empty(self.size, dtype=np.uint64), np.empty(self.size, dtype=np.int64)
        position_table.select(self._positions, key, np.uint64(HASHES), indices, hashes)
        found = draw(weights, hashes, count)
        chosen = found.indices[weights[found.indices] > 0.0]
        return chosen, found.inclusion(weights[chosen])

    def _index(self, row: Words) -> int:
        half = self._encode(row)
        return int(position_table.rank(self._positions, half[0], half[1]))

    def _encode(self, row: Words) -> Words:
        half = np.empty(2, dtype=np.uint64)
        encode_half(upward(row, flipped=self._flipped), half)
        return half

    def _square(self, square: int) -> int:
        return square ^ 56 if self._flipped else square

    def _bits(self, squares: int) -> int:
        return int.from_bytes(squares.to_bytes(8, "little"), "big") if self._flipped else squares


def compile_rare_kernels() -> None:
    """Compile, or load, the kernels that only some games call: a table that grows or is cut, a sample that is mended, a
    draw from many, a few of many looked up.

    That takes seconds where they were never compiled before, and no player has seconds to give away in mid-game.
    """
    start = Position.from_fen(START_FEN)
    rows = start.row.reshape(1, -1)
    half = np.empty((1, 2), dtype=np.uint64)
    encode_half(rows[0], half[0])
    exercise_table(half)
    masks, expected = np.zeros(position_set.MASKS, dtype=np.uint64), np.full(64, -1, dtype=np.int64)
    halves = position_repair.without_captured(half, np.uint64(0))
    position_repair.repair(halves, masks, expected, True, np.uint64(1), TABLES, np.empty((1, 2), dtype=np.uint64))
    draw(np.full(8, 1 / 8), np.arange(8, dtype=np.uint64), 0)
    find(half[:0], np.repeat(half, 64, axis=0), np.uint64(1))


def _beside(squares: int) -> int:
    """The squares left and right of ``squares``."""
    return (squares << 1 & _NOT_A) | (squares >> 1 & _NOT_H)
