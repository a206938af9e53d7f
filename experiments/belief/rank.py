"""``python -m experiments.belief rank``: each belief's probability of the truth, in games not used for learning.

The games' position sets are followed again, with a filter of each level beside the plain set. At a player's turn with
at least :data:`LEAST` positions, each belief gives: the logarithm of the truth's weight over uniform (*nats*), the
weight of the positions that it holds likelier (*rank*), and of those that are worth less to the player (*quantile*, .5
on average if the belief were true). With more than :data:`WHOLE` positions, sums over the set are estimated from a
sample.

Exponents of weights and of exp(−u) are fitted jointly on games of the other pairs.
"""

from __future__ import annotations

import argparse
import pickle
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import chess
import numpy as np
from scipy.optimize import minimize

from darkchess.evaluation.evaluator import BuiltinEvaluator
from darkchess.fog.belief.filter import SECONDS, Filter
from darkchess.fog.belief.policy import Level, Policy
from darkchess.fog.belief.position_set import PositionSet
from darkchess.fog.game.referee import Referee
from experiments.belief import mixture
from experiments.belief.mixture import Played
from experiments.commands import finished
from experiments.series.processes import processes
from experiments.series.runner import RESULTS, RUNS, positive
from klss.support.arrays import Floats
from klss.support.whole_file import written_whole
from klss_app.progress import ProgressLine
from uci_bridge.match.documents import head, write_document
from uci_bridge.match.match import MatchError

__all__ = ["LEAST", "WHOLE", "Look", "looks", "main", "rank"]

LEAST = 20
WHOLE = 2000
MOST = 1_000_000
"""A player's part of a game ends once its set is larger than this."""

FIT_GAMES = 40
"""Games of each match on which exponents are fitted."""

LEVELS: tuple[Level, ...] = ("tables", "features", "values")

Powers = tuple[float, float]
"""Exponents of the filter's weight and of exp(−u)."""


@dataclass(frozen=True)
class Look:
    """A player's turn.

    Attributes
    ----------
    match, game, ply, player, opponent
        Its place, and the players.
    size
        Size of the set.
    value
        Value of the true position, for the player to move.
    weight
        By level: the logarithm of the true position's weight.
    drawn
        By level (``even``: no weights), of the drawn positions: logarithms of the filter's weights, values, and
        logarithms of the number of positions that each represents: float64[3, n].
    """

    match: str
    game: int
    ply: int
    player: str
    opponent: str
    size: int
    value: float
    weight: dict[str, float]
    drawn: dict[str, Floats]


