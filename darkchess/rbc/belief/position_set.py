"""The position set: every position consistent with what one player was told, merged by transposition.

A position costs 16 bytes, the enemy's half; the player's own half is known and kept once. Consistent means: reachable
by some play that would have told her exactly this, with the game still going on (nobody's king was taken). Unlike in
Fog of War, castling rights of the enemy *and* whether her last turn was a double step are part of what is hidden; a
turn without a move is one more move.

Deviation: past ``cap``, or past a deadline, the set becomes a *declared* sample (``capped_by``): the positions with the
smallest keyed hash, or the successors of those; the true one may then be missing. A sample in which nothing agrees with
what she is told is mended (``recoveries``).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import chess
import numpy as np
import numpy.typing as npt

from darkchess.board.kernels import board
from darkchess.board.kernels.halves import code_at, encode_half
from darkchess.board.kernels.position_table import Layout, rank
from darkchess.board.kernels.tables import TABLES
from darkchess.board.move import decode, encode
from darkchess.board.position import Position, upward
from darkchess.board.position_step import Step, across_enemy_move, key_of, merged, next_key
from darkchess.board.position_table import smallest
from darkchess.errors import ViewError
from darkchess.rbc.belief._kernels import position_set as kernels
from darkchess.rbc.game.observation import Moved, Notice, Sensed
from darkchess.rbc.game.own_half import OwnHalf
from klss.support.arrays import Int32s, Ints, Words

__all__ = ["PositionSet"]

_MENDED = 1024
"""Positions that a recovery tries to mend."""
_GROWTH = 14
"""Positions that a table has room for, for each source of a large set: its 31 successors merge to 6.5 or 7.4, where
nobody looks, and half as many again would do; but a third of the slots taken is faster than half of them (a quarter
less time for what is put there).
"""

_NONE = np.zeros(0)


class PositionSet:
    """Every position that a player holds possible.

    Parameters
    ----------
    color
        Hers.
    start
        The start position, which both players know.
    cap
        Most positions that are kept. Past it the set is a sample.
    seed
        Keys the hash that says which.
    threads
        1 or 2; the set is the same.

    Attributes
    ----------
    own
        Her own half.
    capped_by
        None while the set is exact; ``"cap"`` or ``"time"``: what last made it a sample. It stays.
    recoveries
        How often a sample died out and was mended.
    successors
        Consistent successors that the last turn of the opponent had, before duplicates merged.

    Examples
    --------
    >>> from darkchess.rbc import Referee
    >>> game = Referee()
    >>> known = PositionSet(chess.BLACK, game.position)
    >>> game.sense(None).contents, game.move(chess.Move.from_uci("e2e4")).taken
    ((), Move.from_uci('e2e4'))
    >>> known.noticed(game.notice)
    >>> known.size, known.contains(game.position.row)
    (21, True)
    >>> known.sensed(game.sense(chess.E4))
    >>> known.size
    1
    """

    def __init__(
        self, color: chess.Color, start: Position, *, cap: int = 2_000_000, seed: int = 0, threads: int = 1
    ) -> None:
        if cap < 1:
            raise ValueError(f"bad cap: got {cap}, expected at least 1")
        if threads not in (1, 2):
            raise ValueError(f"bad number of threads: got {threads}, expected 1 or 2")
        self.own = OwnHalf(color, start)
        self.capped_by: Literal["cap", "time"] | None = None
        self.recoveries = 0
        self.successors = 1
        self._cap = cap
        self._threads = threads
        self._flipped = color == chess.BLACK
        self._key = key_of(seed)
        self._first = start.turn == color
        self._passed = 0  # the square of her pawn that has just made a double step, a set of one or none
        self._fullmove = start.fullmove
        self._spare: Words | None = None
        self._array: Words = np.zeros((1, 2), dtype=np.uint64)
        encode_half(upward(start.row, flipped=self._flipped), self._array[0])
        if self._first and start.ep_square is not None:
            kernels.encode_stepped(self._array[0], np.uint64(1 << self._square(start.ep_square) - 8))
        if not self._first and start.ep_square is not None:
            self._passed = 1 << self._square(start.ep_square) + 8
        self._positions = self._array

    # ------------------------------------------------------------------------------------------------ what it says
    @property
    def size(self) -> int:
        """Number of positions."""
        return int(self._positions.shape[0])

    def __len__(self) -> int:
        return self.size

    @property
    def halves(self) -> Words:
        """The positions as they are kept: uint64[n, 2], the enemy's halves seen from the viewer's side, in the order of
        their keyed hash; not to be written to, and good until she is told something.
        """
        halves = self._positions.view()
        halves.flags.writeable = False
        return halves

    @property
    def flipped(self) -> bool:
        """Whether her side of the board is the board turned round: she is Black."""
        return self._flipped

    @property
    def own_row(self) -> Words:
        """Her own half, she being White: uint64[9]."""
        return upward(self.own.row, flipped=self._flipped)

    def requests(self) -> Int32s:
        """Codes of her requests seen from her side of the board, sorted, −1 (to pass) first: int32[n]."""
        codes = self.own.codes()
        turned = np.sort(codes ^ np.int32(56 << 9 | 56 << 3)) if self._flipped else codes
        return np.concatenate([np.array([-1], dtype=np.int32), turned])

    def request(self, code: int) -> chess.Move | None:
        """The request of a code of :meth:`requests`; None: to pass."""
        return None if code < 0 else decode(code ^ (56 << 9 | 56 << 3) if self._flipped else code)

    def code(self, request: chess.Move | None) -> int:
        """The code that :meth:`request` is of."""
        if request is None:
            return -1
        return encode(request) ^ (56 << 9 | 56 << 3 if self._flipped else 0)

    def rows(self, indices: npt.ArrayLike) -> Words:
        """Full positions, herself to move.

        Parameters
        ----------
        indices
            int[n], each in [0, size). The order of the set is the same on one thread and on two, and says nothing else.

        Returns
        -------
        uint64[n, 9]
            Rows of :mod:`darkchess.board.kernels.board`. Quiet plies are 0.
        """
        chosen = np.atleast_1d(np.asarray(indices, dtype=np.int64))
        if chosen.size and (chosen.min() < 0 or chosen.max() >= self.size):
            raise IndexError(f"bad index: got {chosen.min()} … {chosen.max()}, expected 0 … {self.size - 1}")
        out = np.empty((chosen.shape[0], board.WIDTH), dtype=np.uint64)
        kernels.decode_all(self._positions, chosen, self.own.row, self._flipped, out)
        return out

    def __iter__(self) -> Iterator[Position]:
        for start in range(0, self.size, 4096):
            for row in self.rows(np.arange(start, min(start + 4096, self.size))):
                yield Position(row, self._fullmove)

    def contains(self, row: npt.ArrayLike) -> bool:
        """Whether the position ``row`` (uint64[9]) is in the set: men, castling rights, en passant. After her own move
        the side to move is the opponent, and en passant is hers alone.
        """
        wanted = np.array(row, dtype=np.uint64)
        hers = int(wanted[board.META]) & 1 == (1 if self._flipped else 0)
        half = np.empty(2, dtype=np.uint64)
        encode_half(upward(wanted, flipped=self._flipped), half)
        target = (int(wanted[board.META]) >> 8 & 0x7F) - 1
        if hers and target >= 0:
            kernels.encode_stepped(half, np.uint64(1 << self._square(target) - 8))
        if rank(self._positions, half[0], half[1]) < 0:
            return False
        men = wanted[board.BLACK if self._flipped else board.WHITE]
        rights = np.uint64(0x18 if self._flipped else 0x06)
        same = (wanted[: board.META] & men == self.own.row[: board.META]).all()
        return bool(same) and bool(wanted[board.META] & rights == self.own.row[board.META] & rights)

    def sample(self, count: int, seed: int) -> Ints:
        """Indices drawn uniformly without replacement: those with the smallest hash under a key from ``seed``.

        Returns
        -------
        int64[min(count, size)]
            In the order of that hash.
        """
        if count >= self.size:
            return np.arange(self.size, dtype=np.int64)
        return smallest(self._positions, count, key_of(seed * 2 + 1))

    # ------------------------------------------------------------------------------------------------ what she is told
    def noticed(self, notice: Notice, *, deadline: float | None = None) -> None:
        """Her turn begins; the opponent's, if there was one, is over.

        Parameters
        ----------
        deadline
            A moment of :func:`time.monotonic` after which the set becomes a sample of what was found until then; None
            reads no clock.

        Raises
        ------
        ViewError
            No position agrees while the set is exact: what she was told contradicts itself. The set is then as it was.
        """
        if self._first:
            self._first = False
            if notice.square is not None:
                raise ViewError(f"bad notice: got {chess.SQUARE_NAMES[notice.square]}, expected none before a move")
            return
        captured = 0
        if notice.square is not None:
            if not self.own.pieces >> notice.square & 1:
                raise ViewError(
                    f"bad notice: got a man taken on {chess.SQUARE_NAMES[notice.square]}, expected one of hers there"
                )
            captured = 1 << self._square(notice.square)
        mine = self.own_row
        landing = captured >> 8 if captured and captured == self._passed else 0
        arguments = (mine[board.WHITE], mine[board.PAWN], np.uint64(captured), np.uint64(landing), TABLES)

        def successors(
            sources: Words, start: int, stop: int, layout: Layout, split: bool, out: Words, room: int, counts: Ints
        ) -> int:
            return int(kernels.successors(sources, start, stop, *arguments, layout, split, out, room, counts))

        if self.capped_by is not None:
            self._key = next_key(self._key)
        step = across_enemy_move(
            self._positions, successors, key=self._key, cap=self._cap, spare=self._spare, deadline=deadline,
            threads=self._threads, growth=_GROWTH,
        )  # fmt: skip
        if not step.positions.shape[0]:
            self._contradiction("a notice")
            step = self._mended(captured, mine[board.WHITE] & ~np.uint64(captured), 0, {})
        self.successors = step.successors
        if notice.square is not None:
            self.own.lose(notice.square)
        self._passed = 0
        self._fullmove += not self._flipped
        self._keep(step)

    def sensed(self, sensed: Sensed) -> None:
        """She saw what stands around a square. Raises as :meth:`noticed`."""
        area = men = 0
        expected = np.full(64, -1, dtype=np.int64)
        pieces = {}
        for square, piece in sensed.contents:
            at = self._square(square)
            area |= 1 << at
            if piece is not None and piece.color != self.own.color:
                men |= 1 << at
                expected[at] = piece.piece_type - 1
                pieces[at] = piece.piece_type - 1
        kept = int(kernels.keep_sensed(self._positions, _NONE, np.uint64(area), np.uint64(men), expected))
        if kept:
            self._positions = self._positions[:kept]
            return
        self._contradiction("a sense")
        self._keep(self._mended(0, self.own_row[board.WHITE], area, pieces))

    def moved(self, moved: Moved) -> None:
        """She moved, or did not. Raises as :meth:`noticed`; where she may have taken the king, the game is over and the
        set stays as it was.
        """
        request = self.code(moved.requested)
        taken = self.code(moved.taken)
        capture = -1 if moved.capture_square is None else self._square(moved.capture_square)
        mine = self.own_row
        steps = self._any_stepped()
        kept = int(kernels.keep_moved(self._positions, _NONE, mine, request, taken, capture, TABLES))
        self.own.play(moved.taken)
        self._passed = 0
        if moved.taken is not None:
            origin, target = self._square(moved.taken.from_square), self._square(moved.taken.to_square)
            if target - origin == 16 and int(mine[board.PAWN]) >> origin & 1:
                self._passed = 1 << target
        if not kept and capture >= 0 and self._king_on(capture):
            return
        if not kept:
            self._contradiction("a move's result")
            self._keep(self._mended(0, self.own_row[board.WHITE], 0, {}))
        elif capture >= 0 or steps:
            self._keep(merged(self._positions[:kept], key=self._key, cap=self._cap))
        else:
            self._positions = self._positions[:kept]

    # ------------------------------------------------------------------------------------------------ helpers
    def _any_stepped(self) -> bool:
        unlike = self._positions[:, 1] ^ np.uint64(0x7777777777777777)
        unlike |= unlike >> np.uint64(1)
        unlike |= unlike >> np.uint64(2)
        return bool((~unlike & np.uint64(0x1111111111111111)).any())

    def _king_on(self, square: int) -> bool:
        mask = np.uint64(1 << square)
        occupied = self._positions[self._positions[:, 0] & mask != 0]
        return any(int(code_at(enemy, codes, mask)) == board.KING for enemy, codes in occupied)

    def _keep(self, step: Step) -> None:
        self._spare = self._array
        self._array = step.array
        self._positions = step.positions
        if step.capped_by is not None:
            self.capped_by = step.capped_by

    def _contradiction(self, what: str) -> None:
        if self.capped_by is None:
            raise ViewError(
                f"contradicting observations: got {what} that agrees with none of the {self.size} positions possible "
                "before it, expected at least one"
            )

    def _mended(self, captured: int, own: np.uint64, area: int, seen: dict[int, int]) -> Step:
        """The sample's first members, changed until they agree: enemy men off the squares of her men and of ``area``,
        those that were ``seen`` put there, whoever took on ``captured`` put there, a king somewhere.
        """
        self.recoveries += 1
        mended = np.zeros((min(self.size, _MENDED), 2), dtype=np.uint64)
        for half, out in zip(self._positions, mended, strict=False):
            men, codes = int(half[0]), int(half[1])
            found = {}
            for square in chess.SQUARES:
                if men >> square & 1:
                    found[square] = codes & 15
                    codes >>= 4
            found = {at: code for at, code in found.items() if not (int(own) | area | captured) >> at & 1}
            found |= seen
            if captured:
                found[captured.bit_length() - 1] = board.QUEEN
            kings = sorted((at for at, code in found.items() if code == board.KING), key=lambda at: at not in seen)
            for at in kings[1:]:
                del found[at]
            if not kings:
                free = [at for at in range(63, -1, -1) if not (int(own) | area) >> at & 1 and at not in found]
                found[free[0]] = board.KING
            found = {at: 3 if code == 6 else 0 if code == 7 else code for at, code in found.items()}
            found = {at: code for at, code in found.items() if code or 8 <= at < 56}
            for place, at in enumerate(sorted(found)[:16]):
                out[0] |= np.uint64(1 << at)
                out[1] |= np.uint64(found[at] << 4 * place)
        return merged(mended, key=self._key, cap=self._cap)

    def _square(self, square: int) -> int:
        return square ^ 56 if self._flipped else square
