"""Exact exploitability of the searches' play on enumerated games, against nodes and seconds per move.

``python -m experiments.convergence`` writes ``results/convergence.json``. A game is given to :mod:`klss.search` in the
same form as chess: children, observations, beliefs, and a value function for unexpanded nodes. That function is the
node's value if both players continue *uniformly* (:class:`klss.search.EnumeratedModel`). It knows the rules but no
play, so all strength comes from the search; values of an equilibrium would give away the answer.

The strategy is what the player *plays* over the whole game. At each infoset that its own moves reach, the player gets
its observations, searches and moves, so that every search is nested in the one before; each branch of the walk has its
own copy of the search. The trunk is carried on with the mixture, so that one walk gives both strategies: the mixture,
and the purified strategy that the configuration plays.

*From the root*: before any move, including nature's, it searches once without a move. *From the first move*: it begins
there, as in chess, with all nodes of its infoset as fresh particles; player 1 is assumed to know which one is true.
That assumption is never corrected, and the difference between the two is its cost.

Exploitability of a seat: the game's value for it, less the worst case of its strategy (:mod:`klss.best_response`).
Payoffs are divided by the largest one, since the searches take values in [−1, 1].
"""

from __future__ import annotations

import argparse
import copy
import dataclasses
import itertools
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

import numpy as np

from experiments.series.runner import RESULTS, positive
from klss import openspiel
from klss.best_response import worst_case
from klss.equilibrium import solve
from klss.game import Game
from klss.openspiel.configuration import configuration
from klss.search import Budget, EnumeratedBelief, EnumeratedModel, Search, SearchConfiguration
from klss.search.profile import strategy_at
from klss.sequence_form import sequence_form
from klss.support.arrays import Floats
from klss.support.configurations import ConfigurationError
from klss.tables import mirrored
from klss.treeplex import realization, uniform_behaviour
from uci_bridge.match.documents import head, write_document

__all__ = ["Played", "main", "played"]

GAMES = (
    "kuhn_poker", "leduc_poker", "liars_dice(dice_sides=3)", "liars_dice(dice_sides=4)",
    "dark_hex(board_size=2,gameversion=adh)", "dark_hex(board_size=2)",
    "goofspiel(num_cards=4,imp_info=True,points_order=ascending)",
)  # fmt: skip
PLAYERS = ("klss2021", "kluss", "kluss,order=2,root=nature,value_beta=5,purify=true")
"""Configurations for OpenSpiel's games; the last one is like ``kluss`` in chess."""
NODES = (10, 100, 1_000, 10_000)
"""Node budgets; the last one is more than any of the games has."""

Start = Literal["root", "first move"]
STARTS: tuple[Start, ...] = ("root", "first move")

_COLUMNS = (
    "game", "player", "start", "nodes", "seat", "mixture", "purified", "searches", "seconds_mean", "seconds_max"
)  # fmt: skip

_Step = tuple[int, int, bool]
"""The arguments of :meth:`klss.search.Search.observe`."""


@dataclass(frozen=True)
class Played:
    """A strategy that was played.

    Attributes
    ----------
    mixture, purified : float64[S]
        Behaviour of player 0 in the game's treeplex; uniform at infosets that its own moves never reach.
    seconds : list of float
        Processor seconds of each search, which other programs don't affect.
    """

    mixture: Floats
    purified: Floats
    seconds: list[float]


@dataclass(frozen=True)
class _Turns:
    """The player's infosets by the infoset before and the action there (or None), with the observations in between.

    Attributes
    ----------
    following : dict
        (infoset, action), or None for the first ones -> its next infosets, and the steps to each.
    """

    following: dict[tuple[int, int] | None, list[tuple[int, tuple[_Step, ...]]]]

    @classmethod
    def of(cls, game: Game) -> _Turns:
        """The turns of player 0 in ``game``."""
        following: dict[tuple[int, int] | None, list[tuple[int, tuple[_Step, ...]]]] = {}
        for infoset in game.observations[0].turn_infosets.tolist():
            ways = {_way(game, int(node)) for node in game.nodes_of(0, infoset)}
            assert len(ways) == 1, f"infoset {infoset}: its nodes are reached by different observations, {ways}"
            ((before, steps),) = ways
            following.setdefault(before, []).append((infoset, steps))
        return cls(following)


def _way(game: Game, node: int) -> tuple[tuple[int, int] | None, tuple[_Step, ...]]:
    """The player's infoset and action before a node (None without an earlier move), and each ply's step since."""
    steps: list[_Step] = []
    while (parent := int(game.parent[node])) >= 0:
        mine = game.player[parent] == 0
        action = int(game.action[node]) if mine else -1
        steps.insert(0, (action, int(game.infoset[0][node]) + 1, bool(game.player[node] == 0)))
        if mine:
            return (int(game.infoset[0][parent]), action), tuple(steps)
        node = parent
    return None, tuple(steps)


