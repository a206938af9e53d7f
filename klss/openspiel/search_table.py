"""Exact exploitability of subgame solving and of search in games that can be listed, by method and by nodes a move.

What is measured is what a player *plays* over the whole game: at each infoset that its own moves reach it gets its
observations, searches and moves, so that every search is nested in the one before; each branch of the walk has its own
copy of the search. A node that is not expanded has the value of both players' *uniform* play from there
(:class:`klss.search.EnumeratedModel`), and so the uniform strategy is the blueprint beside it. It knows the rules but
no play, so all strength comes from the search; values of an equilibrium would give away the answer.

*From the root*: before any move, including nature's, a search looks once without a move. *From the first move*: it
begins there, as in chess, with all nodes of its infoset as fresh particles; player 1 is assumed to know which one is
true. That assumption is never corrected, and the difference between the two is its cost.

Exploitability of a seat: the game's value for it, less the worst case of its strategy, which is exact; the value of a
large game is not (:data:`_GAP`). Payoffs are divided by the largest one.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from itertools import product
from typing import Any, NamedTuple

from klss.openspiel.bots import Bot
from klss.openspiel.games import spiel_game
from klss.openspiel.named_players import configuration
from klss.openspiel.strategies import asked
from klss.paper.methods import GADGETS, METHODS
from klss.paper.nested import Blueprint
from klss.paper.tables import mirrored, named_game, refined_plan
from klss.search import Budget, EnumeratedBelief, EnumeratedModel, Search, SearchConfiguration
from klss.search.profile import strategy_at
from klss.support.arrays import Floats
from klss.theory import first_order
from klss.theory.best_response import worst_case
from klss.theory.equilibrium import Solution, solve
from klss.theory.game import Game
from klss.theory.policies import behaviour_of
from klss.theory.sequence_form import sequence_form
from klss.theory.treeplex import realization, uniform_behaviour

GAMES = (
    "kuhn_poker", "leduc_poker", "liars_dice(dice_sides=3)", "liars_dice(dice_sides=4)", "liars_dice(dice_sides=5)",
    "dark_hex(board_size=2,gameversion=adh)", "dark_hex(board_size=2)",
    "goofspiel(num_cards=4,imp_info=True,points_order=ascending)",
)  # fmt: skip
BLUEPRINTS = ("uniform", "cfr+")
SUBGAMES = ("1-klss", "2-kluss", "inf-kluss")
SEARCHES = ("klss2021", "kluss", "kluss,order=2,root=nature,value_beta=5,purify=true", "ismcts")
"""Configurations for OpenSpiel's games; the third one is like ``kluss`` in chess."""
STARTS = ("root", "first move")

_ITERATIONS = 30
"""Of CFR+, for the blueprint of that name: far from an equilibrium, but no longer uniform."""

_LARGE, _GAP = 100_000, 1e-4
"""Nodes from which the game's value is found by DCFR instead of a linear program, and its exploitability then."""

_Step = tuple[int, int, bool]
"""The arguments of :meth:`klss.search.Search.observe`."""

_Turns = dict[tuple[int, int] | None, list[tuple[int, tuple[_Step, ...]]]]
"""(infoset, action), or None for the first ones -> the player's next infosets, and the steps to each."""


class Cell(NamedTuple):
    """What a row of the table is of."""

    game: str
    method: str  # a blueprint, a method of :mod:`klss.paper.methods`, or a player's configuration
    gadget: str | None  # of a method
    start: str | None  # of a search: one of :data:`STARTS`; of a method: the blueprint's name
    nodes: int | None  # a move; None without a search
    player: int


class Played(NamedTuple):
    """Player 0's behaviour over a whole game, in its treeplex."""

    mixture: Floats  # float64[S]
    purified: Floats  # float64[S], what the configuration plays; uniform where its own moves never lead
    moves: int  # number of infosets at which it searched
    nodes: int  # added by all searches


def cells(games: Sequence[str], by: Sequence[str] | None, nodes: Sequence[int]) -> Iterator[Cell]:
    """Yield the table's rows, for the methods ``by``: all of them by default. Raises ConfigurationError: one has no
    such name.
    """
    named = (*BLUEPRINTS, *SUBGAMES, *SEARCHES) if by is None else by
    for search in (text for text in named if text not in BLUEPRINTS and text not in METHODS):
        configuration(search)
    for game, player in product(games, (0, 1)):
        for name in named:
            rows: list[tuple[str | None, str | None, int | None]] = [(None, None, None)]
            if name in METHODS:
                rows = [(gadget, start, None) for start in BLUEPRINTS for gadget in GADGETS if "reach" not in gadget]
            elif name not in BLUEPRINTS:
                starts = STARTS if configuration(name).search else (None,)
                rows = [(None, start, each) for each in nodes for start in starts]
            yield from (Cell(game, name, *row, player) for row in rows)


