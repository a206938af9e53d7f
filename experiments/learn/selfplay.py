"""Learning from own games: ``python -m experiments.learn rl``.

Expert iteration: a generation's player plays games, mostly against itself, else against an earlier generation. The next
generation's policy learns the results of the playouts at the root, for senses and requests; its value learns the
results of the games. It begins with random weights.

The policy's targets are the policy improved by the values of the choices (:meth:`klss.synoptic.bandit.Root.improved`),
since the visits of few playouts say little more than the policy itself. (A head must not learn from its own draws, as
in S. Savelyev's thesis (Georgia Tech, 2020), since that leaves it as it is.)

``DIR`` has ``gen-000.onnx``, ``gen-001.onnx`` …, the networks; ``gen-000/own-games-00000.npz`` …, the games of each;
``gen-001.checkpoint.npz`` …, the trainings. What is there is not made again, so that a stopped command can be resumed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import chess
import numpy as np

from darkchess.rbc.game.referee import Referee
from darkchess.rbc.players.dsmcp import Synoptic, SynopticPlayer
from darkchess.rbc.synoptic.networks import network_of
from experiments.learn.blind import PLANNED, WIDTH, ended, planned
from experiments.learn.planning import Planning
from experiments.learn.shards import Row, TrainingError, load, write
from experiments.learn.trainer import Plan, best_of, train
from klss.play.arbiter import Arbiter
from klss.play.limits import Limit
from klss.synoptic.model import Network
from klss.synoptic.playouts import Planned
from uci_bridge.match.documents import write_document


@dataclass(frozen=True)
class Schedule:
    """The settings of self-play."""

    nodes: int = 96  # of each question
    particles: int = 24  # sets of the opponent that are kept
    games: int = 60  # of a generation
    noise: float = 0.1  # the share of Dirichlet noise in the policy at the root
    epochs: int = 2  # passes over the games of the latest generations
    seed: int = 19  # of all that is random
    fen: str | None = None  # where games start; None: as usual


PAST = 0.25
"""The share of games that are against an earlier generation."""
DRAWN = 30
"""First own actions, which are drawn by their targets; later ones are the search's answer."""
REMEMBERED = 4
"""Latest generations whose games are learned from."""


class SelfPlayer(SynopticPlayer):
    """Plays by its playouts with some exploration, and keeps their results."""

    def __init__(self, thinking: Synoptic, network: Network, *, seed: int) -> None:
        super().__init__(thinking, network, seed=seed, cap=20_000)
        self._drawing = np.random.default_rng([seed, 1])
        self.rows: list[Row] = []

    def _chosen(self, found: Planned) -> int:
        if not found.playouts or not (found.root.numbers > 0).any():
            return found.action
        looks, shares = found.looks, found.root.improved(self._thinking.gain)
        sizes = np.diff(looks.listing)
        if len(looks.alike) <= WIDTH:
            choices, targets = np.repeat(np.arange(len(sizes)), sizes), np.repeat(shares / sizes, sizes)
            legal = looks.alike.astype(int)
            self.rows.append(planned(looks.synopses[0], legal, choices, targets, True, self._played - 1))
        if self._played <= DRAWN:
            return int(looks.actions[self._drawing.choice(shares.shape[0], p=shares)])
        return found.action


def network_path(out: Path, generation: int) -> Path:
    """The path of a generation's network."""
    return out / f"gen-{generation:03}.onnx"


def _checkpoint(out: Path, generation: int) -> Path:
    return out / f"gen-{generation:03}.checkpoint.npz"


def played(out: Path, generation: int, game: int, schedule: Schedule) -> Iterator[Row]:
    """Play a game; yields the decisions of this generation in it."""
    generator = np.random.default_rng([schedule.seed, generation, game])
    against = generation
    if generation and generator.random() < PAST:
        against = int(generator.integers(generation))
    color = bool(generator.integers(2))
    thinking = Synoptic(mixing=1.0, noise=schedule.noise, particles=schedule.particles, cuts=2, batch=8)
    referee, players = Referee(schedule.fen), {}
    for side, number in ((color, generation), (not color, against)):
        network, seed = network_of(str(network_path(out, number))), int(generator.integers(1 << 31))
        players[side] = SelfPlayer(thinking, network, seed=seed)
    try:
        Arbiter(referee, players, dict.fromkeys(chess.COLORS, Limit(nodes=schedule.nodes))).play()
    finally:
        for player in players.values():
            player.close()
    for side in chess.COLORS:
        if side == color or against == generation:
            # Nine of ten games train, one validates (:func:`experiments.learn.shards.part_of`); none is for a test.
            number = 10 * game + (3 if game % 10 == 9 else 0)
            yield from (row | {"game": number} for row in ended(players[side].rows, referee, side))


def generations(
    out: Path, schedule: Schedule, most: int, tell: Callable[[str], None]
) -> tuple[Callable[..., None], dict[str, Any]]:
    """Play and learn until there are ``most`` generations; return what writes the last one's network, and the schedule.
    Raises TrainingError: another run is there.
    """
    about = out / "selfplay.json"
    if about.exists() and json.loads(about.read_text(encoding="utf-8")) != asdict(schedule):
        raise TrainingError(f"{about}: holds a run of another schedule; choose another --out, or give its numbers")
    write_document(about, asdict(schedule))
    for generation in range(most):
        if generation + 1 == most or not network_path(out, generation).exists():
            written = partial(Planning.write, *_learned(out, generation, schedule, tell))
            written(network_path(out, generation), {"generation": generation})
        for game in range(schedule.games if generation + 1 < most else 0):
            tell(f"generation {generation}: game {game + 1} of {schedule.games}")
            shard = out / f"gen-{generation:03}" / f"own-games-{game:05}.npz"
            write(shard, PLANNED, played(out, generation, game, schedule))
    return written, {"schedule": asdict(schedule)}


def _learned(out: Path, generation: int, schedule: Schedule, tell: Callable[[str], None]) -> tuple[Planning, Any]:
    """Learn a generation's weights from the games of some before it; random ones for the first."""
    before = range(max(0, generation - REMEMBERED), generation)
    paths = [path for each in before for path in sorted((out / f"gen-{each:03}").glob("*.npz"))]
    study = Planning(load(paths, PLANNED) if generation else {})
    weights = study.first(schedule.seed)
    if generation:
        if generation > 1:
            weights = best_of(_checkpoint(out, generation - 1), weights)
        weights, _ = train(study, Plan(schedule.epochs, schedule.seed), _checkpoint(out, generation), tell, weights)
    return study, weights
