"""The search that is given the truth: the true position is among its roots, with the prior asked for, and is asked to
nobody else.
"""

from __future__ import annotations

import copy
import dataclasses
import pickle
from collections.abc import Iterator
from pathlib import Path

import chess
import numpy as np
import pytest

from darkchess.evaluation.evaluator import BuiltinEvaluator
from darkchess.fog.game.contest import Player
from darkchess.fog.game.referee import Referee
from darkchess.fog.players.configuration import ConfigurationError, make_player
from darkchess.fog.players.configuration import configuration as named
from experiments.players.oracle import KlussOracle, Oracle, OraclePlayer
from experiments.players.specs import configuration, player
from experiments.series.runner import Pairing
from klss.search import Belief, Model, SearchConfigurationError
from klss.search.likelihood import Uniform
from klss.search.model import Drawn
from klss.search.parts import SearchState, Subgame
from klss.search.subgame.order_one import OrderOne
from klss.support.arrays import Floats, States
from klss.table.arbiter import Arbiter
from klss.table.limits import Limit, TimeControl
from tests.wall.twins import load
from uci_bridge.kits.fog import FOG
from uci_bridge.match.engines import Insider
from uci_bridge.match.files import read_match
from uci_bridge.match.match import Match

IDENTITY = 0x7FFF
"""Of a row's last entry, what two equal positions have in common: docs/rules.md, rule 3."""


def oracle(text: str, referee: Referee, *, seed: int = 1) -> OraclePlayer:
    search = configuration(text).search
    assert isinstance(search, KlussOracle)
    return OraclePlayer(referee, BuiltinEvaluator(), search, seed=seed, cap=20_000)


def states(*numbers: int) -> States:
    return np.array(numbers, dtype=np.uint64).reshape(-1, 1)


# ----------------------------------------------------------------------------------------------------------------------
# at every move


@dataclasses.dataclass
class Built:
    """A move's subgame, and what would be built without the truth."""

    shown: Subgame
    untold: Subgame


@pytest.fixture
def built(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Built]]:
    """Every subgame that is built, in both players' searches, with what the other likelihood alone would make of it."""
    found: list[Built] = []
    build = OrderOne.build

    def watched(
        self: OrderOne,
        standing: SearchState | None,
        belief: Belief,
        model: Model,
        rng: np.random.Generator,
        nodes: float,
    ) -> Subgame:
        other = self.likelihood.other if isinstance(self.likelihood, Oracle) else self.likelihood
        untold = build(dataclasses.replace(self, likelihood=other), standing, belief, model, copy.deepcopy(rng), nodes)
        found.append(Built(build(self, standing, belief, model, rng, nodes), untold))
        return found[-1].shown

    monkeypatch.setattr(OrderOne, "build", watched)
    yield found


def holding(subgame: Subgame, referee: Referee) -> tuple[Floats, States]:
    """Which root infosets hold the true position at player 0's infoset (bool[J]), and the states that are it."""
    trunk = subgame.trunk
    members = trunk.members(0)
    rows = trunk.states[members]
    row = np.array(referee.position.row)
    true = (rows[:, :8] == row[:8]).all(axis=1) & (rows[:, 8] & IDENTITY == row[8] & IDENTITY)
    held = np.zeros(trunk.group_count, dtype=np.bool_)
    held[trunk.nodes.sequence[members[true], 1] - 1] = True
    assert len(np.unique(rows[:, 9])) == 1  # as quiet, as far as it can tell, as all others
    return held, rows[true]


@pytest.mark.parametrize(("order", "prior"), [(1, 0.4), (2, 0.1)])
def test_the_truth_is_a_root_at_every_move_with_the_prior_asked_for(
    built: list[Built], order: int, prior: float
) -> None:
    referee = Referee()
    shown = oracle(f"kluss-oracle,order={order},prior={prior}", referee)
    players: dict[chess.Color, Player] = {
        chess.WHITE: shown,
        chess.BLACK: make_player(configuration("kluss,cap=20000"), seed=2),
    }
    arbiter = Arbiter(referee, players, dict.fromkeys(chess.COLORS, TimeControl(nodes=150)))
    arbiter.begin()
    there, put_in, carried = 0, 0, 0
    while referee.outcome is None and referee.ply < 60:
        before = Referee.replay(referee.moves)
        built.clear()
        arbiter.play_turn()
        if before.turn == chess.BLACK or not built:  # not its own, or a move that needs no search
            continue
        shown, untold = built[0].shown, built[0].untold
        held, rows = holding(shown, before)
        assert shown.prior is not None and untold.prior is not None
        assert shown.prior.sum() == pytest.approx(1.0)
        assert held.any() and shown.prior[held].sum() == pytest.approx(1.0 if held.all() else prior)
        assert shown.carried == untold.carried
        carried += shown.carried
        if not holding(untold, before)[0].any():
            put_in += 1
            assert shown.sampled == max(untold.sampled, 1)
            assert (rows[:, 8] == before.position.row[8] & IDENTITY).all()  # as a position set gives it
            continue
        there += 1  # with the same roots, and nothing else is changed
        count = shown.trunk.root_count
        assert (shown.trunk.states[:count] == untold.trunk.states[: untold.trunk.root_count]).all()
        for among in (held, ~held):
            if among.any():
                expected = untold.prior[among] / untold.prior[among].sum()
                assert shown.prior[among] == pytest.approx(shown.prior[among].sum() * expected)
    assert put_in and there and carried


