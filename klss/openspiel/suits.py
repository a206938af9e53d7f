"""Suits of OpenSpiel's ``universal_poker``: of all deals that differ by what no payoff depends on, one is enough.

Renaming the suits changes no payoff; where a player sees fewer than five cards there is no flush, and suits change none
at all. A player's information shows cards in brackets, each a set in descending order. Its *form* is what remains of it
without what does not matter, so that two deals after one history have isomorphic games below them if the forms of both
players' information together are the same.
"""

from __future__ import annotations

import re
from functools import cache
from itertools import permutations, product
from typing import Any

_SUITS, _RANKS = "cdhs", "23456789TJQKA"
"""In OpenSpiel's ascending order; a deck of n suits has the first n of each."""

_FLUSH = 5
"""Cards of a flush."""

_CARDS = re.compile(r"(?<=\[Private: )[^]]+|(?<=\[Public: )[^]]+")


class Suits:
    """The suits of a deck; ``flushes``: whether a hand may be worth more for having one suit."""

    def __init__(self, letters: str, flushes: bool) -> None:
        self.letters, self._flushes = letters, flushes
        self.form = cache(self._form)

    @classmethod
    def of(cls, game: Any) -> Suits | None:
        """Return the suits of a ``pyspiel.Game``; None if it is another game, or one that gives cards."""
        known = game.get_parameters()
        if game.get_type().short_name != "universal_poker" or known["boardCards"] or known["handReaches"]:
            return None
        seen = known["numHoleCards"] + sum(map(int, known["numBoardCards"].split()))
        return cls(_SUITS[: known["numSuits"]], seen >= _FLUSH)

    def _form(self, text: str) -> str:
        form = _CARDS.sub(lambda found: found[0][::2], text)  # the ranks
        if not self._flushes:
            return form
        shown = [re.findall("..", cards) for cards in _CARDS.findall(text)]
        suits = ([(k, rank) for k, cards in enumerate(shown) for rank, its in cards if its == suit]
                 for suit in self.letters)  # fmt: skip
        return f"{form}{sorted(suits)}"

    def alike(self, text: str) -> set[str]:
        """Return all texts of the form of ``text``."""
        cards = "".join(_CARDS.findall(text))
        ranks, suits = cards[::2], cards[1::2]
        if self._flushes:
            tables = (str.maketrans(self.letters, "".join(to)) for to in permutations(self.letters))
            return {self._with(text, suits.translate(table)) for table in tables}
        every = map("".join, product(self.letters, repeat=len(ranks)))
        return {self._with(text, each) for each in every if len({*zip(ranks, each, strict=True)}) == len(ranks)}

    @staticmethod
    def _with(text: str, suits: str) -> str:
        left = iter(suits)

        def renamed(found: re.Match[str]) -> str:
            cards = [(rank, next(left)) for rank in found[0][::2]]
            return "".join(sorted(map("".join, cards), key=lambda card: (_RANKS.index(card[0]), card[1]), reverse=True))

        return _CARDS.sub(renamed, text)

    def deals(self, state: Any) -> list[tuple[int, float]]:
        """Return nature's outcomes at ``state``, one for each form, with the probabilities of all that have it."""
        kept = dict[str, tuple[int, float]]()
        for outcome, share in state.chance_outcomes():
            child = state.child(outcome)
            form = self.form("".join(child.information_state_string(player) for player in (0, 1)))
            first, before = kept.get(form, (outcome, 0.0))
            kept[form] = first, before + share
        return list(kept.values())
