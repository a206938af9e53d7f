"""Dark hex and phantom tic-tac-toe on small boards, classical and abrupt: each player sees its own stones alone. Who
tries a taken cell learns that it is taken; then it tries again (classical), or it is the other's turn (abrupt).

The world is both players' stones; a private part is the cells found taken, and whether the last try was one. Infosets
are those of OpenSpiel's tensors. Its names in classical dark hex also count the other's tries.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import factorial
from typing import Any

import numpy as np

from klss.support.kernel import kernel
from klss.theory.implicit import ImplicitGame, Rules
from klss.theory.movers import TERMINAL

_CELLS, _ABRUPT, _WON = range(3)
"""Parameters; from the last on: whether each set of stones wins, for player 0, then for player 1."""

_MOST_CELLS = 12
"""Larger boards have more infosets than memory holds, and 2 ** cells sets of stones are looked at."""

_TURN, _OVER = 40, 41
"""Bits of the world above both players' stones: the player to move; the result, 1 or 2 for a win, 3 for a draw."""


@kernel
def mover(p: Any, world: int) -> Any:
    """Stones of player 0, then those of player 1, as bits; then the turn and the result."""
    return TERMINAL if world >> _OVER else (world >> _TURN) & 1


@kernel
def _untried(p: Any, world: int, private: int) -> Any:
    cells, turn = p[_CELLS], (world >> _TURN) & 1
    return ((1 << cells) - 1) & ~(world >> (turn * cells)) & ~private


@kernel
def actions(p: Any, world: int, private: int) -> Any:
    """The cells where the player has no stone and has not found one."""
    left, count = _untried(p, world, private), 0
    while left:
        left &= left - 1
        count += 1
    return count


@kernel
def act(p: Any, world: int, private: int, action: int) -> Any:
    """The event is the stone's cell; for a taken one none (classical) or the number of cells (abrupt)."""
    cells, left = p[_CELLS], _untried(p, world, private)
    for _ in range(action):
        left &= left - 1
    bit, taken = left & -left, ((1 << cells) - 1) & private
    if (world >> ((1 - ((world >> _TURN) & 1)) * cells)) & bit:
        return cells if p[_ABRUPT] else -1, taken | bit | (1 << cells)
    cell = 0
    while bit >> (cell + 1):
        cell += 1
    return cell, taken


@kernel
def child(p: Any, world: int, event: int) -> Any:
    """A stone, if the event is a cell; then the other player's turn or the end."""
    cells, turn = p[_CELLS], (world >> _TURN) & 1
    after = world ^ (1 << _TURN)
    if event == cells:
        return after
    after |= 1 << (turn * cells + event)
    full = (1 << cells) - 1
    if p[_WON + (turn << cells) + ((after >> (turn * cells)) & full)]:
        return after | (1 + turn) << _OVER
    if (after | after >> cells) & full == full:
        return after | 3 << _OVER
    return after


@kernel
def observe(p: Any, world: int, private: int) -> Any:
    """Whether the last try found the cell taken."""
    return private >> p[_CELLS]


@kernel
def payoff(p: Any, world: int, first: int, second: int) -> Any:
    """1 for a win, 0 for a draw."""
    result = world >> _OVER
    return 1.0 if result == 1 else -1.0 if result == 2 else 0.0


def _game(name: str, cells: int, abrupt: bool, wins: Callable[[frozenset[int], int], bool]) -> ImplicitGame:
    if not 0 < cells <= _MOST_CELLS:
        raise ValueError(f"board: got {cells} cells, expected 1 to {_MOST_CELLS}")
    sets = [frozenset(cell for cell in range(cells) if bits >> cell & 1) for bits in range(1 << cells)]
    won = [wins(stones, player) for player in (0, 1) for stones in sets]
    p = np.array([cells, abrupt, *won], np.int64)
    about = float(factorial(cells)) ** 1.8
    return ImplicitGame(name, Rules(mover, actions, act, child, observe, payoff), p, cells + 1, about)


def phantom_ttt(gameversion: str = "classical") -> ImplicitGame:
    """Return phantom tic-tac-toe, "classical" or "abrupt". Raises ValueError: it is another version."""
    lines = [{0, 1, 2}, {3, 4, 5}, {6, 7, 8}, {0, 3, 6}, {1, 4, 7}, {2, 5, 8}, {0, 4, 8}, {2, 4, 6}]
    return _game(
        f"phantom_ttt(gameversion={gameversion})", 9, ("classical", "abrupt").index(gameversion) == 1,
        lambda stones, player: any(line <= stones for line in lines),
    )  # fmt: skip


def dark_hex(num_rows: int = 3, num_cols: int = 3, gameversion: str = "cdh") -> ImplicitGame:
    """Return dark hex, "cdh" (classical) or "adh" (abrupt). Player 0 connects the first row with the last one, player 1
    the columns. Raises ValueError: it is another version, or the board has no cell or more than 12.
    """

    def around(cell: int) -> Iterable[int]:
        row, column = divmod(cell, num_cols)
        for down, right in ((0, 1), (1, 0), (0, -1), (-1, 0), (1, -1), (-1, 1)):
            if 0 <= row + down < num_rows and 0 <= column + right < num_cols:
                yield cell + down * num_cols + right

    def wins(stones: frozenset[int], player: int) -> bool:
        place, last = (lambda cell: divmod(cell, num_cols)[player]), (num_rows, num_cols)[player] - 1
        reached = {cell for cell in stones if place(cell) == 0}
        while more := {cell for each in reached for cell in around(each)} & stones - reached:
            reached |= more
        return any(place(cell) == last for cell in reached)

    name = f"dark_hex(gameversion={gameversion},num_cols={num_cols},num_rows={num_rows})"
    return _game(name, int(num_rows) * int(num_cols), ("cdh", "adh").index(gameversion) == 1, wins)
