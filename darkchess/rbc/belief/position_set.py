"""The position set: every position consistent with what one player observed, merged by transposition.

Consistent means: reachable by some play in which the player would have observed exactly this, with the game still
going on (no king was taken). Unlike in Fog of War, the enemy's castling rights *and* whether the enemy's last turn was
a double step are part of what is hidden; a turn without a move is one more move.

This file is the update, observation by observation; the store is :mod:`darkchess.board.position_store`.

Deviation: a sample in which nothing agrees with a new observation is repaired (``recoveries``).
"""

from __future__ import annotations

import chess
import numpy as np

from darkchess.board.kernels import board
from darkchess.board.kernels.halves import CASTLING_ROOK, DOUBLE_STEPPED, code_at
from darkchess.board.kernels.position_table import Layout
from darkchess.board.kernels.tables import TABLES
from darkchess.board.move import decode, encode
from darkchess.board.position import Position, upward
from darkchess.board.position_step import Step, across_enemy_move, key_of, merged, next_key
from darkchess.board.position_store import PositionStore
from darkchess.board.position_table import smallest
from darkchess.errors import ViewError
from darkchess.rbc.belief._kernels import position_set as kernels
from darkchess.rbc.game.observation import Moved, Notice, Sensed
from darkchess.rbc.game.own_half import OwnHalf
from klss.support.arrays import Int32s, Ints, Words

__all__ = ["PositionSet"]

_REPAIRED = 1024
"""Positions that a recovery tries to make."""

_GROWTH = 14
"""Table slots for each source of a large set. Its 31 successors merge to 6.5 or 7.4 where no square is sensed, so half
as many slots would do; but a table filled by a third is faster than one filled by half.
"""

_TURNED = 56 << 9 | 56 << 3
"""Bits of a move's code that change when the board is turned round."""

_NO_WEIGHTS = np.zeros(0)


