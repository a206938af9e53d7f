"""Stockfish as an :class:`darkchess.evaluation.evaluator.Evaluator`, over UCI.

A position is worth tanh(pawns/6) of Stockfish's score at depth 1 (Zhang & Sandholm 2021, §6). The children of an
expansion are valued by one search of depth 1 with all moves listed (``MultiPV``) at their parent: ten times as many a
second, and as accurate (docs/notebook/evaluator.md, "Stockfish as an evaluator").

Stockfish is never asked about a position in which the side to move can take the king or a king is missing (chess
engines crash on it), or whose value follows from docs/rules.md: every move loses the king, or there is none. The
built-in evaluator values other positions that are impossible in chess, and all questions that stay unanswered. Castling
rights without king and rook at home are stripped.

*Deviation*: values of an expansion come from the parent's search, not from one of each child. Castling out of, through
or into an attack, which chess forbids, is valued by the built-in evaluator. A perfect-information search of the
children (:meth:`StockfishEvaluator.search_values`) is also a search of the parent, one ply deeper; where the built-in
evaluator has to replace it, that looks one ply ahead.
"""

from __future__ import annotations

import contextlib
import logging
import math
import os
import re
import shutil
import time
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import chess
import numpy as np

from darkchess.board.kernels.board import META, WIDTH
from darkchess.board.kernels.moves import make
from darkchess.board.kernels.orthodox import ASK, LOST, NO_MOVE, WON, classify
from darkchess.board.kernels.tables import TABLES
from darkchess.board.move import encode
from darkchess.board.position import Position
from darkchess.evaluation.evaluator import PAWNS_SCALE, BuiltinEvaluator, Evaluator
from darkchess.evaluation.registry import EvaluatorChoice
from klss.search import Budget
from klss.support.arrays import Floats, Int8s, Ints, Words
from uci_bridge.errors import EngineFailed, StockfishMissing
from uci_bridge.protocol.engine_process import EngineProcess
from uci_bridge.stockfish.uci import UciEngine, said_until

log = logging.getLogger(__name__)

DEBIAN_STOCKFISH = "/usr/games/stockfish"
"""The path in Debian's package, which is often not on PATH."""

_SINGLE = b"setoption name MultiPV value 1\n"
_ALL_MOVES = b"setoption name MultiPV value 256\n"
"""256: more lines than a position has moves."""

_SCORE = re.compile(rb"score (cp|mate) (-?\d{1,6})\b(?! (?:lower|upper)bound)")
_DEPTH_LINE = re.compile(
    rb"depth (\d+) [^\n]*?multipv \d+ score (cp|mate) (-?\d{1,6})\b(?! (?:lower|upper)bound)"
    rb"[^\n]*? pv ([a-h][1-8][a-h][1-8][nbrq]?)\b"
)
_NAME = re.compile(rb"^id name ([ -~]{1,40})", re.MULTILINE)
_NODES = re.compile(rb"\bnodes (\d+)")
_CORNERS = (chess.BB_H1, chess.BB_A1, chess.BB_H8, chess.BB_A8)
"""The rooks of the castling rights, in the order of META's bits."""

_GO = b"\ngo depth 1\n"

_TOGETHER = 8
"""Parents that are searched between two checks of the budget."""

_START_S = 10.0
"""Time limit in seconds for a program to show that it is an engine."""

_SEARCH_S = 0.25
"""Most seconds for the search of one parent: Stockfish is silent meanwhile, and must not be taken for hung."""


def find_stockfish(path: str | os.PathLike[str] | None = None) -> str:
    """Path of the Stockfish to use: ``path`` if given, else ``KLSS_STOCKFISH``, else ``stockfish`` on PATH, else
    Debian's path. Raises StockfishMissing: the named program can't be executed, or none was named and none was found.
    """
    named = os.environ.get("KLSS_STOCKFISH") if path is None else os.fspath(path)
    found = shutil.which(named) if named else shutil.which("stockfish") or shutil.which(DEBIAN_STOCKFISH)
    if named and found is None:
        raise StockfishMissing(f"Stockfish: got {named!r}, expected the path of a program that can be executed")
    if found is None:
        raise StockfishMissing(
            f"Stockfish: got none on PATH or at {DEBIAN_STOCKFISH}, expected one; "
            "install it (apt install stockfish), or let KLSS_STOCKFISH be its path"
        )
    return found


