"""The games of the paper's tables, their blueprints, and one row of Table 1 or 2 at a time.

Source: Zhang & Sandholm (NeurIPS 2021), §7 (Table 1), Appendix B.2 (Table 2), §4 (N-matching pennies).

Utilities are divided by the largest absolute one (matching pennies: u / 50 - 1, so that 0 and 100 become -1 and 1). The
blueprint is a least exploitable strategy under x(Ia) >= floor(a) x(I): floor epsilon / m at every action ("uniform"),
or at bets or folds only ("bet", "fold": Leduc's raise and fold; in Kuhn the opening bet only).

Deviations: the caption says "at least epsilon" for the last variants; only epsilon / m gives its figures. A least
exploitable strategy is not unique, and the result of nested solving depends on the choice: here, the one that earns
least against an opponent that plays uniformly, since the paper's blueprint is "intentionally weak". Ties are broken by
:func:`klss.theory.highs.generic_objective`, so that no row depends on the solver.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from klss.errors import MAX_NODES, GameError
from klss.paper.knowledge import KnowledgeSizes, knowledge_sizes
from klss.paper.methods import METHODS
from klss.paper.nested import Blueprint, Nested, allocated, every_infoset, update_blueprint
from klss.support.arrays import Floats
from klss.theory.best_response import worst_case
from klss.theory.equilibrium import build_program, read_back, solve
from klss.theory.game import Game, GameBuilder
from klss.theory.highs import generic_objective, lexicographic
from klss.theory.movers import TERMINAL
from klss.theory.sequence_form import SequenceForm, sequence_form
from klss.theory.treeplex import realization, uniform_behaviour

Variant = Literal["uniform", "bet", "fold"]
Nesting = Literal["every", "update", "played", "allocated"]

_GOOFSPIEL = "goofspiel(num_cards=4,imp_info=True,points_order={},returns_type=win_loss)"


@dataclass(frozen=True)
class NamedGame:
    """A row's game."""

    name: str
    spiel: str | None  # OpenSpiel's string; None for our own
    variant: Variant = "uniform"  # of the blueprint
    paper_blueprint: float | None = None  # the paper's figures; None for other games
    paper_after: float | None = None


TABLE_1: tuple[NamedGame, ...] = (
    NamedGame("abrupt_dark_hex_2x2", "dark_hex(board_size=2,gameversion=adh)", "uniform", 0.0683, 0.0625),
    NamedGame("goofspiel4_random", _GOOFSPIEL.format("random"), "uniform", 0.171, 0.077),
    NamedGame("goofspiel4_increasing", _GOOFSPIEL.format("ascending"), "uniform", 0.17, 0.0),
    NamedGame("kuhn", "kuhn_poker", "uniform", 0.0124, 0.0015),
    NamedGame("kuhn_bet", "kuhn_poker", "bet", 0.0035, 0.0),
    NamedGame("leduc", "leduc_poker", "uniform", 0.0207, 0.0191),
    NamedGame("leduc_fold", "leduc_poker", "fold", 0.0065, 0.0057),
    NamedGame("leduc_bet", "leduc_poker", "bet", 0.0097, 0.0096),
    NamedGame("liars_dice5", "liars_dice(dice_sides=5)", "uniform", 0.181, 0.125),
    NamedGame("matching_pennies100", None, "uniform", 0.0013, 0.0098),
)
"""The ten rows of Table 1, with the paper's blueprint and "after" columns."""

TABLE_2: tuple[NamedGame, ...] = tuple(game for game in TABLE_1 if game.variant == "uniform")
"""The seven rows of Table 2."""


@dataclass(frozen=True)
class Row:
    """One row of Table 1, exploitabilities normalised as in the module's docstring; ``ratio`` is inf if ``after`` is 0
    up to rounding.
    """

    game: str
    epsilon: float
    variant: Variant
    player: int
    order: float
    nesting: Nesting
    blueprint: float
    after: float
    ratio: float
    value: float
    subgames: int
    seconds: float
    method: str = "1-klss"
    gadget: str = "maxmargin"


def matching_pennies(count: int) -> Game:
    """N-matching pennies of the paper's §4: nature draws n from 1 to N, player 0 observes floor((n + 1) / 2),
    player 1 floor(n / 2).

    Deviation: the paper's text exchanges the two; only this order gives the numbers of Table 2.

    >>> game = matching_pennies(100)
    >>> game.node_count, game.treeplex(0).infoset_count + game.treeplex(1).infoset_count
    (701, 101)
    """
    builder = GameBuilder()
    root = builder.add_chance(None, None)
    for n in range(1, count + 1):
        mine, yours = (n + 1) // 2, n // 2
        node = builder.add_decision(
            root, str(n), player=0, observations=(f"{mine}", f"{yours} waits"), probability=1.0 / count
        )
        for a in ("heads", "tails"):
            below = builder.add_decision(node, a, player=1, observations=(f"{mine} {a}", f"{yours}"))
            for b in ("heads", "tails"):
                builder.add_terminal(below, b, utility=float(n if a == "heads" else count - n) if a == b else 0.0)
    return builder.build()


def named_game(name: str, *, max_nodes: int = MAX_NODES, max_bytes: int | None = None) -> tuple[NamedGame, Game]:
    """Return one of the ten games by name, or any OpenSpiel game by its string; utilities normalised to [-1, 1].

    ``max_nodes``, ``max_bytes``: see :func:`klss.openspiel.load`.
    """
    known = {game.name: game for game in TABLE_1}
    named = known.get(name, NamedGame(name, name))
    if named.spiel is None:
        game = matching_pennies(100)
        utility = np.where(game.player == TERMINAL, game.utility / 50.0 - 1.0, 0.0)
    else:
        from klss import openspiel

        game = openspiel.load(named.spiel, max_nodes=max_nodes, max_bytes=max_bytes)
        utility = game.utility / max(float(np.abs(game.utility).max()), 1e-300)
    return named, replace(game, utility=utility)


