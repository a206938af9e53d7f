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
import subprocess
import time
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import chess
import numpy as np

from darkchess.board.kernels.board import IDENTITY, META, WIDTH
from darkchess.board.kernels.moves import make
from darkchess.board.kernels.orthodox import ASK, LOST, NO_MOVE, WON, classify
from darkchess.board.kernels.tables import TABLES
from darkchess.board.move import encode
from darkchess.board.position import Position
from darkchess.evaluation.evaluator import PAWNS_SCALE, BuiltinEvaluator, Evaluator
from darkchess.evaluation.registry import EvaluatorChoice
from klss.search import Budget
from klss.support.arrays import Bools, Floats, Int8s, Ints, Words
from uci_bridge.child_processes import engine_environment
from uci_bridge.errors import EngineFailed, StockfishMissing
from uci_bridge.stockfish.uci import UciEngine

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
_LETTERS = np.frombuffer(b"PNBRQKpnbrqk1", dtype=np.uint8)

_GO = b"\ngo depth 1\n"
_KEPT = 1 << 19
"""Positions whose values are kept."""

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
    """Stockfish's name with its version, ``Stockfish 15.1``; None if there is none, or it does not report a name."""
    try:
        name = _NAME.search(_said(find_stockfish(path)))
    except StockfishMissing:
        return None
    return None if name is None else name[1].decode("ascii").strip()


def _said(program: str) -> bytes:
    """The output of a program that is asked for its name and a move; empty if it can't be run, or hangs."""
    with contextlib.suppress(OSError, subprocess.TimeoutExpired):
        return _answer(program)
    return b""


@lru_cache  # an exception is not kept: another try may succeed
def _answer(program: str) -> bytes:
    asked = b"uci\nposition startpos\ngo depth 1\nquit\n"
    return subprocess.run(
        [program], input=asked, capture_output=True, timeout=_START_S, check=False, env=engine_environment()
    ).stdout


def _greeting(hash_mb: int) -> bytes:
    return b"uci\nsetoption name Threads value 1\nsetoption name Hash value %d\nucinewgame\nisready\n" % hash_mb


def orthodox_fens(rows: Words) -> list[bytes]:
    """FEN of each of ``rows`` (uint64[n, 9]) for a chess engine: without castling rights whose king or rook is not at
    home, and with the counters ``0 1``.
    """
    count = rows.shape[0]
    # Letter of each square: kind and colour from the bitboards, 12 where it is empty.
    bits = np.unpackbits(
        np.ascontiguousarray(rows[:, :8]).view(np.uint8).reshape(count, 8, 8), axis=2, bitorder="little"
    ).reshape(count, 8, 64)
    pieces = np.full((count, 64), 12, dtype=np.uint8)
    for piece in range(6):
        pieces[bits[:, piece] & bits[:, 6] != 0] = piece
        pieces[bits[:, piece] & bits[:, 7] != 0] = piece + 6
    # Eight ranks of letters, the eighth rank first, one line per position.
    board = np.full((count, 8, 9), ord("/"), dtype=np.uint8)
    board[:, :, :8] = _LETTERS[pieces].reshape(count, 8, 8)[:, ::-1]
    board[:, 7, 8] = ord("\n")
    # Castling rights whose king and rook stand at home: bits K, Q, k, q.
    home = (pieces[:, 4] == 5, pieces[:, 60] == 11)
    kept = np.zeros(count, dtype=np.int64)
    for right, (king, corner, rook) in enumerate(
        ((home[0], 7, 3), (home[0], 0, 3), (home[1], 63, 9), (home[1], 56, 9))
    ):
        kept |= (king & (pieces[:, corner] == rook)).astype(np.int64) << right
    rights = (rows[:, 8] >> np.uint64(1)).astype(np.int64) & 15 & kept
    # The other fields come from a table. Runs of empty squares become their length, the longest first, as a shorter
    # one would cut a longer one into pieces.
    ep = (rows[:, 8] >> np.uint64(8)).astype(np.int64) & 0x7F
    side = (rows[:, 8] & np.uint64(1)).astype(np.int64)
    text = board.tobytes()
    for empty in range(8, 1, -1):
        text = text.replace(b"1" * empty, b"%d" % empty)
    tails = _fen_tails()
    return [fen + tails[key] for fen, key in zip(text.split(b"\n"), zip(side.tolist(), rights.tolist(), ep.tolist()))]


