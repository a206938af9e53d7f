"""Games of any kit between two players, A and B: in pairs, in parallel, resumable, ended by a number or by a test.

A has White, the first seat, in the games of even number; games 2k and 2k+1 are a pair: the same opening, seats swapped.
Each game has its own seed, so that no player has in the second game the random numbers that its opponent had in the
first. With a node budget the games depend neither on the number of workers nor on the order in which they end.
"""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from klss.support.seeds import game_seed, opening_seed
from klss.support.signals import asked_to_end
from klss.support.text import Document
from uci_bridge.match.documents import commit, package_versions
from uci_bridge.match.files import opened
from uci_bridge.match.game import Conditions, Engines, GameLine, GameTask, play_game
from uci_bridge.match.openings import Opening, random_opening
from uci_bridge.match.statistics import Sprt, Standing
from uci_bridge.match.workers import Work, workers_for

FORMAT = 3
"""Version of a match's directory. Formats differ in how seeds are derived, so that the same seed gives other games."""


@dataclass(frozen=True, kw_only=True)
class Match(Conditions):
    """A match: its conditions, and what differs from game to game."""

    games: int | None  # most games; None: until the test ends the match
    seed: int
    # start position of every game whose opening has none of its own; None for the usual one
    fen: str | None = None
    sprt: Sprt | None = None  # the test that ends the match; None: the number of games ends it
    openings: int | None = None  # random moves that begin each pair of games, 1 or more; None: none

    def task(self, game: int) -> GameTask:
        """Game number ``game``. Raises OpeningError (see :func:`uci_bridge.match.openings.random_opening`)."""
        pair, opening = game // 2, Opening(self.fen)
        if self.openings is not None:
            ruleset = self.kit.setup(self.fen, self.rules).ruleset  # openings are Fog of War's
            opening = random_opening(self.openings, opening_seed(self.seed, pair), self.fen, ruleset)
        return GameTask(game, game_seed(self.seed, game), opening)

    def run(
        self,
        out: Path | None = None,  # directory of the match, made if missing; None keeps nothing
        # called with every line of ``games.jsonl`` once it is written, and the count including it
        on_game: Callable[[GameLine, Standing], None] | None = None,
        *,
        workers: int | None = None,  # games at a time; None: 1, or the number of the cluster's threads
        scheduler: str | None = None,  # of a dask cluster that plays; None: this process does
        standing: Standing | None = None,  # a fresh ``Standing(sprt)`` to count in, for callers that watch it meanwhile
    ) -> Standing:
        """Play the games that are not played yet; Ctrl-C, SIGTERM and SIGHUP end it at once with a KeyboardInterrupt.

        Raises MatchError: ``out`` is in use or holds another match, or dask is needed and not installed; OpeningError:
        a game has no opening; NeverAnswered: a program failed before its first answer, which ends the match without its
        game.
        """
        standing = Standing(self.sprt) if standing is None else standing
        with contextlib.ExitStack() as stack:
            files = stack.enter_context(opened(out, self.identity())) if out is not None else None
            lines = files.lines if files is not None else []
            for line in lines:
                standing.count(line)
            done = {line["game"] for line in lines}
            numbers = itertools.count() if self.games is None else range(self.games)
            tasks = (self.task(game) for game in numbers if game not in done)
            first = None if standing.decided else next(tasks, None)
            if first is None:
                return standing
            stack.enter_context(asked_to_end())  # so that workers and engines are ended here, not by their guards
            playing = workers_for(Work(partial(Engines, self), partial(play_game, self)), workers, scheduler)
            stack.callback(playing.close)
            for result in playing.results(itertools.chain([first], tasks)):
                if files is not None:
                    files.keep(result)
                standing.count(result.line)
                if on_game is not None:
                    on_game(result.line, standing)
                if standing.decided:
                    break
        return standing

    def identity(self) -> Document:
        """The fields that must be equal for a match to be resumed; the number of games and the test may change."""
        identity = {
            "format": FORMAT,
            "a": self.a.fields(),
            "b": self.b.fields(),
            "seed": self.seed,
            "budget": dataclasses.asdict(self.budget),
            "fen": self.fen,
            "evaluator": self.evaluator.name,
        }
        if self.kit.name != "fog":  # matches of Fog of War don't have the field
            identity["game"] = self.kit.name
        if self.kit.rules:
            openings = None if self.openings is None else {"random_plies": self.openings}
            identity |= {"rules": self.rules or self.kit.rules[0], "openings": openings}
        return dict(json.loads(json.dumps(identity)))

    def document(self, standing: Standing) -> Document:
        """The results in docs/json.md, "`klss match`", all from A's side, without the players' texts."""
        elo, sprt = standing.elo, standing.sprt
        return {
            **standing.document(),
            "elo": [each if math.isfinite(each) else None for each in (elo.low, elo.middle, elo.high)],
            "elo_method": elo.method,
            "pairs": standing.pairs,
            "sprt": None if sprt is None else dataclasses.asdict(sprt) | {"decision": sprt.decision},
            "by_color": {color: record.document() for color, record in standing.by_color.items()},
            "reasons": dict(sorted(standing.reasons.items())),
            "configurations": {"a": self.a.fields(), "b": self.b.fields()},
            "seed": self.seed,
            "versions": package_versions("numpy", "numba", "highspy") | self.programs(),
            "commit": commit(),
        }
