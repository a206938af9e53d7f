"""The pair of networks and its rival, learned and then ranked: where they put the true boards of decisions that they
did not learn from, among at most :data:`~experiments.learn.blind.OTHERS` others, drawn evenly.

Rankings: ``uniform``; ``filter``, the weights of :mod:`darkchess.rbc.belief.kinds`; ``tower``, of ``rbc-tower``;
``cnn``, the rival of :mod:`experiments.learn.siamese`; ``pair``, and ``pair-named`` with the opponent's name. The
temperatures of the last three are fitted on the validating games. A truth that ties has the middle place of its equals,
and their share of a first place.

A board stands for as many as the set has for each that was drawn: that gives the *rank* in the set, and the *nats*, −ln
of the truth's weight.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from scipy.special import logsumexp

from darkchess.rbc.belief.anchors import NAMED, NAMES
from experiments.commands import shown
from experiments.learn.blind import OTHERS
from experiments.learn.shards import TEST, VALIDATE, Arrays, chunks, where
from experiments.learn.siamese import PATIENCE, Siamese
from experiments.learn.trainer import EPOCH, Plan, jax, train
from klss.support.arrays import Floats, Ints

RANKINGS = ("uniform", "filter", "tower", "cnn", "pair", "pair-named")
TEMPERATURES = np.geomspace(0.05, 50, 31)
COLUMNS = ("of", "decisions", "ranking", "top-1", "tenth", "half", "mean rank", "nats")
"""Of the table: the class of sets or the opponent; shares of the decisions whose truth is the likeliest board, in the
likeliest tenth and half; means.
"""
_SIZES = (2, 10, 100)
"""Least sizes of the classes of sets."""


def learn(held: Arrays, parsed: Namespace, tell: Callable[[str], None]) -> tuple[Callable[..., None], dict[str, Any]]:
    """See :class:`experiments.learn.__main__.Recipe`: what writes the pair, and the figures of both."""
    found, figures = {}, {}
    for name in ("cnn", "pair"):
        study = Siamese(held, rival=name == "cnn")
        plan = Plan(parsed.epochs, parsed.seed, patience=PATIENCE)
        found[name], rows = train(study, plan, parsed.out / f"{name}.checkpoint.npz", tell)
        figures[name] = {"columns": EPOCH, "rows": rows}
    return partial(study.write, found["pair"]), figures | ranked(held, found["pair"], found["cnn"])


def ranked(held: Arrays, pair: Any, rival: Any) -> dict[str, Any]:
    """The table of the test decisions, which is printed too, and the temperatures."""
    fitted = np.ones(len(RANKINGS))
    _, scores = _scored(held, VALIDATE, pair, rival)
    for at in range(3, len(RANKINGS)) if scores.size else ():
        nats = [_nats(scores[at], heat).mean() for heat in TEMPERATURES]
        fitted[at] = TEMPERATURES[int(np.argmin(nats))]
    some, scores = _scored(held, TEST, pair, rival)
    size, names = held["size"][some], held["anchor"][some, -NAMED:] != 0
    classes = {f"{least} or more": size >= least for least in _SIZES}
    classes |= {name: names[:, at] for at, name in enumerate(NAMES)}
    rows = []
    for name, chosen in classes.items():
        for ranking, each, heat in zip(RANKINGS, scores[:, chosen], fitted, strict=True) if chosen.any() else ():
            drawn, truth = np.isfinite(each).sum(axis=1), each[:, :1]
            better, equal = (each > truth).sum(axis=1), (each == truth).sum(axis=1)
            place = (better + (equal - 1) / 2) / (drawn - 1)
            figures = (
                np.where(better == 0, 1 / equal, 0), place <= 0.1, place <= 0.5, 1 + place * (size[chosen] - 1),
                _nats(each, heat) + np.log(size[chosen] / drawn),
            )  # fmt: skip
            rows.append([name, len(each), ranking, *(round(float(figure.mean()), 3) for figure in figures)])
    return {
        "configuration": {"others": OTHERS},
        "tested": shown(COLUMNS, rows),
        "temperatures": dict(zip(RANKINGS, fitted.round(3).tolist(), strict=True)),
    }


def _scored(held: Arrays, part: int, pair: Any, rival: Any) -> tuple[Ints, Floats]:
    """The decisions of a part (int64[n]), and each ranking's scores of their boards, the true ones first and −∞ for
    none: float64[6, n, 1 + OTHERS].
    """
    by_pair, by_rival = Siamese(held), Siamese(held, rival=True)
    of_pair, of_rival = jax.jit(by_pair.scores), jax.jit(by_rival.scores)
    found: list[tuple[Ints, Floats]] = [(np.zeros(0, int), np.zeros((len(RANKINGS), 0, 1 + OTHERS)))]
    for some in chunks(where(held, part), by_pair.batch):
        named, boards, real = by_pair.batch_of(some, range(1, 1 + OTHERS))
        plain = by_pair.batch_of(some, range(1, 1 + OTHERS), unnamed=True)[0]
        scores = np.array([
            np.zeros(real.shape), held["filter"][some], held["tower"][some], of_rival(rival, plain, boards),
            of_pair(pair, plain, boards), of_pair(pair, named, boards),
        ])  # fmt: skip
        found.append((some, np.where(real, scores, -np.inf)))
    return np.concatenate([some for some, _ in found]), np.concatenate([scores for _, scores in found], axis=1)


def _nats(scores: Floats, temperature: float) -> Floats:
    """−ln of the truths' weights: float64[n]."""
    return np.asarray(logsumexp(scores / temperature, axis=1) - scores[:, 0] / temperature)
