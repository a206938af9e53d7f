"""Laws of the search on dark chess: infosets, nesting, draws, diagnostics, reproducibility.

The observations that the laws speak of come from the brute-force oracle, which shares no code with the kernels.
"""

from __future__ import annotations

from typing import Any

import chess
import numpy as np
import pytest

from darkchess.board.move import decode, encode
from darkchess.board.position import Position
from darkchess.evaluation.evaluator import BuiltinEvaluator
from darkchess.fog.belief.position_set import PositionSet
from darkchess.fog.game.referee import Referee
from darkchess.fog.game.rules import PAPER
from darkchess.fog.game.view import View
from darkchess.fog.players.model import DarkChess, PositionBelief
from darkchess.fog.players.player import KlssPlayer
from klss.play.limits import Limit
from klss.search import TERMINAL, Budget, Klss2021, Search, Trunk
from klss.search.parts import SearchState
from klss.search.profile import Profile, extended, reach_of
from klss.search.root_values import root_values
from klss.search.subgame.order_one import fresh_roots
from tests.darkchess.fog.position_set_games import seated
from tests.klss.search.solved import expand
from tests.oracles import brute_force

MIDDLEGAME = "r1bq1rk1/pp3ppp/2n1pn2/3p4/1bPP4/2NBPN2/PP3PPP/R1BQK2R w KQ - 0 8"
DIAGNOSTICS = {
    "positions", "capped_by", "carried", "sampled", "gadget", "margin", "value", "nodes", "depth", "iterations", "gap",
    "fallbacks", "seconds",
}  # fmt: skip
"""docs/json.md, "Diagnostics of a move"."""


def oracle_position(trunk: Trunk, node: int) -> brute_force.Position:
    return brute_force.parse(Position(trunk.states[node, :9]).fen())


def oracle_path(trunk: Trunk, node: int, side: str, player: int) -> tuple[Any, ...]:
    """A player's moves and observations from the root to a node, and the root itself: each root is an infoset of its
    own.
    """
    steps: list[Any] = []
    while trunk.nodes.parent[node] >= 0:
        parent = int(trunk.nodes.parent[node])
        own = int(trunk.nodes.action[node]) if trunk.nodes.mover[parent] == player else None
        seen = brute_force.look(oracle_position(trunk, node), side)
        steps.append((own, seen, int(trunk.nodes.mover[node]) == player))
        node = parent
    return (node if player == 1 else None, *reversed(steps))


def searched(fens: list[str], nodes: int) -> tuple[DarkChess, SearchState]:
    model = DarkChess(chess.WHITE, PAPER, BuiltinEvaluator())
    search = Search(model, Klss2021(), seed=5)

    class Given:
        size = len(fens)
        capped_by = None

        def sample(self, count: int, exclude: Any, seed: int) -> Any:
            return model.states(np.array([Position.from_fen(fen).row for fen in fens]), 0)

        def information(self, actions: Any) -> Any:
            return np.zeros(len(actions))

    search.search(Given(), Budget(nodes=nodes))
    assert search.standing is not None
    return model, search.standing


@pytest.mark.parametrize("player", [0, 1])
def test_nodes_share_an_infoset_iff_moves_and_observations_agree(player: int) -> None:
    """Three roots that differ where White cannot see: White's infosets cross them, Black's never do."""
    fens = [MIDDLEGAME, MIDDLEGAME.replace("r1bq1rk1", "r1b1qrk1"), MIDDLEGAME.replace("pp3ppp", "1p3ppp")]
    trunk = searched(fens, 2500)[1].trunk
    by_path: dict[tuple[Any, ...], int] = {}
    by_infoset: dict[int, tuple[Any, ...]] = {}
    nodes = [n for n in range(trunk.node_count) if trunk.nodes.mover[n] != TERMINAL]
    for node in nodes:
        path = oracle_path(trunk, node, "w" if player == 0 else "b", player)
        infoset = int(trunk.nodes.infoset[node, player])
        assert by_path.setdefault(path, infoset) == infoset, "one observation sequence, two infosets"
        assert by_infoset.setdefault(infoset, path) == path, "one infoset, two observation sequences"
    assert trunk.nodes.depth[: trunk.node_count].max() >= 2
    assert len(by_infoset) < len(nodes)


