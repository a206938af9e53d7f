"""Learning from own games: ``python -m experiments.rbc_learn selfplay --out DIR``.

Expert iteration: a generation's player plays games, mostly against itself, else against an earlier generation. The next
generation's policy learns the results of the playouts at the root, for senses and requests; its value learns the
results of the games. It begins with random weights.

The policy's targets are the visits; or, with ``--targets values``, the policy improved by the values of the choices
(:meth:`klss.synoptic.bandit.Root.improved`), since the visits of few playouts say little more than the policy itself.
(A head must not learn from its own draws, as in S. Savelyev's thesis (Georgia Tech, 2020), since that leaves it as it
is. Visits are better than the policy that was used in the search.)

``DIR`` has ``gen-000.npz``, ``gen-001.npz`` …, the networks; ``gen-000/games-000000.npz`` …, the games of each;
``gen-000.learner.npz`` …, the state of training. Whole files are not made again, so that a stopped command can be
resumed.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import json
import math
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import chess
import numpy as np

from darkchess.board.position import Position
from darkchess.errors import FenError
from darkchess.rbc.game.referee import Referee
from darkchess.rbc.players.dsmcp import Synoptic, SynopticPlayer
from darkchess.rbc.synoptic.networks import HEADSETS, network_of
from experiments.commands import amount, positive, share
from experiments.learning.fit import TrainingError
from experiments.rbc_learn.data import ShardError, joined, made_shard, read_shard
from experiments.rbc_learn.imitation import end_rows, men_of
from experiments.rbc_learn.learner import Learner, Sizes
from experiments.rbc_learn.networks import batch_of
from experiments.rbc_learn.processes import processes
from experiments.rbc_learn.train import passes
from klss.networks.residual import NetworkError, ResidualNetwork
from klss.support.arrays import Floats
from klss.support.whole_file import written_whole
from klss.synoptic.playouts import Planned
from klss.table.arbiter import Arbiter
from klss.table.limits import Limit, TimeControl
from klss.table.outcome import Outcome
from klss_app.progress import ProgressLine
from uci_bridge.match.documents import write_document


@dataclass(frozen=True)
class Schedule:
    """The settings of self-play."""

    nodes: int = 96  # of each question
    particles: int = 32  # sets of the opponent that are kept
    # of a generation; of a shard
    games: int = 200
    block: int = 20
    past: float = 0.25  # the share of games that are against an earlier generation
    drawn: int = 30  # first own actions, which are drawn by their visits; later ones are the search's answer
    noise: float = 0.25  # the share of Dirichlet noise in the policy at the root
    # the policy's targets: ``visits``, or the policy improved by ``values``
    targets: Literal["visits", "values"] = "visits"
    remembered: int = 4  # latest generations whose games are used
    # passes over all of them, and decisions per step
    epochs: int = 2
    batch: int = 64
    seed: int = 19  # of all that is random
    fen: str | None = None  # where games start; None: as usual


class SelfPlayer(SynopticPlayer):
    """Plays by its playouts with some exploration, and keeps their results if it is ``recorded``. The ``referee`` is
    only used to count the pieces of the true position.
    """

    def __init__(
        self, thinking: Synoptic, network: ResidualNetwork, schedule: Schedule, referee: Referee, *, seed: int,
        recorded: bool,
    ) -> None:  # fmt: skip
        super().__init__(thinking, network, seed=seed, cap=20_000)
        self._schedule, self._referee, self._recorded = schedule, referee, recorded
        self._drawing = np.random.default_rng([seed, 1])
        self._actions = 0
        self.rows: list[dict[str, Any]] = []

    def start(self, color: chess.Color, start: Position) -> None:
        super().start(color, start)
        self._color = color

    def end(self, outcome: Outcome) -> None:
        end_rows(self.rows, outcome, self._color, self._actions)

    def _answered(self, limit: Limit, *, sense: bool) -> tuple[int, dict[str, object]]:
        self._actions += 1
        return super()._answered(limit, sense=sense)

    def _chosen(self, planned: Planned) -> int:
        visits = np.maximum(planned.root.numbers, 0.0)
        if not planned.playouts or not visits.sum():
            return planned.action
        by_visits = self._schedule.targets == "visits"
        shares = visits / visits.sum() if by_visits else planned.root.improved(self._thinking.gain)
        if self._recorded:
            self._keep(planned, shares)
        if self._actions <= self._schedule.drawn:
            return int(planned.looks.actions[self._drawing.choice(shares.shape[0], p=shares)])
        return planned.action

    def _keep(self, planned: Planned, shares: Floats) -> None:
        looks = planned.looks
        sizes = np.diff(looks.listing)
        order = np.argsort(looks.alike, kind="stable")
        self.rows.append(
            {
                "synopses": looks.synopses[0],
                "legal": looks.alike[order],
                "chosen": looks.alike[:0],
                "targets": np.repeat(shares / sizes, sizes)[order].astype(np.float32),
                "choices": np.repeat(np.arange(sizes.shape[0]), sizes)[order].astype(np.int16),
                "headset": HEADSETS.index("top"),
                "pieces": men_of(self._referee.position, self._color),
                "action": self._actions - 1,
            }
        )


def network_path(out: Path, generation: int) -> Path:
    """The path of a generation's network."""
    return out / f"gen-{generation:03}.npz"


