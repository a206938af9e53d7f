"""Games between two players, A and B, counted: in pairs, in parallel, resumable, stopped by number or by evidence.

A has White in the games of even number; games 2k and 2k+1 are a pair: the same opening, colours swapped. Each game has
a seed of its own, so that nobody sits in the second with what her opponent was told in the first. With a node budget
the games depend neither on the number of workers nor on the order in which they end.

Reading order: ``match_game`` one game, ``match_engines`` its players, ``match_workers`` who plays it, ``openings`` how
it begins, ``match_files`` where it is kept, ``match_statistics`` and ``match_report`` what it counts for.
"""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from darkchess.game.arbiter import TimeControl, TruthCount
from darkchess.game.rules import PAPER, Ruleset
from klss.seeds import game_seed, opening_seed
from uci_bridge.match.engines import Setup, Side, Spec
from uci_bridge.match.files import MatchError, MatchFiles, kept_seed, opened
from uci_bridge.match.game import GameResult, GameTask, sides
from uci_bridge.match.openings import FileOpenings, Opening, RandomOpenings
from uci_bridge.match.report import MoveStatistics, spread
from uci_bridge.match.statistics import Elo, PairCounter, Sprt, SprtState, elo_of_match
from uci_bridge.match.workers import sigterm_as_ctrl_c, workers_for
from uci_bridge.players import EvaluatorChoice

__all__ = ["Match", "MatchError", "Standing", "kept_seed"]

_FORMAT = 3
"""Of a match's directory: the same seed gives other games in each. In format 2 seeds could be told from one another."""


@dataclass
class Record:
    """Games won, drawn and lost by A."""

    wins: int = 0
    draws: int = 0
    losses: int = 0

    @property
    def games(self) -> int:
        """Games counted."""
        return self.wins + self.draws + self.losses

    @property
    def score(self) -> float:
        """Wins and half the draws."""
        return self.wins + self.draws / 2

    def add(self, winner: Side | None) -> None:
        """Count a game."""
        self.wins += winner == "a"
        self.losses += winner == "b"
        self.draws += winner is None

    def document(self) -> dict[str, Any]:
        """As JSON."""
        counts = {"wins": self.wins, "draws": self.draws, "losses": self.losses}
        return {"games": self.games, "score": self.score, **counts}


class Standing(Record):
    """The count so far, from A's side.

    Parameters
    ----------
    sprt
        The test that is run over the pairs, if any.

    Attributes
    ----------
    truth
        Summed over games, in test mode.
    by_color
        The same count for A's games as White and as Black.
    pairs
        The pairs, and the test.
    plies
        Each game's length.
    reasons
        How often games ended how.
    moves
        Of each side.
    """

    def __init__(self, sprt: Sprt | None = None) -> None:
        super().__init__()
        self.truth = TruthCount()
        self.by_color = {"white": Record(), "black": Record()}
        self.pairs = PairCounter(sprt)
        self.plies: list[float] = []
        self.reasons: dict[str, int] = {}
        self.moves = {"a": MoveStatistics(), "b": MoveStatistics()}

    @property
    def elo(self) -> Elo:
        """The Elo difference so far."""
        return elo_of_match(self.score, self.games, self.pairs.counts)

    @property
    def sprt(self) -> SprtState | None:
        """Where the test stands; None without one."""
        return self.pairs.tested

    @property
    def decided(self) -> bool:
        """Whether the test has taken a side."""
        return self.pairs.tested is not None and self.pairs.tested.decision is not None

    def count(self, line: dict[str, Any], moves: list[dict[str, Any]] | None = None) -> None:
        """Count a line of ``games.jsonl``, and its moves."""
        winner = line["winner"]
        self.add(winner)
        white = next(color for color, side in sides(line["game"]).items() if side == "a")
        self.by_color["white" if white else "black"].add(winner)
        self.pairs.count(line["pair"], {"a": 2, None: 1, "b": 0}[winner])
        self.plies.append(line["plies"])
        self.reasons[line["reason"]] = self.reasons.get(line["reason"], 0) + 1
        for name, number in line.get("truth", {}).items():
            setattr(self.truth, name, getattr(self.truth, name) + number)
        self.count_moves(moves or [])

    def count_moves(self, moves: list[dict[str, Any]]) -> None:
        """Count lines of ``moves.jsonl``."""
        for move in moves:
            self.moves[move["player"]].count(move)

    def statistics(self) -> dict[str, Any]:
        """Lengths of games, how they ended, and what each side's moves were like."""
        return {
            "plies": spread(self.plies),
            "reasons": dict(sorted(self.reasons.items())),
            **{side: moves.document() for side, moves in self.moves.items()},
        }


