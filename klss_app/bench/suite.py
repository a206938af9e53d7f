"""A suite of positions whose right moves are known: the score of a configuration on each of them.

An entry (``data/suite.json``) is a turn of a game, known to the player to move by its views alone, with a source. It
scores the *mixture* that the configuration plays there, not a move that happened to be drawn:

- **by moves**: the sum of the probabilities of the right moves. They follow from a law that is checked in every
  position which the player can't rule out, or in the true one (docs/benchmarks.md lists the laws;
  ``tests/klss_app/test_bench_suite.py`` proves each list by a brute force that shares no code with the engine);
- **by loss**: the entry's first plies are a game that can be solved exactly (:mod:`klss_app.bench.bounded`); the score
  is 1 minus the mixture's loss there over the loss of the uniform mixture, and at least 0.

So every score is in [0, 1]: 1 is right, and in an entry scored by loss 0 is no better than uniform play.

The search begins afresh at the turn, as in an analysis; earlier turns are not searched. A player without a search has
no mixture: the share of each move among :data:`DRAWS` seeds is taken instead.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import chess
import numpy as np

from darkchess.board.move import decode
from darkchess.evaluation.evaluator import Evaluator
from darkchess.fog.game.referee import Referee
from darkchess.fog.players.configuration import Configuration, make_player
from darkchess.fog.players.player import KlssPlayer
from klss.play.limits import Limit
from klss_app.bench.bounded import Leaves, Turn, bounded_game
from klss_app.bench.positions import BenchPosition, packaged, parsed_moves, seated
from klss_app.bench.report import Figures, Report, Say, load, spread

NODES = 4_000
"""Default node budget of each entry."""

DRAWS = 16
"""Number of seeds for the mixture of a player without a search."""

Mixture = dict[chess.Move, float]
"""Probabilities of moves; moves that are never played may be missing."""


@dataclass(frozen=True)
class Exact:
    """The solution of an entry's bounded game of ``plies`` plies from the start."""

    plies: int
    leaves: Leaves
    value: float  # of the game, for the player that is scored
    blind: float  # loss of the uniform mixture
    pure: float  # loss of the best single move; above 0 only a mixture has no loss


@dataclass(frozen=True)
class Entry:
    """A position of the suite."""

    name: str
    theme: str
    source: str
    asked: str
    # the start, which both players know (None: the usual one), and the moves from there to the turn
    fen: str | None
    moves: tuple[chess.Move, ...]
    # the law from which the moves ``right`` follow, or ``"loss"`` if the loss is scored; then there is ``exact``
    law: str
    right: frozenset[chess.Move]
    exact: Exact | None

    @cached_property
    def game(self) -> Referee:
        """The true game up to the turn."""
        return Referee.replay(self.moves, self.fen)

    @property
    def color(self) -> chess.Color:
        """The player that is scored."""
        return self.game.turn

    @property
    def position(self) -> BenchPosition:
        """The turn by its player's knowledge."""
        return BenchPosition(self.name, self.game.positions[0], tuple(self.game.views(self.color)))

    @cached_property
    def turn(self) -> Turn:
        """The turn in the bounded game; this call enumerates the game."""
        assert self.exact is not None, f"{self.name} is judged by moves"
        game = bounded_game(self.game.positions[0], self.color, self.exact.plies, self.exact.leaves)
        return game.turn(list(self.moves))

    def score(self, played: Mixture) -> float:
        """The score of a mixture, in [0, 1]; see the module."""
        if self.exact is None:
            return min(1.0, sum(played.get(move, 0.0) for move in self.right))
        weights = np.array([played.get(decode(code), 0.0) for code in self.turn.actions])
        loss = self.exact.value - self.turn.value_of(weights)
        return min(1.0, max(0.0, 1.0 - loss / self.exact.blind))

    def blind_score(self) -> float:
        """The score of the uniform mixture."""
        return 0.0 if self.exact is not None else len(self.right) / len(self.game.legal_moves())


def suite_entries() -> list[Entry]:
    """The packaged entries."""
    return [_entry(**found) for found in packaged("suite.json")]


def _entry(
    *,
    moves: str,
    fen: str | None = None,
    right: str = "",
    exact: dict[str, Any] | None = None,
    **texts: str,
) -> Entry:
    return Entry(
        fen=fen,
        moves=parsed_moves(moves),
        right=frozenset(parsed_moves(right)),
        exact=None if exact is None else Exact(**exact),
        **texts,
    )


def mixture(
    chosen: Configuration, evaluator: Evaluator, position: BenchPosition, limit: Limit, *, seed: int = 0
) -> tuple[Mixture, int]:
    """The mixture of the player of ``chosen`` at ``position``, and the size of its position set.

    The mixture is the one from which its move is drawn, after the configuration's purification. A king that can be
    taken is taken, and an only move is played, without a search.
    """
    seeds = range(seed, seed + (DRAWS if chosen.search is None else 1))
    players = [seated(make_player(chosen, evaluator, seed=each), position) for each in seeds]
    drawn = [player.choose(limit).answer for player in players]
    first, known = players[0], players[0].position_set
    assert known is not None
    if isinstance(first, KlssPlayer):
        return first.mixture, known.size
    return {move: drawn.count(move) / DRAWS for move in set(drawn)}, known.size


def suite(
    chosen: Configuration,
    evaluator: Evaluator,
    limit: Limit,
    *,
    repetitions: int = 1,
    seed: int = 0,
    say: Say = lambda line: None,
) -> Report:
    """Figures ``score`` (the mean over all entries) and ``score_THEME``; each repetition has a seed of its own.

    ``blind`` is the mean score of uniform play.
    """
    entries = suite_entries()
    rows: list[dict[str, Any]] = []
    scores: dict[str, list[list[float]]] = {}
    for entry in entries:
        found = []
        for each in range(seed, seed + repetitions):
            played, positions = mixture(chosen, evaluator, entry.position, limit, seed=each)
            rows.append(_row(entry, played, positions) | {"repetition": each - seed, "seed": each})
            rows[-1] |= {"nodes": limit.nodes, "time_s": limit.time_s, "load": load()}
            found.append(rows[-1]["score"])
            say(f"{entry.theme}, {entry.name}: {found[-1]:.3f} (blind {entry.blind_score():.3f}), {_text(rows[-1])}")
        scores.setdefault(entry.theme, []).append(found)
    figures: Figures = {
        "score": spread(_means([found for theme in scores.values() for found in theme]), "of 1"),
        "blind": spread([float(np.mean([entry.blind_score() for entry in entries]))], "of 1"),
    }
    for theme, values in scores.items():
        figures[f"score_{theme}"] = spread(_means(values), f"of 1, {len(values)} entries")
    return Report(figures, None, rows)


def _row(entry: Entry, played: Mixture, positions: int) -> dict[str, Any]:
    """The row of one answer in the report."""
    return {
        "entry": entry.name,
        "theme": entry.theme,
        "score": entry.score(played),
        "blind": entry.blind_score(),
        "positions": positions,
        "mixture": {move.uci(): played[move] for move in sorted(played, key=lambda each: -played[each])},
    }


def _means(scores: list[list[float]]) -> list[float]:
    """The mean over entries, for each repetition."""
    return [float(mean) for mean in np.mean(scores, axis=0)]


def _text(row: dict[str, Any]) -> str:
    played = ", ".join(f"{move} {probability:.2f}" for move, probability in list(row["mixture"].items())[:3])
    return f"{row['positions']} possible; {played}"