@lru_cache(maxsize=1)
def _fen_tails() -> dict[tuple[int, int, int], bytes]:
    castling = ["".join(letter for i, letter in enumerate("KQkq") if rights >> i & 1) or "-" for rights in range(16)]
    squares = ["-"] + [file + rank for rank in "12345678" for file in "abcdefgh"]
    return {
        (side, rights, ep): f" {'wb'[side]} {castling[rights]} {squares[ep]} 0 1".encode()
        for side in range(2)
        for rights in range(16)
        for ep in range(65)
    }


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
    """The children of the parents that are asked: which still need a value, and the values."""

    def __init__(self, rows: Words, offsets: Ints, child_rows: Words, wanted: Bools, out: Floats) -> None:
        self.wanted, self.out = wanted, out
        self._rows, self._offsets, self._child_rows = rows, offsets, child_rows
        # Parents that may be asked, and have a child that needs a value.
        open_children = np.diff(np.concatenate([[0], np.cumsum(wanted)])[offsets])
        self.parents = np.flatnonzero((_classified(rows) == ASK) & (open_children > 0))

    def take(self, parent: int, scores: dict[bytes, tuple[bytes, bytes]]) -> list[int]:
        """Value a parent's children by the scores of its moves, negated for the other side; return their places."""
        child = np.empty(WIDTH, dtype=np.uint64)
        first, end = self._offsets[parent : parent + 2].tolist()
        places = {self._child_rows[place, :META].tobytes(): place for place in range(first, end)}
        valued = []
        for move, score in scores.items():
            make(self._rows[parent], _code(move), TABLES, child)
            place = places.get(child[:META].tobytes())
            if place is not None and self.wanted[place]:
                self.out[place] = -_cached_value(*score)
                self.wanted[place] = False
                valued.append(place)
        return valued


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
        self._values: dict[bytes, float] = {}
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
        out, unknown, keys = self._settled(rows)
        if not unknown.size:
            return out
        left = []
        for place, answer in zip(unknown.tolist(), self._ask(rows[unknown], _GO, _SINGLE, deadline)):
            value = score_of(answer or b"")
            if not math.isnan(value):
                out[place] = value
                self._keep(keys[place], value)
            else:
                left.append(place)
        self._stand_in(rows, np.array(left, dtype=np.int64), out, len(left))
        return out

    def child_values(
        self, rows: Words, move_offsets: Ints, child_rows: Words, *, deadline: float | None = None
    ) -> Floats:
        """See :meth:`darkchess.evaluation.evaluator.Evaluator.child_values`; one question for each parent, whose answer
        has all its children.
        """
        rows, offsets = np.ascontiguousarray(rows), np.ascontiguousarray(move_offsets)
        child_rows = np.ascontiguousarray(child_rows)
        out, unknown, keys = self._settled(child_rows)
        if not unknown.size:
            return out
        wanted = np.zeros(child_rows.shape[0], dtype=np.bool_)
        wanted[unknown] = True
        children = _Children(rows, offsets, child_rows, wanted, out)
        asking, unanswered = children.parents, 0
        for parent, answer in zip(asking.tolist(), self._ask(rows[asking], _GO, _ALL_MOVES, deadline)):
            scores = _at_depth(answer or b"", 1) or {}
            unanswered += not scores
            for place in children.take(parent, scores):
                self._keep(keys[place], float(out[place]))
        self._stand_in(child_rows, np.flatnonzero(wanted), out, unanswered)
        return out

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
        codes, out = self._by_rules(child_rows)
        wanted = (codes == ASK) | (codes > NO_MOVE)
        children = _Children(rows, offsets, child_rows, wanted, out)
        visited, unanswered, whole = self._searched_parents(rows, children, depth + 1, budget, deadline)
        if not whole:
            return None, visited
        # Children that no answer had: a search of one ply by the built-in evaluator.
        left = np.flatnonzero(wanted)
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

    def new_game(self) -> None:
        """Forget the values."""
        self._values.clear()
        self._fallback.new_game()

    def close(self) -> None:
        """End the process; later questions go to the built-in evaluator."""
        self.engine.close()

    def _ask(self, rows: Words, go: bytes, settings: bytes, deadline: float | None) -> list[bytes | None]:
        """The answers to ``go`` in each of ``rows``; None where there is none by ``deadline``."""
        time_s = float("inf") if deadline is None else deadline - time.monotonic()
        questions = [self._forget + b"position fen " + fen + go for fen in orthodox_fens(rows)]
        return self.engine.ask(questions, settings, time_s)

    def _by_rules(self, rows: Words) -> tuple[Int8s, Floats]:
        """The kind of each position, and its value if the rules give one, else 0."""
        codes = _classified(rows)
        return codes, np.select([codes == WON, codes == LOST, codes == NO_MOVE], [1.0, -1.0, self._no_move_value], 0.0)

    def _settled(self, rows: Words) -> tuple[Floats, Ints, list[bytes]]:
        """Values of the positions that the rules, the cache or the built-in evaluator give; the places of the others;
        every position's key in the cache.
        """
        codes, out = self._by_rules(rows)
        foreign = np.flatnonzero(codes > NO_MOVE)
        if foreign.size:
            out[foreign] = self._fallback.values(rows[foreign])
        identities = rows.copy()
        identities[:, 8] &= IDENTITY
        text = identities.tobytes()
        keys = [text[i : i + 72] for i in range(0, len(text), 72)]
        unknown = []
        for place in np.flatnonzero(codes == ASK).tolist():
            value = self._values.get(keys[place])
            if value is None:
                unknown.append(place)
            else:
                out[place] = value
        return out, np.array(unknown, dtype=np.int64), keys

    def _keep(self, key: bytes, value: float) -> None:
        """Keep a value; if there are too many, all earlier ones are dropped."""
        if len(self._values) >= _KEPT:
            self._values.clear()
        self._values[key] = value

    def _note(self, unanswered: int) -> None:
        """Count and log the questions that Stockfish left unanswered."""
        if unanswered:
            self.fallbacks += unanswered
            log.warning("Stockfish left %d questions unanswered; the built-in evaluator answers them", unanswered)

    def _stand_in(self, rows: Words, places: Ints, out: Floats, unanswered: int) -> None:
        """Let the built-in evaluator value ``rows[places]``; such values are not cached."""
        self._note(unanswered)
        if places.size:
            out[places] = self._fallback.values(rows[places])
