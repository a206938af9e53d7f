"""The split of games into parts: whole games, or pairs with one opening, go to one part."""

from __future__ import annotations

TRAIN, VALIDATE, TEST = 0, 1, 2
"""Parts of the games: for learning, for stopping the training, and for a single test at the end."""


def part_of(number: int) -> int:
    """The part of a game or pair: seven tenths train, one validates, two test.

    >>> [part_of(number) for number in range(10)]
    [0, 0, 0, 1, 2, 0, 0, 0, 0, 2]
    """
    return TEST if number % 5 == 4 else VALIDATE if number % 10 == 3 else TRAIN
