"""The speed of the position set of Reconnaissance Blind Chess, and of the parts that use it.

``tracker``: successors per second, and the partitions by all senses. ``synopsis``: a network's input from a set.
``dsmcp``: the player that plans on synopses, and the network alone.
"""

from __future__ import annotations

import random
from typing import Any

import chess
import numpy as np

from darkchess.rbc.belief.position_set import PositionSet
from darkchess.rbc.belief.senses import partitions
from darkchess.rbc.game.observation import Notice
from darkchess.rbc.game.referee import Referee
from darkchess.rbc.players.dsmcp import SynopticPlayer
from darkchess.rbc.synoptic.forced import forced_win
from darkchess.rbc.synoptic.networks import network_of
from darkchess.rbc.synoptic.synopsis import MEMORY, SENSE, synopses
from klss.networks.residual import ResidualNetwork
from klss.support.arrays import Words
from klss.table.limits import Limit
from klss_app.bench.report import Figures, Report, Say, rates, spread, stopwatch, threaded, timed

__all__ = ["dsmcp", "synopsis", "tracker"]

_LEAST = 1_000_000
"""Least number of source positions in an update that is timed."""

_CAP = 30_000_000
_SAMPLE = 2000

_SET = 128
"""Positions of a set in a search's playout."""

_BATCH = 256
_FEW = 10_000
"""Least number of positions that such sets are drawn from."""

_NODES = 1500
"""Nodes of each of a turn's two questions."""

_GAME = """
b2 d2d4, d2 d7d5, b5 e2e4, d2 d5e4, e6 f1b5, c4 c7c6, d7 b5c6, b2 b8c6, b5 d4d5, d3 d8a5, c7 b1c3, d2 c6b4, c7 d1d4,
d2 b4c2, b2 e1d1, g4 c2e1, b5 d4a4, d3 a5b5
"""
"""A game of ``rbc-expect`` against ``rbc-siamese``: looks and requests. White's set then has 586 positions before the
sense, and 222 after a look at f7.
"""

_LOOK = chess.F7


def tracker(*, repetitions: int = 3, say: Say = lambda line: None) -> Report:
    """Figures ``successors_per_s_1t`` and ``_2t`` (from 10⁶ sources or more, over the wall time of the whole update),
    ``successors_per_cpu_s_1t``, ``partitions_s`` (all 36 senses of 2,000 positions) and ``partitions_cpu_s``.
    """
    samples: list[dict[str, Any]] = []
    for repetition in range(-1, repetitions):  # the first one warms up
        for threads in (1, 2):
            known = _large(threads, _LEAST)
            sources = known.size
            watch = stopwatch()
            known.noticed(Notice(None))
            seconds, cpu = watch()
            if repetition >= 0:
                samples.append({
                    "threads": threads, "sources": sources, "positions": known.size, "successors": known.successors,
                    "seconds": seconds, "cpu_seconds": cpu,
                })  # fmt: skip
                say(
                    f"{threaded(threads)}: {sources:,} → {known.size:,} positions, "
                    f"{known.successors / seconds / 1e6:.1f} million successors/s, {seconds:.2f} s"
                )
    known = _large(1, _LEAST)
    chosen = known.sample(_SAMPLE, 0)
    weights = np.full(_SAMPLE, 1.0 / _SAMPLE)
    walls, cpus = timed(20 * repetitions, lambda: partitions(known, chosen).left_over(weights))
    say(f"partitions by 36 senses of {_SAMPLE:,} positions: {np.median(walls) * 1e3:.2f} ms")
    figures = rates(samples, "successors")
    return Report(figures | {"partitions_s": spread(walls, "s"), "partitions_cpu_s": spread(cpus, "s")}, None, samples)


def synopsis(*, repetitions: int = 3, say: Say = lambda line: None) -> Report:
    """Figures ``synopsis_s`` and ``synopsis_cpu_s`` (one of a batch of 256 sets of 128 positions) and ``forced_win_s``
    (of one such set before the sense, one call at a time).
    """
    sets, batch = _batch()
    row = batch[0][0]
    walls, cpus = timed(20 * repetitions, lambda: synopses(*batch))
    forced, _ = timed(20 * repetitions, lambda: [forced_win(row, members, SENSE) for members in sets])
    figures: Figures = {}
    for name, seconds in (("synopsis_s", walls), ("synopsis_cpu_s", cpus), ("forced_win_s", forced)):
        figures[name] = spread([each / _BATCH for each in seconds], "s")
    each_us = {name: found["median"] * 1e6 for name, found in figures.items() if found is not None}
    say(f"the synopsis of {_SET} positions: {each_us['synopsis_s']:.1f} µs, a batch of {_BATCH} sets at a time")
    say(f"whether a sense wins for sure: {each_us['forced_win_s']:.1f} µs")
    return Report(figures, None, [])


