"""Trout-R: the engine of ``reconchess``'s TroutBot, started again if an impossible board has killed it.

Trout shows Stockfish the board that it believes in. If that has too many kings, or one that can be taken, Stockfish may
die, and Trout then passes to the end of the game, which inflates its opponent's score (*measured*: in 23 of 100 games).
Here it passes only that turn, and has an engine again in the next. It runs in the bot's process.
"""

from __future__ import annotations

import contextlib

import chess
import chess.engine

from klss.play.limits import Limit


class LivingEngine:
    """Replaces ``TroutBot.engine``: it has the two methods that the bot calls."""

    def __init__(
        self,
        engine: chess.engine.SimpleEngine,  # the one that the bot has started
        program: str,  # path of Stockfish
    ) -> None:
        self._engine: chess.engine.SimpleEngine | None = engine
        self._program = program
        self.limit = Limit()  # of the bot's present answer: its nodes or seconds limit every search

    def play(self, board: chess.Board, limit: chess.engine.Limit) -> chess.engine.PlayResult:
        """The engine's move; ``limit`` is the bot's own, half a second, which holds where the match limits neither
        nodes nor seconds. Raises chess.engine.EngineError, which the bot handles: the engine died, or its answer is
        not a move on that board.
        """
        if self.limit.nodes is not None:
            limit = chess.engine.Limit(nodes=self.limit.nodes)
        elif self.limit.time_s is not None:
            limit = chess.engine.Limit(time=self.limit.time_s)
        if self._engine is None:
            self._engine = chess.engine.SimpleEngine.popen_uci(self._program, setpgrp=True)
        try:
            return self._engine.play(board, limit)
        except chess.engine.EngineTerminatedError:
            with contextlib.suppress(chess.engine.EngineError, TimeoutError):
                self._engine.close()
            self._engine = None
            raise

    def quit(self) -> None:
        """End the engine."""
        engine, self._engine = self._engine, None
        if engine is not None:
            with contextlib.suppress(chess.engine.EngineError, TimeoutError):
                engine.quit()
