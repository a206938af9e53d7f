"""What the players do: laws, and positions in which there is one right answer."""

from __future__ import annotations

import time
from typing import get_type_hints

import chess
import numpy as np
import pytest

from darkchess.board.position import START_FEN, Position
from darkchess.evaluation.evaluator import BuiltinEvaluator
from darkchess.rbc import Moved, Notice, Referee
from darkchess.rbc.belief.position_set import PositionSet
from darkchess.rbc.belief.senses import partitions
from darkchess.rbc.game.observation import INNER
from darkchess.rbc.game.requests import after_move, played
from darkchess.rbc.game.rules import Limits
from darkchess.rbc.players.dsmcp import Synoptic
from darkchess.rbc.players.expectation import Expectation, ExpectationPlayer
from darkchess.rbc.players.named_rbc_players import CONFIGURATIONS, Configuration, configuration, make_player
from darkchess.rbc.players.outlook import Outlook, outlook
from darkchess.rbc.players.siamese import Nearness
from klss.play.arbiter import Arbiter
from klss.play.contest import TruthCount
from klss.play.limits import Limit
from klss.support.configuration_text import ConfigurationError

FEW = Limit(nodes=400)


def play(white: str, black: str, seed: int, nodes: int = 100) -> tuple[Referee, TruthCount]:
    game, truth = Referee(limits=Limits(full_turns=8)), TruthCount()
    players = {
        color: make_player(configuration(name), seed=seed)
        for color, name in ((chess.WHITE, white), (chess.BLACK, black))
    }
    Arbiter(game, players, dict.fromkeys(chess.COLORS, Limit(nodes=nodes)), truth=truth).play()
    return game, truth


def expectation(fen: str, color: chess.Color = chess.WHITE, text: str = "rbc-expect") -> ExpectationPlayer:
    player = make_player(configuration(text))
    assert isinstance(player, ExpectationPlayer)
    player.begin(color, Position.from_fen(fen))
    return player


def whole_outlook(known: PositionSet, *, exposed: float = 5.0, unaware: float = 0.0, boards: int = 1000) -> Outlook:
    weights = np.full(known.size, 1.0 / known.size)
    return outlook(
        known, np.arange(known.size), weights, BuiltinEvaluator(), children=1000, boards=boards, unaware=unaware,
        exposed=exposed,
    )  # fmt: skip


def worths(known: PositionSet, **settings: float) -> dict[chess.Move | None, float]:
    """The value of each request in the one position that is possible."""
    found = whole_outlook(known, **settings)
    return dict(zip((known.request(int(code)) for code in found.codes), found.values[0], strict=True))


@pytest.mark.parametrize("name", sorted(CONFIGURATIONS))
def test_every_player_plays_a_game_in_which_the_truth_is_never_lost(name: str) -> None:
    game, truth = play(name, "rbc-random", 2, nodes=30)
    assert game.outcome is not None and truth.lost == 0


@pytest.mark.parametrize(
    ("text", "nodes"),
    [
        ("rbc-tower", 500),
        ("rbc-expect", 500),
        pytest.param("dsmcp,particles=16", 60, marks=pytest.mark.slow),
        pytest.param("dsmcp,particles=16,mixing=1", 60, marks=pytest.mark.slow),
    ],
)
def test_with_nodes_one_thread_and_seven_play_the_same(text: str, nodes: int) -> None:
    one, two = (play(f"{text},threads={threads}", "rbc-attacker", 4, nodes)[0] for threads in (1, 7))
    assert [(turn.sensed, turn.moved) for turn in one.turns] == [(turn.sensed, turn.moved) for turn in two.turns]


def test_a_king_that_can_be_taken_for_sure_is_taken() -> None:
    player = expectation("4k3/8/8/8/8/8/4R3/4K3 w - - 0 1")
    player.notice(Notice(None))
    player.choose_sense(FEW)
    assert player.choose_move(FEW).answer == chess.Move.from_uci("e2e8")


