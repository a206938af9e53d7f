"""What we and the process of a bot say to each other: JSON, a message a line, questions by us and answers by it.

Nothing of a game is in them but what a ``reconchess.Player`` is given. The bot's process imports this file, so it
imports nothing of ours.
"""

from __future__ import annotations

from typing import Literal

import msgspec

__all__ = ["Answer", "Call"]


class Call(msgspec.Struct, omit_defaults=True):
    """What the bot is given or asked.

    Attributes
    ----------
    number
        Of this call in its game, from 1.
    do
        ``start`` makes the bot and begins its game, ``sense`` and ``move`` ask, ``moved`` and ``end`` tell. All but
        ``moved`` are answered.
    source, seed, engine_nodes, engine_s
        Of ``start``: the module, ``module:Class`` or file of the bot; of its random choices; what limits the engine of
        Trout, None and None: it stays as it is.
    stockfish
        Of ``start``: what ``STOCKFISH_EXECUTABLE`` says.
    color, fen, opponent
        Of ``start``: true for White; the start position; the opponent's name.
    seconds_left
        Of ``sense`` and ``move``: on its clock.
    moves
        Of ``sense`` and ``move``: the requests that it may make.
    capture
        Of ``sense``: where the opponent took a piece; of ``moved``: where the bot did.
    seen
        Of ``move``: squares and the letters of the pieces on them, None for none.
    requested, taken
        Of ``moved``.
    winner, reason
        Of ``end``: true for White, None for nobody; a name of ``reconchess.WinReason``, or None.
    """

    number: int
    do: Literal["start", "sense", "move", "moved", "end"]
    source: str = ""
    seed: int = 0
    engine_nodes: int | None = None
    engine_s: float | None = None
    stockfish: str | None = None
    color: bool = True
    fen: str = ""
    opponent: str = ""
    seconds_left: float = 0.0
    moves: list[str] = []
    capture: int | None = None
    seen: list[tuple[int, str | None]] = []
    requested: str | None = None
    taken: str | None = None
    winner: bool | None = None
    reason: str | None = None


class Answer(msgspec.Struct, omit_defaults=True):
    """What the bot answers.

    Attributes
    ----------
    number
        Of the call.
    square
        Where it looks; None: nowhere.
    move
        What it asks for; None: it passes.
    error
        What went wrong in it; it plays no more.
    """

    number: int
    square: int | None = None
    move: str | None = None
    error: str | None = None
