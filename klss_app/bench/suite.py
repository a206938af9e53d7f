"""A suite of positions whose right moves are known: the score of a configuration on each of them.

An entry (``data/suite.json``) is a turn of a game, known to the player to move by its views alone, with a source. It
scores the *mixture* that the configuration plays there, not a move that happened to be drawn: the sum of the
probabilities of the right moves. They follow from a law that is checked in every position which the player can't rule
out, or in the true one (docs/benchmarks.md lists the laws; ``tests/klss_app/test_bench_suite.py`` proves each list by a
brute force that shares no code with the engine).

The search begins afresh at the turn, as in an analysis; earlier turns are not searched. A player without a search has
no mixture: the share of each move among :data:`DRAWS` seeds is taken instead.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import chess
import numpy as np

from darkchess.evaluation.evaluator import Evaluator
from darkchess.fog.game.referee import Referee
from darkchess.fog.players.named_fog_players import Configuration, make_player
from darkchess.fog.players.player import KlssPlayer
from klss.play.limits import Limit
from klss.support.text import Document
from klss_app.bench.positions import packaged, parsed_moves, seated
from klss_app.bench.report import Figures, Report, Say, load, spread

NODES = 4_000
"""Default node budget of each entry."""

DRAWS = 16
"""Number of seeds for the mixture of a player without a search."""

Mixture = dict[chess.Move, float]
"""Probabilities of moves; moves that are never played may be missing."""


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
    law: str  # the law from which the moves ``right`` follow
    right: frozenset[chess.Move]

    @cached_property
    def game(self) -> Referee:
        """The true game up to the turn."""
        return Referee.replay(self.moves, self.fen)

    def score(self, played: Mixture) -> float:
        """The score of a mixture, in [0, 1]."""
        return min(1.0, sum(played.get(move, 0.0) for move in self.right))

    def blind_score(self) -> float:
        """The score of the uniform mixture."""
        return len(self.right) / len(self.game.legal_moves())


def suite_entries() -> list[Entry]:
    """The packaged entries."""
    return [_entry(**found) for found in packaged("suite.json", list[dict[str, str]])]


def _entry(*, moves: str, right: str, fen: str | None = None, **texts: str) -> Entry:
    return Entry(fen=fen, moves=parsed_moves(moves), right=frozenset(parsed_moves(right)), **texts)


def mixture(
    chosen: Configuration, evaluator: Evaluator, game: Referee, limit: Limit, *, seed: int = 0
) -> tuple[Mixture, int]:
    """The mixture of the player of ``chosen`` at the turn of ``game``, and the size of its position set.

    The mixture is the one from which its move is drawn, after the configuration's purification. A king that can be
    taken is taken, and an only move is played, without a search.
    """
    seeds = range(seed, seed + (DRAWS if chosen.search is None else 1))
    players = [seated(make_player(chosen, evaluator, seed=each), game) for each in seeds]
    drawn = [player.answer("move", limit).answer for player in players]
    first, known = players[0], players[0].position_set
    assert known is not None
    if isinstance(first, KlssPlayer):
        return first.mixture, known.size
    return {move: drawn.count(move) / DRAWS for move in dict.fromkeys(drawn)}, known.size


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
    rows = list[Document]()
    scores: dict[str, list[list[float]]] = {}
    for entry in entries:
        found = []
        for each in range(seed, seed + repetitions):
            played, positions = mixture(chosen, evaluator, entry.game, limit, seed=each)
            shares = {move.uci(): played[move] for move in sorted(played, key=lambda each: -played[each])}
            found.append(entry.score(played))
            rows.append({
                "entry": entry.name, "theme": entry.theme, "score": found[-1], "blind": entry.blind_score(),
                "positions": positions, "mixture": shares, "repetition": each - seed, "seed": each,
                "nodes": limit.nodes, "time_s": limit.time_s, "load": load(),
            })  # fmt: skip
            first = ", ".join(f"{move} {share:.2f}" for move, share in list(shares.items())[:3])
            about = f"{found[-1]:.3f} (blind {entry.blind_score():.3f}), {positions} possible; {first}"
            say(f"{entry.theme}, {entry.name}: {about}")
        scores.setdefault(entry.theme, []).append(found)
    figures: Figures = {
        "score": spread(_means([found for theme in scores.values() for found in theme]), "of 1"),
        "blind": spread([float(np.mean([entry.blind_score() for entry in entries]))], "of 1"),
    }
    for theme, values in scores.items():
        figures[f"score_{theme}"] = spread(_means(values), f"of 1, {len(values)} entries")
    return Report(figures, None, rows)


def _means(scores: list[list[float]]) -> list[float]:
    """The mean over entries, for each repetition."""
    return [float(mean) for mean in np.mean(scores, axis=0)]
