"""The pair of networks of :mod:`darkchess.rbc.belief.siamese`, and its rival, which reads anchor and board together.

Source: T. Bertram, J. Fürnkranz, M. Müller, *Neural Network-based Information Set Weighting for Playing Reconnaissance
Blind Chess* (the journal's version of 2023). Loss of the pair: max(d₊ − d₋ + 1, 0), d₊ the distance of the true board
and d₋ the least of those of x others, drawn evenly from the set; x is 3, and 2 more after each epoch without gain; the
third such epoch is the last. The rival: binary cross-entropy of the true board and one other, by a network on all 1,862
planes. Its first layer is a sum over planes, so the anchor's part is computed once for all boards.

Deviations: games are split before decisions are drawn, so that no game is learned from and tested on; the opponent's
name is left out of half of what is learned from, since a player seldom knows it; "gain" is the loss on validating games
with three others, whatever x is; the rate is that of all our trainings, and a batch has 64 decisions (there 1e-4 and
1,024); the rival's trunk has the pair's size, and ends with a sum over its 512 numbers.

*Ranked* are the true boards of one in :data:`~blind.EVERY` decisions of games that they did not learn from, among at
most :data:`~blind.RANKED` boards of the set, the others drawn evenly: by nothing (``uniform``); by the weights of
:mod:`darkchess.rbc.belief.kinds` (``filter``); by those of ``rbc-tower``; by the pair, also with the opponent's name,
and by the rival (``cnn``). The temperatures of the last three are fitted on the validating games. A truth that ties has
the middle place of its equals, and their share of a first place. *Nats* are −ln of the truth's weight, where a board
stands for as many as the set has for each that was drawn.
"""

from __future__ import annotations

import time
from argparse import Namespace
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import chess
import numpy as np
from scipy.special import logsumexp

from darkchess.rbc.belief.anchors import ANCHOR, BOARD, NAMED, NAMES
from darkchess.rbc.belief.siamese import CHUNK, POINT
from darkchess.rbc.belief.siamese import Siamese as Pair
from darkchess.rbc.belief.tower import Tower, log_prior
from experiments.commands import shown
from experiments.learn.blind import ASKED, EVERY, RANKED
from experiments.learn.layers import Graph, Jax
from experiments.learn.shards import TEST, TRAIN, VALIDATE, Arrays, chunks, padded, part_of
from experiments.learn.trainer import EPOCH, Plan, Study, jax, train
from klss.support.arrays import Float32s, Floats, Ints, Words
from klss.support.inference import grids_of
from uci_bridge.match.documents import head, write_document

PATIENCE = 3
"""Epochs without gain, the last of which ends the training."""
_ENCODERS = {"anchor": (ANCHOR, 100), "board": (BOARD, 20)}
"""The number of planes of each encoder, and how many of them have ones near a square."""
_FIRST, _MORE = 3, 2
"""Others of a decision, and how many more after an epoch without gain."""
_UNNAMED = 0.5
"""Share of the decisions without the opponent's name."""
_TOGETHER = 256
"""The number of planes that anchors are read with is a multiple of this."""

TEMPERATURES = np.geomspace(0.05, 50, 31)
_SIZES = (2, 10, 100)
"""Least sizes of the classes of sets."""