def looks(game: Played, policy: Policy, every: int, most: int = MOST) -> Iterator[Look]:
    """The looks at a game: every ``every``-th turn of each player."""
    evaluator = BuiltinEvaluator()
    referee = Referee(game.record.fen)
    known: dict[chess.Color, dict[Level, PositionSet]] = {}
    for color in chess.COLORS:
        view = referee.view(color)
        known[color] = {"even": PositionSet(view, referee.position, cap=most)}
        for level in LEVELS:
            known[color][level] = PositionSet(
                view, referee.position, cap=most, weigher=Filter(policy, evaluator if level == "values" else None)
            )
    for ply, move in enumerate(game.record.moves, 1):
        referee.push(move)
        if referee.outcome is not None:
            return
        for color, sets in list(known.items()):
            view = referee.view(color)
            for level, positions in sets.items():
                cheap = positions.size * SECONDS["tables"]
                positions.observe(view, allowance=cheap if level == "tables" else np.inf)
            if sets["even"].capped_by is not None:
                del known[color]
        if referee.turn not in known or (ply // 2 + game.game) % every:
            continue
        sets = known[referee.turn]
        size = sets["even"].size
        if size < LEAST:
            continue
        row = referee.position.row
        rng = np.random.default_rng([game.game, ply])
        weight: dict[str, float] = {}
        drawn: dict[str, Floats] = {}
        values: Floats | None = None
        for level, positions in sets.items():
            # The truth's weight; then the set's members: all of them, or a draw by weight, in which each stands for as
            # many as its chance was small (the last row).
            weights = positions.weights
            at = int(positions.indices(row)[0])
            weight[level] = float(np.log(max(weights[at], 1e-300)))
            if size <= WHOLE:
                chosen, each = np.arange(size), np.zeros(size)
                if values is None:
                    values = evaluator.values(positions.rows(chosen))
                found = values
            else:
                chosen = rng.choice(size, WHOLE, p=weights)
                found = evaluator.values(positions.rows(chosen))
                each = -np.log(WHOLE * weights[chosen])
            drawn[level] = np.stack([np.log(np.maximum(weights[chosen], 1e-300)), found, each])
        yield Look(
            game.match, game.game, ply, *((game.white, game.black) if referee.turn else (game.black, game.white)), size,
            float(evaluator.values(row[None, :])[0]), weight, drawn,
        )  # fmt: skip


def _exponents(look: Look, level: str, powers: Powers) -> tuple[Floats, float]:
    """Logarithms of what the drawn positions weigh (float64[n]), and the true one."""
    log_weights, values, _ = look.drawn[level]
    sharpness, slope = powers
    return sharpness * log_weights - slope * values, sharpness * look.weight[level] - slope * look.value


def likelihoods_at(look: Look, level: str, powers: Powers) -> tuple[float, float, float]:
    """Nats over uniform, weight of the likelier positions, and weight of the positions worth less."""
    # Shares of the whole set's weight, estimated from the members that were drawn; ties count half.
    plain, own = _exponents(look, level, powers)
    values, each = look.drawn[level][1:]
    exponents = plain + each
    top = max(float(exponents.max()), own)
    shares = np.exp(exponents - top)
    total = float(shares.sum())
    likelier = float(shares[plain > own + 1e-9].sum() + shares[np.abs(plain - own) <= 1e-9].sum() / 2) / total
    below = float(shares[values < look.value].sum() + shares[values == look.value].sum() / 2) / total
    return own - top - np.log(total) + np.log(look.size), likelier, below


def counted(look: Look, level: str, powers: Powers) -> float:
    """The share of the *positions* that are held likelier; from a sample it is an estimate."""
    plain, own = _exponents(look, level, powers)
    each = look.drawn[level][2]
    count = np.exp(each - each.max())
    return float((count * ((plain > own + 1e-9) + 0.5 * (np.abs(plain - own) <= 1e-9))).sum() / count.sum())


def fitted(found: Sequence[Look], level: str, free: Sequence[int]) -> Powers:
    """The exponents with the largest likelihood of the truth; those that are not ``free`` are 0."""

    def powers(x: Floats) -> Powers:
        full = np.zeros(2)
        full[list(free)] = x
        return float(full[0]), float(full[1])

    def loss(x: Floats) -> float:
        return -float(np.mean([likelihoods_at(look, level, powers(x))[0] for look in found]))

    start = np.array([0.7, 5.0])[list(free)]
    return powers(minimize(loss, start, method="Nelder-Mead", options={"maxfev": 90, "xatol": 0.02, "fatol": 1e-4}).x)


def _looked(task: tuple[Played, int, Path]) -> list[Look]:
    """The looks at one game, in a worker process."""
    game, every, kept = task
    path = kept / f"{game.match}-{game.game}-{every}.look"
    if path.exists():
        return list(pickle.loads(zlib.decompress(path.read_bytes())))
    found = list(looks(game, Policy.packaged(), every))
    with written_whole(path) as file:
        file.write(zlib.compress(pickle.dumps(found), 1))
    return found


def rank(runs: Path, results: Path, *, workers: int, every: int, games: int) -> int:
    """See the module; return the exit code. Looks are kept under the runs, so that the command can be resumed."""
    # Games to fit the exponents on, and games held out, spread over all matches.
    folders = sorted((runs / mixture.SERIES).glob("*/games.jsonl"))
    played = [game for folder in folders for game in mixture.played_games(folder.parent)]
    kept = runs / mixture.SERIES / f"looks-{zlib.crc32(repr(Policy.packaged().history).encode()):08x}"
    kept.mkdir(parents=True, exist_ok=True)
    fit = [game for game in played if not mixture.held_out(game) and game.game < FIT_GAMES][:: max(1, 200 // games)]
    held = [game for game in played if mixture.held_out(game)]
    held = [game for i, game in enumerate(held) if i * games // len(held) != (i - 1) * games // len(held)]
    # The looks at both, by parallel processes; those of an earlier run are read from their files.
    found: dict[bool, list[Look]] = {False: [], True: []}
    tasks = [(game, every, kept) for game in held + fit]
    with closing(ProgressLine("looking")) as line, ExitStack() as stack:
        each: Iterable[list[Look]] = map(_looked, tasks)
        if workers > 1:
            each = stack.enter_context(processes(workers)).map(_looked, tasks)
        for i, result in enumerate(each):
            found[i < len(held)] += result
            line.tell(f"{i + 1}/{len(tasks)} games")
    if not found[False] or not found[True]:
        print(f"{runs / mixture.SERIES}: no games to look at; play them by python -m experiments.belief train")
        return 1
    # The table, on disk and in short on the screen.
    document = {
        **head("belief_rank", "numpy", "scipy", "numba"),
        "configuration": {"every": every, "least": LEAST, "most": MOST, "whole": WHOLE},
        "policy": Policy.packaged().history,
        "games": {"fitted": len(fit), "held_out": len(held)},
        **table(found[False], found[True]),
    }
    path = results / "belief_rank.json"
    write_document(path, document)
    for row in document["beliefs"]:
        sizes = row["sizes"]
        told_of = "  ".join(f"n>={least} {sizes[least].get('nats')}" for least in sizes)
        print(f"{row['belief']:18} {told_of}  quantile {sizes[str(LEAST)]['quantile_median']}")
    return 0


def table(fit: Sequence[Look], held: Sequence[Look]) -> dict[str, Any]:
    """Each belief's figures on the truth, by size of the set, and by opponent."""
    # The beliefs that are compared; the exponents of those with free ones are fitted first.
    beliefs_of: dict[str, tuple[str, Powers]] = {
        "uniform": ("even", (0.0, 0.0)),
        "exp(-5u)": ("even", (0.0, 5.0)),
        "exp(-bu)": ("even", fitted(fit, "even", [1])),
        **{level: (level, (1.0, 0.0)) for level in LEVELS},
        **{f"{level} + value": (level, fitted(fit, level, [0, 1])) for level in LEVELS},
    }
    beliefs = []
    for name, (level, powers) in beliefs_of.items():
        numbers = np.array([likelihoods_at(look, level, powers) for look in held])
        ranks = np.array([counted(look, level, powers) for look in held])
        sizes = np.array([look.size for look in held])
        games = np.array([f"{look.match} {look.game}" for look in held])
        opponents = np.array([look.opponent for look in held])
        beliefs.append(
            {
                "belief": name,
                **{name: round(power, 3) for name, power in zip(("filter", "slope"), powers, strict=True)},
                "sizes": {
                    str(least): _summary(numbers[sizes >= least], ranks[sizes >= least], games[sizes >= least])
                    for least in (LEAST, 100, 5000)
                },
                "opponents": {
                    opponent: round(float(numbers[opponents == opponent, 0].mean()), 3)
                    for opponent in sorted(set(opponents.tolist()))
                },
                "histograms": {
                    "quantile": np.histogram(numbers[:, 2], 20, (0.0, 1.0))[0].tolist(),
                    "rank": np.histogram(numbers[:, 1], 20, (0.0, 1.0))[0].tolist(),
                },
            }
        )
    return {"turns": len(held), "beliefs": beliefs}


def _summary(numbers: Floats, ranks: Floats, games: Any) -> dict[str, Any]:
    if not len(numbers):
        return {"turns": 0}
    # The error by game: turns of one game are not independent.
    by_game = np.array([numbers[games == game, 0].sum() for game in np.unique(games)])
    counts = np.array([(games == game).sum() for game in np.unique(games)])
    spread = by_game - counts * numbers[:, 0].mean()
    error = float(np.sqrt((spread**2).sum()) / counts.sum())
    return {
        "turns": len(numbers),
        "nats": round(float(numbers[:, 0].mean()), 3),
        "nats_error": round(error, 3),
        "rank_median": round(float(np.median(ranks)), 4),
        "top_tenth": round(float(np.mean(ranks < 0.1)), 3),
        "quantile_median": round(float(np.median(numbers[:, 2])), 3),
        "lost_3_nats": round(float(np.mean(numbers[:, 0] < -3.0)), 4),
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Process the games and write the results; return the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m experiments.belief rank", description="how likely the truth is to each belief"
    )
    add = parser.add_argument
    add("--every", type=positive, default=3, metavar="N", help="turns of a player's (default 3)")
    add("--games", type=positive, default=100, metavar="N", help="held-out games (default 100)")
    add("--workers", type=positive, default=2, metavar="W", help="games at a time (default 2)")
    add("--runs", type=Path, default=RUNS, metavar="DIR", help="of matches (experiments/runs)")
    add("--results", type=Path, default=RESULTS, metavar="DIR", help="(experiments/results)")
    parsed = parser.parse_args(arguments)
    given = {name: getattr(parsed, name) for name in ("workers", "every", "games")}
    return finished(lambda: rank(parsed.runs, parsed.results, **given), MatchError)
