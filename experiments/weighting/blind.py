"""Decisions of games of Reconnaissance Blind Chess: one for each question at which a side's set had two or more
positions, before its sense and before its move.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import chess
import numpy as np

from darkchess.errors import RecordError
from darkchess.rbc.belief.kinds import Kinds
from darkchess.rbc.belief.position_set import PositionSet
from darkchess.rbc.belief.siamese import Observer, Siamese, log_prior
from darkchess.rbc.game.history import replayed
from darkchess.rbc.game.referee import Referee
from darkchess.rbc.players.expectation import Expectation
from experiments.weighting.data import Game, decision

MOST = 300_000
"""Largest set of a recorded decision; a side is not followed further."""


class _Side:
    """What one side of a game knows, followed by what it was told."""

    def __init__(self, game: Referee, color: chess.Color) -> None:
        self.known = PositionSet(color, game.positions[0], cap=MOST)
        kinds = Kinds(self.known, Expectation().strangers)
        self.observer = Observer(self.known, kinds)
        self._all = (kinds, self.observer)

    def follow(self, name: str, told: Any) -> None:
        """Update everything by what was told; ``name``: ``noticed``, ``sensed`` or ``moved``."""
        getattr(self.known, name)(told)
        for each in self._all:
            getattr(each, name)(told, self.known)

    def decision(self, truth: int, generator: np.random.Generator) -> dict[str, Any]:
        """The decision; ``truth``: the index of the true position."""
        prior = log_prior(self.observer.kinds, self.known, np.arange(self.known.size))
        return decision(self.known.halves, prior, truth, self.observer.numbers, generator)


def decisions(text: str, generator: np.random.Generator) -> Iterator[dict[str, Any]]:
    """The decisions of a game from its JSON, one side's after the other's."""
    game = replayed(text)
    for color in chess.COLORS:
        side = _Side(game, color)
        for ply, turn in enumerate(game.turns):
            if turn.color != color:
                continue
            half = PositionSet(color, game.positions[ply]).halves[0]
            for name, told in (("noticed", turn.notice), ("sensed", turn.sensed)):
                side.follow(name, told)
                if side.known.capped_by is not None:
                    break
                if side.known.size > 1:
                    truth = np.flatnonzero((side.known.halves == half).all(axis=1))
                    yield side.decision(int(truth[0]), generator)
            if side.known.capped_by is not None or ply + 1 == len(game.turns):
                break
            side.follow("moved", turn.moved)


def _games(folder: Path) -> list[tuple[int, Path]]:
    """The games of a match, by ``klss rbc match … --out``, numbered."""
    return list(enumerate(sorted(folder.glob("game-*.json"))))


def _decisions(path: Path, generator: np.random.Generator) -> Iterator[dict[str, Any]]:
    try:
        yield from decisions(path.read_text(), generator)
    except RecordError:  # it ended before its first move
        return


BLIND = Game(Siamese, "klss rbc match --out", _games, _decisions)