def test_a_draw_that_may_stand_caps_the_value_at_zero() -> None:
    """B.1: White is a queen up, but after a hundred plies without a pawn move or capture that it observed, no value is
    above 0.
    """
    model = DarkChess(chess.WHITE, PAPER, BuiltinEvaluator())
    row = Position.from_fen("4k3/8/8/8/8/8/Q7/4K3 w - - 0 1").row[None, :]
    fresh, near = model.expand(model.states(row, 0)), model.expand(model.states(row, 99))
    assert np.isinf(fresh.ceilings).all() and (near.ceilings == 0.0).all()
    assert (fresh.values > 0.3).any()


def test_an_equilibrium_that_was_cut_off_is_the_one_before_it_and_the_best_child_at_new_infosets() -> None:
    model, standing = searched([chess.STARTING_FEN], 300)
    trunk, before = standing.trunk, standing.profile
    for player, plan in ((0, before.x), (1, before.y)):
        mine = trunk.open_leaf & (trunk.nodes.mover[: trunk.node_count] == player)
        mine &= plan[np.minimum(trunk.nodes.sequence[: trunk.node_count, player], len(plan) - 1)] > 0.0
        expand(trunk, np.flatnonzero(mine)[:20], model)
    after = extended(trunk, before)
    assert not after.solved
    for player, old, plan in ((0, before.x, after.x), (1, before.y, after.y)):
        infosets, sequence = trunk.infosets[player], trunk.nodes.sequence[: trunk.node_count, player]
        assert len(plan) == trunk.sequence_count(player) and np.array_equal(plan[: len(old)], old)
        new = [i for i in range(trunk.infoset_count(player)) if infosets.first[i] >= len(old)]
        assert any(plan[infosets.sequence[i]] > 0.0 for i in new), player
        for infoset in new:
            first, size = int(infosets.first[infoset]), int(infosets.size[infoset])
            worth = [0.0] * size  # by hand: the children of the nodes in this infoset
            for node in range(trunk.node_count):
                parent = int(trunk.nodes.parent[node])
                if parent >= 0 and first <= sequence[node] < first + size and sequence[parent] != sequence[node]:
                    worth[sequence[node] - first] += float(trunk.nodes.chance[node] * trunk.nodes.value[node])
            best = int(np.argmax(worth) if player == 0 else np.argmin(worth))
            wanted = np.zeros(size)
            wanted[best] = plan[infosets.sequence[infoset]]
            assert plan[first : first + size] == pytest.approx(wanted)


@pytest.mark.parametrize("repeated", [True, False])
def test_an_observation_made_twice_before_is_capped_when_it_comes_again(repeated: bool) -> None:
    model = DarkChess(chess.WHITE, PAPER, BuiltinEvaluator())
    position = Position.from_fen("4k3/8/8/8/8/8/Q7/4K3 w - - 0 1")
    state = model.states(position.row[None, :], 0)
    children = model.expand(state)
    key = children.observations[0, 0]
    history = np.array([key, key] if repeated else [key], dtype=np.uint64)
    trunk = Trunk.from_roots(fresh_roots(state, model, np.inf, 1))
    expand(trunk, np.array([0]), model, np.sort(history))
    same = np.flatnonzero(children.observations[:, 0] == key)
    assert (trunk.nodes.ceiling[1 + same] == (0.0 if repeated else np.inf)).all()
    if repeated:
        assert (trunk.nodes.value[1 + same] <= 0.0).all()


def consistent_in_trunk(player: KlssPlayer, referee: Referee, color: chess.Color) -> bool:
    """Whether the previous trunk holds a node with the player's last move and its two observations since, by the
    oracle.
    """
    assert player._thinking is not None and player._thinking.search.standing is not None
    trunk, side = player._thinking.search.standing.trunk, "w" if color else "b"
    now, before = (referee.positions[-1], referee.positions[-2])
    seen = [brute_force.look(brute_force.parse(position.fen()), side) for position in (before, now)]
    own = encode(referee.moves[-2])
    roots = np.flatnonzero(trunk.nodes.parent[: trunk.node_count] < 0)
    for root in roots:
        first, count = int(trunk.nodes.first_child[root]), int(trunk.nodes.child_count[root])
        for child in range(first, first + count) if first >= 0 else ():
            if trunk.nodes.action[child] != own or trunk.nodes.first_child[child] < 0:
                continue
            if brute_force.look(oracle_position(trunk, child), side) != seen[0]:
                continue
            begin = int(trunk.nodes.first_child[child])
            for leaf in range(begin, begin + int(trunk.nodes.child_count[child])):
                if trunk.nodes.mover[leaf] == TERMINAL:
                    continue
                if brute_force.look(oracle_position(trunk, leaf), side) == seen[1]:
                    return True
    return False


