"""Laws of the refined equilibrium: an equilibrium, and no dominated action anywhere."""

from __future__ import annotations

import numpy as np
import pytest

from klss.equilibrium import solve
from klss.game import Game, GameBuilder
from klss.movers import TERMINAL
from klss.refinement import sequential
from klss.sequence_form import sequence_form
from tests.klss import games


def dominated(game: Game, player: int) -> list[int]:
    """Sequences that another action at their infoset beats at each node, whatever is played afterwards; by listing the
    ends below every node.
    """
    sign = 1.0 if player == 0 else -1.0
    children: dict[int, list[int]] = {}
    for node, above in enumerate(game.parent.tolist()):
        children.setdefault(above, []).append(node)

    def ends(node: int) -> list[float]:
        below = range(node, int(game.end[node]))
        return [sign * float(game.utility[h]) for h in below if game.player[h] == TERMINAL]

    found = []
    observations, treeplex = game.observations[player], game.treeplex(player)
    for i, j in enumerate(observations.turn_infosets.tolist()):
        nodes = [h for h in game.nodes_of(player, j).tolist() if game.reach[h] > 0]
        for a in range(int(treeplex.action_count[i])):
            for b in range(int(treeplex.action_count[i])):
                if nodes and all(max(ends(children[h][a])) < min(ends(children[h][b])) for h in nodes):
                    found.append(int(treeplex.first_sequence[i]) + a)
                    break
    return found


def out_or_in() -> Game:
    """Player 0 stays out for 0, or comes in; then player 1 pays 1 or takes 2, or lets player 0 choose -3 or -4."""
    builder = GameBuilder()
    root = builder.add_decision(None, None, player=0, observations=("start", "start"))
    builder.add_terminal(root, "out", utility=0.0)
    inside = builder.add_decision(root, "in", player=1, observations=("in", "in"))
    builder.add_terminal(inside, "pay", utility=1.0)
    builder.add_terminal(inside, "take", utility=-2.0)
    last = builder.add_decision(inside, "let", player=0, observations=("let", "let"))
    builder.add_terminal(last, "bad", utility=-4.0)
    builder.add_terminal(last, "better", utility=-3.0)
    return builder.build()


def test_after_a_mistake_the_best_is_played() -> None:
    # Backward induction: player 0 would take -3 at the end, so player 1 lets it choose, so player 0 stays out.
    solution = sequential(sequence_form(out_or_in()))
    assert solution.value == pytest.approx(0.0, abs=1e-9)
    assert solution.strategy(1)["in"] == pytest.approx({"pay": 0.0, "take": 0.0, "let": 1.0})
    assert solution.strategy(0)["let"] == pytest.approx({"bad": 0.0, "better": 1.0})


@pytest.mark.parametrize("seed", range(12))
def test_it_is_an_equilibrium_and_nothing_dominated_is_played_anywhere(seed: int) -> None:
    game = games.random_game(seed)
    form = sequence_form(game)
    refined, plain = sequential(form), solve(form)
    assert refined.status == "optimal"
    assert refined.value == pytest.approx(plain.value, abs=1e-8)
    for player in (0, 1):
        weights = refined.behaviour(player)
        assert weights[dominated(game, player)] == pytest.approx(0.0, abs=1e-12)
        np.testing.assert_allclose(np.add.reduceat(weights[1:], game.treeplex(player).first_sequence - 1), 1.0)


def test_the_seeds_have_dominated_actions_that_a_plain_equilibrium_plays() -> None:
    played = 0
    for seed in range(12):
        game = games.random_game(seed)
        plain = solve(sequence_form(game))
        played += sum((plain.behaviour(player)[dominated(game, player)] > 0.1).sum() for player in (0, 1))
    assert played > 0


def test_kuhn_s_king_never_passes_when_it_faces_a_bet() -> None:
    solution = sequential(sequence_form(games.kuhn()))
    assert solution.status == "optimal" and solution.value == pytest.approx(-1 / 18)
