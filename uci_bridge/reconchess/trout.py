"""Trout-R: the engine of ``reconchess``'s TroutBot, started again if an impossible board has killed it.

Trout shows Stockfish the board that it believes in. If that has too many kings, or one that can be taken, Stockfish may
die, and Trout then passes to the end of the game, which inflates its opponent's score (*measured*: in 23 of 100 games).
Here it passes only that turn, and has an engine again in the next. It runs in the bot's process.
"""

from __future__ import annotations

import contextlib
from typing import Any

import chess
import chess.engine


class LivingEngine:
    """Replaces ``TroutBot.engine``: it has the two methods that the bot calls."""

    def __init__(
        self,
        engine: chess.engine.SimpleEngine,  # the one that the bot has started
        program: str,  # path of Stockfish
        limit: chess.engine.Limit,  # of every search, instead of the bot's own half second
    ) -> None:
        self._engine: chess.engine.SimpleEngine | None = engine
        self._program = program
        self._limit = limit

    def play(self, board: chess.Board, limit: chess.engine.Limit) -> Any:
        """The engine's move. Raises chess.engine.EngineError, which the bot handles: the engine died, or its answer is
        not a move on that board.
        """
        if self._engine is None:
            self._engine = chess.engine.SimpleEngine.popen_uci(self._program, setpgrp=True)
        try:
            return self._engine.play(board, self._limit)
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
