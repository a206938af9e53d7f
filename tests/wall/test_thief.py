"""The thief: an engine that makes of the seeds she is told whatever she can, clones her opponent and asks the clone.

She knows the code, every way in which seeds might hang together, and here even what her opponent sees. Only the right
seed would make the clone a true one, and that she does not find.
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
from darkchess.fog.game.rules import PAPER
from darkchess.fog.players.configuration import configuration, make_player
from klss.support.seeds import game_seed, opening_seed, player_seed
from klss.table.limits import Limit, TimeControl
from klss_app.cli.main import main
from uci_bridge.kits.fog import FOG
from uci_bridge.match.engines import Engines
from uci_bridge.match.game import play_game
from uci_bridge.match.match import Match
from uci_bridge.match.openings import RandomOpenings
from uci_bridge.match.task import GameResult
from uci_bridge.players import player_spec

FOREIGN = Path(__file__).parents[1] / "uci_bridge" / "foreign_engine.py"
THIEF = f"cmd:{sys.executable} -S -E {FOREIGN} good"
FEN = "4k3/pppp4/8/8/8/8/PPPP4/4K3 w - - 0 1"
TURNS = 10
"""Of the opponent in each game that the clones are asked for."""

GUESSES: tuple[Callable[[int], int], ...] = (
    lambda told: told, lambda told: told ^ 1, lambda told: told + 1, lambda told: abs(told - 1), lambda told: 2 * told,
    lambda told: 2 * told + 1, lambda told: told // 2, lambda told: player_seed(told, "white"),
    lambda told: player_seed(told, "black"), lambda told: game_seed(told, 0), lambda told: game_seed(told, 1),
    lambda told: opening_seed(told, 0),
)  # fmt: skip
"""What another seed might be, to one who is told hers."""


class Watched(Engines):
    """The engines of a match, and the seed that each side is told, game by game."""

    def __init__(self, match: Match) -> None:
        super().__init__(match.setup())
        self.told: dict[str, list[int]] = {"a": [], "b": []}

    def player(self, side: str, seed: int, referee: Referee) -> Player:
        self.told[side].append(seed)
        return super().player(side, seed, referee)


def played(match: Match, games: int) -> tuple[list[GameResult], dict[str, list[int]]]:
    engines = Watched(match)
    try:
        return [play_game(match.setup(), match.task(game), engines) for game in range(games)], engines.told
    finally:
        engines.close(at_once=True)


def foretold(victim: str, nodes: int, results: list[GameResult], seeds: list[int]) -> int:
    """How many of A's moves in the games, she has White in the first, clones with these seeds make as she did."""
    hits = 0
    for result, color, seed in zip(results, (chess.WHITE, chess.BLACK), seeds, strict=True):
        (record,) = read_pgn(result.record)
        game = Referee(record.fen)
        clone = make_player(configuration(victim), seed=seed)
        clone.start(game.view(color), game.position, PAPER)
        for move in record.moves[: 2 * TURNS]:
            if game.turn == color:
                hits += clone.choose(Limit(nodes=nodes)).answer == move
            game.push(move)
            clone.observe(game.view(color))
    return hits


@pytest.mark.parametrize(("victim", "nodes", "fen"), [("klss2021,threads=1", 5, None), ("random,cap=1000", 1, FEN)])
def test_the_thief_foretells_her_opponent_s_moves_no_better_than_one_without_a_seed(
    victim: str, nodes: int, fen: str | None
) -> None:
    match = Match(
        FOG,
        player_spec(FOG, victim),
        player_spec(FOG, THIEF),
        2,
        7,
        TimeControl(nodes=nodes),
        fen=fen,
        check_truth=True,
    )
    results, told = played(match, 2)
    hits = functools.partial(foretold, victim, nodes, results)
    thief = [hits([guess(seed) for seed in told["b"]]) for guess in GUESSES[:7]]
    thief.append(hits([0, told["b"][0]]))  # what she was told in the other game of the pair, in her opponent's seat
    without = [hits([2 * number, 3 * number]) for number in range(len(thief))]
    right = hits(told["a"])
    assert right == sum(min(TURNS, (result.line["plies"] + 1 - game) // 2) for game, result in enumerate(results))
    assert max(thief) <= max(without) + 2 < right


def test_no_seed_that_a_player_is_told_leads_to_another_s_or_to_an_opening(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """In a match with openings and in ``klss play``, as the engines' processes are told."""
    thief = THIEF.replace("cmd:", f"cmd:env KEEP={tmp_path / 'kept'} ", 1)
    openings = RandomOpenings(4)
    match = Match(
        FOG,
        player_spec(FOG, thief),
        player_spec(FOG, f"{thief} 1"),
        2,
        7,
        TimeControl(nodes=1),
        fen=FEN,
        openings=openings,
    )
    results, _ = played(match, 2)
    flags = ("--nodes", "1", "--seed", "7", "--fen", FEN, "--pgn", str(tmp_path / "game.pgn"))
    assert main(["play", "--white", thief, "--black", f"{thief} 1", *flags]) == 0
    capsys.readouterr()
    requests: list[dict[str, Any]] = [json.loads(line) for line in (tmp_path / "kept").read_text().splitlines()]
    told = {turn["sessionId"]: turn["engineSeed"] for turn in requests if "legalMoves" in turn}
    seeds = set(told.values())
    assert len(told) == len(seeds) == 6 and all(0 <= seed < 2**53 for seed in seeds)
    guesses = {(seed, guess(seed)) for seed in seeds for guess in GUESSES}
    assert not [(seed, guess) for seed, guess in guesses if guess in seeds - {seed}]
    drawn = {openings.opening(0, guess, FEN).text() for _, guess in guesses}
    assert not drawn & {result.line["opening"] for result in results}
