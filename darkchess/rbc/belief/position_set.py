"""The position set: every position consistent with what one player observed, merged by transposition.

A position is consistent if some play leads to it in which the player observes exactly this and the game goes on (no
king is taken). Unlike in Fog of War, not only the enemy's castling rights are hidden, but also whether its last turn
was a double step; and a turn without a move counts as one more move.

This file has the update, observation by observation; :mod:`darkchess.board.position_store` stores the positions.

Deviation: if no position of a sample agrees with a new observation, the sample is repaired (``recoveries``,
:mod:`darkchess.board.position_repair`).
"""

from __future__ import annotations

import chess
import numpy as np

from darkchess.board.kernels import board
from darkchess.board.kernels.halves import DOUBLE_STEPPED, code_at
from darkchess.board.kernels.tables import TABLES
from darkchess.board.move import TURNED, decode, encode
from darkchess.board.position import Position, upward
from darkchess.board.position_repair import Observed, repaired
from darkchess.board.position_step import Step, across_enemy_move, key_of, merged
from darkchess.board.position_store import PositionStore
from darkchess.board.position_table import smallest
from darkchess.errors import ViewError
from darkchess.rbc.belief._kernels import position_set as kernels
from darkchess.rbc.game.observation import Moved, Notice, Sensed
from darkchess.rbc.game.own_half import OwnHalf
from klss.support.arrays import Int32s, Ints, Words

_GROWTH = 14
"""Expected positions for each source of a large set, which sets the table's first size. A source's 31 successors merge
to 6.5 or 7.4 if no square is sensed, so half as much would do; but a table filled by a third is faster than one filled
by half.
"""

_NO_WEIGHTS = np.zeros(0)


