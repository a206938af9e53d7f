"""The results of a match from A's side: the score, Elo with an interval, game pairs, and the sequential test.

Two games with one opening, colours swapped, are a *pair*; their results depend on each other, so that only pairs are
independent samples. A pair's score is 0, ½, 1, 1½ or 2 points of A; the five counts are the *pentanomial*. Its spread
gives the interval. The test of elo0 against elo1 (GSPRT: the generalized likelihood ratio of the pentanomial, where
each hypothesis fixes only the mean) can end a match early.

Sources: M. Van den Bergh, "A practical introduction to the GSPRT" and fishtest's ``LLRcalc`` (``LLR_logistic``), the
logistic Elo scale; A. Wald's bounds. Deviations: no correction for overshoot; with fewer than ``LEAST_PAIRS`` pairs, or
if all pairs had the same score, the interval is Wilson's over games, since the pairs' spread is no estimate then.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from klss.play.contest import TruthCount
from klss.support.text import Document
from uci_bridge.match.game import GameLine, Side, sides

_Z = 1.959964
"""Quantile of the normal distribution for a two-sided interval of 95 %."""

LEAST_PAIRS = 10
"""Least number of complete pairs for an interval from their spread."""

_PRIOR = 1e-3
"""Count, in pairs, of a pair score that never came up, since the ratio takes logarithms; fishtest's number."""

_ERROR = 0.05
"""Probability of an error of either kind in the sequential test."""

_BOUND = math.log((1.0 - _ERROR) / _ERROR)
"""Log-likelihood ratio from which on elo1 is accepted; its negative is the bound for elo0."""


def score_of_elo(elo: float) -> float:
    """Expected score per game at an Elo difference.

    >>> score_of_elo(0.0)
    0.5
    """
    return float(1.0 / (1.0 + 10.0 ** (-elo / 400.0)))


def _elo_of_score(share: float) -> float:
    if share <= 1e-9 or share >= 1 - 1e-9:
        return math.copysign(math.inf, share - 0.5)
    return round(-400.0 * math.log10(1.0 / share - 1.0), 1) + 0.0


@dataclass(frozen=True)
class Elo:
    """An Elo difference with its 95 % interval."""

    # in Elo; may be infinite; without games the middle is NaN
    low: float
    middle: float
    high: float
    method: Literal["pentanomial", "wilson"]  # how the interval was found: from the spread of pair scores, or Wilson's

    def texts(self) -> tuple[str, ...]:
        """Low, middle and high as text, signed; an unknown middle is ``?``.

        >>> Elo(-math.inf, math.nan, 113.4, "wilson").texts()
        ('-inf', '?', '+113')
        """
        return tuple("?" if math.isnan(each) else f"{each:+.0f}" for each in (self.low, self.middle, self.high))


def elo_of_match(score: float, games: int, pairs: Sequence[int]) -> Elo:
    """The Elo difference from a match; ``score`` is the wins and half the draws of A in all ``games``.

    ``pairs``, int[5], are the complete pairs in which A scored 0, ½, 1, 1½ and 2. Their spread is also used for games
    whose pair is not complete. With few of them, Wilson's interval for the score as if every game were won or lost:
    with draws it is wider than necessary.

    >>> elo_of_match(10.0, 20, [0] * 5), elo_of_match(20.0, 20, [0] * 5).texts()
    (Elo(low=-147.8, middle=0.0, high=147.8, method='wilson'), ('+287', '+inf', '+inf'))
    """
    if games == 0:
        return Elo(-math.inf, math.nan, math.inf, "wilson")
    count, share = sum(pairs), score / games
    wilson = count < LEAST_PAIRS or max(pairs) == count
    if wilson:
        spread = _Z**2 / games
        center = (share + spread / 2) / (1 + spread)
        half = _Z / (1 + spread) * math.sqrt(share * (1 - share) / games + spread / (4 * games))
    else:
        mean = sum(number * points for points, number in enumerate(pairs)) / (4 * count)
        variance = sum(number * (points / 4 - mean) ** 2 for points, number in enumerate(pairs)) / count
        center, half = share, _Z * math.sqrt(variance / (games / 2))
    ends = _elo_of_score(center - half), _elo_of_score(share), _elo_of_score(center + half)
    return Elo(*ends, "wilson" if wilson else "pentanomial")


def log_likelihood_ratio(pairs: Sequence[float], elo0: float, elo1: float) -> float:
    """Generalized log-likelihood ratio of ``elo1`` against ``elo0``, both logistic Elo, in nats.

    ``pairs``, float[n], are the counts of each score, from 0 to the most, evenly spaced: five counts of pairs, or three
    of games.

    Source: fishtest, ``LLR_logistic``.

    >>> round(log_likelihood_ratio([10, 20, 40, 20, 10], -5.0, 5.0), 12) + 0.0
    0.0
    """
    if sum(pairs) == 0:
        return 0.0
    counts = [number or _PRIOR for number in pairs]
    scores = [index / (len(counts) - 1) for index in range(len(counts))]
    fits = [_tilted(scores, counts, score_of_elo(elo)) for elo in (elo0, elo1)]
    return float(sum(number * math.log(under1 / under0) for number, under0, under1 in zip(counts, *fits)))


