"""Puzzles: turns of games at which one move is right and proved (:mod:`darkchess.fog.analysis.puzzles`), and how often
players of this project find the move.

``python -m experiments.puzzles GAMES --out FILE`` writes a line of JSON for each; ``klss puzzles FILE`` poses them. The
packaged ones, ``darkchess/fog/analysis/data/puzzles.jsonl``, were made so.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from darkchess.errors import RecordError
from darkchess.evaluation.evaluator import BuiltinEvaluator
from darkchess.fog.analysis.puzzles import Puzzle, puzzles_in
from darkchess.fog.game.archive import games_of
from darkchess.fog.players.configuration import configuration, make_player
from klss.table.limits import Limit
from klss_app.bench.positions import BenchPosition, seated

RATERS = ("greedy", "best-guess", "level-2", "level-4", "level-6", "kluss")
"""Players that try each puzzle for its rating."""

_NODES, _TRIES = 2_000, 3
"""Nodes of each try, and tries of each player, with different seeds."""


def made(path: Path, most: int | None) -> Iterator[Puzzle]:
    """The puzzles in the games of a file, each turn once, and at most ``most`` of each theme. Games that can't be read
    are named on stderr."""
    counts: Counter[str] = Counter()
    turns = set()
    for written in games_of(path):
        try:
            record = written.record()
        except RecordError as error:
            print(error, file=sys.stderr)
            continue
        for puzzle in puzzles_in(record, f"{path.name}, game {written.number}"):
            turn = (puzzle.views[-1].key(), puzzle.solution)
            if turn not in turns and (most is None or counts[puzzle.theme] < most):
                turns.add(turn)
                counts[puzzle.theme] += 1
                yield puzzle


def solved(puzzle: Puzzle) -> dict[str, float]:
    """The share of tries in which each rater finds the solution, from the mover's views alone."""
    turn = BenchPosition("puzzle", puzzle.game.positions[0], puzzle.views)
    shares = {}
    for name in RATERS:
        players = [
            seated(make_player(configuration(name), BuiltinEvaluator(), seed=seed), turn) for seed in range(_TRIES)
        ]
        found = sum(player.choose(Limit(nodes=_NODES)).answer == puzzle.solution for player in players)
        shares[name] = round(found / _TRIES, 2)
    return shares


def main() -> None:
    """Run it."""
    parser = argparse.ArgumentParser(description="Find puzzles in a file of games.")
    parser.add_argument("games", type=Path, help="games in any format that klss games reads")
    parser.add_argument("--out", type=Path, required=True, help="a line of JSON for each puzzle")
    parser.add_argument("--most", type=int, help="puzzles of each theme at most")
    options = parser.parse_args()
    with options.out.open("w", encoding="utf-8") as file:
        for puzzle in made(options.games, options.most):
            print(json.dumps(puzzle.document() | {"solved": solved(puzzle)}), file=file, flush=True)


if __name__ == "__main__":
    main()
