"""Learn the packaged policy of moves (:mod:`darkchess.fog.belief.policy`): a softmax over all legal moves, by maximum
likelihood. ``python -m experiments.belief`` plays the games (:data:`experiments.series.LEARNED_FROM`), learns, writes
the policy with its history, and its figures on held-out games to ``RESULTS/belief_policy.json``.

Each level is fitted separately: L-BFGS on the likelihood of the played moves, with a Gaussian prior on the entries. The
problem is convex except for the uniform share, which is fixed.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import minimize

from darkchess.board.kernels.board import KING, WHITE
from darkchess.board.kernels.moves import MAX_MOVES, make
from darkchess.board.kernels.tables import TABLES
from darkchess.board.move import encode
from darkchess.evaluation.evaluator import BuiltinEvaluator
from darkchess.fog.belief.policy import ENTRIES, LEVELS, Level, Policy, below, described, flip_below
from darkchess.fog.game.referee import Referee
from experiments.commands import RESULTS, RUNS, finished, positive
from experiments.learn.fog import Played, played_games
from experiments.series import LEARNED_FROM, SERIES, played
from klss.support.arrays import Bools, Floats, Ints
from klss.support.kernel import kernel
from klss_app.progress import ProgressLine
from uci_bridge.match.documents import commit, head, today, write_document
from uci_bridge.match.files import MatchError

EVEN = 0.01
"""The share of the probability that is uniform over all moves."""

PRIOR = 1.0
"""Weight of half the square of each entry (Gaussian prior), in units of observed moves."""


@dataclass(frozen=True)
class Decisions:
    """Moves that were chosen."""

    index: Any  # int16[m, GROUPS]: features of each legal move of each decision
    offsets: Ints  # int64[n + 1]: start of each decision's moves
    chosen: Ints  # int64[n]: index of the played move among all moves
    values: Floats  # float64[m]: value of the position after each move, for the mover
    held_out: Bools  # bool[n]
    players: Any  # str[n]: the mover

    def __len__(self) -> int:
        return len(self.chosen)

    def of(self, wanted: Bools) -> Decisions:
        """The decisions that are ``wanted`` (bool[n])."""
        kept = np.flatnonzero(wanted)
        counts = np.diff(self.offsets)[kept]
        offsets = np.concatenate([[0], np.cumsum(counts)])
        moves = np.arange(offsets[-1]) + np.repeat(self.offsets[kept] - offsets[:-1], counts)
        return Decisions(
            self.index[moves],
            offsets,
            self.chosen[kept] - self.offsets[kept] + offsets[:-1],
            self.values[moves],
            self.held_out[kept],
            self.players[kept],
        )


def decisions(games: Iterable[Played], progress: Callable[[int], None]) -> Decisions:
    """All moves of ``games`` that players chose; ``progress`` gets their number so far."""
    evaluator = BuiltinEvaluator()
    children = np.empty((MAX_MOVES, 9), dtype=np.uint64)
    indices, values, chosen, held, players = [], [], [], [], []
    offsets = [0]
    for game in games:
        referee = Referee(game.record.fen)
        for ply, move in enumerate(game.record.moves):
            row = referee.position.row
            if ply >= game.opening:
                mine = below(row)
                codes, index = described(mine)
                count = len(codes)
                at = np.flatnonzero(codes == encode(move) ^ flip_below(row))
                for k in range(count):
                    make(mine, codes[k], TABLES, children[k])
                alive = (children[:count, KING] & children[:count, WHITE]) != 0
                worth = np.ones(count)
                worth[alive] = -evaluator.values(children[:count][alive])
                indices.append(index)
                values.append(worth)
                chosen.append(offsets[-1] + int(at[0]))
                offsets.append(offsets[-1] + count)
                held.append(game.held_out)
                players.append(game.white if referee.turn else game.black)
            referee.push(move)
        progress(len(chosen))
    return Decisions(
        np.concatenate(indices),
        np.array(offsets),
        np.array(chosen),
        np.concatenate(values),
        np.array(held),
        np.array(players),
    )


@kernel
def _surprise(
    index: Any, offsets: Any, chosen: Any, values: Any, groups: int, entries: Any, slope: float, even: float,
    gradient: Any, each: Any,
) -> Any:  # fmt: skip
    """Negative log-likelihood of all decisions; adds its gradient to ``gradient`` (float64[entries + 1], the slope's
    last) and writes each decision's into ``each``.
    """
    total = 0.0
    exponent = np.empty(512, dtype=np.float64)
    for d in range(offsets.shape[0] - 1):
        start, count = offsets[d], offsets[d + 1] - offsets[d]
        top = -np.inf
        for k in range(count):
            found = slope * values[start + k]
            for group in range(groups):
                found += entries[index[start + k, group]]
            exponent[k] = found
            top = max(top, found)
        whole = 0.0
        for k in range(count):
            exponent[k] = np.exp(exponent[k] - top)
            whole += exponent[k]
        share = exponent[chosen[d] - start] / whole
        likely = (1.0 - even) * share + even / count
        each[d] = -np.log(likely)
        total += each[d]
        pull = (1.0 - even) * share / likely
        for k in range(count):
            error = pull * (exponent[k] / whole - (1.0 if start + k == chosen[d] else 0.0))
            gradient[entries.shape[0]] += error * values[start + k]
            for group in range(groups):
                gradient[index[start + k, group]] += error
    return total


def _groups(level: Level) -> int:
    return (
        Policy.from_entries({name: np.zeros(ENTRIES[name]) for name in LEVELS[1:]}, 0.0, EVEN, {}).stages[level].groups
    )


def fitted(level: Level, found: Decisions, progress: Callable[[float], None]) -> tuple[Floats, float]:
    """The entries and the slope with the largest likelihood of ``found``; ``progress`` gets the loss per move."""
    size, groups = ENTRIES[level], _groups(level)
    each = np.empty(len(found))

    def loss(x: Floats) -> tuple[float, Floats]:
        gradient = np.zeros(size + 1)
        slope = float(x[size]) if level == "values" else 0.0
        total = _surprise(
            found.index, found.offsets, found.chosen, found.values, groups, x[:size], slope, EVEN, gradient, each
        )
        gradient[:size] += PRIOR * x[:size]
        gradient[size] = gradient[size] if level == "values" else 0.0
        value = (float(total) + PRIOR / 2 * float((x[:size] ** 2).sum())) / len(found)
        progress(value)
        return value, gradient / len(found)

    result = minimize(loss, np.zeros(size + 1), jac=True, method="L-BFGS-B", options={"maxiter": 150})
    return np.asarray(result.x[:size]), float(result.x[size])


def likelihoods(level: Level, entries: Floats, slope: float, found: Decisions) -> Floats:
    """Negative log-likelihood of each decision: float64[n]."""
    each = np.empty(len(found))
    gradient = np.zeros(len(entries) + 1)
    _surprise(
        found.index, found.offsets, found.chosen, found.values, _groups(level), entries, slope, EVEN, gradient, each
    )
    return each


def train(folders: Sequence[Path], results: Path, out: Path) -> None:
    """See the module; ``folders`` are those of the matches."""
    began = time.monotonic()
    played = [game for folder in folders for game in played_games(folder)]
    with closing(ProgressLine("reading")) as line:
        found = decisions(played, lambda count: line.tell(f"{count} moves of {len(played)} games"))
    history = {
        "matches": {folder.name: sum(game.match == folder.name for game in played) for folder in folders},
        "games": len(played),
        "seed": SERIES[LEARNED_FROM].seed,
        "nodes": SERIES[LEARNED_FROM].budget.nodes,
        "commit": commit(),
        "created": today(),
    }
    policy, table = learn(found, history)
    policy.save(out)
    document = {
        **head("belief_policy", "numpy", "scipy", "numba"),
        "configuration": history | {"even": EVEN},
        "moves": {"learned_from": int((~found.held_out).sum()), "held_out": int(found.held_out.sum())},
        "surprise": table,
        "seconds": round(time.monotonic() - began, 1),
    }
    write_document(results / "belief_policy.json", document)
    for row in table:
        print(f"{row['level']:9} {row['left_out'] or '':11} {row['held_out']} nats a move", file=sys.stderr)


def learn(found: Decisions, history: dict[str, Any]) -> tuple[Policy, list[dict[str, Any]]]:
    """A policy, and its surprise at the moves of held-out games: after learning from all players, and for each kind of
    player after learning without that kind.
    """
    table: list[dict[str, Any]] = []
    shown = found.held_out
    uniform = np.log(np.diff(found.offsets))
    table.append({"level": "even", "left_out": None, "held_out": _mean(uniform[shown])})
    entries, slope = {}, 0.0
    for level in LEVELS[1:]:
        with closing(ProgressLine(f"learning {level}")) as line:
            entries[level], slope = fitted(level, found.of(~shown), lambda loss: line.tell(f"{loss:.4f} nats a move"))
        surprise = likelihoods(level, entries[level], slope, found.of(shown))
        table.append({"level": level, "left_out": None, "held_out": _mean(surprise)})
    for player in sorted(set(found.players.tolist())):
        own: Bools = found.players == player
        with closing(ProgressLine(f"learning without {player}")) as line:
            without, _ = fitted("features", found.of(~shown & ~own), lambda loss: line.tell(f"{loss:.4f} nats a move"))
        for name, tables in (("features", without), ("features, all players", entries["features"])):
            surprise = likelihoods("features", tables, 0.0, found.of(shown & own))
            table.append({"level": name, "left_out": player, "held_out": _mean(surprise)})
    return Policy.from_entries(entries, slope, EVEN, history), table


def _mean(surprise: Floats) -> float | None:
    """The mean surprise; None if no game was held out."""
    return round(float(surprise.mean()), 4) if len(surprise) else None


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m experiments.belief", description="learn the policy of moves")
    add = parser.add_argument
    add("--out", type=Path, default=RUNS / "weights", metavar="DIR", help="of the weights (experiments/runs/weights)")
    add("--games", type=positive, metavar="N", help="of each match, instead of the usual numbers")
    add("--workers", type=positive, default=2, metavar="W", help="games at a time (default 2)")
    add("--runs", type=Path, default=RUNS, metavar="DIR", help="of matches (experiments/runs)")
    add("--results", type=Path, default=RESULTS, metavar="DIR", help="(experiments/runs/results)")
    parsed = parser.parse_args(arguments)

    def work() -> None:
        parsed.out.mkdir(parents=True, exist_ok=True)
        series, runs = SERIES[LEARNED_FROM], parsed.runs / LEARNED_FROM
        folders = []
        for name, pairing in series.matches.items():
            wanted = pairing if parsed.games is None else replace(pairing, games=parsed.games)
            folders.append(played(series, name, wanted, runs, parsed.workers)[0])
        train(folders, parsed.results, parsed.out / "policy.npz")

    return finished(work, MatchError)


if __name__ == "__main__":
    sys.exit(main())
