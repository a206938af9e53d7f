"""The maker of puzzles: what it finds in a game is what is packaged of it."""

from __future__ import annotations

from pathlib import Path

from darkchess.fog.game.record import GameRecord, write_pgn
from experiments.puzzles import made
from klss_app.puzzles import puzzles


def test_a_packaged_puzzle_is_found_again_in_its_game(tmp_path: Path) -> None:
    packaged = min((each for each in puzzles() if each.fen is None), key=lambda one: len(one.moves))
    games = tmp_path / "games.pgn"
    games.write_text(write_pgn(GameRecord((*packaged.moves, packaged.solution))), encoding="utf-8")
    found = list(made(games, None))
    assert found[-1].moves == packaged.moves
    assert (found[-1].solution, found[-1].theme, found[-1].proof) == (packaged.solution, packaged.theme, packaged.proof)
