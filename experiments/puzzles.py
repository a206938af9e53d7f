"""Puzzles that tell levels apart: turns of games at which one move is right and proved
(:mod:`darkchess.fog.analysis.puzzles`), each tried by all eight levels from the mover's views alone.

``python -m experiments.puzzles`` keeps what a batch of games gave in a file of ``--out``, so that the same command goes
on after a stop. At the end it writes the packaged puzzles and these into ``puzzles.jsonl`` there.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import chess
import numpy as np

from darkchess.fog.analysis.puzzles import THEMES, Puzzle, packaged_puzzles, proved
from darkchess.fog.belief.position_set import PositionSet
from darkchess.fog.game.referee import Referee
from darkchess.fog.players.named_fog_players import LEVELS, make_player
from experiments.commands import RUNS, finished, shown
from klss.play.limits import Limit
from klss.support.text import Document
from klss.support.whole_file import write_whole
from klss_app.bench.positions import parsed_moves, seated
from klss_app.flag_types import count, whole
from uci_bridge.match.documents import head
from uci_bridge.match.openings import random_opening

PAIRINGS = (("level-1", "level-2"), ("level-2", "level-2"), ("level-2", "level-1"))
"""Who plays, White first. Weak players leave more turns at which something can be won or lost, and miss it."""

BATCH = 40
"""Games that are kept together."""

_LIMIT, _TRIES = Limit(nodes=30_000), 3
"""Of a move: only the last level comes to so many nodes. Tries of each level at a puzzle, with different seeds."""

_OPENING, _PLIES = 4, 40
"""Random plies at the start of a game, and most plies of it: later, too many positions are possible."""

_MOST_POSITIONS, _CAP, _LEAST_MOVES = 2_000, 4_000, 8
"""Most possible positions at a puzzle's turn, since a solver could not imagine more, and of a set before that; fewest
moves, since a guess must not be right too often.
"""

_EASY, _EASY_MOST = 2, 18
"""Levels up to this one find most turns. Of the packaged puzzles that such a level finds first, so many are kept."""


def played(names: Sequence[str], seed: int) -> Referee:
    """Return a game of two levels, White first, after a random opening."""
    game = Referee.replay(parsed_moves(" ".join(random_opening(_OPENING, seed).moves)))
    players = {
        color: seated(make_player(LEVELS[name], seed=seed), game, color)
        for color, name in zip((chess.WHITE, chess.BLACK), names, strict=True)
    }
    while game.outcome is None and len(game.moves) < _PLIES:
        game.push(players[game.turn].answer("move", _LIMIT).answer)
        for color, player in players.items():
            player.observe(game.view(color))
    return game


def puzzles_in(game: Referee, source: str) -> Iterator[Puzzle]:
    """Yield the puzzles of a game that its players missed, in order."""
    known = {color: PositionSet(game.views(color)[0], game.positions[0], cap=_CAP) for color in chess.COLORS}
    for ply in range(len(game.moves)):
        mover = game.positions[ply].turn
        moves = game.views(mover)[ply].legal_moves
        size = known[mover].size if mover in known and len(moves) >= _LEAST_MOVES else 0
        found = proved(known[mover].rows(np.arange(size)), moves) if 2 <= size <= _MOST_POSITIONS else None
        if found is not None and found[1] != game.moves[ply]:
            theme, solution, proof = found
            yield Puzzle(theme, game.moves[:ply], solution, proof, None, source, {})
        # A player whose set has become too large is left out from here on; after the last move nobody is asked.
        for color, each in tuple(known.items()) if ply + 1 < len(game.moves) else ():
            each.observe(game.views(color)[ply + 1])
            if each.capped_by is not None:
                del known[color]


def rated(puzzle: Puzzle) -> Puzzle:
    """Return the puzzle with the share of tries in which each level found the solution, up to the first that did so in
    most of its tries.
    """
    for name, settings in LEVELS.items():
        tries = (seated(make_player(settings, seed=i), puzzle.game) for i in range(_TRIES))
        found = sum(player.answer("move", _LIMIT).answer == puzzle.solution for player in tries)
        puzzle = replace(puzzle, solved={**puzzle.solved, name: round(found / _TRIES, 2)})
        if puzzle.level is not None:
            break
    return puzzle


def chosen(puzzles: Iterable[Puzzle]) -> list[Puzzle]:
    """Return the puzzles that are kept, each turn once."""
    counts: Counter[int | None] = Counter()
    kept = {}
    for each in puzzles:
        turn = each.views[-1].key(), each.solution
        hard = each.level is None or each.level > _EASY
        if turn not in kept and (hard or counts[each.level] < _EASY_MOST):
            counts[each.level] += 1
            kept[turn] = each
    return list(kept.values())


def batch(seed: int, numbers: range) -> list[Document]:
    """Return the puzzles of the games of these numbers that none of the first levels finds."""
    commit = str(head("puzzles")["commit"])[:8]
    found: list[Puzzle] = []
    for number in numbers:
        names = PAIRINGS[number % len(PAIRINGS)]
        game = played(names, int(np.random.default_rng([seed, number]).integers(2**31)))
        source = f"{' v '.join(names)}, seed {seed}, game {number}, commit {commit}"
        found += map(rated, puzzles_in(game, source))
    return [each.document() for each in found if each.level is None or each.level > _EASY]


def make(games: int, seed: int, out: Path) -> None:
    """Play the games that are missing, and write the chosen puzzles of all."""
    every = packaged_puzzles()
    out.mkdir(parents=True, exist_ok=True)
    for first in range(0, games, BATCH):
        numbers = range(first, min(first + BATCH, games))
        path = out / f"seed-{seed}-games-{numbers.start}-{numbers.stop}.json"
        if not path.exists():
            write_whole(path, json.dumps(batch(seed, numbers)))
        every += map(Puzzle.read, json.loads(path.read_text(encoding="utf-8")))
        print(f"{numbers.stop} of {games} games, {len(every)} puzzles", file=sys.stderr, flush=True)
    kept = chosen(every)
    write_whole(out / "puzzles.jsonl", "".join(json.dumps(each.document()) + "\n" for each in kept))
    levels = (*range(1, len(LEVELS) + 1), None)
    counts = Counter((each.level, each.theme) for each in kept)
    shown(("level", *THEMES), [[level or "none", *(counts[level, theme] for theme in THEMES)] for level in levels])


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m experiments.puzzles", description="puzzles from games of levels")
    add = parser.add_argument
    add("--games", type=count, default=3000, metavar="N", help="default 3000, in batches of 40")
    add("--seed", type=whole(0), default=1, metavar="S", help="default 1")
    add("--out", type=Path, default=RUNS / "puzzles", metavar="DIR", help="where games and puzzles.jsonl are kept")
    parsed = parser.parse_args(arguments)
    return finished(lambda: make(parsed.games, parsed.seed, parsed.out), OSError)


if __name__ == "__main__":
    sys.exit(main())
