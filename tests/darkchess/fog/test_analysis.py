"""What the engine is said to think: marginals, values and lines against slow oracles; the truth once over."""

from __future__ import annotations

import math
from collections import Counter
from functools import cache

import chess
import numpy as np
import pytest

from darkchess.board.move import encode
from darkchess.board.position import Position
from darkchess.evaluation.evaluator import BuiltinEvaluator
from darkchess.fog.analysis.analyst import Analysis, Analyst
from darkchess.fog.analysis.because import reason
from darkchess.fog.analysis.once_over import luck, truth_at
from darkchess.fog.belief.marginals import marginals
from darkchess.fog.game.referee import Referee
from darkchess.fog.players.named_fog_players import Configuration, configuration, make_player
from klss.play.limits import Limit
from klss_app.analysis.one_turn import effective, likeliest
from klss_app.bench.positions import seated
from tests.klss_app.suite_laws import parsed
from tests.oracles import brute_force

FEW = configuration("klss2021,particles=30,threads=1")


def played(text: str, fen: str | None = None) -> Referee:
    return Referee.replay(map(chess.Move.from_uci, text.split()), fen)


GAME = played("e2e4 e7e5 g1f3 d7d5 e4d5 d8d5 b1c3 d5e4 c3e4 b8c6 e4g3 g8f6 c2c3 e5e4 g3e4 f6e4 d2d3 e4c5")


def analyst(game: Referee, color: chess.Color, ply: int, chosen: Configuration = FEW) -> Analyst:
    found = Analyst(chosen, BuiltinEvaluator(), seed=5)
    found.begin(color, game.setup)
    for view in game.observations(color)[:ply]:
        found.observe(view)
    return found


@cache
def thought(ply: int) -> tuple[Analyst, Analysis]:
    found = analyst(GAME, GAME.positions[ply].turn, ply)
    return found, found.think(Limit(nodes=4000))


WEIGHED = configuration("kluss,particles=30,filtering=inf,threads=1")


@pytest.mark.parametrize("color", chess.COLORS)
def test_marginals_are_the_sums_over_the_positions(color: chess.Color) -> None:
    found = analyst(GAME, color, 14)
    positions = found.position_set
    weights = positions.weights
    assert weights.sum() == pytest.approx(1.0)
    sums: Counter[tuple[int, str]] = Counter()
    counts: Counter[tuple[int, str]] = Counter()
    for position, weight in zip(positions, weights.tolist(), strict=True):
        for square, piece in position.pieces.items():
            sums[square, piece.symbol()] += weight
            counts[square, piece.symbol()] += 1
    got = marginals(positions)
    shown = {(square, symbol): p for square in range(64) for symbol, p in got.at(square).items()}
    assert shown == pytest.approx(dict(sums), abs=1e-12)
    for key, probability in shown.items():
        assert 0.0 < probability <= 1.0 and (probability == 1.0) == (counts[key] == positions.size)
    assert all(list(here.values()) == sorted(here.values(), reverse=True) for here in got.by_square().values())
    if color == GAME.positions[14].turn:
        truth = truth_at(GAME.positions[14], found.think(Limit(nodes=100)), positions)
        assert truth["weight"] == weights[positions.indices(GAME.positions[14].row)[0]]
        assert truth["weight_rank"] == 1 + sum(weight > truth["weight"] * (1 + 1e-9) for weight in weights)


def test_what_is_shown_does_not_depend_on_what_the_search_asks_for() -> None:
    shown, beside = (analyst(GAME, chess.WHITE, 14, chosen).position_set.weights for chosen in (FEW, WEIGHED))
    assert shown.tobytes() == beside.tobytes()


def test_what_a_belief_amounts_to() -> None:
    found = analyst(GAME, chess.WHITE, 14)
    positions, weights = found.position_set, found.position_set.weights
    order = sorted(range(positions.size), key=lambda i: (-weights[i], *positions.halves[i].tolist()[::-1]))
    assert likeliest(positions, weights, 10).tolist() == order[:10]
    assert likeliest(positions, np.full(positions.size, 1.0), positions.size + 1).size == positions.size
    assert effective(weights) == pytest.approx(math.exp(-sum(p * math.log(p) for p in weights.tolist())))
    assert effective(np.full(8, 0.125)) == pytest.approx(8.0) and effective(np.array([0.0, 1.0])) == 1.0