class PositionSet(PositionStore):
    """Every position that the player of ``color`` can't rule out; the rest is as in :class:`PositionStore`.

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
        # the square on which the player's last double step ended, seen from its side: a set of one or none
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
        """The player's own half, turned so that it is White: uint64[9]."""
        return upward(self.own.row, flipped=self.flipped)

    def requests(self) -> Int32s:
        """Return the codes of the player's requests, seen from its side, sorted, −1 (a pass) first: int32[n]."""
        codes = self.own.codes()
        turned = np.sort(codes ^ np.int32(TURNED)) if self.flipped else codes
        return np.concatenate([np.array([-1], dtype=np.int32), turned])

    def request(self, code: int) -> chess.Move | None:
        """Return the request of a code of :meth:`requests`; None: a pass."""
        return None if code < 0 else decode(code ^ TURNED if self.flipped else code)

    def code(self, request: chess.Move | None) -> int:
        """Return the code of a request, the inverse of :meth:`request`."""
        if request is None:
            return -1
        return encode(request) ^ (TURNED if self.flipped else 0)

    def sample(self, count: int, seed: int) -> Ints:
        """Draw indices uniformly without replacement: those with the smallest hash under a key from ``seed``.

        Returns
        -------
        int64[min(count, size)]
            In the order of that hash.
        """
        if count >= self.size:
            return np.arange(self.size, dtype=np.int64)
        return smallest(self._positions, count, key_of(seed * 2 + 1))

    def _decode(self, indices: Ints, out: Words) -> None:
        kernels.decode_all(self._positions, indices, self.own.row, self.flipped, out)

    def _encode(self, row: Words) -> Words:
        """Return the enemy half of a full position. If the player is to move, an en passant square means that the enemy
        has just made a double step, which the half records.
        """
        half = super()._encode(row)
        target = (int(row[board.META]) >> 8 & 0x7F) - 1
        if int(row[board.META]) & 1 == self.flipped and target >= 0:
            kernels.encode_stepped(half, np.uint64(1 << self._square(target) - 8))
        return half

    def _has_own_half(self, row: Words, index: int) -> bool:
        """Whether ``row`` has the player's pieces and rights. Side to move and en passant square are not compared."""
        pieces = row[board.BLACK if self.flipped else board.WHITE]
        rights = np.uint64(0x18 if self.flipped else 0x06)
        same = (row[: board.META] & pieces == self.own.row[: board.META]).all()
        return bool(same) and bool(row[board.META] & rights == self.own.row[board.META] & rights)

    # ------------------------------------------------------------------------------------------------ updates
    def noticed(self, notice: Notice, *, deadline: float | None = None) -> None:
        """Begin the player's turn, after the opponent's turn, if there was one.

        Parameters
        ----------
        deadline
            A moment of :func:`time.monotonic`, after which the set becomes a sample of the positions found until then;
            None reads no clock.

        Raises
        ------
        ViewError
            No position agrees although the set is exact: the observations contradict one another. The set is then left
            as it was.
        """
        # A player that moves first begins without an opponent's turn.
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
        # A captured pawn that has just made its double step may have been captured en passant instead.
        landing = captured >> 8 if captured and captured == self.passed else 0
        arguments = (mine[board.WHITE], mine[board.PAWN], np.uint64(captured), np.uint64(landing), TABLES)

        def successors(sources: Words, start: int, stop: int, out: Words, room: int, counts: Ints) -> int:
            return int(kernels.successors(sources, start, stop, *arguments, out, room, counts))

        self._key = self._next_key
        step = across_enemy_move(
            self._positions, successors, key=self._key, cap=self._cap, spare=self._spare, deadline=deadline,
            threads=self._threads, growth=_GROWTH,
        )  # fmt: skip
        if not step.positions.shape[0]:
            self._contradiction("a notice")
            step = self._repaired(required=captured)
        self.successors = step.successors
        if notice.square is not None:
            self.own.lose(notice.square)
        self.passed = 0
        self._fullmove += not self.flipped
        self._keep(step)

    def sensed(self, sensed: Sensed) -> None:
        """Drop the positions that disagree with the result of a sense. Raises as :meth:`noticed`."""
        # The window and the enemy pieces in it, as masks of the viewer's side.
        area = pieces = 0
        expected = np.full(64, -1, dtype=np.int64)
        for square, piece in sensed.contents:
            at = self._square(square)
            area |= 1 << at
            if piece is not None and piece.color != self.own.color:
                pieces |= 1 << at
                expected[at] = piece.piece_type - 1
        kept = int(kernels.keep_sensed(self._positions, np.uint64(area), np.uint64(pieces), expected))
        if kept:
            self._positions = self._positions[:kept]
            return
        self._contradiction("a sense")
        self._keep(self._repaired(area=area, required=pieces, seen=pieces, expected=expected))

    def moved(self, moved: Moved) -> None:
        """Drop the positions that disagree with the result of the player's request, and remove the captured piece.
        Raises as :meth:`noticed`. If no position is left because the king was captured, the game is over and the set
        stays as it was.
        """
        request = self.code(moved.requested)
        taken = self.code(moved.taken)
        capture = -1 if moved.capture_square is None else self._square(moved.capture_square)
        mine = self.own_row
        steps = self._any_double_step()
        kept = int(kernels.keep_moved(self._positions, _NO_WEIGHTS, mine, request, taken, capture, TABLES))
        # Update the own half, also if no position is left.
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
            self._keep(self._repaired(captured=0 if capture < 0 else 1 << capture))
        elif capture >= 0 or steps:  # positions that differed in the captured piece or a double step are now equal
            self._key = self._next_key
            self._keep(merged(self._positions[:kept], key=self._key, cap=self._cap))
        else:
            self._positions = self._positions[:kept]

    # ------------------------------------------------------------------------------------------------ helpers
    def _any_double_step(self) -> bool:
        """Whether some member has a pawn of code :data:`DOUBLE_STEPPED`, which is one of its groups of four bits."""
        # See ``board.kernels.halves.marks``: an equal group is 0 after the exclusive or.
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

    def _repaired(
        self, *, area: int = 0, required: int = 0, seen: int = 0, expected: Ints | None = None, captured: int = 0
    ) -> Step:
        """Return members of the sample, changed until they agree with the observation: sets of squares, ``area`` those
        that were sensed, the others as in :class:`darkchess.board.position_repair.Observed`.
        """
        own = int(self.own_row[board.WHITE]) & ~required
        kinds = [-1] * 64 if expected is None else expected.tolist()
        known = Observed(own, (own | area) & ~required, required, seen, kinds, captured)
        self.recoveries += 1
        found = repaired(self._positions, known, key_of(int(self._key) + self.recoveries), self._cap)
        return merged(found, key=self._key, cap=self._cap)