@dataclass(frozen=True)
class Match:
    """What is played.

    Attributes
    ----------
    a, b
        The players: configurations, foreign engines, or the cheat.
    games
        How many games at most; None: until the test ends it.
    seed
        Of the match.
    budget
        What limits both players.
    ruleset
        See :mod:`darkchess.game.rules`.
    fen
        Start position of every game that has no opening with one of its own; None for the usual one.
    evaluator
        For configurations that leave theirs open.
    check_truth
        Test mode: after every ply, look whether the true position is in the player's set. It is the referee's side that
        looks; players learn nothing from it. Configurations play without a process of their own then.
    openings
        How the games begin; None: with the first move.
    sprt
        The test that ends the match; None: its number of games does.
    budget_b
        What limits B, where it is not what limits A; None: ``budget`` does.
    """

    a: Spec
    b: Spec
    games: int | None
    seed: int
    budget: TimeControl
    ruleset: Ruleset = PAPER
    fen: str | None = None
    evaluator: EvaluatorChoice = dataclasses.field(default_factory=EvaluatorChoice)
    check_truth: bool = False
    openings: RandomOpenings | FileOpenings | None = None
    sprt: Sprt | None = None
    budget_b: TimeControl | None = None

    def __post_init__(self) -> None:
        """Refuse a match without an end."""
        if self.games is None and self.sprt is None:
            raise ValueError("match: got neither a number of games nor a test, expected one of them")

    def setup(self) -> Setup:
        """What all its games have in common."""
        return Setup(self.a, self.b, self.budget, self.ruleset, self.evaluator, self.check_truth, self.budget_b)

    def task(self, game: int) -> GameTask:
        """Game number ``game``.

        Raises
        ------
        OpeningError
            See :meth:`uci_bridge.match.openings.RandomOpenings.opening`.
        """
        opening, pair = Opening(self.fen), game // 2
        if self.openings is not None:
            opening = self.openings.opening(pair, opening_seed(self.seed, pair), self.fen, self.ruleset)
        return GameTask(game, game_seed(self.seed, game), opening)

    def run(
        self,
        out: Path | None = None,
        on_game: Callable[[dict[str, Any], Standing], None] | None = None,
        *,
        workers: int | None = None,
        scheduler: str | None = None,
        standing: Standing | None = None,
    ) -> Standing:
        """Play what is not played yet; Ctrl-C and SIGTERM end it at once with a KeyboardInterrupt.

        Parameters
        ----------
        out
            Directory of the match, made if missing; None keeps nothing.
        on_game
            Called with every line of ``games.jsonl`` once it is written, and the count with it.
        workers, scheduler
            See :func:`uci_bridge.match.workers.workers_for`.
        standing
            To count in, a fresh one of this match (:meth:`standing`); for those who watch.

        Raises
        ------
        MatchError
            ``out`` is in use or holds another match; dask is needed and not there.
        OpeningError
            See :meth:`task`.
        """
        standing = self.standing() if standing is None else standing
        with contextlib.ExitStack() as stack:
            files = stack.enter_context(opened(out, self.identity())) if out is not None else None
            for line in files.lines if files is not None else []:
                standing.count(line)
            standing.count_moves(files.moves if files is not None else [])
            tasks = self._tasks({line["game"] for line in files.lines} if files is not None else set())
            first = None if standing.decided else next(tasks, None)
            if first is None:
                return standing
            stack.enter_context(sigterm_as_ctrl_c())
            playing = workers_for(self.setup(), workers, scheduler)
            stack.callback(playing.close)
            for result in playing.results(itertools.chain([first], tasks)):
                self._keep(result, files, standing, on_game)
                if standing.decided:
                    break
        return standing

    def standing(self) -> Standing:
        """The count before the first game."""
        return Standing(self.sprt)

    def identity(self) -> dict[str, Any]:
        """What has to be the same for a match to be resumed; neither the number of games nor the test is."""
        identity = {
            "format": _FORMAT,
            "a": self.a.fields(),
            "b": self.b.fields(),
            "seed": self.seed,
            "budget": dataclasses.asdict(self.budget),
            "rules": self.ruleset.name,
            "fen": self.fen,
            "evaluator": self.evaluator.name,
            "openings": None if self.openings is None else self.openings.identity(),
        }
        if self.budget_b is not None:
            identity["budget_b"] = dataclasses.asdict(self.budget_b)
        return dict(json.loads(json.dumps(identity)))

    def _tasks(self, done: set[int]) -> Iterator[GameTask]:
        for game in itertools.count() if self.games is None else range(self.games):
            if game not in done:
                yield self.task(game)

    @staticmethod
    def _keep(
        result: GameResult,
        files: MatchFiles | None,
        standing: Standing,
        on_game: Callable[[dict[str, Any], Standing], None] | None,
    ) -> None:
        if files is not None:
            files.keep(result)
        standing.count(result.line, result.moves)
        if on_game is not None:
            on_game(result.line, standing)
