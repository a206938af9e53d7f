"""Laws of the paper's baseline and of best-guess."""

from __future__ import annotations

import chess
import numpy as np
import pytest

from darkchess.board.position import Position
from darkchess.evaluation.evaluator import BuiltinEvaluator
from darkchess.fog.belief.position_set import PositionSet
from darkchess.fog.game.referee import Referee
from darkchess.fog.game.rules import PAPER
from darkchess.fog.players.model import DarkChess, PositionBelief
from klss.play.limits import Limit
from klss.search import TERMINAL, Baseline, Budget, Klss2021, Search
from tests.darkchess.fog.position_set_games import fen_of, followed, move_of, seated
from tests.oracles import brute_force

OPENING = ("d2d4", "g8f6", "c2c4", "e7e6", "b1c3", "f8b4")
"""White then holds 27 positions possible."""


class Static(DarkChess):
    """Dark chess whose children never get other values than the plain ones."""

    def deepened(self, *_: object) -> tuple[None, int]:
        return None, 0


@pytest.mark.parametrize("particles", [5, 60])
def test_with_the_plain_values_its_program_is_that_of_klss2021_s_own_first_ply(particles: int) -> None:
    _, positions = followed(OPENING, chess.WHITE)
    model = Static(chess.WHITE, PAPER, BuiltinEvaluator())
    belief = PositionBelief(positions, model, 1)
    baseline = Search(model, Baseline(particles=particles), seed=4)
    found = baseline.search(belief, Budget(nodes=10**6))
    whole = Search(model, Klss2021(particles=particles), seed=4)
    expected = whole.search(belief, Budget(nodes=found.report.nodes))
    assert baseline.standing is not None and whole.standing is not None
    trunk = baseline.standing.trunk
    assert whole.standing.trunk.node_count == trunk.node_count == trunk.root_count + found.report.nodes
    assert trunk.root_count == min(particles, positions.size)
    assert np.array_equal(found.probabilities, expected.probabilities) and found.action == expected.action
    assert found.report == expected.report


def test_its_leaves_hold_the_values_of_one_whole_depth() -> None:
    """Every child's, of the deepest search that was completed; where a draw may stand, capped at 0."""
    _, positions = followed(OPENING, chess.WHITE)
    evaluator = BuiltinEvaluator()
    model = DarkChess(chess.WHITE, PAPER, evaluator)
    search = Search(model, Baseline(particles=12), seed=4)
    found = search.search(PositionBelief(positions, model, 1), Budget(nodes=40_000)).report
    assert search.standing is not None and found.depth >= 2
    trunk = search.standing.trunk
    children = np.flatnonzero(trunk.nodes.parent[: trunk.node_count] >= 0)
    assert np.array_equal(trunk.nodes.depth[children], np.ones(len(children)))
    running = children[trunk.nodes.mover[children] != TERMINAL]
    values, _ = evaluator.search_values(
        trunk.states[:0, :9],
        np.zeros(1, dtype=np.int64),
        trunk.states[running, :9],
        found.depth - 1,
        Budget(nodes=10**9),
        -1.0,
    )
    assert values is not None and np.array_equal(trunk.nodes.value[running], -values)
    assert found.nodes <= 40_000 + 448


def test_a_value_may_not_pass_a_draw_that_may_stand() -> None:
    """The third time that White observes the same: nothing below is worth more than 0 to White (B.1)."""
    referee = Referee("4k3/8/8/8/8/8/4Q3/4K3 w - - 0 1")
    model = DarkChess(chess.WHITE, PAPER, BuiltinEvaluator())
    positions = PositionSet(referee.view(chess.WHITE), referee.position)
    search = Search(model, Baseline(), seed=1)
    free = search.search(PositionBelief(positions, model, 0), Budget(nodes=20_000)).report.value
    assert search.standing is not None
    trunk = search.standing.trunk
    children = np.flatnonzero(trunk.nodes.parent[: trunk.node_count] == 0)
    history = np.repeat(trunk.nodes.observation[children], 2)
    search = Search(model, Baseline(), seed=1)
    shut = search.search(PositionBelief(positions, model, 0), Budget(nodes=20_000), history=history).report
    assert shut.depth >= 2 and search.standing is not None
    nodes = search.standing.trunk.nodes
    running = nodes.mover[children] != TERMINAL
    assert np.all(nodes.value[children][running] <= 0.0)
    assert shut.value <= free


@pytest.mark.parametrize("name", ["baseline", "best-guess"])
def test_a_mate_in_two_is_found_and_the_win_not_put_off(name: str) -> None:
    """Five plies: a rook takes a rank, the king steps aside, mate (as chess has it), anything, the king falls."""
    referee = Referee("7k/8/8/8/8/8/R7/1R4K1 w - - 0 1")
    player = seated(name, referee)
    while referee.outcome is None:
        found = player.answer("move", Limit(nodes=400_000))
        referee.push(found.answer)
        player.observe(referee.view(chess.WHITE))
        if referee.outcome is None:
            board = chess.Board(referee.position.fen())
            referee.push(next(iter(board.legal_moves), referee.legal_moves()[0]))
            player.observe(referee.view(chess.WHITE))
    assert referee.outcome.winner == chess.WHITE and referee.ply == 5


def value(position: Position) -> float:
    return float(BuiltinEvaluator().values(np.array(position.row)[None])[0])


def after(position: brute_force.Position, move: tuple[int, int, str]) -> float:
    """Value for the mover of the position after ``move``, by the oracle's rules."""
    then = brute_force.play(position, move)
    if any(then[0][target] in "kK" for _, target, _ in brute_force.moves(then)):
        return -1.0
    return -value(Position.from_fen(fen_of(then)))


@pytest.mark.parametrize(
    ("moves", "color"),
    [
        (OPENING, chess.WHITE),
        (("e2e4", "d7d5", "e4d5", "d8d5", "b1c3", "d5a5"), chess.WHITE),
        (("e2e4", "c7c5", "d2d4", "c5d4", "d1d4"), chess.BLACK),
    ],
)
def test_best_guess_plays_the_best_move_in_the_position_that_is_worst_for_it(
    moves: tuple[str, ...], color: chess.Color
) -> None:
    """By going through all positions and moves with the oracle's rules; the budget ends after the first ply."""
    referee, positions = followed(moves, color)
    assert referee.turn == color and 1 < positions.size <= 200
    worst = brute_force.parse(min(positions, key=value).fen())
    values = {move: after(worst, move) for move in brute_force.moves(worst)}
    found = seated("best-guess", referee).answer("move", Limit(nodes=positions.size))
    assert found.diagnostics["depth"] == 1
    assert found.diagnostics["nodes"] == positions.size + len(values)
    best = max(values.values())
    assert values[move_of(found.answer)] == pytest.approx(best, abs=1e-9)
    assert found.diagnostics["value"] == pytest.approx(best, abs=1e-9)
