"""A reader's test of the seams: a toy part for each protocol, composed into a player, without touching the package."""

from __future__ import annotations

from dataclasses import dataclass

import chess
import numpy as np

from darkchess.evaluation.evaluator import BuiltinEvaluator
from darkchess.fog.game.referee import Referee
from darkchess.fog.players.player import KlssPlayer
from klss.play.limits import Limit
from klss.search import Parts, SearchConfiguration, Trunk
from klss.search.parts import SearchedSubgame, SolverStats
from klss.search.profile import Profile
from klss.search.subgame.order_one import fresh_roots


class OneGuess:  # a builder: one position of the belief, whatever was searched before
    def build(self, standing, belief, model, rng, nodes):
        state = belief.sample(1, np.zeros((0, model.state_width), dtype=np.uint64), int(rng.integers(2**32)))
        return SearchedSubgame(Trunk.from_roots(fresh_roots(state, model, np.inf, 0)), carried=0, sampled=1)


class Uniform:  # a solver that solves nothing
    effort = SolverStats()
    strategies = None

    def begin(self, subgame, penalty, budget):
        self.trunk = subgame.trunk
        return self

    def improve(self):
        plans = []
        for player in range(2):
            infosets, plan = self.trunk.infosets[player], np.ones(self.trunk.sequence_count(player))
            for infoset in range(self.trunk.infoset_count(player)):
                first, size = infosets.first[infoset], infosets.size[infoset]
                plan[first : first + size] = plan[infosets.sequence[infoset]] / max(size, 1)
            plans.append(plan)
        return Profile("resolve", plans[0], plans[1], 0.0, 0.0, 0.0, pure=True, solved=True)

    finish = improve

    def beside(self):
        pass

    def reserve_s(self, trunk, budget):
        return 0.0


class Anywhere:  # an expander that likes any leaf
    iterations = 0

    def begin(self, growth):
        growth.expand(np.arange(growth.trunk.root_count), at_least=1)
        return self

    def depths(self):
        return 1, 1.0

    def grow(self, growth, profile, beside):
        leaves = np.flatnonzero(growth.trunk.open_leaf)
        growth.expand(np.random.default_rng(growth.added).permutation(leaves)[:5])
        return True


def whatever(probabilities, pure, supports):  # a choice
    return np.eye(len(probabilities))[0]


@dataclass(frozen=True, kw_only=True)
class Toy(SearchConfiguration):
    def parts(self):
        return Parts(OneGuess(), Uniform(), Anywhere(), whatever)


def test_toy_parts_make_a_player() -> None:
    game = Referee()
    player = KlssPlayer(BuiltinEvaluator(), Toy(), seed=1)
    player.begin(chess.WHITE, game.setup)
    said = player.answer("move", Limit(nodes=1000))
    assert said.answer in game.legal_moves() and 1000 <= said.diagnostics["nodes"] < 1000 + 448