def dsmcp(*, repetitions: int = 3, say: Say = lambda line: None) -> Report:
    """Figures ``nodes_per_s_1t`` and ``_2t`` (over the wall time of both of a turn's questions),
    ``nodes_per_cpu_s_1t``, ``synopses_per_s_1t`` and ``_2t`` (the packaged network alone, a batch of 256 sets of 128
    positions) and ``synopses_per_cpu_s_1t``.
    """
    network = network_of("packaged")
    assert isinstance(network, ResidualNetwork)
    seen = synopses(*_batch()[1])
    samples: list[dict[str, Any]] = []
    for repetition in range(-1, repetitions):  # the first one warms up
        for threads in (1, 2):
            nodes, seconds, cpu = _turn_of_dsmcp(threads)
            watch = stopwatch()
            network.infer(seen, "top", "all", threads=threads)
            alone, alone_cpu = watch()
            if repetition >= 0:
                samples.append({
                    "threads": threads, "nodes": nodes, "seconds": seconds, "cpu_seconds": cpu, "synopses": _BATCH,
                    "network_seconds": alone, "network_cpu_seconds": alone_cpu,
                })  # fmt: skip
                say(
                    f"{threaded(threads)}: {nodes:,} nodes, {nodes / seconds:,.0f} nodes/s "
                    f"({nodes / cpu:,.0f} a second of processor time); the network of {network.channels} channels and "
                    f"{network.blocks} blocks alone, {_BATCH / alone:,.0f} synopses/s"
                )
    network_alone = rates(samples, "synopses", "network_seconds", "network_cpu_seconds")
    return Report(rates(samples, "nodes") | network_alone, None, samples)


def _batch() -> tuple[list[Words], tuple[Any, ...]]:
    """Sets like those in a search's playouts, and the same as arguments of
    :func:`darkchess.rbc.synoptic.synopsis.synopses`: own rows, halves, offsets, stages, memories.
    """
    known = _large(1, _FEW)
    sets = [known.halves[known.sample(_SET, seed)] for seed in range(_BATCH)]
    offsets, stages = _SET * np.arange(_BATCH + 1), np.arange(_BATCH) % 2
    memories = np.zeros((_BATCH, MEMORY), dtype=np.uint64)
    return sets, (np.tile(known.own_row, (_BATCH, 1)), np.concatenate(sets), offsets, stages, memories)


def _turn_of_dsmcp(threads: int) -> tuple[int, float, float]:
    """Nodes, seconds and processor seconds of both questions of a turn in the middle of :data:`_GAME`; the turn before
    is asked too, as in a game.
    """
    game = Referee()
    player = SynopticPlayer(seed=1, threads=threads)
    player.start(chess.WHITE, game.position)
    turns = [turn.split() for turn in _GAME.split(",")]
    before = Limit(nodes=100)
    try:
        for ply, (look, asked) in enumerate(turns):
            own, last = game.turn == chess.WHITE, ply == len(turns) - 2
            notice = game.notice
            sensed = game.sense(chess.parse_square(look))
            if own:
                player.notice(notice)
                if last:
                    player.choose_sense(before)
                player.sensed(sensed)
                if last:
                    player.choose_move(before)
            moved = game.move(chess.Move.from_uci(asked))
            if own:
                player.moved(moved)
        player.notice(game.notice)
        limit = Limit(nodes=_NODES)
        watch = stopwatch()
        nodes = player.choose_sense(limit).diagnostics["nodes"]
        player.sensed(game.sense(_LOOK))
        nodes += player.choose_move(limit).diagnostics["nodes"]
        return nodes, *watch()
    finally:
        player.close()


def _large(threads: int, least: int) -> PositionSet:
    """White's set of at least ``least`` positions before a turn of Black, after quiet moves and no looks."""
    rng = random.Random(5)
    game = Referee()
    known = PositionSet(chess.WHITE, game.position, cap=_CAP, threads=threads)
    while known.size < least or game.turn == chess.WHITE:
        if game.turn == chess.WHITE:
            known.noticed(game.notice)
            quiet = [move for move in game.requests() if chess.square_rank(move.to_square) < 4]
            known.moved(game.move(rng.choice(quiet)))
        else:
            quiet = [move for move in game.requests() if chess.square_rank(move.to_square) > 3]
            game.move(rng.choice(quiet))
    return known