def stockfish_version(path: str | None = None) -> str | None:
    """Stockfish's name with its version, ``Stockfish 15.1``; None if there is none, or it reports no name or move."""
    try:
        name = _NAME.search(_said(find_stockfish(path)))
    except StockfishMissing:
        return None
    return None if name is None else name[1].decode("ascii").strip()


def _said(program: str) -> bytes:
    """The output of a program that is asked for its name and a move; empty if it makes no move."""
    with contextlib.suppress(OSError):
        return _answer(program)
    return b""


@lru_cache  # an exception is not kept: another try may succeed
def _answer(program: str) -> bytes:
    process, until = EngineProcess([program]), time.monotonic() + _START_S
    try:
        process.start()
        process.send(b"uci\nposition startpos" + _GO, until)
        return said_until(b"bestmove", process, lambda: until)
    finally:
        process.kill()


def _greeting(hash_mb: int) -> bytes:
    return b"uci\nsetoption name Threads value 1\nsetoption name Hash value %d\nucinewgame\nisready\n" % hash_mb


def orthodox_fens(rows: Words) -> list[bytes]:
    """FEN of each of ``rows`` (uint64[n, 9]) for a chess engine: without castling rights whose king or rook is not at
    home, and with the counters ``0 1``.
    """
    fens, here = [], chess.Board(None)
    for *pieces, white, black, meta in rows.tolist():
        here.pawns, here.knights, here.bishops, here.rooks, here.queens, here.kings = pieces
        here.occupied_co, here.occupied = [black, white], white | black
        passed = meta >> 8 & 0x7F
        here.turn, here.ep_square = not meta & 1, passed - 1 if passed else None
        here.castling_rights = sum(corner for at, corner in enumerate(_CORNERS, 1) if meta >> at & 1)
        fens.append(here.fen(en_passant="fen").encode())
    return fens


@lru_cache(maxsize=1 << 15)
def _code(move: bytes) -> int:
    """The code of a UCI move that the kernels use."""
    return encode(chess.Move.from_uci(move.decode()))


def _at_depth(answer: bytes, depth: int) -> dict[bytes, tuple[bytes, bytes]] | None:
    """Move → score of a search of all moves at ``depth``; None if it was stopped before it had all of them there."""
    lines = _DEPTH_LINE.findall(answer)
    every = {move for _, _, _, move in lines}
    found = {move: (kind, number) for at, kind, number, move in lines if int(at) == depth}
    return found if found and len(found) == len(every) else None


def score_of(answer: bytes) -> float:
    """Value of the last score in Stockfish's answer; NaN if there is none."""
    scores = _SCORE.findall(answer)
    return _cached_value(*scores[-1]) if scores else math.nan


def _nodes(answer: bytes) -> int:
    """Nodes of a search, by the last line of its answer that has them."""
    counted = _NODES.findall(answer)
    return int(counted[-1]) if counted else 0


def _classified(rows: Words) -> Int8s:
    """The kind of each of ``rows``: ASK, WON, LOST, NO_MOVE, or a larger code for positions impossible in chess."""
    codes = np.empty(rows.shape[0], dtype=np.int8)
    classify(rows, TABLES, codes)
    return codes


class _Children:
    """The children of the parents that are asked, and their values ``out``: NaN where one is still needed."""

    def __init__(self, rows: Words, offsets: Ints, child_rows: Words, out: Floats) -> None:
        self._rows, self._offsets, self._child_rows, self._out = rows, offsets, child_rows, out
        # Parents that may be asked, and have a child that needs a value.
        open_children = np.diff(np.concatenate([[0], np.cumsum(np.isnan(out))])[offsets])
        self.parents = np.flatnonzero((_classified(rows) == ASK) & (open_children > 0))

    def take(self, parent: int, scores: dict[bytes, tuple[bytes, bytes]]) -> None:
        """Value a parent's children by the scores of its moves, negated for the other side."""
        child = np.empty(WIDTH, dtype=np.uint64)
        first, end = self._offsets[parent : parent + 2].tolist()
        places = {self._child_rows[place, :META].tobytes(): place for place in range(first, end)}
        for move, score in scores.items():
            make(self._rows[parent], _code(move), TABLES, child)
            place = places.get(child[:META].tobytes())
            if place is not None and np.isnan(self._out[place]):
                self._out[place] = -_cached_value(*score)


@lru_cache(maxsize=1 << 16)
def _cached_value(kind: bytes, number: bytes) -> float:
    """Value of a UCI score: of centipawns by tanh, of a mate ±1."""
    if kind == b"mate":
        return 1.0 if int(number) > 0 else -1.0
    return float(np.tanh(int(number) / (100.0 * PAWNS_SCALE)))


