"""Stockfish with the true position: an upper bound for reference, on the referee's side of the wall.

No command of klss takes it, since it gets the :class:`darkchess.fog.game.referee.Referee` itself
(:class:`uci_bridge.match.engines.Insider`). It takes the king if it can, else plays Stockfish's best move in the true
position. Stockfish knows chess, not dark chess: it never gets a position that is impossible in chess
(:mod:`darkchess.board.kernels.orthodox`), plays no move that chess forbids, and does not foresee draws by repetition,
since it gets positions, not games. If it has no move, or none that is legal here, the built-in evaluator's best is
played.
"""

from __future__ import annotations

import math
import os
import re
import time
from dataclasses import replace

import chess
import numpy as np

from darkchess.board.kernels.moves import king_capture, make
from darkchess.board.kernels.orthodox import ASK, classify
from darkchess.board.kernels.tables import TABLES
from darkchess.board.move import decode, encode
from darkchess.board.position import Position
from darkchess.evaluation.evaluator import BuiltinEvaluator
from darkchess.fog.game.contest import Player, PlayerError, Setup
from darkchess.fog.game.referee import Referee
from darkchess.fog.game.rules import PAPER, Ruleset
from darkchess.fog.game.view import View
from darkchess.fog.players.configuration import Configuration
from klss.table.contest import Decision
from klss.table.limits import Limit, Progress
from klss.table.time_plan import TimePlan
from uci_bridge.evaluators import EvaluatorChoice
from uci_bridge.stockfish.evaluator import find_stockfish, orthodox_fens
from uci_bridge.stockfish.uci import EnginePool

__all__ = ["CheatMaker", "StockfishCheat"]

_GREETING = b"uci\nsetoption name Threads value 1\nsetoption name Hash value 16\nucinewgame\nisready\n"
_START_S = 10.0
_SILENCE_S = 10.0
"""Seconds of silence after which Stockfish counts as hung; each search is asked for less than this."""

_MARGIN_S = 0.02
"""Seconds of a move's limit that are kept back."""

_BEST = re.compile(rb"\bbestmove ([a-h][1-8][a-h][1-8][nbrq]?)\b")


class StockfishCheat(Player):
    """A player of :class:`klss.table.arbiter.Arbiter` that reads the true game; one per game.

    Parameters
    ----------
    referee : Referee
        The game it plays in.
    path : str or os.PathLike, optional
        Stockfish; see :func:`uci_bridge.stockfish.evaluator.find_stockfish`.
    seed : int
        Seed of its slips; without slips it has no effect.
    most_nodes : float
        Most nodes per move; if they are fewer than the move's limit, no clock is read.
    slips : float
        Probability of a random legal move, unless the king can be taken.

    Attributes
    ----------
    fallbacks
        Moves that the built-in evaluator chose (int).

    Raises
    ------
    StockfishMissing
        There is none.
    """

    def __init__(
        self,
        referee: Referee,
        path: str | os.PathLike[str] | None = None,
        *,
        seed: int = 0,
        most_nodes: float = math.inf,
        slips: float = 0.0,
    ) -> None:
        self.fallbacks = 0
        self._most_nodes, self._slips = most_nodes, slips
        self._referee = referee
        self._seed = seed
        self._pool = EnginePool([find_stockfish(path)], _GREETING, 1, _SILENCE_S, _START_S)
        self._builtin = BuiltinEvaluator()

    def start(self, view: View, start: Position, ruleset: Ruleset = PAPER) -> None:
        """Wait until the engine is loaded, so that its start takes no time of a clock; the view is not used."""
        self._pool.start()
        self._pool.send(b"ucinewgame\n")
        self._favourite(start)

    def observe(self, view: View) -> None:
        """Do nothing: the referee is read when a move is due."""

    def choose(self, limit: Limit, progress: Progress | None = None) -> Decision:
        """A move in the true position. With ``nodes``, Stockfish searches that many, and the answer is reproducible."""
        if self._referee.outcome is not None:
            raise PlayerError(f"choose: got a game that is over at ply {self._referee.ply}, expected one that goes on")
        position = self._referee.position
        row = np.array(position.row)
        taking = king_capture(row, TABLES)
        if taking >= 0:
            return Decision(decode(int(taking)), {"by": "rule"})
        rng = np.random.default_rng([self._seed, self._referee.ply])
        if rng.random() < self._slips:
            moves = position.legal_moves()
            return Decision(moves[int(rng.integers(len(moves)))], {"by": "chance"})
        move = self._asked(row, limit)
        if move is not None and position.is_legal(move):
            return Decision(move, {"by": "stockfish"})
        self.fallbacks += 1
        return Decision(self._favourite(position), {"by": "builtin"})

    def close(self) -> None:
        """End the process."""
        self._pool.close()

    def _asked(self, row: np.ndarray[tuple[int], np.dtype[np.uint64]], limit: Limit) -> chess.Move | None:
        """Stockfish's best move; None if it may not be asked or has none."""
        code = np.empty(1, dtype=np.int8)
        classify(row[None], TABLES, code)
        if code[0] != ASK:
            return None
        if math.isfinite(self._most_nodes):
            limit = replace(limit, nodes=int(min(self._most_nodes, limit.nodes or math.inf)))
        seconds = TimePlan(limit).seconds
        began = time.monotonic()
        question = b"position fen " + orthodox_fens(row[None])[0]
        if seconds is None:
            question = b"ucinewgame\n" + question + b"\ngo nodes %d\n" % (limit.nodes or 1)
            patience = float("inf")
        else:
            asked = min(max(0.001, seconds - _MARGIN_S), _SILENCE_S / 2.0)
            question += b"\ngo movetime %d\n" % max(1, int(1000.0 * asked))
            patience = asked + max(0.5, seconds)
        answer = self._pool.ask([question], b"", patience - (time.monotonic() - began))[0]
        found = None if answer is None else _BEST.search(answer)
        return None if found is None else chess.Move.from_uci(found[1].decode())

    def _favourite(self, position: Position) -> chess.Move:
        """The move with the least value for the opponent, by the built-in evaluator, which knows dark chess."""
        moves = sorted(position.legal_moves(), key=encode)
        after = np.empty((len(moves), 9), dtype=np.uint64)
        for i, move in enumerate(moves):
            make(np.array(position.row), encode(move), TABLES, after[i])
        return moves[int(np.argmin(self._builtin.values(after)))]


class CheatMaker:
    """See :class:`uci_bridge.match.engines.InsiderMaker`: one Stockfish per game."""

    def __init__(self, chosen: Configuration, choice: EvaluatorChoice, setup: Setup) -> None:
        self._path, self._chosen = choice.stockfish, chosen

    def make(self, seed: int, referee: Referee) -> StockfishCheat:
        """A player of ``referee``'s game."""
        return StockfishCheat(
            referee, self._path, seed=seed, most_nodes=self._chosen.max_nodes, slips=self._chosen.slips
        )

    def close(self) -> None:
        """Do nothing: there is nothing to close."""