def played(out: Path, generation: int, game: int, schedule: Schedule) -> list[dict[str, Any]]:
    """Play a game; return the decisions of this generation in it."""
    generator = np.random.default_rng([schedule.seed, generation, game])
    against = generation
    if generation and generator.random() < schedule.past:
        against = int(generator.integers(generation))
    color = bool(generator.integers(2))
    thinking = Synoptic(mixing=1.0, noise=schedule.noise, particles=schedule.particles, cuts=2, batch=8)
    referee = Referee(schedule.fen)

    def learner_of(number: int) -> SelfPlayer:
        network = network_of(str(network_path(out, number)))
        assert isinstance(network, ResidualNetwork)
        seed = int(generator.integers(1 << 31))
        return SelfPlayer(thinking, network, schedule, referee, seed=seed, recorded=number == generation)

    players = {color: learner_of(generation), not color: learner_of(against)}
    try:
        Arbiter(referee, players, dict.fromkeys(chess.COLORS, TimeControl(nodes=schedule.nodes))).play()
    finally:
        for player in players.values():
            player.close()
    number = 1_000_000 * generation + game
    return [row | {"game": number} for side in chess.COLORS for row in players[side].rows]


def block_of(out: Path, generation: int, first: int, schedule: Schedule) -> int:
    """Play a block of games of a generation unless its shard exists; return its number of decisions."""
    path = out / f"gen-{generation:03}" / f"games-{first:06}.npz"
    path.parent.mkdir(parents=True, exist_ok=True)
    about = {"generation": generation, "first": first, **asdict(schedule)}
    games = range(first, first + schedule.block)
    return made_shard(path, about, lambda: [row for game in games for row in played(out, generation, game, schedule)])


def learned(out: Path, generation: int, schedule: Schedule) -> None:
    """Train the next generation's network on the games of this one and of some before it."""
    learner, _ = Learner.load(_learner_path(out, generation))
    first = max(0, generation + 1 - schedule.remembered)
    paths = [path for g in range(first, generation + 1) for path in sorted((out / f"gen-{g:03}").glob("*.npz"))]
    held = joined([read_shard(path)[0] for path in paths])
    for epoch in range(schedule.epochs):
        generator = np.random.default_rng([schedule.seed, generation, 7, epoch])
        for headset, rows in passes(held.headset, ("all", "top"), schedule.batch, generator):
            learner.step(headset, batch_of(held, rows))
    about = {"generation": generation + 1, "decisions": len(held), "schedule": asdict(schedule)}
    learner.save(_learner_path(out, generation + 1), about)
    _write(learner, network_path(out, generation + 1), about)


def _learner_path(out: Path, generation: int) -> Path:
    return out / f"gen-{generation:03}.learner.npz"


def _write(learner: Learner, path: Path, about: dict[str, Any]) -> None:
    with written_whole(path) as file:
        learner.network(about).write(file)


