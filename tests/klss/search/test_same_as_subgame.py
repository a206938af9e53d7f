"""The search, expanded to the end, is the theory's subgame: same gadget matrices as :mod:`klss.paper.subgame`, same
equilibrium value, at every nested step.

The two share no code above :mod:`klss.theory.best_response`: one works on enumerated games, the other on growing
trunks.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from klss import openspiel
from klss.paper.subgame import Gadget, Subgame, make_subgame
from klss.search import Budget, Klss2021, Search, Trunk
from klss.search.enumerated import EnumeratedModel
from klss.search.gadget import gadget_form
from klss.search.parts import SearchedSubgame
from klss.search.subgame.carrying import next_trunk
from klss.search.subgame.order_one import fresh_roots
from klss.search.subgame.sections import sections_at
from klss.search.trunk import game_root
from klss.support.arrays import Ints
from klss.theory.equilibrium import solve
from klss.theory.game import Game
from klss.theory.sequence_form import sequence_form
from tests.klss.search.solved import NO_KEYS, solve_gadget, whole_trunk
from tests.oracles.resolve import maxmargin_to_resolve

# Values of player 0: Kuhn 1950; Leduc: Southey et al. 2005, -0.0856; 2x2 abrupt dark hex: the first mover wins 3/4 of
# the time (checked against the game's own LP).
GAMES = [
    "kuhn_poker",
    pytest.param("leduc_poker", marks=pytest.mark.slow),
    "dark_hex(board_size=2,gameversion=adh)",
    "dark_hex(board_size=2)",
]

Names = list[Any]
Entries = dict[tuple[Any, Any], float]
Infosets = tuple[dict[int, int], dict[int, int]]
Origins = tuple[Any, Any]


@pytest.fixture(scope="module", params=GAMES)
def game(request: pytest.FixtureRequest) -> Game:
    return openspiel.load(request.param)


def infoset_names(trunk: Trunk, game: Game) -> Infosets:
    """The game's infoset of every infoset key of a trunk, for both players."""
    nodes = trunk.states[: trunk.node_count, 0].astype(np.int64)
    names: Infosets = ({}, {})
    for player in range(2):
        keys = trunk.infosets[player].key[trunk.nodes.infoset[: trunk.node_count, player]].tolist()
        infosets = game.infoset[player][nodes].tolist()
        for key, infoset in zip(keys, infosets, strict=True):  # nature's nodes have none of their own
            names[player][key] = max(names[player].get(key, -1), infoset)
    return names


def trunk_names(trunk: Trunk, player: int, names: dict[int, int]) -> Names:
    out: Names = ["empty"]
    roots = trunk.group_count if player == 1 else 0
    out += [("play", names[int(trunk.infosets[1].key[j])]) for j in range(roots)]
    for s in range(1 + roots, trunk.sequence_count(player)):
        infoset = trunk.sequences[player].infoset[s]
        out.append((names[int(trunk.infosets[player].key[infoset])], int(trunk.sequences[player].action[s])))
    return out


def game_names(game: Game, player: int, origin: np.ndarray[Any, Any] | None = None) -> Names:
    """Names of a game's sequences; ``origin`` maps its infosets to those of the game at the start of the nest."""
    own = game.observations[player]
    out: Names = ["empty"]
    for infoset in own.turn_infosets:
        name = int(infoset) if origin is None else int(origin[infoset])
        out += [(name, a) for a in range(int(own.action_count[infoset]))]
    return out


def entries(matrix: Any, rows: Names, columns: Names) -> Entries:
    coo = matrix.tocoo()
    out: Entries = {}
    for row, column, value in zip(*coo.coords, coo.data, strict=True):
        key = (rows[row], columns[column])
        out[key] = out.get(key, 0.0) + float(value)
    return {key: value for key, value in out.items() if abs(value) > 1e-12}


def test_the_whole_game_has_the_same_matrix_and_value(game: Game) -> None:
    model = EnumeratedModel(game)
    trunk = whole_trunk(model)
    names = infoset_names(trunk, game)
    form, own = gadget_form(trunk), sequence_form(game)
    ours = entries(
        form.a,
        trunk_names(trunk, 0, names[0]),
        [("empty") if isinstance(n, tuple) and n[0] == "play" else n for n in trunk_names(trunk, 1, names[1])],
    )
    assert ours == pytest.approx(entries(own.a, game_names(game, 0), game_names(game, 1)), abs=1e-9)
    assert solve_gadget(trunk, "maxmargin").margin == pytest.approx(solve(own).value, abs=1e-9)