@pytest.mark.parametrize(
    "chosen", [FEW, configuration("baseline,particles=30"), WEIGHED], ids=["klss2021", "baseline", "weighed"]
)
@pytest.mark.parametrize("ply", [2, 17])
def test_the_analyst_thinks_as_a_player_without_an_earlier_trunk_does(ply: int, chosen: Configuration) -> None:
    analysis = analyst(GAME, GAME.positions[ply].turn, ply, chosen).think(Limit(nodes=4000))
    player = seated(make_player(chosen, seed=5), Referee.replay(GAME.moves[:ply]))
    decision = player.answer("move", Limit(nodes=4000))
    assert {key: decision.diagnostics[key] for key in analysis.diagnostics} == analysis.diagnostics
    assert next(each for each in analysis.moves if each.move == decision.answer).probability > 0.0


@pytest.mark.parametrize("ply", [5, 12, 17])
def test_moves_are_worth_what_walking_the_tree_gives(ply: int) -> None:
    _, analysis = thought(ply)
    trunk, x, y = analysis.trunk, analysis.profile.x, analysis.profile.y
    nodes, first = trunk.nodes, int(trunk.infosets[0].first[0])
    reach = [float(nodes.chance[h] * y[nodes.sequence[h, 1]]) for h in range(trunk.node_count)]
    roots = [h for h in range(trunk.root_count) if nodes.child_count[h]]
    total = sum(reach[h] for h in roots)

    def profile(node: int, plan: float) -> float:
        if nodes.first_child[node] < 0:
            return reach[node] * float(x[nodes.sequence[node, 0]]) / plan * float(nodes.value[node])
        return sum(profile(nodes.first_child[node] + i, plan) for i in range(nodes.child_count[node]))

    utility: Counter[int] = Counter()
    for h in range(trunk.node_count):
        if nodes.first_child[h] < 0:
            utility[int(nodes.sequence[h, 0])] += reach[h] * float(nodes.value[h])
    after: dict[int, list[int]] = {}
    for infoset in range(1, trunk.infoset_count(0)):
        if trunk.infosets[0].first[infoset] >= 0:
            after.setdefault(int(trunk.infosets[0].sequence[infoset]), []).append(infoset)

    def best(sequence: int) -> float:
        below = 0.0
        for infoset in after.get(sequence, []):
            start, size = trunk.infosets[0].first[infoset], trunk.infosets[0].size[infoset]
            below += max(best(int(s)) for s in range(start, start + size))
        return utility[sequence] + below

    codes = trunk.sequences[0].action[first : first + len(analysis.moves)].tolist()
    assert sum(each.probability for each in analysis.moves) == pytest.approx(1.0)
    for each in analysis.moves:
        place = codes.index(encode(each.move))
        if each.probability > 0.0:
            plan = float(x[first + place])
            expected = sum(profile(int(nodes.first_child[h]) + place, plan) for h in roots) / total
        else:
            expected = best(first + place) / total
        assert each.value == pytest.approx(expected, abs=1e-9)


def test_a_line_can_be_played_in_a_particle_and_begins_with_the_moves_that_are_played_most() -> None:
    longest = 0
    for ply in (2, 5, 12, 17):
        _, analysis = thought(ply)
        assert [line[0].move for line in analysis.lines] == [
            each.move for each in analysis.moves[:3] if each.probability > 0.0
        ]
        for line in analysis.lines:
            longest = max(longest, len(line))
            assert [each.mine for each in line] == [i % 2 == 0 for i in range(len(line))]
            assert all(each.probability is None or 0.0 < each.probability <= 1.0 for each in line)
            fits = 0
            for row in analysis.trunk.states[: analysis.trunk.root_count, :9]:
                position = Position(row)
                for each in line:
                    if not position.is_legal(each.move):
                        break
                    position = position.after(each.move)
                    if position.fen().split()[0] != each.after.fen().split()[0]:
                        break
                else:
                    fits += 1
            assert fits
    assert longest >= 3


def test_a_king_is_taken_in_a_game_that_is_won_without_it_too_as_the_player_does() -> None:
    fen = "5Q1k/8/8/8/8/8/8/QRR3K1 w - - 0 1"
    analysis = analyst(Referee(fen), chess.WHITE, 0).think(Limit(nodes=2000))
    decision = seated(make_player(FEW, seed=5), Referee(fen)).answer("move", Limit(nodes=2000))
    first = analysis.moves[0]
    assert (first.move, first.probability, first.value) == (decision.answer, 1.0, 1.0)
    assert analysis.value == analysis.mix_value == 1.0
    assert all(each.value is not None for each in analysis.moves)
    assert [[each.san for each in line] for line in analysis.lines] == [[first.san]]


