"""Seeds that reveal nothing about each other: of a match, its games, their openings, and the players of a game.

Each seed is a hash of its purpose, keyed by the seed above it::

    match seed --game number--> game seed --seat--> player's seed
               --pair number--> opening's seed

A seed determines those below it, and reveals nothing about the seed above or those beside it. A player that knows its
own seed can't derive the opponent's, that of another game, or a random opening.

This is one-way only if the seed above can't be guessed: match seeds could be tried one after the other until one gives
a known player's seed. So a seed that the user does not choose is drawn by :func:`fresh_seed` from 9·10¹⁷ values, as
many as derived games have. A shorter one, such as the 7 of ``--seed 7``, is stretched first: each guess then takes a
fifth of a second and 64 MiB. That makes guessing a small seed expensive, not impossible.
"""

from __future__ import annotations

import functools
import hashlib
import secrets

NATURE = "nature"
"""The seat whose seed in a game is for nature's draws."""

_LEAST = 10**17
"""Least seed of 18 digits; from here on there are too many seeds to try."""

_PLAYERS = 1 << 53
"""Bound of players' seeds, so that programs with only floating-point numbers represent them exactly."""


def fresh_seed() -> int:
    """Draw a seed of 18 digits that can't be guessed."""
    return _LEAST + secrets.randbelow(9 * _LEAST)


def game_seed(match: int, game: int) -> int:
    """Return the seed of game number ``game`` of the match with seed ``match``; 18 digits.

    >>> game_seed(fresh_seed(), 0) != game_seed(fresh_seed(), 0)
    True
    """
    return _LEAST + _hash(match, f"game {game}") % (9 * _LEAST)


def opening_seed(match: int, pair: int) -> int:
    """Return the seed of the opening with which both games of pair number ``pair`` begin; 18 digits."""
    return _LEAST + _hash(match, f"opening {pair}") % (9 * _LEAST)


def player_seed(game: int, seat: str) -> int:
    """Return the seed of the player at ``seat`` ("white", "black") in the game with seed ``game``; 53 bits."""
    return _hash(game, f"player {seat}") % _PLAYERS


def _hash(seed: int, what: str) -> int:
    digest = hashlib.blake2b(what.encode(), key=_key(seed), digest_size=32, person=b"klss seed")
    return int.from_bytes(digest.digest(), "little")


@functools.lru_cache(maxsize=64)
def _key(seed: int) -> bytes:
    text = str(seed).encode()
    if seed >= _LEAST:
        return hashlib.blake2b(text, digest_size=32).digest()
    try:
        return hashlib.scrypt(text, salt=b"klss seed", n=1 << 16, r=8, p=1, maxmem=1 << 27, dklen=32)
    except ValueError as error:  # hashlib's error if it can't allocate 64 MiB, the only possible failure here
        raise MemoryError(str(error)) from None