def begun(out: Path, schedule: Schedule) -> None:
    """Make the first generation, with random weights, if it is missing. Raises TrainingError: another run is there."""
    out.mkdir(parents=True, exist_ok=True)
    plan = out / "selfplay.json"
    if plan.exists():
        if json.loads(plan.read_text(encoding="utf-8")) != asdict(schedule):
            raise TrainingError(f"{plan}: holds a run of another schedule; choose another --out, or give its numbers")
    else:
        write_document(plan, asdict(schedule))
    if not network_path(out, 0).exists():
        learner = Learner(Sizes(headsets=("all", "top")), schedule.seed)
        learner.save(_learner_path(out, 0), {"generation": 0})
        _write(learner, network_path(out, 0), {"generation": 0})


def generations(out: Path, schedule: Schedule, workers: int) -> Iterator[tuple[int, int, int]]:
    """Play and learn without end; yields the generation, its games and its decisions after each block."""
    for generation in itertools.count():
        if network_path(out, generation + 1).exists():
            continue
        firsts = range(0, schedule.games, schedule.block)
        total = 0
        with contextlib.ExitStack() as stack:
            if workers == 1:
                found: Iterator[int] = (block_of(out, generation, first, schedule) for first in firsts)
            else:
                pool = processes(workers)
                stack.callback(pool.shutdown, cancel_futures=True)
                tasks = [pool.submit(block_of, out, generation, first, schedule) for first in firsts]
                found = (task.result() for task in tasks)
            for done, count in enumerate(found, 1):
                total += count
                yield generation, done * schedule.block, total
        learned(out, generation, schedule)


def main(arguments: Sequence[str] | None = None) -> int:
    """Play and learn; return the exit code."""
    kept = Schedule()
    parser = argparse.ArgumentParser(
        prog="python -m experiments.rbc_learn selfplay", description="a player learns from its own games"
    )
    add = parser.add_argument
    add("--out", type=Path, required=True, metavar="DIR", help="where all of it is kept")
    add("--generations", type=positive, default=20, metavar="N", help="until there are so many (20)")
    add("--minutes", type=amount, default=math.inf, metavar="M", help="stop after so many")
    add("--workers", type=positive, default=1, metavar="W", help="processes (default 1)")
    flags: tuple[tuple[str, Callable[[str], Any], str], ...] = (
        ("games", positive, "of a generation"), ("nodes", positive, "of a question"),
        ("particles", positive, "sets of the opponent that are kept"), ("block", positive, "games of a shard"),
        ("epochs", positive, "of a generation's training"), ("seed", int, "of all that is random"),
        ("noise", share, "share of Dirichlet noise in the policy at the root"),
    )  # fmt: skip
    for name, kind, about in flags:
        add(f"--{name}", type=kind, default=getattr(kept, name), metavar="N", help=f"{about} (default %(default)s)")
    add("--targets", choices=("visits", "values"), default=kept.targets, help="what the policy learns")
    add("--fen", metavar="FEN", help="where games start, known to both")
    parsed = parser.parse_args(arguments)
    try:
        Referee(parsed.fen)
    except FenError as error:
        parser.error(f"--fen: {error}")
    given = {name: getattr(parsed, name) for name, _, _ in flags}
    schedule = Schedule(fen=parsed.fen, targets=parsed.targets, **given)
    began = time.monotonic()
    try:
        begun(parsed.out, schedule)
        going = generations(parsed.out, schedule, parsed.workers)
        with closing(ProgressLine("games")) as line, contextlib.suppress(KeyboardInterrupt):
            for generation, played_games, count in going:
                line.tell(f"generation {generation}: {played_games} of {schedule.games}, {count} decisions")
                over = network_path(parsed.out, parsed.generations - 1).exists()
                if over or time.monotonic() - began > 60 * parsed.minutes:
                    break
    except (TrainingError, ShardError, NetworkError, OSError) as error:
        print(f"python -m experiments.rbc_learn selfplay: {error}", file=sys.stderr)
        return 2
    made = [path.name for path in sorted(parsed.out.glob("gen-???.npz"))]
    print(f"{parsed.out}: generations {made[0]} to {made[-1]}")
    return 0
