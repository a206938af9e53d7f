"""The messages between us and the process of a bot: JSON, one message per line, our calls and its answers.

Nothing of a game is in them but what a ``reconchess.Player`` is given. The bot's process imports this file, so it
imports nothing of ours.
"""

from __future__ import annotations

from typing import Literal

import msgspec


class Call(msgspec.Struct, omit_defaults=True):
    """Data or a question for the bot."""

    number: int  # of this call in its game, from 1
    # ``start`` makes the bot and begins its game, ``sense`` and ``move`` ask, ``moved`` and ``end`` tell. All but
    # ``moved`` are answered
    do: Literal["start", "sense", "move", "moved", "end"]
    # of ``start``: the module, ``module:Class`` or file of the bot; the seed of its random choices; the limit of
    # Trout's engine, None and None: the bot's own
    source: str = ""
    seed: int = 0
    engine_nodes: int | None = None
    engine_s: float | None = None
    stockfish: str | None = None  # of ``start``: the value of ``STOCKFISH_EXECUTABLE``
    # of ``start``: true for White; the start position; the opponent's name
    color: bool = True
    fen: str = ""
    opponent: str = ""
    seconds_left: float = 0.0  # of ``sense`` and ``move``: on its clock
    moves: list[str] = []  # of ``sense`` and ``move``: the possible requests
    capture: int | None = None  # square of a capture: by the opponent in ``sense``, by the bot in ``moved``
    seen: list[tuple[int, str | None]] = []  # of ``move``: squares and the letters of the pieces on them, None for none
    # of ``moved``
    requested: str | None = None
    taken: str | None = None
    # of ``end``: true for White, None for nobody; a name of ``reconchess.WinReason``, or None
    winner: bool | None = None
    reason: str | None = None


class Answer(msgspec.Struct, omit_defaults=True):
    """The bot's answer to a call."""

    number: int
    square: int | None = None  # of its look; None: nowhere
    move: str | None = None  # its request; None: a pass
    error: str | None = None  # its fault, if any; it plays no more then
