"""Puzzles: turns of real games at which exactly one move is right, with a proof from what the mover knows.

A move is *sure* of a gain if it has at least this gain in every possible position and after every reply. It is right if
it is sure to lose nothing, and if every other move gains at least :data:`CLEAR` pawns less in some possible position,
even if the mover may capture once more after the reply. Only material counts, in the usual worth of the pieces, and a
king counts more than all of it (:mod:`darkchess.fog.analysis._kernels.sure`).

This is on the referee's side: a puzzle is a whole game up to its turn. A solver is shown only the mover's views.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import chess
import numpy as np

from darkchess.board.kernels.tables import TABLES
from darkchess.board.move import decode, encode
from darkchess.board.position import Position
from darkchess.fog.analysis._kernels.sure import LEAST, LINE, MOST, REPLY, balances
from darkchess.fog.belief.position_set import PositionSet
from darkchess.fog.game.referee import Referee
from darkchess.fog.game.view import View
from klss.support.arrays import Ints, Words
from klss.support.text import Document

PACKAGED = Path(__file__).parent / "data" / "puzzles.jsonl"
"""The packaged puzzles."""

KING = 1000
"""Worth of a king, in pawns: more than that of all other pieces."""

_WORTH = np.array([1, 3, 3, 5, 9, KING], dtype=np.int64)
_WORTH.setflags(write=False)

CLEAR = 2
"""Least advantage of the right move over every other move, in pawns."""

_LEAST_SHARE = 0.05
"""Smallest share of the possible positions in which each other move must fall short: a danger in one of a thousand
positions gives a proof, but not a good puzzle.
"""

THEMES = {
    "force": "One move makes the king fall next, whatever the fog hides and whatever is answered. Find it.",
    "save": "Your king may be attacked. Only one move is sure to keep it.",
    "win": "Only one move is sure to win material, whatever the fog hides.",
    "keep": "Only one move is sure to lose nothing, whatever the fog hides.",
}
"""The kinds of puzzles, and the task of each."""


@dataclass(frozen=True)
class Refutation:
    """A reason why a move is not right: a possible position, and the reply (None: the move itself decides) after which
    the balance is only ``balance`` pawns, even if the mover captures once more.
    """

    position: Position
    reply: chess.Move | None
    balance: int


@dataclass(frozen=True)
class Proof:
    """The figures of a proof, over all possible positions (``positions`` of them): the right move is sure of ``sure``
    pawns, the next best of at most ``next``, and each other move falls short in at least the share ``short`` of them.
    """

    positions: int
    sure: int
    next: int
    short: float


def material(rows: Words, moves: tuple[chess.Move, ...], *, bounded_above: bool) -> Ints:
    """Return the balances of the mover's ``moves`` in each of ``rows``: int64[m, n, 3], the columns ``LEAST``, ``MOST``
    and ``REPLY`` of :func:`darkchess.fog.analysis._kernels.sure.balances`.
    """
    out: Ints = np.empty((len(moves), len(rows), LINE), dtype=np.int64)
    balances(rows, np.array([encode(move) for move in moves], dtype=np.int32), _WORTH, bounded_above, TABLES, out)
    return out


def proved(rows: Words, moves: tuple[chess.Move, ...]) -> tuple[str, chess.Move, Proof] | None:
    """Return theme, right move and proof of a turn with these possible positions, uint64[n, 9]; None: it has none."""
    # The lower bounds alone rule out most turns, in a tenth of the time.
    lowest = material(rows, moves, bounded_above=False)[:, :, LEAST].min(axis=1)
    best = int(lowest.argmax())
    sure, others = int(lowest[best]), np.arange(len(moves)) != best
    taken = Position(rows[0]).piece_at(moves[best].to_square)
    sees_king = taken is not None and taken.piece_type == chess.KING
    if sure < 0 or sees_king or int(lowest[others].max()) > sure - CLEAR:
        return None
    reached = material(rows, moves, bounded_above=True)[others, :, MOST]
    short, falls = float((reached <= sure - CLEAR).mean(axis=1).min()), int(reached.min(axis=1).max())
    theme = "force" if sure >= KING else "save" if falls <= -KING else "win" if sure >= CLEAR else "keep"
    return None if short < _LEAST_SHARE else (theme, moves[best], Proof(len(rows), sure, falls, round(short, 3)))


@dataclass(frozen=True)
class Puzzle:
    """One turn of a game, with the right move."""

    theme: str  # one of :data:`THEMES`
    moves: tuple[chess.Move, ...]  # the true game up to the turn, which a solver does not see
    solution: chess.Move
    proof: Proof
    fen: str | None  # the start of the game, known to both players; None: the usual one
    source: str  # the game that it is from
    # the share of attempts in which each level found the solution, from 1 to the first that did in most
    solved: Mapping[str, float]

    @classmethod
    def read(cls, fields: Mapping[str, Any]) -> Puzzle:
        """Return the puzzle of a document of :meth:`document`."""
        moves = tuple(map(chess.Move.from_uci, fields["moves"].split()))
        solution, proof = chess.Move.from_uci(fields["solution"]), Proof(**fields["proof"])
        return cls(**{**fields, "moves": moves, "solution": solution, "proof": proof})

    @property
    def rating(self) -> float:
        """The mean share of attempts in which the players found the solution."""
        return sum(self.solved.values()) / len(self.solved)

    @property
    def level(self) -> int | None:
        """The first level that found the solution in most of its attempts; None: none did."""
        return next((level for level, share in enumerate(self.solved.values(), 1) if share > 0.5), None)

    @cached_property
    def game(self) -> Referee:
        """The true game up to the turn."""
        return Referee.replay(self.moves, self.fen)

    @property
    def color(self) -> chess.Color:
        """The player that must find the move."""
        return self.game.turn

    @property
    def views(self) -> tuple[View, ...]:
        """That player's views."""
        return self.game.views(self.color)

    @cached_property
    def known(self) -> PositionSet:
        """That player's position set."""
        known = PositionSet(self.views[0], self.game.positions[0])
        for view in self.views[1:]:
            known.observe(view)
        return known

    @cached_property
    def rows(self) -> Words:
        """The positions that this player can't rule out: uint64[n, 9]."""
        return self.known.rows(np.arange(self.known.size))

    def against(self, answer: chess.Move | None) -> Refutation | None:
        """Return why an answer is wrong: the position, and the reply, in which its balance is smallest; None if it is
        right, or if there is no answer.
        """
        if answer is None or answer == self.solution:
            return None
        (reached,) = material(self.rows, (answer,), bounded_above=True)
        at = int(np.argmin(reached[:, MOST]))
        reply = int(reached[at, REPLY])
        return Refutation(Position(self.rows[at]), None if reply < 0 else decode(reply), int(reached[at, MOST]))

    def document(self) -> Document:
        """Return the puzzle as a JSON document."""
        return {
            "theme": self.theme,
            "fen": self.fen,
            "moves": " ".join(move.uci() for move in self.moves),
            "solution": self.solution.uci(),
            "proof": vars(self.proof),
            "source": self.source,
            "solved": dict(self.solved),
        }


def packaged_puzzles() -> list[Puzzle]:
    """Return the packaged puzzles, in the order of their file: easy ones first."""
    return [Puzzle.read(json.loads(line)) for line in PACKAGED.read_text(encoding="utf-8").splitlines()]
