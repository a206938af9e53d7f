"""Suits of OpenSpiel's ``universal_poker``: of all deals that differ by suits alone, one is enough where none matters.

Where a player sees fewer than five cards there is no flush, and no payoff depends on suits. A player's information
shows cards in brackets, each a set in descending order. Its *form* is the same without suits, so that two deals after
one history have isomorphic games below them if the forms of both players' information are the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from itertools import product
from typing import Any

_SUITS, _RANKS = "cdhs", "23456789TJQKA"
"""In OpenSpiel's ascending order; a deck of n suits has the first n of each."""

_FLUSH = 5
"""Cards of a flush."""

_CARDS = re.compile(r"(?<=\[Private: )[^]]+|(?<=\[Public: )[^]]+")


class Suits:
    """The suits of a deck in which they do not matter."""

    def __init__(self, letters: str) -> None:
        self._letters = letters

    @classmethod
    def of(cls, game: Any) -> Suits | None:
        """Return the suits of a ``pyspiel.Game``; None if it is another game, has flushes, or gives cards."""
        known = game.get_parameters()
        if game.get_type().short_name != "universal_poker" or known["boardCards"] or known["handReaches"]:
            return None
        seen = known["numHoleCards"] + sum(map(int, known["numBoardCards"].split()))
        return cls(_SUITS[: known["numSuits"]]) if seen < _FLUSH else None

    @staticmethod
    def form(text: str) -> str:
        """Return a text without suits."""
        return _CARDS.sub(lambda found: found[0][::2], text)

    def alike(self, text: str) -> list[str]:
        """Return all texts of the form of ``text``."""
        ranks, found = "".join(_CARDS.findall(text))[::2], set[str]()
        for suits in product(self._letters, repeat=len(ranks)):
            cards = list(zip(ranks, suits, strict=True))
            if len({*cards}) == len(cards):
                found.add(_CARDS.sub(partial(_shown, iter(cards)), text))
        return sorted(found)

    def deals(self, state: Any) -> list[tuple[int, float]]:
        """Return nature's outcomes at ``state``, one for each form, with the probabilities of all that have it."""
        kept = dict[str, tuple[int, float]]()
        for outcome, share in state.chance_outcomes():
            child = state.child(outcome)
            form = self.form("".join(child.information_state_string(player) for player in (0, 1)))
            first, before = kept.get(form, (outcome, 0.0))
            kept[form] = first, before + share
        return list(kept.values())


def _shown(cards: Iterator[tuple[str, str]], instead: re.Match[str]) -> str:
    """Return the next cards as OpenSpiel shows them, as many as there are."""
    taken = [next(cards) for _ in instead[0][::2]]
    return "".join(map("".join, sorted(taken, key=lambda card: (_RANKS.index(card[0]), card[1]), reverse=True)))