def test_a_whole_game_is_nested_exact_and_says_so() -> None:
    """Every move's diagnostics, the truth in the set after every ply, and carried > 0 iff the previous trunk holds a
    consistent node.
    """
    referee = Referee(None, PAPER)
    players = {color: seated("klss2021,particles=30", referee, color, 3 + color) for color in chess.COLORS}
    carried_moves = 0
    while referee.outcome is None and referee.ply < 24:
        color = referee.turn
        player = players[color]
        assert isinstance(player, KlssPlayer)
        expected = consistent_in_trunk(player, referee, color) if referee.ply >= 2 else False
        decision = player.answer("move", Limit(nodes=3000))
        found = decision.diagnostics
        assert found.keys() >= DIAGNOSTICS
        assert found["gap"] < 1e-6
        if found["nodes"]:
            assert (found["carried"] > 0) == expected
            carried_moves += found["carried"] > 0
            if found["gadget"] == "maxmargin":
                assert found["margin"] >= -1e-6
        assert decision.answer in referee.legal_moves()
        referee.push(decision.answer)
        for each, other in players.items():
            other.observe(referee.view(each))
            if referee.outcome is None:
                positions = other.position_set
                assert positions is not None and positions.contains(referee.position.row)
    assert carried_moves >= 5


@pytest.mark.parametrize(
    ("name", "nodes"),
    [("klss2021,particles=20", 1500), ("kluss", 1500), ("baseline,particles=20", 6000), ("best-guess", 6000)],
)
def test_a_seed_and_a_node_budget_give_the_same_game_twice_on_any_number_of_threads(name: str, nodes: int) -> None:
    games = []
    for threads in (1, 2, 7):
        referee = Referee(MIDDLEGAME, PAPER)
        players = {color: seated(f"{name},threads={threads}", referee, color) for color in chess.COLORS}
        said = []
        while referee.outcome is None and referee.ply < 8:
            decision = players[referee.turn].answer("move", Limit(nodes=nodes))
            assert decision.diagnostics["seconds"] == 0.0, "with a node budget nothing reads a clock"
            assert name == "best-guess" or decision.diagnostics.keys() >= DIAGNOSTICS
            said.append((decision.answer.uci(), repr(decision.diagnostics)))
            referee.push(decision.answer)
            for color, player in players.items():
                player.observe(referee.view(color))
        games.append(said)
    assert games[0] == games[1] == games[2]


def test_who_asks_for_the_position_set_changes_no_weight_and_no_move() -> None:
    """A host that checks for the truth asks after every ply, before the player knows what it may spend on weights."""
    game = Referee()
    asked, left_alone = (seated("kluss,threads=1", game) for _ in range(2))
    distinct = 0
    for _ in range(4):
        answers = [player.answer("move", Limit(nodes=300)) for player in (asked, left_alone)]
        known = [player.position_set for player in (asked, left_alone)]
        assert isinstance(known[0], PositionSet) and isinstance(known[1], PositionSet)
        assert answers[0] == answers[1] and np.array_equal(known[0].weights, known[1].weights)
        distinct = max(distinct, len(set(known[0].weights)))
        for move in (answers[0].answer, None):
            game.push(move or game.legal_moves()[-1])
            for player in (asked, left_alone):
                player.observe(game.view(chess.WHITE))
            assert asked.position_set is not None
    assert distinct > 20