@dataclass(eq=False)
class Siamese(Study):
    """What is learned; see the module."""

    held: Arrays  # decisions
    rival: bool = False
    channels: int = 24
    layers: int = 5  # of an encoder, and of the trunk after it
    batch: int = 64
    others: int = _FIRST

    def began(self, failed: int) -> None:
        self.others = _FIRST + _MORE * failed

    def first(self, seed: int) -> dict[str, Float32s]:
        """The weights at the start of training."""
        net = Jax({}, seed)
        self.compared(net, *(np.zeros(shape, dtype=np.float32) for shape in ((1, 8, 8, ANCHOR), (1, 1, 8, 8, BOARD))))
        return net.weights

    def begun(self, net: Any, name: str, planes: Any) -> Any:
        """The first layer of anchors or boards."""
        return net.conv(planes, f"{name}0", self.channels, inputs=_ENCODERS[name][1], halved=True)

    def points(self, net: Any, name: str, inner: Any) -> Any:
        """The points of anchors or boards, [b, POINT], from their first layer."""
        inner = net.elu(inner)
        for i in range(1, self.layers):
            inner = net.elu(net.conv(inner, f"{name}{i}", self.channels))
        for i in range(self.layers):
            inner = net.add(inner, net.elu(net.conv(inner, f"shared{i}", self.channels, by=0.5)))
        read = net.rows(net.elu(net.conv(inner, "read", 4, size=1)))
        return net.tanh(net.dense(read, "dense", POINT, halved=True))

    def learned(self, generator: np.random.Generator) -> Iterator[tuple[Any, ...]]:
        for some in chunks(self.rows, self.batch, generator):
            counts = self.held["count"][some].astype(int)
            others = 1 if self.rival else self.others
            # Others drawn again in each epoch; of small sets some more than once, which changes nothing.
            drawn = 1 + (generator.random((len(some), others)) * (counts[:, None] - 1)).astype(int)
            yield self.batch_of(some, drawn, generator.random(len(some)) < _UNNAMED)

    def batch_of(self, some: Ints, drawn: Any = tuple(range(1, 1 + _FIRST)), unnamed: Any = False) -> tuple[Any, ...]:
        """The anchors (:func:`anchor_grids`), the boards' planes, the true ones and ``drawn`` others, and which are no
        padding.
        """
        anchors, counts = self.held["anchor"][some], self.held["count"][some, None].astype(int)
        anchors[np.broadcast_to(unnamed, len(some)), -NAMED:] = 0
        columns = np.pad(np.broadcast_to(drawn, (len(some), np.shape(drawn)[-1])), ((0, 0), (1, 0)))
        boards = np.take_along_axis(self.held["boards"][some], columns[:, :, None], axis=1)
        return anchor_grids(anchors), by_cells(grids_of(boards)), columns < counts

    def loss(self, weights: Any, batch: tuple[Any, ...]) -> Any:
        jnp = jax.numpy
        anchors, boards, real = batch
        if self.rival:
            found = self.scores(weights, anchors, boards)
            others = (jax.nn.softplus(found) * real)[:, 1:].sum(axis=1) / real[:, 1:].sum(axis=1)
            return (jax.nn.softplus(-found[:, 0]) + others).mean() / 2
        # Only the nearest of the others is learned from, so the rest needs no slopes.
        near = self.scores(jax.lax.stop_gradient(weights), anchors, boards)
        nearest = jnp.where(real, near, -jnp.inf)[:, 1:].argmax(axis=1)
        both = jnp.stack([boards[:, 0], boards[jnp.arange(len(boards)), 1 + nearest]], axis=1)
        distances = -self.scores(weights, anchors, both)
        return jnp.maximum(distances[:, 0] - distances[:, 1] + 1, 0).mean()

    def scores(self, weights: Any, anchors: Any, boards: Any) -> Any:
        """The scores of boards in JAX, their distances below 0 or the rival's logits: [b, m]."""
        return self.compared(Jax(weights), anchors, boards)

    def compared(self, net: Jax, anchors: Any, boards: Any) -> Any:
        count, several = boards.shape[:2]
        flat = boards.reshape(count * several, *boards.shape[2:])
        anchor, board = self.begun(net, "anchor", anchors), self.begun(net, "board", flat)
        if self.rival:
            found = self.points(net, "board", jax.numpy.repeat(anchor, several, axis=0) + board)
            return net.dense(found, "answer", 1, biased=False).reshape(count, several)
        there = self.points(net, "board", board).reshape(count, several, POINT)
        apart = there - self.points(net, "anchor", anchor)[:, None]
        return -jax.numpy.sqrt((apart**2).sum(axis=2) + 1e-9)

    def write(self, weights: Any, path: Path, history: Mapping[str, Any]) -> None:
        for name, (planes, _) in _ENCODERS.items():
            rows, graph = 1 if name == "anchor" else CHUNK, Graph(weights)
            point = self.points(graph, name, self.begun(graph, name, "planes"))
            ends = {"planes": (rows, planes, 8, 8)}, {"points": (point, (rows, POINT))}
            graph.write(path.parent / f"siamese-{name}.onnx", *ends, history)


def anchor_grids(words: Words) -> tuple[Float32s, Ints]:
    """The planes of anchors (uint64[b, ANCHOR]) that are not 0 everywhere, float32[b, 8, 8, p], and their indices. So
    many as a multiple of :data:`_TOGETHER`, so that few programs are compiled; what is missing counts 0.
    """
    used = np.flatnonzero(words.any(axis=0))
    planes = np.pad(words[:, used], ((0, 0), (0, -len(used) % _TOGETHER)))
    return by_cells(grids_of(planes)), np.pad(used, (0, -len(used) % _TOGETHER))


def by_cells(grids: Float32s) -> Float32s:
    """Planes [..., p, 8, 8] as [..., 8, 8, p]."""
    return np.ascontiguousarray(np.moveaxis(grids, -3, -1))


def learn(held: Arrays, parsed: Namespace, tell: Callable[[str], None]) -> tuple[Callable[..., None], dict[str, Any]]:
    """See :class:`experiments.learn.__main__.Recipe`: what writes the pair, and the figures of both. Without an epoch
    nothing is learned, and the packaged pair is ranked.
    """
    figures, networks, study, weights = {}, dict[str, Any](), Siamese(held), None
    for name in ("cnn", "pair") if parsed.epochs else ():
        study = Siamese(held, rival=name == "cnn")
        plan = Plan(parsed.epochs, parsed.seed, patience=PATIENCE)
        weights, rows = train(study, plan, parsed.out / f"{name}.checkpoint.npz", tell)
        figures[name] = {"columns": EPOCH, "rows": rows}
        networks[name] = partial(scored, jax.jit(study.scores), weights)
    if not networks:
        networks["pair"] = lambda anchor, boards: -Pair.packaged().distances(anchor, boards)
    ranked = rank([path for _, path in parsed.matches], networks | {"pair-named": networks["pair"]}, tell)
    write_document(parsed.out / "rbc_rank.json", head("learn siamese", "numpy", "onnxruntime") | ranked)
    return partial(study.write, weights), figures | {"tested": table(ranked)}


