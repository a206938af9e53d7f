"""Seeds that tell nothing of each other: of a match, its games, their openings, and the players of a game.

Each is a hash keyed by the one above it, of what it is for::

    match seed --game number--> game seed --seat--> player's seed
               --pair number--> opening's seed

so the seeds below one follow from it, and none says anything of the one above or of those beside it. A player who
knows the own seed can't derive the opponent's, that of another game, or a random opening.

One way only, as long as the seed above can't be guessed: whoever knows this file can try match seeds one after the
other until one gives the seed that was given out. So a seed that nobody asked for is drawn by :func:`fresh_seed` from
9·10¹⁷, as many as derived games have, and a shorter one, such as the 7 of ``--seed 7``, is stretched first: each guess
takes a fifth of a second and 64 MiB. That makes small seeds dear, not safe.
"""

from __future__ import annotations

import functools
import hashlib
import secrets

__all__ = ["NATURE", "fresh_seed", "game_seed", "opening_seed", "player_seed"]

NATURE = "nature"
"""Whose seed in a game is that of what neither player decides."""

_LEAST = 10**17
"""Seeds from here on, of 18 digits, are one of too many to try."""

_PLAYERS = 1 << 53
"""Players' seeds are below this: programs that have floating-point numbers only read them right."""


def fresh_seed() -> int:
    """A seed of 18 digits that nobody can guess."""
    return _LEAST + secrets.randbelow(9 * _LEAST)


def game_seed(match: int, game: int) -> int:
    """Seed of game number ``game`` of the match with seed ``match``; 18 digits.

    >>> game_seed(fresh_seed(), 0) != game_seed(fresh_seed(), 0)
    True
    """
    return _LEAST + _hash(match, f"game {game}") % (9 * _LEAST)


def opening_seed(match: int, pair: int) -> int:
    """Seed of the opening with which both games of pair number ``pair`` begin; 18 digits."""
    return _LEAST + _hash(match, f"opening {pair}") % (9 * _LEAST)


def player_seed(game: int, seat: str) -> int:
    """Seed of the player who sits at ``seat`` ("white", "black") in the game with seed ``game``; 53 bits."""
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
    except ValueError as error:  # so hashlib says that there are no 64 MB, which is all that can be wrong here
        raise MemoryError(str(error)) from None