def played(game: Game, search_by: SearchConfiguration, nodes: int, start: Start = "root", *, seed: int = 0) -> Played:
    """Player 0's strategy over a whole game with ``nodes`` per move.

    Parameters
    ----------
    game : Game
    search_by : SearchConfiguration
    nodes : int
        Nodes that each search adds.
    start : "root" or "first move"
        See the module.
    seed : int
        Seed for drawing particles.
    """
    model, turns, own = EnumeratedModel(game), _Turns.of(game), game.observations[0]
    treeplex = game.treeplex(0)
    mixture, purified = uniform_behaviour(treeplex), uniform_behaviour(treeplex)
    seconds: list[float] = []

    def walk(search: Search, before: tuple[int, int] | None) -> None:
        for infoset, steps in turns.following.get(before, []):
            here = copy.deepcopy(search, {id(model): model})
            for step in steps:
                here.observe(*step)
            began = time.process_time()
            found = here.search(EnumeratedBelief(game, infoset), Budget(nodes=nodes))
            seconds.append(time.process_time() - began)
            assert here.standing is not None
            _, mixed = strategy_at(here.standing.trunk, here.standing.profile, here.standing.infoset)
            at = int(treeplex.first_sequence[own.treeplex_infoset[infoset]]) + found.actions
            mixture[at], purified[at] = mixed, found.probabilities
            for action in found.actions[mixed > 0.0].tolist():
                walk(here, (infoset, action))

    search = Search(model, search_by, seed=seed)
    if start == "root" and game.player[0] != 0:  # else the first move is the root
        began = time.process_time()
        search.begin(model.root, Budget(nodes=nodes))
        seconds.append(time.process_time() - began)
    walk(search, None)
    return Played(mixture, purified, seconds)


@cache
def _seated(name: str, seat: int) -> tuple[Game, float]:
    """The game with the player of ``seat`` as player 0, payoffs within [−1, 1]; and its value for it."""
    game = openspiel.load(name)
    game = dataclasses.replace(game, utility=game.utility / np.abs(game.utility).max())
    game = mirrored(game) if seat else game
    return game, solve(sequence_form(game)).value


def _row(task: tuple[str, str, Start, int, int], seed: int = 0) -> list[Any]:
    """A row of the results; the columns are :data:`_COLUMNS`."""
    name, player, start, nodes, seat = task
    game, value = _seated(name, seat)
    search_by = configuration(player).search
    assert search_by is not None
    found = played(game, search_by, nodes, start, seed=seed)
    form = sequence_form(game)
    lost = [
        # Values below 0 are the solver's rounding.
        round(max(0.0, value - worst_case(form, 0, realization(game.treeplex(0), strategy))), 6)
        for strategy in (found.mixture, found.purified)
    ]
    times = [round(float(shown), 6) for shown in (np.mean(found.seconds), np.max(found.seconds))]
    return [*task, *lost, len(found.seconds), *times]


def _warm_up(players: Sequence[str]) -> None:
    """Compile all code, so that no search's time includes that."""
    for player in players:
        _row(("kuhn_poker", player, "root", 100, 0))


def main(arguments: Sequence[str] | None = None) -> int:
    """Play, and write the results; return the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m experiments.convergence", description="exploitability of the searches' play on small games"
    )
    add = parser.add_argument
    add("--players", nargs="+", default=list(PLAYERS), metavar="A", help="configurations (default %(default)s)")
    add("--games", nargs="+", default=list(GAMES), metavar="GAME", help="of OpenSpiel (default %(default)s)")
    add("--nodes", nargs="+", type=positive, default=list(NODES), metavar="N", help="a move (default %(default)s)")
    add("--workers", type=positive, default=2, metavar="W", help="processes (default 2)")
    add("--seed", type=int, default=0, help="of particles (default 0)")
    add("--results", type=Path, default=RESULTS, metavar="DIR", help="where convergence.json goes")
    parsed = parser.parse_args(arguments)
    try:
        searches = [configuration(player) for player in parsed.players]
    except ConfigurationError as error:
        parser.error(str(error))
    if not all(chosen.search for chosen in searches):
        parser.error(f"--players: got {' '.join(parsed.players)}, expected configurations that search")
    # Every game, player, start, budget and seat is a separate task, for parallel processes.
    tasks = list(itertools.product(parsed.games, parsed.players, STARTS, parsed.nodes, (0, 1)))
    seeds = [parsed.seed] * len(tasks)
    if parsed.workers == 1:
        _warm_up(parsed.players)
        rows = list(map(_row, tasks, seeds))
    else:
        with ProcessPoolExecutor(parsed.workers, initializer=_warm_up, initargs=(parsed.players,)) as pool:
            rows = list(pool.map(_row, tasks, seeds))
    # The document's head: the games with their exact values, and the configurations.
    games = [
        {"game": name, "nodes": game.node_count, "value": round(value, 6)}
        for name in parsed.games
        for game, value in [_seated(name, 0)]
    ]
    document = head("convergence", "open_spiel", "numpy", "numba", "highspy") | {
        "seed": parsed.seed,
        "configurations": [chosen.fields() | {"name": text} for chosen, text in zip(searches, parsed.players)],
        "games": games,
        "samples": {"columns": list(_COLUMNS), "rows": rows},
    }
    path = parsed.results / "convergence.json"
    write_document(path, document)
    print(path, file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