def _tilted(scores: Sequence[float], counts: Sequence[float], mean: float) -> list[float]:
    """The likeliest distribution with that mean, as factors on the observed one: 1 / (1 + x (score - mean)).

    x solves sum p (score - mean) / (1 + x (score - mean)) = 0; the left side decreases in x between its two poles.
    """
    from scipy.optimize import brentq  # takes half a second to import, which only a sequential test should pay

    offsets = [score - mean for score in scores]
    worst, best, total = min(offsets), max(offsets), sum(counts)

    def slope(x: float) -> float:
        return sum(number * offset / (1.0 + x * offset) for number, offset in zip(counts, offsets))

    # A bracket of the root: so near to a pole, and not past 0, the pole's term outweighs all others in sign.
    low = min(0.0, -1.0 / best - 0.5 * counts[-1] / (total * worst))
    high = max(0.0, -1.0 / worst - 0.5 * counts[0] / (total * best))
    x = brentq(slope, low, high, xtol=1e-16)
    return [1.0 / (1.0 + x * offset) for offset in offsets]


@dataclass(frozen=True)
class Sprt:
    """A sequential test of H0, A is better by ``elo0``, against H1, by ``elo1``; 5 % errors of both kinds.

    >>> Sprt(0.0, 10.0).after([0, 0, 0, 0, 0]).decision is None
    True
    """

    elo0: float
    elo1: float
    llr: float = 0.0  # log-likelihood ratio of the pairs so far
    # the bounds at which it ends
    lower: float = -_BOUND
    upper: float = _BOUND

    @property
    def decision(self) -> Literal["elo0", "elo1"] | None:
        """The accepted hypothesis; None while there is none."""
        return "elo1" if self.llr >= self.upper else "elo0" if self.llr <= self.lower else None

    def after(self, pairs: Sequence[int]) -> Sprt:
        """The test after these pairs."""
        return replace(self, llr=log_likelihood_ratio(pairs, self.elo0, self.elo1))


@dataclass
class Record:
    """Games won, drawn and lost by A."""

    wins: int = 0
    draws: int = 0
    losses: int = 0

    @property
    def games(self) -> int:
        """Games counted."""
        return self.wins + self.draws + self.losses

    @property
    def score(self) -> float:
        """Wins and half the draws."""
        return self.wins + self.draws / 2

    def add(self, winner: Side | None) -> None:
        """Count a game."""
        self.wins += winner == "a"
        self.losses += winner == "b"
        self.draws += winner is None

    def document(self) -> Document:
        """As JSON."""
        counts = {"wins": self.wins, "draws": self.draws, "losses": self.losses}
        return {"games": self.games, "score": self.score, **counts}


class Standing(Record):
    """The count so far, from A's side, and the test over the pairs, if there is one.

    The test takes the pairs in the order of their numbers, each once both games have ended. In the order in which games
    *end*, short games come first, and the result would depend on the number of workers. A decision is final.
    """

    def __init__(self, sprt: Sprt | None = None) -> None:
        super().__init__()
        self.sprt = sprt  # the test after the pairs so far; None without one
        self.truth = TruthCount()  # summed over games, in test mode
        self.by_color = {"white": Record(), "black": Record()}  # the same count for A's games as White and as Black
        self.pairs = [0] * 5  # int[5]: all complete pairs, by A's points 0, ½, 1, 1½, 2
        self.reasons: Counter[str] = Counter()  # number of games by the reason of their end
        self._in_order = [0] * 5
        self._next = 0
        self._halves: dict[int, int] = {}
        self._whole: dict[int, int] = {}

    @property
    def elo(self) -> Elo:
        """The Elo difference so far."""
        return elo_of_match(self.score, self.games, self.pairs)

    @property
    def decided(self) -> bool:
        """Whether the test has decided."""
        return self.sprt is not None and self.sprt.decision is not None

    def count(self, line: GameLine) -> None:
        """Count a line of ``games.jsonl``."""
        winner = line["winner"]
        self.add(winner)
        self.by_color["white" if sides(line["game"])[True] == "a" else "black"].add(winner)
        self._count_pair(line["pair"], 1 if winner is None else 2 if winner == "a" else 0)
        self.reasons[line["reason"]] += 1
        if "truth" in line:
            truth = line["truth"]
            self.truth.checks += truth["checks"]
            self.truth.lost += truth["lost"]
            self.truth.sampled += truth["sampled"]

    def _count_pair(self, pair: int, half_points: int) -> None:
        """Count a game of ``pair`` with ``half_points`` for A: 0, 1 or 2."""
        if pair not in self._halves:
            self._halves[pair] = half_points
            return
        points = self._halves.pop(pair) + half_points
        self.pairs[points] += 1
        self._whole[pair] = points
        while self._next in self._whole:
            self._in_order[self._whole.pop(self._next)] += 1
            self._next += 1
            if self.sprt is not None and self.sprt.decision is None:
                self.sprt = self.sprt.after(self._in_order)
