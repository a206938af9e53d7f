"""The pair of networks and its rival, learned and then ranked: possible boards in games that they did not learn from.

Rankings of the same members of a set, at most :data:`~darkchess.rbc.players.siamese.WEIGHED`, drawn evenly beside the
true one where there are more: ``uniform``; ``filter``, the weights of :mod:`darkchess.rbc.belief.kinds`; ``cnn``, the
rival of :mod:`experiments.learn.siamese`; ``pair``, and ``pair-named`` with the opponent's name; and ``tower``, of
``rbc-tower``. The temperatures of cnn and pair are fitted on the validating games. A truth that ties has the middle
rank of its equals, and their share of a first rank.

*Nats*: −ln of the truth's weight. A member of a drawn set stands for as many as the set has for each.
"""

from __future__ import annotations

import time
from argparse import Namespace
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import chess
import numpy as np
from scipy.special import logsumexp

from darkchess.rbc.belief.anchors import ANCHOR, BOARD, NAMED, NAMES, Anchor, boards_of
from darkchess.rbc.belief.kinds import Kinds
from darkchess.rbc.belief.position_set import PositionSet
from darkchess.rbc.belief.siamese import Siamese
from darkchess.rbc.belief.tower import Observer, Tower, log_prior
from darkchess.rbc.game.referee import Referee
from darkchess.rbc.players.expectation import Expectation
from darkchess.rbc.players.siamese import WEIGHED
from experiments.commands import shown
from experiments.learn import siamese
from experiments.learn.blind import MOST, games_of, named_game, questions, true_member
from experiments.learn.shards import TEST, TRAIN, VALIDATE, Arrays, part_of
from experiments.learn.trainer import EPOCH, Plan, jax, train
from klss.support.arrays import Floats, Words
from klss.support.inference import grids_of

RANKINGS = ("uniform", "filter", "cnn", "pair", "pair-named", "tower")
TEMPERATURES = np.geomspace(0.05, 50, 31)
EVERY = 5
"""Of so many questions of a side one is ranked; odd, so that senses and requests alternate."""
COLUMNS = ("of", "decisions", "ranking", "top-1", "tenth", "half", "mean rank", "nats")
"""Of the table: the class of sets or the opponent; shares of the decisions whose truth is the likeliest board, in the
likeliest tenth and half; means.
"""
_SIZES = (2, 10, 100)
"""Least sizes of the classes of sets."""
_CHUNK = 16
"""Boards that the rival reads together."""


@dataclass(frozen=True)
class Ranked:
    """A decision."""

    opponent: str
    size: int  # of the set
    scores: list[Floats]  # of the same members by each ranking, the true one first
    seconds: Floats  # that each ranking took


def learn(held: Arrays, parsed: Namespace, tell: Callable[[str], None]) -> tuple[Callable[..., None], dict[str, Any]]:
    """See :class:`experiments.learn.__main__.Recipe`: what writes the pair; its figures and those of its rival, and all
    rankings of the test games of ``parsed.matches``.
    """
    found, figures = {}, {}
    for name, study in (("rival", siamese.Siamese(held, rival=True)), ("pair", siamese.Siamese(held))):
        plan = Plan(parsed.epochs, parsed.seed, patience=siamese.PATIENCE)
        found[name], rows = train(study, plan, parsed.out / f"{name}.checkpoint.npz", tell)
        figures[name] = {"columns": EPOCH, "rows": rows}
    write = partial(study.write, found["pair"])
    write(parsed.out / "siamese-anchor.onnx", {})
    pair = Siamese(*((parsed.out / f"siamese-{name}.onnx").read_bytes() for name in ("anchor", "board")))
    return write, figures | rank([path for _, path in parsed.matches], pair, found["rival"], tell)