class Seated:
    """A game with the player of one seat as player 0, payoffs within [−1, 1]; limits as of :func:`klss.openspiel.load`,
    ``max_bytes`` also of the linear program.
    """

    def __init__(self, name: str, player: int, **limits: Any) -> None:
        self.name, self.player, self._max_bytes = name, player, limits.get("max_bytes")
        self.game = named_game(name, **limits)[1]
        if player:
            self.game = mirrored(self.game)
        self.form = sequence_form(self.game)

    @cached_property
    def solution(self) -> Solution:
        """An equilibrium, in games of more than :data:`_LARGE` nodes within :data:`_GAP` of one."""
        if self.game.node_count > _LARGE:
            return first_order.solve(self.form, method="dcfr", gap=_GAP, max_bytes=self._max_bytes)
        return solve(self.form, max_bytes=self._max_bytes)

    @property
    def value(self) -> float:
        """The game's, for this player."""
        return float(self.solution.value)

    def lost(self, plan: Floats) -> float:
        """Return a plan's exploitability; values below 0 are the solver's rounding."""
        return max(0.0, self.value - worst_case(self.form, 0, plan))

    def blueprint(self, name: str) -> Floats:
        """Return a plan of :data:`BLUEPRINTS`."""
        if name == "uniform":
            return realization(self.game.treeplex(0), uniform_behaviour(self.game.treeplex(0)))
        run = first_order.FirstOrder(self.form, "cfr+")
        run.run(_ITERATIONS)
        return run.profile()[0]

    def row(self, cell: Cell, on_step: Callable[[int], None] | None = None) -> dict[str, Any]:
        """Return a row; ``on_step`` is called with the number of subgames solved so far. Names as in Table 1's rows."""
        before = self.blueprint(cell.start if cell.start in BLUEPRINTS else "uniform")
        moves, nodes, began = 0, None, time.perf_counter()
        if cell.method in BLUEPRINTS:
            plan = self.blueprint(cell.method)
        elif cell.method in METHODS:
            assert cell.gadget is not None
            plan, moves = refined_plan(
                self.game, Blueprint(before), method=cell.method, gadget=cell.gadget, on_step=on_step
            )
        else:
            assert cell.nodes is not None
            chosen = configuration(cell.method)
            if chosen.search is not None:
                found = played(self.game, chosen.search, cell.nodes, str(cell.start), on_step)
                strategy, moves, nodes = found.purified, found.moves, found.nodes
            else:
                policy = _Asked(self.name, self.player, cell.method, cell.nodes, on_step)
                named = asked(policy, self.game, policy.game, 0, led=True)
                strategy, moves = behaviour_of(self.game, 0, named), policy.moves
                nodes = moves * cell.nodes  # a node is a simulation
            plan = realization(self.game.treeplex(0), strategy)
        seconds, blueprint, after = time.perf_counter() - began, self.lost(before), self.lost(plan)
        counts = [self.game.treeplex(each).infoset_count for each in (0, 1)]
        return cell._asdict() | {
            "tree": self.game.node_count,
            "infosets": counts[::-1] if self.player else counts,
            "value": -self.value if self.player else self.value,  # for the game's first player
            "value_gap": self.solution.exploitability,  # of the equilibrium that has it
            "blueprint": blueprint,
            "after": after,
            "ratio": blueprint / after if after > 5e-8 else None,
            "subgames": moves,
            "nodes_a_move": None if nodes is None else nodes / max(1, moves),
            "seconds": seconds,
            "seconds_a_move": seconds / max(1, moves),
        }


class _Asked:
    """A player that keeps nothing from move to move, as a policy of OpenSpiel in ``asked``'s sense: at each state of
    the true game it gets its own observations, and says with what probabilities it moves.
    """

    def __init__(self, name: str, seat: int, player: str, nodes: int, on_step: Callable[[int], None] | None) -> None:
        self.game, _ = spiel_game(name)
        self._seat, self._player, self._nodes, self._on_step = seat, player, nodes, on_step
        self.moves = 0

    def action_probabilities(self, state: Any) -> dict[int, float]:
        bot = Bot(self.game, self._seat, self._player, nodes=self._nodes, seed=self.moves)
        mixture, _ = bot.step_with_policy(state)
        self.moves += 1
        if self._on_step is not None:
            self._on_step(self.moves)
        return dict(mixture)


def played(
    game: Game,
    search_by: SearchConfiguration,
    nodes: int,
    start: str = "root",
    on_step: Callable[[int], None] | None = None,
) -> Played:
    """Return player 0's strategy over a whole game, each search adding ``nodes``; the trunk is carried on with the
    mixture, so that one walk gives both strategies.
    """
    model, turns, own = EnumeratedModel(game), _turns(game), game.observations[0]
    treeplex = game.treeplex(0)
    mixture, purified = uniform_behaviour(treeplex), uniform_behaviour(treeplex)
    added: list[int] = []

    def walk(search: Search, before: tuple[int, int] | None) -> None:
        for infoset, steps in turns.get(before, []):
            here = copy.deepcopy(search, {id(model): model})
            for step in steps:
                here.observe(*step)
            found = here.search(EnumeratedBelief(game, infoset), Budget(nodes=nodes))
            added.append(found.report.nodes)
            if on_step is not None:
                on_step(len(added))
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
    return Played(mixture, purified, len(added), sum(added))


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