def mirrored(game: Game) -> Game:
    """Return the same game with the players exchanged."""
    player = np.where(game.player >= 0, 1 - game.player, game.player)
    mine, yours = game.observations
    infoset = np.ascontiguousarray(game.infoset[::-1])
    b = -game.b[1], -game.b[0]
    return replace(game, player=player, utility=-game.utility, infoset=infoset, observations=(yours, mine), b=b)


def floor_of(game: Game, variant: Variant, epsilon: float, opening_only: bool = False) -> Floats | None:
    """Return epsilon / m at each action of the variant, float64[S0]; None if no action has a floor."""
    if not 0.0 <= epsilon <= 1.0:
        raise GameError(f"epsilon {epsilon:g}: expected 0 to 1")
    t, o = game.treeplex(0), game.observations[0]
    floor = epsilon * uniform_behaviour(t)
    floor[0] = 0.0
    if variant != "uniform":
        wanted = {"bet": ("Bet", "Raise"), "fold": ("Fold",)}[variant]
        names = [name for j in o.turn_infosets for name in o.action_names[j]]
        held = np.array([False, *(name in wanted for name in names)])
        if opening_only:
            held &= t.parent_of_sequence == 0
        floor[~held] = 0.0
    return floor if floor.any() else None


def blueprint_of(form: SequenceForm, floor: Floats | None) -> Blueprint:
    """Return the least exploitable strategy above the floor that earns least against uniform play."""
    t0, t1 = form.treeplexes
    program = build_program(form, floor)
    columns = program.program.cost.size
    weak = np.zeros(columns)
    weak[: t0.sequence_count] = -(form.payoff @ realization(t1, uniform_behaviour(t1)))
    _, last = lexicographic(program.program, [weak, generic_objective(columns, t0.sequence_count)])
    return Blueprint(read_back(program, last)[0], floor)


def table_1_row(
    name: str,
    *,
    epsilon: float = 0.25,
    player: int = 0,
    method: str = "1-klss",
    gadget: str = "maxmargin",
    nesting: Nesting = "every",
    max_nodes: int = MAX_NODES,
    max_bytes: int | None = None,
    on_step: Callable[[int], None] | None = None,
) -> Row:
    """Compute one row of Table 1.

    ``name`` is one of the ten, or an OpenSpiel game string; ``epsilon`` that of the blueprint's floor, epsilon / m;
    ``player`` the one whose strategy is refined; ``method`` and ``gadget`` are names of :mod:`klss.paper.methods`;
    ``max_nodes`` and ``max_bytes`` as of :func:`klss.openspiel.load`, where the second also limits the linear program.
    """
    # The game with the player as player 0, its value, and the blueprint with its loss to a best response.
    begin = time.perf_counter()
    named, game = named_game(name, max_nodes=max_nodes, max_bytes=max_bytes)
    if player == 1:
        game = mirrored(game)
    form = sequence_form(game)
    value = solve(form, max_bytes=max_bytes).value
    start = blueprint_of(form, floor_of(game, named.variant, epsilon, opening_only=named.name == "kuhn_bet"))
    before = value - worst_case(form, 0, start.x)
    # Solve every subgame, each from its parent's, and measure the strategy's loss now.
    plan, subgames = refined_plan(game, start, method=method, gadget=gadget, nesting=nesting, on_step=on_step)
    # Exploitabilities below 0 are rounding.
    after = value - worst_case(form, 0, plan)
    before, after = max(before, 0.0), max(after, 0.0)
    return Row(
        game=name,
        epsilon=epsilon,
        variant=named.variant,
        player=player,
        order=METHODS[method].order,
        nesting=nesting,
        blueprint=before,
        after=after,
        ratio=before / after if after > 5e-8 else math.inf,
        value=float(value if player == 0 else -value),
        subgames=subgames,
        seconds=time.perf_counter() - begin,
        method=method,
        gadget=gadget,
    )


def refined_plan(
    game: Game,
    start: Blueprint,
    *,
    method: str = "1-klss",
    gadget: str = "maxmargin",
    nesting: Nesting = "every",
    on_step: Callable[[int], None] | None = None,
) -> Nested:
    """Return the blueprint refined by nested subgames. Raises GameError: the nesting's theorem does not hold for the
    method.
    """
    if nesting == "every":
        return every_infoset(game, start, method=method, gadget=gadget, on_step=on_step)
    if nesting == "allocated":
        if method != "1-klss":
            raise GameError(f"allocated deviations with {method}: Theorem 5 needs 1-klss")
        return allocated(game, start, gadget=gadget, on_step=on_step)
    played = nesting == "played"
    plans = [start.x, *update_blueprint(game, start, method=method, gadget=gadget, played=played, on_step=on_step)]
    return Nested(plans[-1], len(plans) - 1)


def knowledge_row(name: str, *, max_nodes: int = MAX_NODES, max_bytes: int | None = None) -> KnowledgeSizes:
    """Compute one row of Table 2.

    Deviation: in 2x2 abrupt dark hex 24 decision nodes with a ball of one node and one legal action are left out;
    nothing else gives the paper's averages.
    """
    named, game = named_game(name, max_nodes=max_nodes, max_bytes=max_bytes)
    return knowledge_sizes(game, skip_forced=named.name == "abrupt_dark_hex_2x2")