@pytest.mark.parametrize(
    ("fen", "text", "ranks"),
    [
        pytest.param("4k3/8/8/8/8/8/8/Q3K2Q b - - 0 1", "rbc-expect", (5, 6, 7), id="where the enemy king is"),
        pytest.param("4k3/8/8/8/8/3q4/5PPP/6K1 b - - 0 1", "rbc-tower", (0, 1, 2, 3), id="what attacks its own"),
    ],
)
def test_a_sense_asks_what_decides_about_a_king(fen: str, text: str, ranks: tuple[int, ...]) -> None:
    player = expectation(fen, chess.WHITE, text)
    player.notice(Notice(None))
    look = player.choose_sense(FEW)
    assert look.answer is not None and chess.square_rank(look.answer) in ranks


@pytest.mark.parametrize(
    "fen",
    [
        "4k3/8/8/8/8/5n2/4PPPP/3QKB1R w - - 0 1",  # a knight, known to stand there, is to be taken
        "4k3/8/8/7b/8/8/8/1R1K4 w - - 0 1",  # off a diagonal
        "3rk3/8/8/8/8/8/2P1PP2/2BK1B1R w - - 0 1",  # off a file, or something put in between
    ],
)
@pytest.mark.parametrize("text", ["rbc-expect", "rbc-tower"])
def test_a_king_that_can_be_saved_in_all_that_is_possible_is_saved(text: str, fen: str) -> None:
    player = expectation(fen, text=text)
    player.notice(Notice(None))
    asked = player.choose_move(FEW).answer
    after = after_move(Position.from_fen(fen), None if asked is None else played(Position.from_fen(fen), asked))
    board = chess.Board(after.fen())
    king = board.king(chess.WHITE)
    assert king is not None and not board.is_attacked_by(chess.BLACK, king)


def test_fates_are_those_of_python_chess() -> None:
    player = expectation("r3k2r/ppp2ppp/2n2n2/1B6/3q4/2N2N2/PPP2PPP/R2QK2R b KQkq - 0 1", chess.WHITE)
    player.notice(Notice(None))
    known = player.known
    found = whole_outlook(known, exposed=7.0, boards=1)  # all positions but one are judged by their fates alone
    for i, position in enumerate(known):
        for j, code in enumerate(found.codes):
            request = known.request(int(code))
            taken = None if request is None else played(position, request)
            if taken is not None and position.piece_at(taken.to_square) == chess.Piece(chess.KING, chess.BLACK):
                assert found.values[i, j] == 1.0
                continue
            board = chess.Board(after_move(position, taken).fen())
            king = board.king(chess.WHITE)
            assert king is not None
            assert (found.values[i, j] == -7.0) == board.is_attacked_by(chess.BLACK, king)