@pytest.mark.parametrize(("name", "share"), [("kluss-value", 0.5), ("kluss", 0.35), ("kluss,filtering=inf", 0.25)])
def test_the_set_leaves_the_time_that_its_weights_take(
    name: str, share: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Half a move's time is the set's (TimePlan.tracking_s), its weights included, and half of that at least its own.
    deadlines = []
    observe = PositionSet.observe

    def noted(self: PositionSet, view: View, *, deadline: float | None = None, **more: Any) -> None:
        deadlines.append(deadline)
        observe(self, view, deadline=deadline, **more)

    monkeypatch.setattr(PositionSet, "observe", noted)
    monkeypatch.setattr("klss.play.time_plan.time.monotonic", lambda: 1000.0)
    game = Referee("4k3/8/8/8/8/8/q7/1K6 w - - 0 1")
    player = seated(name, game, chess.BLACK)
    game.push(chess.Move.from_uci("b1a1"))
    player.observe(game.view(chess.BLACK))
    assert player.answer("move", Limit(time_s=2.0)).answer == chess.Move.from_uci("a2a1"), "which needs no search"
    assert deadlines == [pytest.approx(1000.0 + share * 2.0)]


@pytest.mark.parametrize("name", ["klss2021", "kluss", "greedy", "baseline", "best-guess"])
def test_a_king_that_can_be_taken_is_taken(name: str) -> None:
    referee = Referee("4k3/8/8/8/8/8/8/4RK2 w - - 0 1", PAPER)
    assert seated(name, referee).answer("move", Limit(nodes=500)).answer == chess.Move.from_uci("e1e8")


def test_a_node_budget_bounds_the_nodes() -> None:
    """The budget may be passed by one batch's last children only."""
    referee = Referee(MIDDLEGAME, PAPER)
    positions = PositionSet(referee.view(chess.WHITE), referee.position)
    model = DarkChess(chess.WHITE, PAPER, BuiltinEvaluator())
    for budget in (1, 100, 1000):
        result = Search(model, Klss2021(), seed=1).search(PositionBelief(positions, model, 0), Budget(nodes=budget))
        assert 0 < result.report.nodes <= budget + 448
        assert decode(result.action) in referee.legal_moves()


def worth_at_root(trunk: Trunk, profile: Profile) -> dict[int, float]:
    """What each of player 0's played actions at infoset 0 is worth, by its sequence: summed leaf by leaf."""
    nodes, reach = trunk.nodes, reach_of(1, trunk, profile.y)
    roots = [root for root in range(trunk.root_count) if nodes.infoset[root, 0] == 0 and nodes.first_child[root] >= 0]
    sums: dict[int, float] = {}
    for leaf in np.flatnonzero(trunk.leaf).tolist():
        below, above = -1, leaf
        while nodes.parent[above] >= 0:
            below, above = above, int(nodes.parent[above])
        if above in roots:
            action = int(nodes.sequence[below, 0])
            played = reach[leaf] * profile.x[nodes.sequence[leaf, 0]]
            sums[action] = sums.get(action, 0.0) + played * nodes.value[leaf]
    return {action: sums[action] / (profile.x[action] * reach[roots].sum()) for action in sums if profile.x[action] > 0}


def test_what_stands_at_other_infosets_of_the_player_says_nothing_of_an_action_at_this_one() -> None:
    """An order-2 subgame that is carried on may have roots at several of player 0's infosets."""
    referee = Referee()
    seats = {color: seated("kluss-value,cap=20000", referee, color, 46) for color in chess.COLORS}
    elsewhere = 0
    while referee.ply < 8:
        player = seats[referee.turn]
        move = player.answer("move", Limit(nodes=120)).answer
        assert isinstance(player, KlssPlayer) and player._thinking is not None
        standing = player._thinking.search.standing
        assert standing is not None
        trunk, profile = standing.trunk, standing.profile
        elsewhere += int((trunk.nodes.infoset[: trunk.root_count, 0] != 0).sum())
        first, found = int(trunk.infosets[0].first[0]), root_values(trunk, profile)
        expected = worth_at_root(trunk, profile)
        for place in np.flatnonzero(found.probabilities).tolist():
            assert found.values[place] == pytest.approx(expected[first + place], abs=1e-9)
        referee.push(move)
        for color, seat in seats.items():
            seat.observe(referee.view(color))
    assert elsewhere > 0
    for seat in seats.values():
        seat.close()


def test_a_memory_limit_stops_growth_not_the_game() -> None:
    referee = Referee(MIDDLEGAME, PAPER)
    decision = seated("klss2021,memory_mb=1", referee).answer("move", Limit(nodes=50_000))
    assert decision.answer in referee.legal_moves()
    assert 0 < decision.diagnostics["nodes"] < 20_000


def test_a_forced_move_needs_no_search() -> None:
    referee = Referee("k7/8/8/8/8/p1p5/P1P5/KB6 w - - 0 1", PAPER)
    decision = seated("klss2021", referee).answer("move", Limit(nodes=500))
    assert (decision.answer, decision.diagnostics["nodes"]) == (chess.Move.from_uci("a1b2"), 0)
    assert decision.diagnostics.keys() >= DIAGNOSTICS