def rank(paths: Sequence[Path], pair: Siamese, rival: Any, tell: Callable[[str], None]) -> dict[str, Any]:
    """The table of the test decisions of matches, by the ``rival``'s weights too; the temperatures; and how many boards
    a second each ranks. Empty if there is no decision to fit, or none to test.
    """
    answered = _rival(rival)
    held: dict[int, list[Ranked]] = {VALIDATE: [], TEST: []}
    for path in paths:
        for number, file in games_of(path):
            if part_of(number) != TRAIN and (named := named_game(file)) is not None:
                tell(f"{path.name}, game {number}")
                held[part_of(number)] += _ranked_of(*named, number, pair, answered)
    if not all(held.values()):
        return {}
    # The temperature with the fewest nats of each ranking that gives no probabilities.
    fitted = np.ones(len(RANKINGS))
    for at, name in enumerate(RANKINGS):
        if name in ("cnn", "pair", "pair-named"):
            nats = [np.mean([_nats(each.scores[at], heat) for each in held[VALIDATE]]) for heat in TEMPERATURES]
            fitted[at] = TEMPERATURES[int(np.argmin(nats))]
    classes = {f"{least} or more": [each for each in held[TEST] if each.size >= least] for least in _SIZES}
    classes |= {name: [each for each in held[TEST] if each.opponent == name] for name in NAMES}
    rows = [_row(name, some, at, fitted[at]) for name, some in classes.items() if some for at in range(len(RANKINGS))]
    every = [*held[VALIDATE], *held[TEST]]
    speeds = sum(len(each.scores[0]) for each in every) / np.maximum(sum(each.seconds for each in every), 1e-9)
    return {
        "tested": shown(COLUMNS, rows),
        "temperatures": dict(zip(RANKINGS, fitted.round(3).tolist(), strict=True)),
        "boards_a_second": dict(zip(RANKINGS, speeds.round().tolist(), strict=True)),
    }


def _row(name: str, some: Sequence[Ranked], at: int, temperature: float) -> list[Any]:
    """A row of :data:`COLUMNS` of some decisions by one of the rankings."""
    scores = [each.scores[at] for each in some]
    better, equal = (np.array([compared(one, one[0]).sum() for one in scores]) for compared in (np.greater, np.equal))
    middle, counts = better + (equal + 1) / 2, np.array([len(one) for one in scores])
    figures = [
        np.where(better == 0, 1 / equal, 0).mean(),
        *((middle <= np.maximum(1, np.ceil(part * counts))).mean() for part in (0.1, 0.5)),
        middle.mean(),
        np.mean([_nats(one, temperature) + np.log(each.size / len(one)) for one, each in zip(scores, some)]),
    ]
    return [name, len(some), RANKINGS[at], *(round(float(figure), 3) for figure in figures)]


def _ranked_of(
    game: Referee, names: tuple[str, str], number: int, pair: Siamese, answered: Callable[[Words, Words], Floats]
) -> Iterator[Ranked]:
    """A game's decisions; ``names``: Black's and White's."""
    for color in chess.COLORS:
        known = PositionSet(color, game.positions[0], cap=MOST)
        kinds = Kinds(known, Expectation().strangers)
        observer, anchor = Observer(known, kinds), Anchor(known, names[not color])
        for at, (_, ply, _) in enumerate(questions(game, color, known, kinds, observer, anchor)):
            if known.size < 2 or at % EVERY:
                continue
            generator, truth = np.random.default_rng([number, color, ply]), true_member(known, game, ply)
            others = generator.permutation(np.delete(np.arange(known.size), truth))[: WEIGHED - 1]
            members = np.array([truth, *others], dtype=np.int64)
            boards, named = boards_of(known.rows(members), color), anchor.words
            plain = np.where(np.arange(ANCHOR) < ANCHOR - NAMED, named, np.uint64(0))
            ways: tuple[Callable[[], Floats], ...] = (
                partial(np.zeros, len(members)), partial(log_prior, kinds, known, members),
                partial(answered, plain, boards), partial(pair.distances, plain, boards),
                partial(pair.distances, named, boards),
                partial(Tower.packaged().log_weights, known, observer, members),
            )  # fmt: skip
            times, scores = [time.process_time()], []
            for way in ways:
                scores.append(way())
                times.append(time.process_time())
            scores[3:5] = [-distances for distances in scores[3:5]]
            yield Ranked(names[not color], known.size, scores, np.diff(times))


def _nats(scores: Floats, temperature: float) -> float:
    return float(logsumexp(scores / temperature) - scores[0] / temperature)


def _rival(weights: Any) -> Callable[[Words, Words], Floats]:
    """What gives the rival's logits of boards, in JAX: float64[n] from an anchor and boards."""
    begun_by, answers = jax.jit(siamese.begun_by), jax.jit(siamese.answers)

    def logits(anchor: Words, boards: Words) -> Floats:
        begun = begun_by(weights, siamese.anchor_grids(anchor[None]))
        filled = np.pad(boards, ((0, -len(boards) % _CHUNK), (0, 0)))
        planes = siamese.by_cells(grids_of(filled)).reshape(-1, _CHUNK, 8, 8, BOARD)
        found = [np.asarray(answers(weights, begun, some)) for some in planes]
        return np.concatenate(found).astype(np.float64)[: len(boards)]

    logits(np.eye(1, ANCHOR, dtype=np.uint64)[0], np.zeros((1, BOARD), dtype=np.uint64))  # compiled before time counts
    return logits
