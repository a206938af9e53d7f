"""What we and the process of a bot say to each other: JSON, a message a line, questions by us and answers by it.

Nothing of a game is in them but what a ``reconchess.Player`` is given. The bot's process imports this file, so it
imports nothing of ours.
"""

from __future__ import annotations

from typing import Literal

import msgspec

__all__ = ["Answer", "Call"]


class Call(msgspec.Struct, omit_defaults=True):
    """What the bot is given or asked."""

    number: int  # of this call in its game, from 1
    # ``start`` makes the bot and begins its game, ``sense`` and ``move`` ask, ``moved`` and ``end`` tell. All but
    # ``moved`` are answered
    do: Literal["start", "sense", "move", "moved", "end"]
    # of ``start``: the module, ``module:Class`` or file of the bot; of its random choices; what limits the engine of
    # Trout, None and None: it stays as it is
    source: str = ""
    seed: int = 0
    engine_nodes: int | None = None
    engine_s: float | None = None
    stockfish: str | None = None  # of ``start``: what ``STOCKFISH_EXECUTABLE`` says
    # of ``start``: true for White; the start position; the opponent's name
    color: bool = True
    fen: str = ""
    opponent: str = ""
    seconds_left: float = 0.0  # of ``sense`` and ``move``: on its clock
    moves: list[str] = []  # of ``sense`` and ``move``: the requests that it may make
    capture: int | None = None  # of ``sense``: where the opponent took a piece; of ``moved``: where the bot did
    seen: list[tuple[int, str | None]] = []  # of ``move``: squares and the letters of the pieces on them, None for none
    # of ``moved``
    requested: str | None = None
    taken: str | None = None
    # of ``end``: true for White, None for nobody; a name of ``reconchess.WinReason``, or None
    winner: bool | None = None
    reason: str | None = None


class Answer(msgspec.Struct, omit_defaults=True):
    """What the bot answers."""

    number: int
    square: int | None = None  # where it looks; None: nowhere
    move: str | None = None  # what it asks for; None: it passes
    error: str | None = None  # what went wrong in it; it plays no more