def test_iterative_deepening_finds_the_value_without_expanding_everything(game: Game) -> None:
    model = EnumeratedModel(game)
    trunk = Trunk.from_roots(game_root(model, model.root))
    search = Search(model, Klss2021(first="maxmargin"))
    solved = search.solve(SearchedSubgame(trunk, carried=0, sampled=1), None, Budget(nodes=10**9))
    assert solved.solving.effort.gap < 1e-9
    assert solved.profile.margin == pytest.approx(solve(sequence_form(game)).value, abs=1e-9)
    assert trunk.node_count < game.node_count or game.node_count < 100


def test_nested_gadgets_are_the_same(game: Game) -> None:
    """Two levels of nesting at every infoset that the plan reaches, both gadgets: A and B entry by entry, and the
    value.
    """
    model = EnumeratedModel(game)
    trunk = whole_trunk(model)
    names = infoset_names(trunk, game)
    blueprint = solve_gadget(trunk, "maxmargin")
    checked = compare_below(game, None, trunk, blueprint.x, names, model, depth=2)
    assert checked >= 4


def compare_below(
    source: Game, origins: Origins | None, trunk: Trunk, x: Any, names: Infosets, model: EnumeratedModel, depth: int
) -> int:
    plan = dict(zip(trunk_names(trunk, 0, names[0]), x.tolist(), strict=True))
    source_names = game_names(source, 0, None if origins is None else origins[0])
    source_plan = np.array([plan.get(name, 0.0) for name in source_names])
    checked = 0
    acting = trunk.nodes.infoset[: trunk.node_count, 0][trunk.nodes.mover[: trunk.node_count] == 0]
    for infoset in np.unique(acting)[:12].tolist():
        if infoset == 0 and origins is not None:
            continue
        sections = sections_at(trunk, x, infoset)
        if not sections:
            continue
        wanted = names[0][int(trunk.infosets[0].key[infoset])]
        in_source = wanted if origins is None else int(np.flatnonzero(origins[0] == wanted)[0])
        theirs = make_subgame(source, source_plan, in_source, 1, reach=True)
        nobody = fresh_roots(NO_KEYS.reshape(0, 1), model, np.inf, 0)
        ours, _ = next_trunk(trunk, infoset, sections, nobody)
        for kind in ("maxmargin", "resolve"):
            gadget = theirs if kind == "maxmargin" else maxmargin_to_resolve(theirs)
            compare(gadget, chain(gadget, origins), origins, ours, kind, names)
        checked += 1
        if depth > 1:
            x_below = solve_gadget(ours, "maxmargin").x
            checked += compare_below(theirs.game, chain(theirs, origins), ours, x_below, names, model, depth - 1)
    return checked


def chain(made: Subgame, origins: Origins | None) -> Origins:
    if origins is None:
        return made.origin
    return tuple(np.where(made.origin[p] >= 0, origins[p][made.origin[p]], -1) for p in range(2))  # type: ignore[return-value]


def root_sequences(made: Subgame) -> Ints:
    """int64[N]: player 1's sequence that enters each I0 (the choice of it, or Play)."""
    own = made.game.observations[1]
    if made.game.player[0] == 1:  # Maxmargin
        points = own.first_point[0] + np.arange(made.roots.size)
    else:
        points = own.first_point[: made.roots.size] + 1
    return own.sequence_of_point[points]  # type: ignore[no-any-return]


def compare(
    made: Subgame, chained: Origins, origins: Origins | None, ours: Trunk, kind: Gadget, names: Infosets
) -> None:
    their_form = sequence_form(made.game)
    their_columns = game_names(made.game, 1, chained[1])
    roots = made.roots if origins is None else origins[1][made.roots]
    for j, sequence in enumerate(root_sequences(made).tolist()):
        their_columns[sequence] = ("play", int(roots[j]))
    # In Resolve nature comes to each root infoset with 1/J; "exit" pays nothing.
    our_form, scale = gadget_form(ours), 1.0 if kind == "maxmargin" else 1.0 / ours.group_count
    columns = trunk_names(ours, 1, names[1])
    rows = trunk_names(ours, 0, names[0])
    their_rows = game_names(made.game, 0, chained[0])
    for mine, other in ((our_form.a, their_form.a), (our_form.b, their_form.b)):
        expected = entries(other, their_rows, their_columns)
        assert entries(scale * mine, rows, columns) == pytest.approx(expected, abs=1e-9)
    assert solve_gadget(ours, kind).margin == pytest.approx(solve(their_form).value, abs=1e-9)
