"""Puzzles: turns of games at which one move is right and proved (:mod:`darkchess.fog.analysis.puzzles`), and how often
players of this project find the move.

``python -m experiments.puzzles GAMES --out FILE`` writes a line of JSON for each. The packaged ones, which ``klss
puzzles`` poses, were made so: ``darkchess/fog/analysis/data/puzzles.jsonl``.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import chess
import numpy as np

from darkchess.errors import IllegalMove, RecordError
from darkchess.evaluation.evaluator import BuiltinEvaluator
from darkchess.fog.analysis.puzzles import Puzzle, Study
from darkchess.fog.belief.position_set import PositionSet
from darkchess.fog.game.archive import games_of
from darkchess.fog.game.record import GameRecord
from darkchess.fog.game.referee import Referee
from darkchess.fog.players.named_fog_players import configuration, make_player
from klss.play.limits import Limit
from klss_app.bench.positions import BenchPosition, seated

RATERS = ("greedy", "best-guess", "level-2", "level-4", "level-6", "kluss")
"""Players that try each puzzle for its rating."""

_NODES, _TRIES = 2_000, 3
"""Nodes of each try, and tries of each player, with different seeds."""

_MOST_POSITIONS = 2_000
"""Most possible positions at the turn of a puzzle: a solver could not imagine more."""

_CAP = 200_000
"""Most positions of a player's set; a player with a larger one is left out of the rest of the game."""

_LEAST_MOVES = 8
"""Fewest moves to choose from; with fewer, a guess is too often right."""


def puzzles_in(record: GameRecord, source: str) -> Iterator[Puzzle]:
    """Yield the puzzles of a game, both players' turns in order; raises :class:`IllegalMove` at an illegal move."""
    referee = Referee(record.fen)
    known = {color: PositionSet(referee.view(color), referee.position, cap=_CAP) for color in chess.COLORS}
    for move in record.moves:
        mover = known.get(referee.turn)
        if mover is not None and 2 <= mover.size <= _MOST_POSITIONS and len(referee.legal_moves()) >= _LEAST_MOVES:
            study = Study(mover.rows(np.arange(mover.size)), referee.legal_moves())
            if study.right is not None:
                yield Puzzle(study.theme(), referee.moves, *study.right, record.fen, source, {})
        referee.push(move)
        if referee.outcome is not None:
            return
        # A player whose set has become too large is left out from here on.
        for color, each in tuple(known.items()):
            each.observe(referee.view(color))
            if each.capped_by is not None:
                del known[color]


def made(path: Path, most: int | None) -> Iterator[Puzzle]:
    """Yield the puzzles in the games of a file, each turn once, and at most ``most`` of each theme. Games that can't be
    read are named on stderr.
    """
    counts: Counter[str] = Counter()
    turns = set()
    for written in games_of(path):
        try:
            for puzzle in puzzles_in(written.record(), f"{path.name}, game {written.number}"):
                turn = (puzzle.views[-1].key(), puzzle.solution)
                if turn not in turns and (most is None or counts[puzzle.theme] < most):
                    turns.add(turn)
                    counts[puzzle.theme] += 1
                    yield puzzle
        except (RecordError, IllegalMove) as error:
            print(error, file=sys.stderr)


def solved(puzzle: Puzzle) -> dict[str, float]:
    """Return the share of tries in which each rater finds the solution, from the mover's views alone."""
    turn = BenchPosition("puzzle", puzzle.game.positions[0], puzzle.views)
    shares = {}
    for name in RATERS:
        tries = [seated(make_player(configuration(name), BuiltinEvaluator(), seed=i), turn) for i in range(_TRIES)]
        found = sum(player.choose(Limit(nodes=_NODES)).answer == puzzle.solution for player in tries)
        shares[name] = round(found / _TRIES, 2)
    return shares


def main() -> None:
    """Make puzzles of a file of games."""
    parser = argparse.ArgumentParser(description="Find puzzles in a file of games.")
    parser.add_argument("games", type=Path, help="games in any format that klss games reads")
    parser.add_argument("--out", type=Path, required=True, help="a line of JSON for each puzzle")
    parser.add_argument("--most", type=int, help="puzzles of each theme at most")
    options = parser.parse_args()
    with options.out.open("w", encoding="utf-8") as file:
        for puzzle in made(options.games, options.most):
            print(json.dumps(replace(puzzle, solved=solved(puzzle)).document()), file=file, flush=True)


if __name__ == "__main__":
    main()
