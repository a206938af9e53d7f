"""The thief: an engine that makes of the seeds it observes whatever it can, clones its opponent and asks the clone.

It knows the code, every way in which seeds might hang together, and here even what its opponent sees. Only the right
seed would make the clone a true one, and that it does not find.
"""

from __future__ import annotations

import functools
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import chess
import pytest

from darkchess.fog.game.contest import Player
from darkchess.fog.game.record import read_pgn
from darkchess.fog.game.referee import Referee
from darkchess.fog.players.named_fog_players import configuration, make_player
from klss.play.limits import Limit
from klss.support.seeds import game_seed, opening_seed, player_seed
from klss_app.cli.main import main
from uci_bridge.kits.fog import FOG
from uci_bridge.match.game import Engines, GameResult, play_game
from uci_bridge.match.match import Match
from uci_bridge.match.openings import random_opening
from uci_bridge.players import player_spec

FOREIGN = Path(__file__).parents[1] / "uci_bridge" / "foreign_engine.py"
THIEF = f"cmd:{sys.executable} -S -E {FOREIGN} good"
FEN = "4k3/pppp4/8/8/8/8/PPPP4/4K3 w - - 0 1"
TURNS = 7
"""Of the opponent in each game that the clones are asked for."""

GUESSES: tuple[Callable[[int], int], ...] = (
    lambda shown: shown, lambda shown: shown ^ 1, lambda shown: shown + 1, lambda shown: abs(shown - 1),
    lambda shown: 2 * shown, lambda shown: 2 * shown + 1, lambda shown: shown // 2,
    lambda shown: player_seed(shown, "white"), lambda shown: player_seed(shown, "black"),
    lambda shown: game_seed(shown, 0), lambda shown: game_seed(shown, 1), lambda shown: opening_seed(shown, 0),
)  # fmt: skip
"""What another seed might be, to one who is given its own."""


class Watched(Engines):
    """The engines of a match, and the seed that each side is given, game by game."""

    def __init__(self, match: Match) -> None:
        super().__init__(match)
        self.told: dict[str, list[int]] = {"a": [], "b": []}

    def player(self, side: str, seed: int) -> Player:
        self.told[side].append(seed)
        return super().player(side, seed)


def played(match: Match, games: int) -> tuple[list[GameResult], dict[str, list[int]]]:
    engines = Watched(match)
    try:
        return [play_game(match, match.task(game), engines) for game in range(games)], engines.told
    finally:
        engines.close(at_once=True)


def foretold(victim: str, nodes: int, results: list[GameResult], seeds: list[int]) -> int:
    """How many of A's moves in the games, it has White in the first, clones with these seeds make as it did."""
    hits = 0
    for result, color, seed in zip(results, (chess.WHITE, chess.BLACK), seeds, strict=True):
        (record,) = read_pgn(result.record)
        game = Referee(record.fen)
        clone = make_player(configuration(victim), seed=seed)
        clone.begin(color, game.setup)
        for move in record.moves[: 2 * TURNS]:
            if game.turn == color:
                hits += clone.answer("move", Limit(nodes=nodes)).answer == move
            game.push(move)
            clone.observe(game.view(color))
    return hits


@pytest.mark.parametrize(
    ("victim", "nodes", "fen"),
    [pytest.param("klss2021,threads=1,cap=500", 5, None, marks=pytest.mark.slow), ("random,cap=1000", 1, FEN)],
)
def test_the_thief_foretells_her_opponent_s_moves_no_better_than_one_without_a_seed(
    victim: str, nodes: int, fen: str | None
) -> None:
    players = {"a": player_spec(FOG, victim), "b": player_spec(FOG, THIEF)}
    match = Match(kit=FOG, **players, games=2, seed=11, budget=Limit(nodes=nodes), fen=fen, check_truth=True)
    results, shown = played(match, 2)
    hits = functools.partial(foretold, victim, nodes, results)
    thief = [hits([guess(seed) for seed in shown["b"]]) for guess in GUESSES[:7]]
    thief.append(hits([0, shown["b"][0]]))  # what it observes in the other game of the pair, in its opponent's seat
    without = [hits([2 * number, 3 * number]) for number in range(len(thief))]
    right = hits(shown["a"])
    assert right == sum(min(TURNS, (result.line["plies"] + 1 - game) // 2) for game, result in enumerate(results))
    assert max(thief) <= max(without) + 2 < right


def test_no_seed_that_a_player_is_told_leads_to_another_s_or_to_an_opening(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """In a match with openings and in ``klss play``, as the engines' processes are given."""
    thief = THIEF.replace("cmd:", f"cmd:env KEEP={tmp_path / 'kept'} ", 1)
    players = {"a": player_spec(FOG, thief), "b": player_spec(FOG, f"{thief} 1")}
    match = Match(kit=FOG, **players, games=2, seed=7, budget=Limit(nodes=1), fen=FEN, openings=4)
    results, _ = played(match, 2)
    flags = ("--nodes", "1", "--seed", "7", "--fen", FEN, "--pgn", str(tmp_path / "game.pgn"))
    assert main(["play", "--white", thief, "--black", f"{thief} 1", *flags]) == 0
    capsys.readouterr()
    requests: list[dict[str, Any]] = [json.loads(line) for line in (tmp_path / "kept").read_text().splitlines()]
    shown = {turn["sessionId"]: turn["engineSeed"] for turn in requests if "legalMoves" in turn}
    seeds = set(shown.values())
    assert len(shown) == len(seeds) == 6 and all(0 <= seed < 2**53 for seed in seeds)
    guesses = {(seed, guess(seed)) for seed in seeds for guess in GUESSES}
    assert not [(seed, guess) for seed, guess in guesses if guess in seeds - {seed}]
    drawn = {random_opening(4, guess, FEN).text() for _, guess in guesses}
    assert not drawn & {result.line["opening"] for result in results}
