"""Games of Fog of War, and their decisions: one for each turn at which a side's set had two or more positions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import chess
import numpy as np

from darkchess.errors import RecordError
from darkchess.evaluation.evaluator import BuiltinEvaluator
from darkchess.fog.belief.filter import Filter
from darkchess.fog.belief.position_set import PositionSet
from darkchess.fog.belief.tower import BLOCKS, log_prior
from darkchess.fog.game.record import GameRecord, WrittenGame, read_pgn, written_games
from darkchess.fog.game.referee import Referee
from experiments.learn.shards import Row, Source, part_of
from experiments.learn.weighing import columns, decision
from klss.search import Kluss
from klss.support.arrays import Floats, Ints
from uci_bridge.match.files import read_match

CAP = 60_000
"""Most positions of a set; a larger one becomes a sample, as in play, and gives decisions while it has the truth."""
ALLOWANCE_S = 0.03
"""The filter's time for a move: that of a player with .2 s a move."""
SLOPE = Kluss.value_beta
"""A member worth u to the player to move counts exp(−SLOPE · u) times as much: the enemy moves for its own good. It is
the slope of the search, so that the network learns what is left.
"""


def decisions(game: tuple[GameRecord, int], generator: np.random.Generator) -> Iterator[Row]:
    """The decisions of a game, none of its first plies, so many of which were random."""
    record, opening = game
    referee, evaluator = Referee(record.fen), BuiltinEvaluator()
    known = {
        color: PositionSet(referee.view(color), referee.position, cap=CAP, weigher=Filter.packaged())
        for color in chess.COLORS
    }
    for ply, move in enumerate(record.moves, 1):
        referee.push(move)
        if referee.outcome is not None:
            return
        for color, positions in known.items():
            positions.observe(referee.view(color), allowance=ALLOWANCE_S)
        positions = known[referee.turn]
        if positions.size < 2 or ply <= opening or positions.numbers is None:
            continue
        truth = int(positions.indices(referee.position.row)[0])
        if truth >= 0:

            def valued(members: Ints, positions: PositionSet = positions) -> Floats:
                return -SLOPE * evaluator.values(positions.rows(members))

            prior = log_prior(positions.filter_weights)
            yield decision(positions.halves, prior, truth, positions.numbers, generator, valued)


def games_of(path: Path) -> list[tuple[int, tuple[GameRecord, int]]]:
    """The games, with the number of their random first plies: those of a match, numbered by pair, or of a PGN file,
    numbered by player: none of its players is learned from and tested on.
    """
    if path.is_dir():
        found = []
        for line in sorted((read_match(path) or ({}, [], []))[1], key=lambda line: line["game"]):
            record = read_pgn((path / f"game-{line['game']:05d}.pgn").read_text(encoding="utf-8"))[0]
            found.append((line["pair"], (record, len((line["opening"] or "").split()))))
        return found
    with path.open(encoding="utf-8") as file:
        return _by_player(list(written_games(file)))


def _by_player(games: list[WrittenGame]) -> list[tuple[int, tuple[GameRecord, int]]]:
    """Games of people, each numbered by the one of its players who has more of the games; without those that can't be
    read, and without those whose players go to different parts, unless one of them has no other game.
    """
    counts = Counter(game.tags.get(side, "?") for game in games for side in ("White", "Black"))
    # By this step, of the four archives that most of our games of people are from, the second one is tested on.
    numbers = {name: 3 * rank + 1 for rank, (name, _) in enumerate(counts.most_common())}
    found = []
    for game in games:
        most, other = sorted((game.tags.get(side, "?") for side in ("White", "Black")), key=lambda name: numbers[name])
        if part_of(numbers[most]) == part_of(numbers[other]) or counts[other] == 1:
            with suppress(RecordError):
                found.append((numbers[most], (game.record(), 0)))
    return found


FOG = Source(columns(BLOCKS), games_of, decisions)
"""Decisions that weights of positions are learned from."""
