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
from importlib import resources

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

KING = 1000
"""Worth of a king, in pawns: more than that of all other pieces."""

_WORTH = np.array([1, 3, 3, 5, 9, KING], dtype=np.int64)
_WORTH.setflags(write=False)

CLEAR = 2
"""Least advantage of the right move over every other move, in pawns."""

THEMES = {
    "force": "One move makes the king fall next, whatever the fog hides and whatever is answered. Find it.",
    "save": "Your king may be attacked. Only one move is sure to keep it.",
    "win": "Only one move is sure to win material, whatever the fog hides.",
    "keep": "Only one move is sure to lose nothing, whatever the fog hides.",
}
"""The kinds of puzzles, and the task of each."""

_LEAST_SHARE = 0.05
"""Smallest share of the possible positions in which each other move must fall short: a danger in one of a thousand
positions gives a proof, but not a good puzzle.
"""


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


class Study:
    """A turn, with the balances of its moves in every position that the mover can't rule out.

    Parameters
    ----------
    rows : uint64[n, 9]
        Those positions.
    moves
        The mover's moves.
    """

    def __init__(self, rows: Words, moves: tuple[chess.Move, ...]) -> None:
        self._rows, self.moves = rows, moves

    def _balances(self, bounded_above: bool) -> Ints:
        out: Ints = np.empty((len(self.moves), len(self._rows), LINE), dtype=np.int64)
        codes = np.array([encode(move) for move in self.moves], dtype=np.int32)
        balances(self._rows, codes, _WORTH, bounded_above, TABLES, out)
        return out

    @cached_property
    def _sure(self) -> Ints:
        sure: Ints = self._balances(False)[:, :, LEAST].min(axis=1)
        return sure

    @cached_property
    def _bounded(self) -> Ints:
        return self._balances(True)

    @cached_property
    def right(self) -> tuple[chess.Move, Proof] | None:
        """The right move, with its proof; None if there is none."""
        # The lower bounds alone rule out most turns, in a tenth of the time.
        best = int(np.argmax(self._sure))
        sure = int(self._sure[best])
        others = np.arange(len(self.moves)) != best
        if not others.any() or sure < 0 or int(self._sure[others].max()) > sure - CLEAR or self._takes_king(best):
            return None
        reached = self._bounded[others, :, MOST]
        short = (reached <= sure - CLEAR).mean(axis=1).min()
        proof = Proof(len(self._rows), sure, int(reached.min(axis=1).max()), round(float(short), 3))
        return None if short < _LEAST_SHARE else (self.moves[best], proof)

    def _takes_king(self, move: int) -> bool:
        """Whether a move takes the king: a king that can be taken is seen, so that is no puzzle."""
        taken = Position(self._rows[0]).piece_at(self.moves[move].to_square)
        return taken is not None and taken.piece_type == chess.KING

    def theme(self) -> str:
        """Return the theme of the right move."""
        assert self.right is not None
        _, proof = self.right
        if proof.sure >= KING:
            return "force"
        if proof.next <= -KING:
            return "save"
        return "win" if proof.sure >= CLEAR else "keep"

    def refutation(self, move: chess.Move) -> Refutation:
        """Return the position, and the reply, in which the balance of ``move`` is smallest."""
        reached = self._bounded[self.moves.index(move)]
        at = int(np.argmin(reached[:, MOST]))
        reply = int(reached[at, REPLY])
        return Refutation(Position(self._rows[at]), None if reply < 0 else decode(reply), int(reached[at, MOST]))


@dataclass(frozen=True)
class Puzzle:
    """One turn of a game, with the right move."""

    theme: str  # one of :data:`THEMES`
    moves: tuple[chess.Move, ...]  # the true game up to the turn, which a solver does not see
    solution: chess.Move
    proof: Proof
    fen: str | None  # the start of the game, known to both players; None: the usual one
    source: str  # the game that it is from
    solved: Mapping[str, float]  # the share of attempts in which each of some players found the solution, by names

    @property
    def rating(self) -> float:
        """The mean share of attempts in which the players found the solution."""
        return sum(self.solved.values()) / len(self.solved)

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
    def study(self) -> Study:
        """The study of the turn."""
        return Study(self.known.rows(np.arange(self.known.size)), self.game.legal_moves())

    def against(self, answer: chess.Move | None) -> Refutation | None:
        """Return why an answer is wrong; None if it is right, or if there is no answer."""
        return None if answer in (None, self.solution) else self.study.refutation(answer)

    def proved(self) -> bool:
        """Whether theme, solution and proof follow from the moves, with everything computed again."""
        return self.study.right == (self.solution, self.proof) and self.study.theme() == self.theme

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
    """Return the packaged puzzles, in the order of their file."""
    text = resources.files("darkchess.fog.analysis").joinpath("data/puzzles.jsonl").read_text(encoding="utf-8")
    found = []
    for fields in map(json.loads, text.splitlines()):
        fields["moves"] = tuple(map(chess.Move.from_uci, fields["moves"].split()))
        fields["solution"] = chess.Move.from_uci(fields["solution"])
        fields["proof"] = Proof(**fields["proof"])
        found.append(Puzzle(**fields))
    return found
