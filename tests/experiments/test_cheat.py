"""Stockfish on the referee's side: what it may be asked, and that it plays dark chess's rules."""

from __future__ import annotations

import chess
import pytest

from darkchess.fog.game.contest import Player, PlayerError
from darkchess.fog.game.referee import Referee
from darkchess.fog.players.tracking import RandomPlayer
from experiments.players.cheat import StockfishCheat
from experiments.players.specs import player
from klss.table.arbiter import Arbiter
from klss.table.limits import Limit, TimeControl
from uci_bridge.evaluators import EvaluatorChoice
from uci_bridge.kits.fog import FOG
from uci_bridge.match.match import Match
from uci_bridge.match.report import versions


def choice(path: str, fen: str, *moves: str) -> tuple[str, str, int]:
    """Move, who chose it, how often the built-in evaluator did."""
    referee = Referee.replay([chess.Move.from_uci(move) for move in moves], fen)
    cheat = StockfishCheat(referee, path)
    cheat.start(referee.views(referee.turn)[0], referee.positions[0])
    try:
        decision = cheat.choose(Limit(nodes=2000))
    finally:
        cheat.close()
    assert decision.answer in referee.legal_moves()
    return decision.answer.uci(), decision.diagnostics["by"], cheat.fallbacks


def test_it_takes_the_king(require_stockfish: str) -> None:
    assert choice(require_stockfish, "4k3/8/8/8/8/8/8/4RK2 w - - 0 1") == ("e1e8", "rule", 0)


def test_it_plays_stockfish_s_move(require_stockfish: str) -> None:
    move, by, _ = choice(require_stockfish, "6k1/5ppp/8/8/8/8/8/R5K1 w - - 0 1")
    assert (move, by) == ("a1a8", "stockfish")


@pytest.mark.parametrize(
    ("fen", "why"),
    [
        ("R3k3/8/4K3/8/8/8/8/8 b - - 0 1", "mate in chess"),
        ("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", "stalemate in chess"),
        ("QQQQQQQQ/QQ6/8/8/8/8/8/K5k1 b - - 0 1", "more queens than pawns can become"),
    ],
)
def test_what_stockfish_can_t_hold_the_built_in_evaluator_plays(require_stockfish: str, fen: str, why: str) -> None:
    assert choice(require_stockfish, fen)[1:] == ("builtin", 1), why


def test_the_same_nodes_give_the_same_game_and_it_beats_random_moves(require_stockfish: str) -> None:
    games = []
    for _ in range(2):
        referee = Referee()
        cheat = StockfishCheat(referee, require_stockfish)
        players: dict[chess.Color, Player] = {chess.WHITE: RandomPlayer(seed=3), chess.BLACK: cheat}
        Arbiter(referee, players, dict.fromkeys(chess.COLORS, TimeControl(nodes=1000))).play()
        cheat.close()
        assert referee.outcome is not None and referee.outcome.winner == chess.BLACK
        games.append(referee.moves)
    assert games[0] == games[1]


def test_a_game_that_is_over_asks_for_no_move(require_stockfish: str) -> None:
    referee = Referee()
    cheat = StockfishCheat(referee, require_stockfish)
    referee.resign(chess.WHITE)
    with pytest.raises(PlayerError, match="got a game that is over"):
        cheat.choose(Limit(nodes=10))
    cheat.close()


def test_it_plays_a_match(require_stockfish: str) -> None:
    match = Match(FOG, player("stockfish-cheat"), player("random,cap=5000,threads=1"), games=2, seed=1,
        budget=TimeControl(nodes=20), evaluator=EvaluatorChoice(stockfish=require_stockfish), check_truth=True,
    )  # fmt: skip
    assert match.run().score == 2
    assert str(versions(match.setup())["stockfish"]).startswith("Stockfish")


def test_slips_are_random_moves_of_its_seed_and_never_in_place_of_a_king(require_stockfish: str) -> None:
    played = []
    for seed in (1, 1, 2, 3):
        referee = Referee()
        cheat = StockfishCheat(referee, require_stockfish, seed=seed, most_nodes=1, slips=1.0)
        cheat.start(referee.view(chess.WHITE), referee.position)
        decision = cheat.choose(Limit(time_s=60.0))
        cheat.close()
        assert decision.diagnostics["by"] == "chance" and decision.answer in referee.legal_moves()
        played.append(decision.answer)
    assert played[0] == played[1] and len(set(played)) > 1
    referee = Referee("4k3/8/8/8/8/8/8/4RK2 w - - 0 1")
    cheat = StockfishCheat(referee, require_stockfish, slips=1.0)
    assert cheat.choose(Limit(nodes=1)).answer.uci() == "e1e8"
    cheat.close()
