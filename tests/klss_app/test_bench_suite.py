"""The suite: each right move and each exact value is proven here, by code that shares nothing with the engine."""

from __future__ import annotations

import itertools
from collections import defaultdict
from dataclasses import replace

import chess
import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import linprog

from darkchess.board.move import decode
from darkchess.evaluation.evaluator import BuiltinEvaluator
from darkchess.fog.game.contest import DEFAULT_PLAYER
from darkchess.fog.players.configuration import configuration, make_player
from klss.play.limits import Limit
from klss.theory.equilibrium import solve
from klss_app.bench import suite as suite_module
from klss_app.bench.bounded import bounded_game
from klss_app.bench.positions import seated
from klss_app.bench.suite import mixture, suite, suite_entries
from tests.klss_app.suite_laws import LAWS, START, king_falls, parsed, turn, uci
from tests.oracles import brute_force, pawn_ending

ENTRIES = {entry.name: entry for entry in suite_entries()}
BY_MOVES = [name for name, entry in ENTRIES.items() if entry.exact is None]
BY_LOSS = [name for name, entry in ENTRIES.items() if entry.exact is not None]
BLUFFS = [name for name in BY_LOSS if ENTRIES[name].theme == "bluff"]
UNDECIDED = [name for name in BY_LOSS if ENTRIES[name].exact.leaves == "draw"]  # type: ignore[union-attr]


def test_there_are_thirty_entries_and_more_each_with_a_source_and_a_question() -> None:
    assert len(ENTRIES) == len(suite_entries()) >= 30
    assert all(entry.source and entry.asked and entry.game.outcome is None for entry in ENTRIES.values())
    assert all((entry.law == "loss") == (entry.exact is not None) for entry in ENTRIES.values())


# --------------------------------------------------------------------------------------------------- judged by moves
@pytest.mark.parametrize("name", BY_MOVES)
def test_the_right_moves_are_those_of_the_law_in_every_possible_position(name: str) -> None:
    entry = ENTRIES[name]
    found = turn(entry.fen, [move.uci() for move in entry.moves])
    assert {uci(move) for move in LAWS[entry.law](found)} == {move.uci() for move in entry.right}
    assert 0 < len(entry.right) < len(entry.game.legal_moves()), "some moves are right, and some are not"


def test_the_table_of_the_pawn_ending_agrees_with_all_moves() -> None:
    """White wins where a move leads to a position that is won, Black loses where every move does."""
    rng = np.random.default_rng(1)
    seen = set()
    for _ in range(400):
        king, other, pawn = rng.choice(64, 3, replace=False)
        if not 8 <= pawn < 56:
            continue
        board = ["."] * 64
        board[king], board[other], board[pawn] = "K", "k", "P"
        for side in "wb":
            position = ("".join(board), side, "", -1)
            after = [brute_force.play(position, move) for move in brute_force.moves(position)]
            # A piece other than a queen is no better; its table is not there.
            won = [pawn_ending.wins(each) for each in after if not set("NBR") & set(each[0])]
            assert pawn_ending.wins(position) == (any(won) if side == "w" else all(won)), position
            seen.add((side, pawn_ending.wins(position)))
    assert len(seen) == 4


def test_nobody_overlooked_a_king_on_the_way() -> None:
    """A king that can be taken is seen: no player lets it go, so no possible position need be believed to hold one."""
    for entry in ENTRIES.values():
        position = brute_force.parse(entry.fen or START)
        for move in entry.moves:
            assert not king_falls(position), entry.name
            position = brute_force.play(position, parsed(move.uci()))


# ---------------------------------------------------------------------------------------------------- judged by loss
@pytest.mark.parametrize("name", UNDECIDED)
def test_a_second_program_over_a_tree_of_its_own_finds_the_same_values(name: str) -> None:
    """Rules, views, tree and sequence form are written anew; the leaves are captured kings and draws."""
    entry = ENTRIES[name]
    assert entry.exact is not None and entry.fen is not None
    tree = Naive(entry.fen, entry.color, entry.exact.plies, [move.uci() for move in entry.moves])
    assert tree.value() == pytest.approx(entry.exact.value, abs=1e-6)
    count = len(tree.actions)
    assert entry.exact.value - tree.value(np.full(count, 1 / count)) == pytest.approx(entry.exact.blind, abs=1e-6)
    best = max(tree.value(row) for row in np.eye(count))
    assert entry.exact.value - best == pytest.approx(entry.exact.pure, abs=1e-6)