class PositionSet(PositionStore):
    """Every position that the player of ``color`` holds possible; the rest is as in :class:`PositionStore`.

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
        super().__init__(start, flipped=color == chess.BLACK, cap=cap, seed=seed, threads=threads)
        self.own = OwnHalf(color, start)  # the player's own half
        self.first = start.turn == color  # whether the player moves first, and has no notice yet
        # the square of the player's pawn that has just made a double step, seen from its side: a set of one or none
        self.passed = 0
        self._fullmove = start.fullmove
        if self.first and start.ep_square is not None:
            kernels.encode_stepped(self._array[0], np.uint64(1 << self._square(start.ep_square) - 8))
        if not self.first and start.ep_square is not None:
            self.passed = 1 << self._square(start.ep_square) + 8

    # ------------------------------------------------------------------------------------------------ reading
    @property
    def fullmove(self) -> int:
        """Number of the current move, as FEN counts."""
        return self._fullmove

    @property
    def own_row(self) -> Words:
        """The player's own half, seen as White's: uint64[9]."""
        return upward(self.own.row, flipped=self._flipped)

    def requests(self) -> Int32s:
        """Codes of the player's requests seen from its side of the board, sorted, −1 (to pass) first: int32[n]."""
        codes = self.own.codes()
        turned = np.sort(codes ^ np.int32(_TURNED)) if self._flipped else codes
        return np.concatenate([np.array([-1], dtype=np.int32), turned])

    def request(self, code: int) -> chess.Move | None:
        """The request of a code of :meth:`requests`; None: to pass."""
        return None if code < 0 else decode(code ^ _TURNED if self._flipped else code)

    def code(self, request: chess.Move | None) -> int:
        """The code of a request, the inverse of :meth:`request`."""
        if request is None:
            return -1
        return encode(request) ^ (_TURNED if self._flipped else 0)

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

    def _decode(self, indices: Ints, out: Words) -> None:
        kernels.decode_all(self._positions, indices, self.own.row, self._flipped, out)

    def _encode(self, row: Words) -> Words:
        """The enemy half of a full position. An en passant square is the enemy's double step where the player moves."""
        half = super()._encode(row)
        target = (int(row[board.META]) >> 8 & 0x7F) - 1
        if int(row[board.META]) & 1 == self._flipped and target >= 0:
            kernels.encode_stepped(half, np.uint64(1 << self._square(target) - 8))
        return half

    def _has_own_half(self, row: Words, index: int) -> bool:
        """Whether the player's pieces and rights are those of ``row``: after its own move the side to move is the
        opponent, and en passant concerns the player's pawn alone.
        """
        pieces = row[board.BLACK if self._flipped else board.WHITE]
        rights = np.uint64(0x18 if self._flipped else 0x06)
        same = (row[: board.META] & pieces == self.own.row[: board.META]).all()
        return bool(same) and bool(row[board.META] & rights == self.own.row[board.META] & rights)

    # ------------------------------------------------------------------------------------------------ updates
    def noticed(self, notice: Notice, *, deadline: float | None = None) -> None:
        """Begin the player's turn: the opponent's turn, if there was one, is over.

        Parameters
        ----------
        deadline
            A moment of :func:`time.monotonic` after which the set becomes a sample of what was found until then; None
            reads no clock.

        Raises
        ------
        ViewError
            No position agrees while the set is exact: the observations contradict one another. The set is then as it
            was.
        """
        if self.first:
            self.first = False
            if notice.square is not None:
                raise ViewError(f"bad notice: got {chess.SQUARE_NAMES[notice.square]}, expected none before a move")
            return
        captured = 0
        if notice.square is not None:
            if not self.own.pieces >> notice.square & 1:
                raise ViewError(
                    f"bad notice: got a piece taken on {chess.SQUARE_NAMES[notice.square]}, expected one of the "
                    "player's there"
                )
            captured = 1 << self._square(notice.square)
        mine = self.own_row
        # A pawn that has just made its double step may also have been taken in passing.
        landing = captured >> 8 if captured and captured == self.passed else 0
        arguments = (mine[board.WHITE], mine[board.PAWN], np.uint64(captured), np.uint64(landing), TABLES)

        def successors(
            sources: Words, start: int, stop: int, layout: Layout, split: bool, out: Words, room: int, counts: Ints
        ) -> int:
            return int(kernels.successors(sources, start, stop, *arguments, layout, split, out, room, counts))

        if self.sampled:
            self._key = next_key(self._key)
        step = across_enemy_move(
            self._positions, successors, key=self._key, cap=self._cap, spare=self._spare, deadline=deadline,
            threads=self._threads, growth=_GROWTH,
        )  # fmt: skip
        if not step.positions.shape[0]:
            self._contradiction("a notice")
            step = self._repaired(captured, mine[board.WHITE] & ~np.uint64(captured), 0, {})
        self.successors = step.successors
        if notice.square is not None:
            self.own.lose(notice.square)
        self.passed = 0
        self._fullmove += not self._flipped
        self._keep(step)

    def sensed(self, sensed: Sensed) -> None:
        """Drop what disagrees with a sense's result. Raises as :meth:`noticed`."""
        area = pieces = 0
        expected = np.full(64, -1, dtype=np.int64)
        seen = {}
        for square, piece in sensed.contents:
            at = self._square(square)
            area |= 1 << at
            if piece is not None and piece.color != self.own.color:
                pieces |= 1 << at
                expected[at] = seen[at] = piece.piece_type - 1
        kept = int(kernels.keep_sensed(self._positions, _NO_WEIGHTS, np.uint64(area), np.uint64(pieces), expected))
        if kept:
            self._positions = self._positions[:kept]
            return
        self._contradiction("a sense")
        self._keep(self._repaired(0, self.own_row[board.WHITE], area, seen))

    def moved(self, moved: Moved) -> None:
        """Drop what disagrees with the result of the player's request, and what it took. Raises as :meth:`noticed`;
        where it may have taken the king, the game is over and the set stays as it was.
        """
        request = self.code(moved.requested)
        taken = self.code(moved.taken)
        capture = -1 if moved.capture_square is None else self._square(moved.capture_square)
        mine = self.own_row
        steps = self._any_double_step()
        kept = int(kernels.keep_moved(self._positions, _NO_WEIGHTS, mine, request, taken, capture, TABLES))
        # The own half moves on, whatever that did to the enemy's.
        self.own.play(moved.taken)
        self.passed = 0
        if moved.taken is not None:
            origin, target = self._square(moved.taken.from_square), self._square(moved.taken.to_square)
            if target - origin == 16 and int(mine[board.PAWN]) >> origin & 1:
                self.passed = 1 << target
        if not kept and capture >= 0 and self._king_on(capture):
            return
        if not kept:
            self._contradiction("a move's result")
            self._keep(self._repaired(0, self.own_row[board.WHITE], 0, {}))
        elif capture >= 0 or steps:  # positions that differed in what was taken, or in a double step, are now the same
            self._keep(merged(self._positions[:kept], key=self._key, cap=self._cap))
        else:
            self._positions = self._positions[:kept]

    # ------------------------------------------------------------------------------------------------ helpers
    def _any_double_step(self) -> bool:
        """Whether some member has a pawn of code :data:`DOUBLE_STEPPED`: a group of four bits that are all like it."""
        unlike = self._positions[:, 1] ^ np.uint64(DOUBLE_STEPPED * 0x1111111111111111)
        unlike |= unlike >> np.uint64(1)
        unlike |= unlike >> np.uint64(2)
        return bool((~unlike & np.uint64(0x1111111111111111)).any())

    def _king_on(self, square: int) -> bool:
        """Whether some member has the enemy king on ``square``."""
        mask = np.uint64(1 << square)
        occupied = self._positions[self._positions[:, 0] & mask != 0]
        return any(int(code_at(enemy, codes, mask)) == board.KING for enemy, codes in occupied)

    def _contradiction(self, what: str) -> None:
        if not self.sampled:
            raise ViewError(
                f"contradicting observations: got {what} that agrees with none of the {self.size} positions possible "
                "before it, expected at least one"
            )

    def _repaired(self, captured: int, own: np.uint64, area: int, seen: dict[int, int]) -> Step:
        """Return the sample's first members, changed until they agree.

        Parameters
        ----------
        captured
            The square (a set of one or none) on which the enemy took: a piece is put there.
        own, area
            Squares without enemy pieces: the player's own ones, and those sensed.
        seen
            The piece seen on each square, which is put there.
        """
        self.recoveries += 1
        repaired = np.zeros((min(self.size, _REPAIRED), 2), dtype=np.uint64)
        for half, out in zip(self._positions, repaired, strict=False):
            # Unpack the member: the code on each square, without the squares that are known otherwise.
            pieces, codes = int(half[0]), int(half[1])
            found = {}
            for square in chess.SQUARES:
                if pieces >> square & 1:
                    found[square] = codes & 15
                    codes >>= 4
            found = {at: code for at, code in found.items() if not (int(own) | area | captured) >> at & 1}
            # Put what is seen, and a queen where something took: it reaches most squares.
            found |= seen
            if captured:
                found[captured.bit_length() - 1] = board.QUEEN
            # Exactly one king: the seen one rather than another, else one on the highest free square.
            kings = sorted((at for at, code in found.items() if code == board.KING), key=lambda at: at not in seen)
            for at in kings[1:]:
                del found[at]
            if not kings:
                free = [at for at in range(63, -1, -1) if not (int(own) | area) >> at & 1 and at not in found]
                found[free[0]] = board.KING
            # Rights and double steps may be wrong by now, and no pawn stands on the first or last rank.
            plain = {CASTLING_ROOK: board.ROOK, DOUBLE_STEPPED: board.PAWN}
            found = {at: plain.get(code, code) for at, code in found.items()}
            found = {at: code for at, code in found.items() if code != board.PAWN or 8 <= at < 56}
            # Pack it again; a half has room for sixteen.
            for place, at in enumerate(sorted(found)[:16]):
                out[0] |= np.uint64(1 << at)
                out[1] |= np.uint64(found[at] << 4 * place)
        return merged(repaired, key=self._key, cap=self._cap)