def test_two_games_that_look_alike_are_told_apart_by_the_oracle_alone(built: list[Built]) -> None:
    """The wall's law, for ``kluss``: same views, same subgames and moves. What is given the truth breaks it."""
    for twins in load()[:2]:
        for text, alike in (("kluss", True), ("kluss-oracle", False)):
            seen = []
            for moves in (twins.a, twins.b):
                built.clear()
                referee = Referee(twins.fen)
                player = oracle(text, referee) if text != "kluss" else make_player(configuration(text), seed=1)
                player.start(referee.view(twins.color), referee.position)
                answers = []
                for move in (*moves, None):
                    if referee.turn == twins.color:
                        answers.append(player.choose(Limit(nodes=100)).answer)
                    if move is not None:
                        referee.push(chess.Move.from_uci(move))
                        player.observe(referee.view(twins.color))
                player.close()
                roots = [(each.shown.trunk.states[: each.shown.trunk.root_count], each.shown.prior) for each in built]
                seen.append((answers, [(states.tolist(), prior.tolist()) for states, prior in roots]))
            assert (seen[0] == seen[1]) is alike
            assert len(seen[0][1]) > 3


# ----------------------------------------------------------------------------------------------------------------------
# the likelihood


def likelihood(share: float, truth: int = 7) -> Oracle:
    return Oracle(Uniform(), share, lambda: states(truth), lambda rows: rows)


def test_the_truth_takes_the_place_of_one_that_was_drawn_where_it_is_neither_drawn_nor_carried() -> None:
    shown, nothing = likelihood(0.1), states()
    assert shown.roots(Drawn.certain(states(1, 2, 3)), states(4)).states.ravel().tolist() == [7, 1, 2]
    assert shown.roots(Drawn.certain(states(1, 7, 3)), states(4)).states.ravel().tolist() == [1, 7, 3]
    assert shown.roots(Drawn.certain(states(1, 2, 3)), states(4, 7)).states.ravel().tolist() == [1, 2, 3]
    assert shown.roots(Drawn.certain(nothing), states(4)).states.ravel().tolist() == [7]
    assert shown.roots(Drawn.certain(nothing), states(4, 7)).states.ravel().tolist() == []


@pytest.mark.parametrize(
    ("given", "roots", "group", "expected"),
    [
        ([0.5, 0.3, 0.2], [1, 7, 2], [0, 1, 2], [0.6 * 0.5 / 0.7, 0.4, 0.6 * 0.2 / 0.7]),
        ([0.5, 0.3, 0.2], [1, 7, 7, 2], [0, 0, 1, 2], [0.4 * 0.5 / 0.8, 0.4 * 0.3 / 0.8, 0.6]),
        ([0.5, 0.5, 0.0], [1, 2, 7], [0, 1, 2], [0.3, 0.3, 0.4]),
        ([0.0, 0.0, 1.0], [1, 2, 7], [0, 1, 2], [0.3, 0.3, 0.4]),
        ([1.0], [1, 7], [0, 0], [1.0]),
    ],
    ids=["one", "two hold it", "had none", "had all", "no other"],
)
def test_those_that_hold_the_truth_share_its_prior_and_the_others_the_rest(
    given: list[float], roots: list[int], group: list[int], expected: list[float]
) -> None:
    found = likelihood(0.4).prior(np.array(given), states(*roots), np.array(group))
    assert found == pytest.approx(expected)


# ----------------------------------------------------------------------------------------------------------------------
# who has it


def test_it_is_no_named_configuration_and_nobody_is_told_by_default() -> None:
    with pytest.raises(ConfigurationError, match="got 'kluss-oracle'"):
        named("kluss-oracle,prior=0.4")
    with pytest.raises(SearchConfigurationError, match="sees the true game"):
        KlussOracle().parts()


def test_it_is_kluss_value_but_for_the_prior() -> None:
    ours, theirs = configuration("kluss-value").fields(), configuration("kluss-oracle,prior=0.4").fields()
    changed = {key for key, value in theirs.items() if value != ours.get(key)}
    assert changed == {"name", "player", "prior"} and theirs["prior"] == 0.4


@pytest.mark.parametrize("value", ["-0.1", "1.1", "nan", "x"])
def test_a_prior_is_a_probability(value: str) -> None:
    with pytest.raises(ConfigurationError, match="prior is"):
        configuration(f"kluss-oracle,prior={value}")


# ----------------------------------------------------------------------------------------------------------------------
# in a match


def test_a_match_plays_it_the_same_again_and_loses_no_true_position(tmp_path: Path) -> None:
    match = Match(
        FOG, player("kluss-oracle,prior=0.4,cap=5000,threads=1"), player("random,cap=5000,threads=1"), games=2, seed=1,
        budget=TimeControl(nodes=40), check_truth=True,
    )  # fmt: skip
    played = []
    for folder in (tmp_path / "one", tmp_path / "two"):
        standing = match.run(folder)
        assert standing.games == 2 and standing.truth.checks > 0 == standing.truth.lost
        kept = read_match(folder)
        assert kept is not None
        identity, *shown = kept
        assert identity["a"]["prior"] == 0.4 and "prior" not in identity["b"]
        played.append([[{**each, "seconds": 0, "seconds_wall": 0} for each in lines] for lines in shown])
    assert played[0] == played[1] and len(played[0][1]) > 2


@pytest.mark.parametrize(
    ("text", "stockfish"), [("kluss-oracle,prior=0.4", False), ("kluss-contrary", False), ("stockfish-cheat", True)]
)
def test_a_player_that_a_match_is_given_is_sent_to_its_workers(text: str, stockfish: bool) -> None:
    setup = Match(FOG, player(text), player("random"), games=2, seed=1, budget=TimeControl(nodes=40)).setup()
    assert isinstance(setup.a, Insider) and setup.a.name == text
    assert pickle.loads(pickle.dumps(setup)) == setup
    assert ("stockfish" in setup.programs()) is Pairing(text, text, "random").takes_stockfish is stockfish
