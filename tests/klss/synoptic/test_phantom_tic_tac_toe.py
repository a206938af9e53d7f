"""Planning on synopses in OpenSpiel's phantom tic-tac-toe, from a belief in mid-game: the whole game has too many
histories to enumerate.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyspiel
import pytest

from klss.game import Game, GameBuilder
from klss.movers import CHANCE, TERMINAL
from klss.synoptic.bandit import Table
from klss.synoptic.planning import Planning
from klss.synoptic.playouts import choose_action
from tests.klss.synoptic.enumerated import EnumeratedPlanning
from tests.klss.synoptic.exact import HEADSETS, Exact, Followed, Policies, some_policy, values

Tries = Sequence[tuple[int, bool]]
"""Squares that the planner tried, and whether each was empty."""


def mid_game(planner: int, lines: Sequence[Tries]) -> Game:
    """Nature deals one of the boards on which the planner may be after one of these lines, once each; what follows is
    OpenSpiel's.

    The opponent has run into all of the planner's stones but the last, as soon as they stood: where the opponent knows
    less the tries in vain that are left make trees that no test has the time for.
    """
    dealt: dict[tuple[int, str], Any] = {}

    def grow(state: Any, line: int, tries: Tries, met: list[int]) -> None:
        if state.is_terminal():
            return
        mover = state.current_player()
        stones = [square for square, empty in lines[line] if empty][:-1]
        if mover == planner and not tries:
            if met == stones:
                dealt.setdefault((line, str(state)), state)
            return
        for square in [tries[0][0]] if mover == planner else state.legal_actions():
            child = state.child(square)
            in_vain = child.current_player() == mover
            if mover == planner and in_vain != tries[0][1]:
                grow(child, line, tries[1:], met)
            elif mover != planner and (not in_vain or stones[: len(met) + 1] == [*met, square]):
                grow(child, line, tries, [*met, square] if in_vain else met)

    for line, tries in enumerate(lines):
        grow(pyspiel.load_game("phantom_ttt").new_initial_state(), line, tries, [])
    builder = GameBuilder()
    root = builder.add_chance(None, None)

    def add(above: int, edge: str, state: Any, probability: float = 1.0) -> None:
        if state.is_terminal():
            builder.add_terminal(above, edge, utility=state.returns()[0], probability=probability)
            return
        mover = state.current_player()
        first, second = ((player == mover, state.information_state_string(player)) for player in (0, 1))
        node = builder.add_decision(above, edge, player=mover, observations=(first, second), probability=probability)
        for square in state.legal_actions():
            add(node, str(square), state.child(square))

    for number, state in enumerate(dealt.values()):
        add(root, str(number), state, 1.0 / len(dealt))
    return builder.build()


def best_replies(game: Game, planner: int, theirs: Policies) -> dict[tuple[int, int], np.ndarray]:
    """By brute force: at each infoset of the planner every action, over all that it then holds possible."""
    children = [np.flatnonzero(game.parent == node).tolist() for node in range(game.node_count)]
    best: dict[tuple[int, int], np.ndarray] = {}

    def worth(possible: dict[int, float]) -> float:
        """What these nodes, each as likely as it is, are worth to the planner."""
        total, groups, left = 0.0, dict[int, dict[int, float]](), list(possible.items())
        while left:
            node, chance = left.pop()
            mover = int(game.player[node])
            if mover == TERMINAL:
                total += chance * game.utility[node] * (1 - 2 * planner)
            elif mover == planner:
                groups.setdefault(int(game.infoset[planner, node]), {})[node] = chance
            else:
                below = children[node]
                shares = game.probability[below] if mover == CHANCE else theirs[mover, int(game.infoset[mover, node])]
                left += [(child, chance * share) for child, share in zip(below, shares, strict=True)]
        for infoset, group in groups.items():
            count = int(game.observations[planner].action_count[infoset])
            each = [worth({children[node][a]: chance for node, chance in group.items()}) for a in range(count)]
            best[planner, infoset] = np.eye(count)[int(np.argmax(each))]
            total += max(each)
        return total

    worth({0: 1.0})
    return best


# What the planner tried so far: it has three stones, and knows one of the opponent's.
X_LINES = [
    [(4, True), (0, True), (8, False), (5, True)],
    [(4, True), (0, True), (8, False), (1, True)],
]
O_LINES = [
    [(0, True), (4, False), (8, True), (2, True)],
    [(0, True), (4, False), (8, True), (6, True)],
]


@pytest.mark.parametrize(("planner", "lines"), [(0, X_LINES), (1, O_LINES)], ids=["x", "o"])
def test_from_a_belief_in_mid_game_the_answer_is_the_best_response(planner: int, lines: Sequence[Tries]) -> None:
    """Law: every particle meets the set; with exact values, the opponent's true policy and enough playouts, no choice
    is worse than the best by more than playouts can tell.
    """
    game = mid_game(planner, lines)
    assert (np.bincount(game.infoset[planner][game.parent == 0]) > 1).any(), "the stones are partly unknown"
    planning = Planning(mixing=0.0, max_members=32, particles=150, batch=100)
    theirs = some_policy(game, 1 - planner, 1)
    mine = best_replies(game, planner, theirs)
    played = {**theirs, **mine}
    worth = values(game, played)[0] * (1 - 2 * planner)
    reach = values(game, {**theirs, **{at: np.ones_like(policy) for at, policy in mine.items()}})[1]
    network = Exact(EnumeratedPlanning(game, planner), played)
    at_stake = []
    for seed in range(2):
        followed = Followed(game, planner, network, planning, seed)
        going = True
        while going:
            node = followed.node
            if game.player[node] != planner:
                policy = theirs[1 - planner, int(game.infoset[1 - planner, node])]
                going = followed.step(int(np.random.default_rng(seed + node).choice(policy.shape[0], p=policy)))
                continue
            followed.filter.fill(Table())
            belief, particles = followed.filter.belief, followed.filter.particles
            assert belief.contains(particles.states).all()
            found = choose_action(
                followed.model, network, planning, belief, particles, Table(), depth=12, headsets=HEADSETS, seed=seed,
                nodes=1000,
            )  # fmt: skip
            nodes = game.nodes_of(planner, int(game.infoset[planner, node]))
            children = np.stack([np.flatnonzero(game.parent == one) for one in nodes])
            each = reach[nodes] @ worth[children] / reach[nodes].sum()
            assert each[found.action] > each.max() - 0.1, (seed, node, found.action, each)
            at_stake.append(each.max() - each.min())
            going = followed.step(int(each.argmax()))
    assert len(at_stake) >= 4 and max(at_stake) > 0.4
