"""Which games are learned from: whole games, or pairs with one opening, go to one part."""

from __future__ import annotations

__all__ = ["TEST", "TRAIN", "VALIDATE", "part_of"]

TRAIN, VALIDATE, TEST = 0, 1, 2
"""Parts of the games: they are learned from, they stop the training, they are looked at once."""


def part_of(number: int) -> int:
    """Which part a game or pair belongs to: seven tenths train, one validates, two test.

    >>> [part_of(number) for number in range(10)]
    [0, 0, 0, 1, 2, 0, 0, 0, 0, 2]
    """
    return TEST if number % 5 == 4 else VALIDATE if number % 10 == 3 else TRAIN