@pytest.mark.parametrize(("limit", "share"), [(Limit(nodes=400), None), (Limit(clock=(10.0, 0.0)), 0.25)])
def test_a_turn_of_the_opponent_is_followed_for_a_share_of_the_time_that_the_question_has(
    limit: Limit, share: float | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    player = expectation(START_FEN, chess.BLACK)
    given: list[float | None] = []
    noticed = PositionSet.noticed

    def spied(known: PositionSet, notice: Notice, *, deadline: float | None = None) -> None:
        given.append(None if deadline is None else deadline - time.monotonic())
        noticed(known, notice, deadline=deadline)

    monkeypatch.setattr(PositionSet, "noticed", spied)
    player.notice(Notice(None))
    assert not given
    player.choose_sense(limit)
    assert player.known.size == 21 and len(given) == 1
    assert given[0] == (share if share is None else pytest.approx(share, abs=0.02))


def test_an_outlook_says_what_each_request_leads_to() -> None:
    player = expectation("4k3/8/8/3r4/4P3/8/8/4K3 w - - 0 1")
    known = player.known
    values = worths(known, exposed=1.0)
    best = max(values, key=lambda move: values[move])
    assert best == chess.Move.from_uci("e4d5")
    assert values[chess.Move.from_uci("e4f5")] == values[None], "a pawn's capture of nothing is a pass"
    assert min(values.values()) == -1.0 and min(worths(known).values()) == -5.0, "the rook sees d1 and d2"


@pytest.mark.parametrize(
    ("fen", "unaware"),
    [
        pytest.param("8/8/8/8/4k3/8/1p6/q3KB1R b - - 0 1", 1.0, id="overlooked"),
        pytest.param("8/8/8/8/8/k5q1/8/q6K b - - 0 1", 0.0, id="nowhere to go"),
    ],
)
def test_a_king_is_taken_now_even_if_it_can_be_taken_later_as_well(fen: str, unaware: float) -> None:
    values = worths(expectation(fen, chess.BLACK).known, unaware=unaware)
    waits = max(value for move, value in values.items() if move is None or move.from_square != chess.A1)
    king = chess.Board(fen).king(chess.WHITE)
    assert king is not None
    assert values[chess.Move(chess.A1, king)] == 1.0 > waits + Expectation().spread, "to wait wins later"


def test_an_attack_may_be_overlooked_unless_a_capture_told_of_it() -> None:
    fen = "4k3/3p4/8/8/8/8/8/3QK3 w - - 0 1"
    known = expectation(fen).known
    seen, overlooked = worths(known), worths(known, unaware=1.0)
    board = chess.Board(fen)
    checks = {move for move in board.legal_moves if board.gives_check(move)}
    assert {move for move in seen if overlooked[move] > seen[move]} == {m for m in checks if not board.is_capture(m)}
    assert any(board.is_capture(move) for move in checks)


def test_expected_values_are_those_of_knowing_the_result() -> None:
    player = expectation(START_FEN, chess.BLACK)
    player.notice(Notice(None))
    known = player.known
    indices = np.arange(known.size)
    rng = np.random.default_rng(0)
    values, weights = rng.normal(size=(known.size, 7)), rng.dirichlet(np.ones(known.size))
    divided = partitions(known, indices)
    found = divided.best_values(values, weights)
    for place in range(len(INNER)):
        groups = [np.flatnonzero(divided.classes[place] == one) for one in range(int(divided.counts[place]))]
        assert found[place] == pytest.approx(sum((weights[group] @ values[group]).max() for group in groups))
    assert (found >= (weights @ values).max() - 1e-12).all(), "information costs nothing"


@pytest.mark.parametrize(
    "text", ["rbc-expekt", "rbc-expect,cap=0", "rbc-expect,belief=value", "dsmcp,exploration=inf", "dsmcp,mixing=-1"]
)
def test_settings_that_make_no_sense_are_refused(text: str) -> None:
    with pytest.raises(ConfigurationError):
        configuration(text)


def test_every_number_that_says_how_a_player_thinks_has_a_range() -> None:
    hints = get_type_hints(Expectation) | get_type_hints(Nearness) | get_type_hints(Synoptic)
    assert {field for field, hint in hints.items() if hint in (int, float)} == set(Configuration.RANGES)
    assert configuration("dsmcp,mixing=inf").fields()["mixing"] == "inf"


def test_no_position_that_is_possible_gets_weight_zero_even_if_none_is_spread_evenly() -> None:
    player = expectation(chess.STARTING_FEN, chess.BLACK, "rbc-tower,uniform_mix=0")
    for answer in ("e7e5", "d7d5"):
        player.notice(Notice(None))
        with np.errstate(divide="raise", invalid="raise"):
            _, weights = player.weighed(FEW, sense=True)
        assert weights.min() > 0.0 and weights.sum() == pytest.approx(1.0)
        move = chess.Move.from_uci(answer)
        player.moved(Moved(move, move, None))