@pytest.mark.parametrize("name", ["rook v queen", "rook v bishop and two pawns", "king v king, three ways"])
def test_what_the_data_say_of_a_bounded_game_is_found_again(name: str) -> None:
    entry = ENTRIES[name]
    shown, turn = entry.exact, entry.turn
    assert shown is not None
    found = turn.bounded.value, turn.loss(np.ones(len(turn.actions))), turn.losses().min()
    assert found == pytest.approx((shown.value, shown.blind, shown.pure), abs=2e-6)


@pytest.mark.parametrize("name", BLUFFS)
def test_in_a_bluff_every_single_move_loses_something(name: str) -> None:
    exact = ENTRIES[name].exact
    assert exact is not None and exact.pure > 0.05 and exact.blind > 0.2


def test_an_equilibrium_scores_one_and_playing_blindly_nothing() -> None:
    entry = ENTRIES["rook v queen"]
    here = entry.turn
    x, treeplex = solve(here.bounded.form).x, here.bounded.form.treeplexes[0]
    first = int(treeplex.first_sequence[0])
    best = {decode(code): float(x[first + i]) for i, code in enumerate(here.actions)}
    assert max(best.values()) < 0.95
    assert entry.score(best) == pytest.approx(1.0, abs=1e-6)
    assert entry.score(dict.fromkeys(best, 1 / len(best))) == pytest.approx(0.0, abs=1e-5)


@pytest.mark.slow
def test_the_loss_of_a_turn_counts_all_histories_that_look_alike() -> None:
    entry = ENTRIES["king v king, hunted at the edge"]
    nodes = entry.turn.bounded.game.nodes_of(0, entry.turn.infoset)
    assert len(nodes) == len(turn(entry.fen, ["d6d7"]).possible)
    aside = bounded_game(entry.game.positions[0], chess.WHITE, 5, "draw").turn([chess.Move.from_uci("d6e6")])
    assert aside.infoset == entry.turn.infoset, "another unseen step of the king"


class Naive:
    """A bounded game with captured kings and draws at its leaves, over the brute force's rules: sequences by name,
    both flows and the payoffs as one linear program. An action ``mixture`` may be fixed at the judged turn.
    """

    def __init__(self, fen: str, color: chess.Color, plies: int, moves: list[str]) -> None:
        self.mine = "w" if color else "b"
        self.plies = plies
        self.payoff: dict[tuple[str, str], float] = defaultdict(float)
        self.infosets: dict[str, dict[str, list[str]]] = {"w": {}, "b": {}}
        self.parents: dict[str, dict[str, str]] = {"w": {}, "b": {}}
        self.judged = ""
        self.knowledge: dict[tuple[object, ...], str] = {}
        self.line = [parsed(text) for text in moves]
        start = brute_force.parse(fen)
        self._walk(start, {"w": "start", "b": "start"}, {"w": "", "b": ""}, [])
        self.actions = self.infosets[self.mine][self.judged]

    def _walk(
        self, position: brute_force.Position, known: dict[str, str], sequence: dict[str, str], line: list[object]
    ) -> None:
        side = position[1]
        if line == self.line:
            self.judged = known[side]
        moves = sorted(brute_force.moves(position))
        names = [f"{known[side]}:{uci(move)}" for move in moves]
        self.infosets[side].setdefault(known[side], names)
        self.parents[side].setdefault(known[side], sequence[side])
        for move, name in zip(moves, names, strict=True):
            after = brute_force.play(position, move)
            played = {**sequence, side: name}
            if king_falls(after) or not brute_force.has_move(after):
                won = after[1] if king_falls(after) else side
                self.payoff[played["w"], played["b"]] += 1.0 if won == self.mine else -1.0
            elif len(line) + 1 < self.plies:
                lost = brute_force.taken(position, move)
                knowing = {}
                for who in ("w", "b"):
                    seen = brute_force.look(after, who, -1 if who == side else lost)
                    shown = (who, known[who], move if who == side else None, seen)
                    knowing[who] = self.knowledge.setdefault(shown, str(len(self.knowledge)))
                self._walk(after, knowing, played, [*line, move])

    def value(self, mixture: np.ndarray | None = None) -> float:
        """max over x, min over y of x A y: its plan x and one value for each infoset of the other's."""
        yours = "b" if self.mine == "w" else "w"
        x = {name: i for i, name in enumerate(["", *itertools.chain(*self.infosets[self.mine].values())])}
        v = {name: len(x) + i for i, name in enumerate(["", *self.infosets[yours]])}
        y = ["", *itertools.chain(*self.infosets[yours].values())]
        own = self.infosets[self.mine]
        fixed = [] if mixture is None else list(zip(self.actions, mixture, strict=True))
        flows = sparse.lil_matrix((1 + len(own) + len(fixed), len(x) + len(v)))
        flows[0, 0] = 1.0
        for row, (infoset, names) in enumerate(own.items(), 1):
            flows[row, x[self.parents[self.mine][infoset]]] = -1.0
            for name in names:
                flows[row, x[name]] = 1.0
        for row, (name, share) in enumerate(fixed, 1 + len(own)):
            flows[row, x[name]] = 1.0
            flows[row, x[self.parents[self.mine][self.judged]]] = -share
        right = np.zeros(flows.shape[0])
        right[0] = 1.0
        # For each of your sequences: the value of its infoset <= what it pays + the values of the infosets below it.
        order = {name: i for i, name in enumerate(y)}
        responses = sparse.lil_matrix((len(y), len(x) + len(v)))
        responses[0, v[""]] = 1.0
        for infoset, names in self.infosets[yours].items():
            for name in names:
                responses[order[name], v[infoset]] += 1.0
            responses[order[self.parents[yours][infoset]], v[infoset]] -= 1.0
        for (white, black), pays in self.payoff.items():
            is_own, other = (white, black) if self.mine == "w" else (black, white)
            responses[order[other], x[is_own]] -= pays
        cost = np.zeros(len(x) + len(v))
        cost[v[""]] = -1.0
        found = linprog(
            cost,
            A_ub=responses.tocsr(), b_ub=np.zeros(len(y)), A_eq=flows.tocsr(), b_eq=right,
            bounds=[(0.0, None)] * len(x) + [(None, None)] * len(v),
        )  # fmt: skip
        assert found.status == 0
        return -float(found.fun)