def scored(program: Callable[..., Any], weights: Any, anchor: Words, boards: Words) -> Floats:
    """The scores (:meth:`Siamese.scores`) of boards (uint64[n, BOARD]) by an anchor: float64[n]."""
    read, found = anchor_grids(anchor[None]), []
    for at in range(0, len(boards), CHUNK):
        planes = by_cells(grids_of(padded(boards[at : at + CHUNK], CHUNK)))
        found.append(np.asarray(program(weights, read, planes[None]))[0])
    return np.concatenate(found)[: len(boards)]


def rank(paths: Sequence[Path], networks: Mapping[str, Any], tell: Callable[[str], None]) -> dict[str, Any]:
    """A row for each decision of the test games of matches: by each ranking how many boards are better than the true
    one, how many equal, itself among them, and the nats. The temperatures of the networks, which score boards by an
    anchor; and how many boards are scored in a second of processor time, the median of larger sets.
    """
    held: dict[int, list[tuple[list[Any], dict[str, Floats]]]] = {VALIDATE: [], TEST: []}
    rates: dict[str, list[float]] = defaultdict(list)
    games = ((path.name, *game) for path in paths for game in ASKED.at(path) if part_of(game[0]) != TRAIN)
    for match, number, file in games:
        tell(f"{match}, game {number}")
        decisions = ASKED.decisions(file, np.random.default_rng(number))
        for opponent, ply, known, kinds, observer, anchor, members, boards in decisions:
            named, scores = anchor.words, {}
            plain = np.concatenate([named[:-NAMED], np.zeros(NAMED, dtype=np.uint64)])
            ways: list[tuple[Any, ...]] = [
                ("uniform", np.zeros, len(boards)), ("filter", log_prior, kinds, known, members),
                ("tower", Tower.packaged().log_weights, known, observer, members),
                *((name, way, named if name == "pair-named" else plain, boards) for name, way in networks.items()),
            ]  # fmt: skip
            for name, way, *given in ways:
                began = time.process_time()
                scores[name] = way(*given)
                if len(boards) >= _SIZES[-1]:
                    rates[name].append(len(boards) / max(1e-9, time.process_time() - began))
            color = chess.COLOR_NAMES[known.own.color]
            held[part_of(number)].append(([opponent, match, number, color, ply, known.size, len(boards)], scores))
    heats = dict.fromkeys(("uniform", "filter", "tower", *networks), 1.0)
    for name in networks if held[VALIDATE] else ():
        nats = [np.mean([_nats(scores[name], heat) for _, scores in held[VALIDATE]]) for heat in TEMPERATURES]
        heats[name] = float(TEMPERATURES[int(np.argmin(nats))])
    for about, scores in held[TEST]:
        more = np.log(about[5] / about[6])
        for name, each in scores.items():
            nats = round(_nats(each, heats[name]) + more, 4)
            about += [int((each > each[0]).sum()), int((each == each[0]).sum()), nats]
    return {
        "configuration": {"weighed": RANKED, "every": EVERY, "matches": [path.name for path in paths]},
        "temperatures": {name: round(heat, 3) for name, heat in heats.items()},
        "boards_a_second": {name: round(float(np.median(rates[name] or 0))) for name in heats},
        "columns": ["opponent", "match", "game", "color", "ply", "size", "ranked"]
        + [f"{name} {what}" for name in heats for what in ("better", "equal", "nats")],
        "rows": [about for about, _ in held[TEST]],
    }


def _nats(scores: Floats, temperature: float) -> float:
    return float(logsumexp(scores / temperature) - scores[0] / temperature)


def table(ranked: dict[str, Any]) -> dict[str, Any]:
    """What rows of :func:`rank` say, by the class of sets or the opponent, which is printed too: shares of decisions
    whose truth is the likeliest board, in the likeliest tenth and half; means; boards scored in a second.
    """
    cells = np.array(ranked["rows"], dtype=object).reshape(-1, len(ranked["columns"]))
    held = dict(zip(ranked["columns"], cells.T, strict=True))
    classes = {f"{least} or more": held["size"] >= least for least in _SIZES}
    classes |= {name: held["opponent"] == name for name in NAMES}
    rows = []
    for name, some in classes.items():
        for ranking, rate in ranked["boards_a_second"].items() if some.any() else ():
            names = ("ranked", *(f"{ranking} {what}" for what in ("better", "equal", "nats")))
            count, better, equal, nats = (held[column][some].astype(float) for column in names)
            place = better + (equal + 1) / 2
            tenth, half = (place <= np.ceil(part * count) for part in (0.1, 0.5))
            figures = np.where(better == 0, 1 / equal, 0), tenth, half, place, nats
            rows.append([name, len(count), ranking, *(round(float(each.mean()), 3) for each in figures), rate])
    columns = ("of", "decisions", "ranking", "top-1", "tenth", "half", "mean rank", "nats", "boards a second")
    return shown(columns, rows)
