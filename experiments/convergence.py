"""Exact exploitability of the searches' play on enumerated games.

``python -m experiments.convergence`` writes ``RESULTS/convergence.json`` and prints its table. A game is given to
:mod:`klss.search` in the same form as chess: children, observations, beliefs, and a value function for unexpanded
nodes. That function is the node's value if both players continue *uniformly* (:class:`klss.search.EnumeratedModel`). It
knows the rules but no play, so all strength comes from the search; values of an equilibrium would give away the answer.

The strategy is what the player *plays* over the whole game. At each infoset that its own moves reach, the player gets
its observations, searches and moves, so that every search is nested in the one before; each branch of the walk has its
own copy of the search. The trunk is carried on with the mixture, so that one walk gives both strategies: the mixture,
and the purified strategy that the configuration plays.

*From the root*: before any move, including nature's, it searches once without a move. *From the first move*: it begins
there, as in chess, with all nodes of its infoset as fresh particles; player 1 is assumed to know which one is true.
That assumption is never corrected, and the difference between the two is its cost.

Exploitability of a seat: the game's value for it, less the worst case of its strategy
(:mod:`klss.theory.best_response`). Payoffs are divided by the largest one, since the searches take values in [−1, 1].
"""

from __future__ import annotations

import argparse
import copy
import dataclasses
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from experiments.commands import RESULTS, shown
from klss import openspiel
from klss.openspiel.named_players import configuration
from klss.paper.tables import mirrored
from klss.search import Budget, EnumeratedBelief, EnumeratedModel, Search, SearchConfiguration
from klss.search.profile import strategy_at
from klss.support.arrays import Floats
from klss.theory.best_response import worst_case
from klss.theory.equilibrium import solve
from klss.theory.game import Game
from klss.theory.sequence_form import sequence_form
from klss.theory.treeplex import realization, uniform_behaviour
from klss_app.flag_types import count
from uci_bridge.match.documents import head, write_document

GAMES = (
    "kuhn_poker", "leduc_poker", "liars_dice(dice_sides=3)", "liars_dice(dice_sides=4)",
    "dark_hex(board_size=2,gameversion=adh)", "dark_hex(board_size=2)",
    "goofspiel(num_cards=4,imp_info=True,points_order=ascending)",
)  # fmt: skip
PLAYERS = ("klss2021", "kluss", "kluss,order=2,root=nature,value_beta=5,purify=true")
"""Configurations for OpenSpiel's games; the last one is like ``kluss`` in chess."""
NODES = (1_000, 10_000)
"""Node budgets: with the first one most games don't fit into a trunk, so that searches are nested; into the second one
almost all do.
"""

STARTS = ("root", "first move")

_COLUMNS = ("game", "player", "start", "nodes", "seat", "mixture", "purified")

_Step = tuple[int, int, bool]
"""The arguments of :meth:`klss.search.Search.observe`."""


_Turns = dict[tuple[int, int] | None, list[tuple[int, tuple[_Step, ...]]]]
"""(infoset, action), or None for the first ones -> the player's next infosets, and the steps to each."""


def _turns(game: Game) -> _Turns:
    following: _Turns = {}
    for infoset in game.observations[0].turn_infosets.tolist():
        ways = {_way(game, int(node)) for node in game.nodes_of(0, infoset)}
        assert len(ways) == 1, f"infoset {infoset}: its nodes are reached by different observations, {ways}"
        ((before, steps),) = ways
        following.setdefault(before, []).append((infoset, steps))
    return following


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


def played(game: Game, search_by: SearchConfiguration, nodes: int, start: str = "root") -> tuple[Floats, Floats]:
    """Player 0's strategy over a whole game, each search adding ``nodes``: the mixture, and the purified one, as
    behaviour in the game's treeplex (float64[S]), uniform where its own moves never lead.
    """
    model, turns, own = EnumeratedModel(game), _turns(game), game.observations[0]
    treeplex = game.treeplex(0)
    mixture, purified = uniform_behaviour(treeplex), uniform_behaviour(treeplex)

    def walk(search: Search, before: tuple[int, int] | None) -> None:
        for infoset, steps in turns.get(before, []):
            here = copy.deepcopy(search, {id(model): model})
            for step in steps:
                here.observe(*step)
            found = here.search(EnumeratedBelief(game, infoset), Budget(nodes=nodes))
            assert here.standing is not None
            _, mixed = strategy_at(here.standing.trunk, here.standing.profile, here.standing.infoset)
            at = int(treeplex.first_sequence[own.treeplex_infoset[infoset]]) + found.actions
            mixture[at], purified[at] = mixed, found.probabilities
            for action in found.actions[mixed > 0.0].tolist():
                walk(here, (infoset, action))

    search = Search(model, search_by)
    if start == "root" and game.player[0] != 0:  # else the first move is the root
        search.begin(model.root, Budget(nodes=nodes))
    walk(search, None)
    return mixture, purified