class StockfishEvaluator(Evaluator):
    """Values by a Stockfish process, which is started again if it dies or hangs; the built-in evaluator values what it
    leaves unanswered. Raises StockfishMissing: there is no such program, or it does not speak UCI.
    """

    def __init__(
        self,
        path: str | os.PathLike[str] | None = None,  # the program; see ``find_stockfish``
        *,
        arguments: Sequence[str] = (),
        # the same calls give the same values: a small hash table, everything forgotten before each question (half the
        # speed), more patience with silence
        reproducible: bool = False,
        # value for a side to move without any move, by the ruleset: −1 (``paper``) or 0 (``pychess``)
        no_move_value: float = -1.0,
        # seconds of silence after which an engine is taken for hung; 0.4 by default, 10 if reproducible
        silence_s: float | None = None,
        start_s: float = _START_S,
    ) -> None:
        self.path = find_stockfish(path)
        self.fallbacks = 0  # questions that Stockfish left unanswered so far (int)
        self._fallback = BuiltinEvaluator()
        self._no_move_value = no_move_value
        self._forget = b"ucinewgame\n" if reproducible else b""
        silence_s = silence_s if silence_s is not None else 10.0 if reproducible else 0.4
        self.engine = UciEngine([self.path, *arguments], _greeting(1 if reproducible else 16), silence_s, start_s)
        try:
            self.engine.start()
        except EngineFailed as fault:
            self.engine.close()
            raise StockfishMissing(
                f"Stockfish: {Path(self.path).name} was started, but {fault}; expected an engine that speaks UCI"
            ) from None
        self._warm_up()

    @classmethod
    def make(cls, choice: EvaluatorChoice, *, threads: int = 1, no_move_value: float = -1.0) -> StockfishEvaluator:
        return cls(choice.stockfish, reproducible=choice.reproducible, no_move_value=no_move_value)

    @classmethod
    def label(cls, choice: EvaluatorChoice) -> str:
        """Stockfish's own name."""
        return stockfish_version(choice.stockfish) or "Stockfish"

    @classmethod
    def check(cls, choice: EvaluatorChoice) -> None:
        """Start Stockfish and let it move."""
        found = find_stockfish(choice.stockfish)
        if b"bestmove " not in _said(found):
            raise StockfishMissing(f"Stockfish: got {found!r}, which made no move; expected an engine that speaks UCI")

    @classmethod
    def versions(cls, choice: EvaluatorChoice) -> dict[str, str | None]:
        return {"stockfish": stockfish_version(choice.stockfish)}

    def _warm_up(self) -> None:
        """Compile or load every kernel that valuing needs, before any clock runs."""
        row = np.array(Position.start().row)[None]
        _classified(row)
        make(row[0], 9, TABLES, np.empty(WIDTH, dtype=np.uint64))
        self._fallback.values(row)
        self._ply_ahead(row, -1.0)

    def values(self, rows: Words, *, deadline: float | None = None) -> Floats:
        """See :meth:`darkchess.evaluation.evaluator.Evaluator.values`; each position is a question of its own."""
        rows = np.ascontiguousarray(rows)
        codes, out = self._by_rules(rows)
        asked = np.flatnonzero(codes == ASK)
        out[asked] = [score_of(answer or b"") for answer in self._ask(rows[asked], _GO, _SINGLE, deadline)]
        return self._completed(rows, out, int(np.isnan(out[asked]).sum()))

    def child_values(
        self, rows: Words, move_offsets: Ints, child_rows: Words, *, deadline: float | None = None
    ) -> Floats:
        """See :meth:`darkchess.evaluation.evaluator.Evaluator.child_values`; one question for each parent, whose answer
        has all its children.
        """
        rows, offsets = np.ascontiguousarray(rows), np.ascontiguousarray(move_offsets)
        child_rows = np.ascontiguousarray(child_rows)
        _, out = self._by_rules(child_rows)
        children, unanswered = _Children(rows, offsets, child_rows, out), 0
        asked = children.parents
        for parent, answer in zip(asked.tolist(), self._ask(rows[asked], _GO, _ALL_MOVES, deadline)):
            scores = _at_depth(answer or b"", 1) or {}
            unanswered += not scores
            children.take(parent, scores)
        return self._completed(child_rows, out, unanswered)

    def search_values(
        self,
        rows: Words,
        move_offsets: Ints,
        child_rows: Words,
        depth: int,
        budget: Budget,
        no_move_value: float,
        *,
        deadline: float | None = None,
    ) -> tuple[Floats | None, int]:
        """See :meth:`darkchess.evaluation.evaluator.Evaluator.search_values`: a search of each parent with all moves
        listed, ``depth`` + 1 plies deep. ``no_move_value`` is for the built-in evaluator; Stockfish has its own.

        Searches that a budget of nodes stops are stopped by Stockfish itself, at the same node every time in the
        reproducible mode. Too little time for the next parents is noticed before they are asked, and each search is
        given its share only, so that no engine has to be killed for being late.
        """
        rows, offsets = np.ascontiguousarray(rows), np.ascontiguousarray(move_offsets)
        child_rows = np.ascontiguousarray(child_rows)
        _, out = self._by_rules(child_rows)
        children = _Children(rows, offsets, child_rows, out)
        visited, unanswered, whole = self._searched_parents(rows, children, depth + 1, budget, deadline)
        if not whole:
            return None, visited
        # Children that no answer had: a search of one ply by the built-in evaluator.
        left = np.flatnonzero(np.isnan(out))
        if left.size:
            out[left], more = self._ply_ahead(child_rows[left], no_move_value)
            visited += more
        self._note(unanswered)
        return out, visited

    def _searched_parents(
        self, rows: Words, children: _Children, depth: int, budget: Budget, deadline: float | None
    ) -> tuple[int, int, bool]:
        """Search the parents of ``children``: nodes visited, searches unanswered, and whether the budget was enough."""
        visited, unanswered = 0, 0
        for at in range(0, len(children.parents), _TOGETHER):
            # A batch of parents at a time, each within its share of what is left.
            batch = children.parents[at : at + _TOGETHER]
            limit = self._share(budget, visited, len(batch))
            if limit is None:
                return visited, unanswered, False
            go = b"\ngo depth %d%s\n" % (depth, limit)
            for parent, answer in zip(batch.tolist(), self._ask(rows[batch], go, _ALL_MOVES, deadline)):
                if answer is None:
                    unanswered += 1
                    continue
                visited += _nodes(answer)
                scores = _at_depth(answer, depth)
                if scores is None:
                    return visited, unanswered, False
                children.take(parent, scores)
        return visited, unanswered, True

    def _ply_ahead(self, rows: Words, no_move_value: float) -> tuple[Floats, int]:
        """Values by the built-in evaluator's search of one ply, without the parents."""
        values, visited = self._fallback.search_values(
            rows[:0], np.zeros(1, dtype=np.int64), rows, 1, Budget(nodes=1 << 40), no_move_value
        )
        assert values is not None
        return values, visited

    def _share(self, budget: Budget, visited: int, parents: int) -> bytes | None:
        """The end of the ``go`` command for the next ``parents``; None if no budget is left for them."""
        if budget.nodes is not None:
            nodes = int(budget.nodes_left(visited)) // parents
            return b" nodes %d" % nodes if nodes > 0 else None
        if budget.seconds is None:
            return b""
        each_ms = int(1000.0 * min(_SEARCH_S, budget.left() / (parents + 1)))
        return b" movetime %d" % each_ms if each_ms > 0 else None

    def close(self) -> None:
        """End the process; later questions go to the built-in evaluator."""
        self.engine.close()

    def _ask(self, rows: Words, go: bytes, settings: bytes, deadline: float | None) -> list[bytes | None]:
        """The answers to ``go`` in each of ``rows``; None where there is none by ``deadline``."""
        time_s = float("inf") if deadline is None else deadline - time.monotonic()
        questions = [self._forget + b"position fen " + fen + go for fen in orthodox_fens(rows)]
        return self.engine.ask(questions, settings, time_s)

    def _by_rules(self, rows: Words) -> tuple[Int8s, Floats]:
        """The kind of each position, and its value if the rules give one, else NaN."""
        codes, known = _classified(rows), (WON, LOST, NO_MOVE)
        return codes, np.select([codes == kind for kind in known], [1.0, -1.0, self._no_move_value], math.nan)

    def _note(self, unanswered: int) -> None:
        """Count and log the questions that Stockfish left unanswered."""
        if unanswered:
            self.fallbacks += unanswered
            log.warning("Stockfish left %d questions unanswered; the built-in evaluator answers them", unanswered)

    def _completed(self, rows: Words, out: Floats, unanswered: int) -> Floats:
        """Let the built-in evaluator value all of ``rows`` that have no value yet."""
        self._note(unanswered)
        left = np.isnan(out)
        if left.any():
            out[left] = self._fallback.values(rows[left])
        return out
