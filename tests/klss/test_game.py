"""The builder names every law that a game breaks; a built game's arrays say what the tree says."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from klss.errors import GameError
from klss.theory.game import Game, GameBuilder
from tests.klss import games


def two_step(first: tuple[str, str], second: tuple[str, str], players: tuple[int, int]) -> GameBuilder:
    """A root decision whose every action leads to a second decision."""
    builder = GameBuilder()
    root = builder.add_decision(None, None, player=players[0], observations=first)
    for action in "ab":
        node = builder.add_decision(root, action, player=players[1], observations=second)
        for edge in "ab":
            builder.add_terminal(node, edge, utility=0.0)
    return builder


@pytest.mark.parametrize(
    ("first", "second", "players", "law"),
    [
        # Player 0's second infoset holds nodes after both of its own actions.
        (("now", "w"), ("later", "w"), (0, 0), "perfect recall: .*player 0's infoset 'later'"),
        # A player who is absent-minded.
        (("crossroads", "w"), ("crossroads", "w"), (0, 0), "perfect recall: .*player 0's infoset 'crossroads'"),
        (("x", "same"), ("y", "same"), (0, 1), "observation determines whether the player moves: player 1 .*'same'"),
    ],
)
def test_a_law_that_is_broken_is_named(
    first: tuple[str, str], second: tuple[str, str], players: tuple[int, int], law: str
) -> None:
    with pytest.raises(GameError, match=law):
        two_step(first, second, players).build()


@pytest.mark.parametrize("shares", [(0.5, 0.4), (1.5, -0.5)])
def test_chance_is_a_distribution(shares: tuple[float, float]) -> None:
    builder = GameBuilder()
    root = builder.add_chance(None, None)
    for edge, share in zip("xy", shares, strict=True):
        builder.add_terminal(root, edge, utility=1.0, probability=share)
    with pytest.raises(GameError, match="chance sums to one"):
        builder.build()


def test_perfect_recall_of_observations_is_demanded_of_the_player_who_waits() -> None:
    builder = GameBuilder()
    root = builder.add_chance(None, None)
    for card in "AK":
        node = builder.add_decision(root, card, player=0, observations=("deal", card), probability=0.5)
        below = builder.add_decision(node, "go", player=0, observations=("deal, go", "forgot the card"))
        builder.add_terminal(below, "stop", utility=0.0)
    with pytest.raises(GameError, match=r"^perfect recall: .*player 1's infoset 'forgot the card'"):
        builder.build()


def test_one_infoset_has_one_action_set() -> None:
    builder = GameBuilder()
    root = builder.add_chance(None, None)
    for k, edges in enumerate(("ab", "ac")):
        node = builder.add_decision(root, str(k), player=0, observations=("blind", str(k)), probability=0.5)
        for edge in edges:
            builder.add_terminal(node, edge, utility=0.0)
    with pytest.raises(GameError, match=r"^one infoset, one action set: .*'blind'.*\('a', 'b'\).*\('a', 'c'\)"):
        builder.build()


@pytest.mark.parametrize("action", ["parent", "childless", "twins", "terminal", "infinite", "pair", "player"])
def test_a_malformed_tree_is_refused_with_the_node(action: str) -> None:
    builder = GameBuilder()
    with pytest.raises(GameError):
        root = builder.add_decision(None, None, player=0 if action != "player" else 2, observations=("a", "b"))
        if action == "parent":
            builder.add_terminal(5, "x", utility=0.0)
        elif action == "twins":
            builder.add_terminal(root, "x", utility=0.0)
            builder.add_terminal(root, "x", utility=0.0)
        elif action == "terminal":
            builder.add_terminal(builder.add_terminal(root, "x", utility=0.0), "y", utility=0.0)
        elif action == "infinite":
            builder.add_terminal(root, "x", utility=float("inf"))
        elif action == "pair":
            builder.add_terminal(root, "x", utility=(1.0, -1.0))  # type: ignore[arg-type]
        builder.build()


def naive_points(game: Game, player: int, node: int) -> tuple[object, ...]:
    """The player's observations and actions on the way to ``node``, repeated ones while waiting dropped."""
    path = [node]
    while game.parent[path[-1]] >= 0:
        path.append(int(game.parent[path[-1]]))
    path.reverse()
    seen: list[object] = []
    for above, below in itertools.pairwise(path):
        j = int(game.infoset[player, above])
        if j < 0:
            continue
        own = int(game.player[above]) == player
        entry = (j, int(game.action[below])) if own else (j,)
        if own or not seen or seen[-1] != entry:
            seen.append(entry)
    return tuple(seen)


@pytest.mark.parametrize("seed", range(8))
def test_points_and_sequences_are_the_players_histories(seed: int) -> None:
    game = games.random_game(seed)
    for i in (0, 1):
        histories: dict[int, tuple[object, ...]] = {}
        actions: dict[int, tuple[object, ...]] = {}
        for node in range(game.node_count):
            history = naive_points(game, i, node)
            own = tuple(e for e in history if isinstance(e, tuple) and len(e) == 2)
            assert histories.setdefault(int(game.points[i][node]), history) == history
            assert actions.setdefault(int(game.sequences[i][node]), own) == own
        assert len(set(histories.values())) == len(histories)
        assert len(set(actions.values())) == len(actions)


@pytest.mark.parametrize("seed", range(4))
def test_subtrees_are_ranges_and_reach_is_the_product_of_chance(seed: int) -> None:
    game = games.random_game(seed)
    for node in range(game.node_count):
        reach, inside, h = 1.0, set(), node
        while h >= 0:
            reach *= game.probability[h]
            inside.add(h)
            h = int(game.parent[h])
        assert np.isclose(game.reach[node], reach)
        assert all(h <= node < game.end[h] for h in inside)
        assert sum(int(h <= node < game.end[h]) for h in range(game.node_count)) == len(inside)


def test_a_player_who_waits_and_sees_nothing_new_stays_in_her_infoset() -> None:
    builder = GameBuilder()
    node = builder.add_decision(None, None, player=0, observations=("1st", "wait"))
    node = builder.add_decision(node, "go", player=0, observations=("2nd", "wait"))
    node = builder.add_decision(node, "go", player=1, observations=("over", "move"))
    builder.add_terminal(node, "end", utility=0.0)
    game = builder.build()
    assert game.observations[1].infoset_count == 2
    assert game.observations[1].parent_point.tolist() == [0, 1]