def test_the_reply_that_punishes_a_move_can_be_played_where_it_is_said_to_by_the_oracle() -> None:
    """And takes what it is said to take; all possible positions of so small a set are looked at."""
    met: set[chess.PieceType | None] = set()
    for ply in range(GAME.ply):
        known, analysis = thought(ply)
        positions = [brute_force.parse(each.fen()) for each in known.position_set]
        for move in GAME.positions[ply].legal_moves()[::5]:
            why = reason(move, analysis, known) if (analysis.loss(move) or 0.0) >= 0.1 else None
            if why is None or len(positions) > 512:
                continue
            own, reply = (parsed(each.move.uci()) for each in why.line[:2])
            after = [brute_force.play(position, own) for position in positions]
            can = [each for each in after if reply in brute_force.moves(each)]
            taken = {each[0][at].lower() for each in can if (at := brute_force.taken(each, reply)) >= 0}
            assert why.positions == len(positions) and 0 < why.count <= len(can)
            if why.punishes:
                assert taken == set() if why.takes is None else taken == {chess.piece_symbol(why.takes)}
                met.add(why.takes)
    assert len(met) > 3


def test_a_search_too_short_to_value_moves_says_none_not_a_number() -> None:
    analysis = analyst(GAME, GAME.turn, GAME.ply).think(Limit(nodes=1))
    values = [each.value for each in analysis.moves]
    assert all(value is None or math.isfinite(value) for value in [*values, analysis.value, analysis.mix_value])


def test_what_is_said_of_the_truth_is_true_of_it() -> None:
    known, analysis = thought(12)
    true = GAME.positions[12]
    truth = truth_at(true, analysis, known.position_set)
    assert truth["possible"] and truth["positions"] == known.position_set.size and truth["fen"] == true.fen()
    color = analysis.view.color
    enemy = {s: piece.symbol() for s, piece in true.pieces.items() if piece.color != color}
    unseen = {chess.SQUARE_NAMES[s]: letter for s, letter in enemy.items() if not analysis.view.sees(s)}
    assert {square: each["piece"] for square, each in truth["hidden"].items()} == unseen
    assert all(0.0 < each["probability"] <= 1.0 for each in truth["hidden"].values())


def test_the_truth_is_found_among_the_particles_exactly_when_it_is_one() -> None:
    met = Counter[bool]()
    for ply in (2, 5, 10, 12, 17):
        known, analysis = thought(ply)
        truth = truth_at(GAME.positions[ply], analysis, known.position_set)
        roots = analysis.trunk.states[: truth["particles"], :9]
        wanted = GAME.positions[ply].row
        is_one = any((row[:8] == wanted[:8]).all() and (row[8] ^ wanted[8]) & 0x7FFF == 0 for row in np.asarray(roots))
        assert (truth["particle"] is not None) == is_one == (truth["particle_rank"] is not None)
        met[is_one] += 1
    assert met[True]


def test_no_move_is_lucky_where_one_position_is_possible() -> None:
    game = played("e2e4 d7d5 g1f3 d5e4 f1c4 e4f3 e1g1 f3g2 g1g2")
    found = analyst(game, chess.WHITE, 4)
    analysis = found.think(Limit(nodes=400), particles=10)
    assert analysis.positions == 1
    loss = analysis.loss(game.moves[4])
    assert loss is not None and loss > 0.1, "the move costs a knight"
    assert luck(game.positions[4], game.moves[4], analysis, found) == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize(("ply", "chosen"), [(7, FEW), (15, configuration("kluss,threads=1"))])
def test_over_all_that_was_possible_luck_is_zero_in_the_mean_and_the_engines_own_is_zero_anywhere(
    ply: int, chosen: Configuration
) -> None:
    known = analyst(GAME, GAME.positions[ply].turn, ply, chosen)
    analysis = known.think(Limit(nodes=400), particles=10)
    found = known.position_set
    assert 1 < found.size <= 256
    moves = [each.move for each in analysis.moves]
    lucks = np.array([[luck(each, move, analysis, known) for move in moves] for each in found])
    assert found.weights @ lucks == pytest.approx(np.zeros(len(moves)), abs=1e-9)
    assert np.abs(lucks).max() > 0.01
    mix = np.array([each.probability for each in analysis.moves])
    assert lucks @ mix == pytest.approx(np.zeros(found.size), abs=1e-9)