# -------------------------------------------------------------------------------------------------------- the bench
@pytest.mark.parametrize("name", ["klss2021", "kluss", "baseline"])
def test_the_mixture_is_what_the_player_draws_her_move_from(name: str) -> None:
    chosen, evaluator, limit = configuration(f"{name},threads=1"), BuiltinEvaluator(), Limit(nodes=300)
    for entry in (ENTRIES["rook v queen"], ENTRIES["king v unseen rook"], ENTRIES["Qxe8"]):
        played, positions = mixture(chosen, evaluator, entry.position, limit, seed=1)
        decision = seated(make_player(chosen, evaluator, seed=1), entry.position).choose(limit)
        assert sum(played.values()) == pytest.approx(1.0) and played[decision.answer] > 0.0
        assert positions == decision.diagnostics["positions"]


def test_who_plays_by_default_keeps_her_king_from_an_unseen_queen_on_a4() -> None:
    """1.c4 d5 2.Qa4+: a belief that was learned from those who don't play it takes the pawn, and the king is gone."""
    entry, chosen = ENTRIES["1.c4 d5 2.Qa4+, Black to move"], configuration(f"{DEFAULT_PLAYER},threads=1")
    played = [mixture(chosen, BuiltinEvaluator(), entry.position, Limit(nodes=4000), seed=seed)[0] for seed in (0, 1)]
    assert all(found.get(chess.Move.from_uci("d5c4"), 0.0) < 0.05 for found in played)
    assert min(map(entry.score, played)) > 0.5


def test_the_report_tells_each_entry_and_the_means(monkeypatch: pytest.MonkeyPatch) -> None:
    some = [ENTRIES[name] for name in ("Qxe8", "king v king, three ways", "rook v queen", "1.c4 d5, White to move")]
    monkeypatch.setattr(suite_module, "suite_entries", lambda: [replace(entry) for entry in some])
    said: list[str] = []
    report = suite(configuration("klss2021"), BuiltinEvaluator(), Limit(nodes=200), repetitions=2, say=said.append)
    assert len(report.rows) == len(said) == 8
    assert {row["entry"] for row in report.rows} == {entry.name for entry in some}
    assert all(0.0 <= row["score"] <= 1.0 for row in report.rows)
    assert report.figures.keys() == {"score", "blind", *(f"score_{entry.theme}" for entry in some)}
    means = [np.mean([row["score"] for row in report.rows if row["repetition"] == each]) for each in (0, 1)]
    score = report.figures["score"]
    assert score is not None and (score["min"], score["max"]) == pytest.approx((min(means), max(means)))