@cache
def _seated(name: str, seat: int) -> tuple[Game, float]:
    """The game with the player of ``seat`` as player 0, payoffs within [−1, 1]; and its value for it."""
    game = openspiel.load(name)
    game = dataclasses.replace(game, utility=game.utility / np.abs(game.utility).max())
    game = mirrored(game) if seat else game
    return game, float(solve(sequence_form(game)).value)


def _row(task: tuple[str, str, str, int, int]) -> list[Any]:
    """A row of the results; the columns are :data:`_COLUMNS`."""
    name, player, start, nodes, seat = task
    game, value = _seated(name, seat)
    search_by = configuration(player).search
    assert search_by is not None
    form = sequence_form(game)
    lost = [
        # Values below 0 are the solver's rounding.
        round(max(0.0, value - worst_case(form, 0, realization(game.treeplex(0), strategy))), 6)
        for strategy in played(game, search_by, nodes, start)
    ]
    return [*task, *lost]


def _shown(rows: Sequence[Sequence[Any]], sizes: Mapping[str, int]) -> None:
    """Print exploitability of what is *played*, of the worse seat, begun at the root, and at the first move; the last
    line of each number of nodes has the largest of each column.
    """
    worst: dict[tuple[Any, ...], float] = {}
    for name, player, start, nodes, _, _, purified in rows:
        for key in ((name, nodes, player, start), ("", nodes, player, start)):
            worst[key] = max(worst.get(key, 0.0), purified)
    lines = [
        [
            f"`{name}` ({sizes[name]:,})" if name else "**the largest**", nodes,
            *(", ".join(f"{worst[name, nodes, player, start]:.4f}" for start in STARTS) for player in PLAYERS),
        ]
        for nodes in dict.fromkeys(row[3] for row in rows) for name in (*sizes, "")
    ]  # fmt: skip
    shown(("game (its nodes)", "nodes a move", *(f"`{player}`" for player in PLAYERS)), lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Play, write the results and print their table; return the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m experiments.convergence", description="exploitability of the searches' play on small games"
    )
    add = parser.add_argument
    add("--games", nargs="+", default=list(GAMES), metavar="GAME", help="of OpenSpiel (default %(default)s)")
    add("--nodes", nargs="+", type=count, default=list(NODES), metavar="N", help="a move (default %(default)s)")
    add("--workers", type=count, default=2, metavar="W", help="processes (default 2)")
    add("--results", type=Path, default=RESULTS, metavar="DIR", help="of convergence.json (experiments/runs/results)")
    parsed = parser.parse_args(arguments)
    first = head("convergence", "open_spiel", "numpy", "numba", "highspy")
    # Every game, player, budget, start and seat is a separate task, for parallel processes.
    tasks = [
        (name, player, start, nodes, seat)
        for name, player, nodes, start, seat in product(parsed.games, PLAYERS, parsed.nodes, STARTS, (0, 1))
    ]
    with ProcessPoolExecutor(parsed.workers) as pool:  # it starts no process before the first task
        rows = list((map if parsed.workers == 1 else pool.map)(_row, tasks))
    sizes = {name: _seated(name, 0)[0].node_count for name in parsed.games}
    document = first | {
        "seed": 0,
        "configurations": [configuration(text).fields() | {"name": text} for text in PLAYERS],
        "games": [
            {"game": name, "nodes": size, "value": round(_seated(name, 0)[1], 6)} for name, size in sizes.items()
        ],
        "samples": {"columns": list(_COLUMNS), "rows": rows},
    }
    write_document(parsed.results / "convergence.json", document)
    _shown(rows, sizes)
    return 0


if __name__ == "__main__":
    sys.exit(main())
