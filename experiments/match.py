"""Games between two players, A and B, counted: one process, colours alternating, resumable.

A has White in the games of even number. A game's seed follows from the match's seed and the game's number; the players
get theirs from it as in ``klss play``, so that ``klss play --seed`` with a line's ``seed`` and the same node budget
replays it.

Files of a match: ``match.json`` (what is played), ``games.jsonl`` (one line a game), ``moves.jsonl`` (one line a move,
with the player's diagnostics), ``game-00000.pgn`` and so on.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import json
import math
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

import chess

from darkchess.arbiter import Arbiter, Budget, Played, TruthCount
from darkchess.configuration import Configuration
from darkchess.record import GameRecord, write_pgn
from darkchess.referee import Referee
from darkchess.rules import PAPER, Ruleset
from uci_bridge.players import Command, EvaluatorChoice, PlayerMaker

__all__ = ["Match", "MatchError", "Standing", "elo_interval", "game_seed", "player_seed"]

_WILSON_Z = 1.959964
"""Two-sided 95 %."""


class MatchError(Exception):
    """A match's directory is in use, or holds another match."""


def game_seed(seed: int, game: int) -> int:
    """Seed of game number ``game`` of a match: 32 bits of a hash, so that neighbouring matches share no games."""
    return int.from_bytes(hashlib.sha256(f"{seed}/{game}".encode()).digest()[:4], "little")


def player_seed(seed: int, color: chess.Color) -> int:
    """Seed of the player of ``color`` in a game of that seed."""
    return 2 * seed + (not color)


def elo_interval(score: float, games: int) -> list[float | None]:
    """Elo difference: lower end, middle, upper end of a 95 % interval; None where it is infinite.

    Wilson's interval for the score, with every game counted as won or lost: with draws it is wider than it has to be.

    Parameters
    ----------
    score
        Wins and half the draws.
    games
        Number of games, at least 1.

    >>> elo_interval(10.0, 20)
    [-147.8, 0.0, 147.8]
    >>> elo_interval(20.0, 20)
    [286.6, None, None]
    """
    mean = score / games
    spread = _WILSON_Z**2 / games
    center = (mean + spread / 2) / (1 + spread)
    half = _WILSON_Z / (1 + spread) * math.sqrt(mean * (1 - mean) / games + spread / (4 * games))

    def elo(share: float) -> float | None:
        if share <= 1e-9 or share >= 1 - 1e-9:
            return None
        return round(-400.0 * math.log10(1.0 / share - 1.0), 1) + 0.0

    return [elo(center - half), elo(mean), elo(center + half)]


@dataclass
class Standing:
    """The count so far, from A's side.

    Attributes
    ----------
    wins, draws, losses
        Games.
    truth
        Summed over games, in test mode.
    """

    wins: int = 0
    draws: int = 0
    losses: int = 0
    truth: TruthCount = dataclasses.field(default_factory=TruthCount)

    @property
    def games(self) -> int:
        """Games counted."""
        return self.wins + self.draws + self.losses

    @property
    def score(self) -> float:
        """Wins and half the draws."""
        return self.wins + self.draws / 2

    def count(self, line: dict[str, Any]) -> None:
        """Count a line of ``games.jsonl``."""
        self.wins += line["winner"] == "a"
        self.losses += line["winner"] == "b"
        self.draws += line["winner"] is None
        for name, number in line.get("truth", {}).items():
            setattr(self.truth, name, getattr(self.truth, name) + number)


@dataclass(frozen=True)
class Match:
    """What is played.

    Attributes
    ----------
    a, b
        The players: configurations, or foreign engines.
    games
        How many games.
    seed
        Of the match.
    budget
        What limits both players.
    ruleset
        See :mod:`darkchess.rules`.
    fen
        Start position of every game; None for the usual one.
    evaluator
        For configurations that leave theirs open.
    check_truth
        Test mode: after every ply, look whether the true position is in the player's set. It is the referee's side that
        looks; players learn nothing from it.
    """

    a: Configuration | Command
    b: Configuration | Command
    games: int
    seed: int
    budget: Budget
    ruleset: Ruleset = PAPER
    fen: str | None = None
    evaluator: EvaluatorChoice = dataclasses.field(default_factory=EvaluatorChoice)
    check_truth: bool = False

    def run(self, out: Path | None = None, on_game: Callable[[dict[str, Any]], None] | None = None) -> Standing:
        """Play what is not played yet.

        Parameters
        ----------
        out
            Directory of the match, made if missing; None keeps nothing.
        on_game
            Called with every line of ``games.jsonl`` as it is written.

        Raises
        ------
        MatchError
            ``out`` is in use or holds another match.
        """
        standing = Standing()
        with contextlib.ExitStack() as stack:
            files = stack.enter_context(_opened(out, self._identity())) if out is not None else None
            for line in files.lines if files is not None else []:
                standing.count(line)
            makers = {}
            for side, spec in (("a", self.a), ("b", self.b)):
                makers[side] = PlayerMaker(spec, self.evaluator, self.ruleset)
                stack.callback(makers[side].close)
                makers[side].warm_up(chess.WHITE, clock=self.budget.clock is not None)
            for game in range(standing.games, self.games):
                line, record, moves = self._play(game, makers)
                if files is not None:
                    files.keep(line, record, moves)
                standing.count(line)
                if on_game is not None:
                    on_game(line)
        return standing

    def _identity(self) -> dict[str, Any]:
        """What has to be the same for a match to be resumed."""
        identity = {
            "a": dataclasses.asdict(self.a),
            "b": dataclasses.asdict(self.b),
            "seed": self.seed,
            "budget": dataclasses.asdict(self.budget)
            | {"clock": list(self.budget.clock) if self.budget.clock else None},
            "rules": self.ruleset.name,
            "fen": self.fen,
            "evaluator": self.evaluator.name,
        }
        return dict(json.loads(json.dumps(identity)))

    def _play(
        self, game: int, makers: dict[str, PlayerMaker]
    ) -> tuple[dict[str, Any], GameRecord, list[dict[str, Any]]]:
        seed = game_seed(self.seed, game)
        sides = {chess.WHITE: "a" if game % 2 == 0 else "b", chess.BLACK: "b" if game % 2 == 0 else "a"}
        referee = Referee(self.fen, self.ruleset)
        players = {color: makers[side].make(player_seed(seed, color)) for color, side in sides.items()}
        moves: list[dict[str, Any]] = []

        def on_ply(played: Played) -> None:
            named = {"game": game, "ply": played.ply, "player": sides[played.color], "move": played.decision.move.uci()}
            moves.append(named | played.decision.diagnostics)

        truth = TruthCount() if self.check_truth else None
        begin = time.monotonic()
        Arbiter(referee, players, dict.fromkeys(chess.COLORS, self.budget), on_ply, truth).play()
        seconds = time.monotonic() - begin
        for player in players.values():
            player.close()
        outcome = referee.outcome
        assert outcome is not None
        names = {color: (self.a if side == "a" else self.b).name for color, side in sides.items()}
        line: dict[str, Any] = {
            "game": game,
            "pair": game // 2,
            "white": names[chess.WHITE],
            "black": names[chess.BLACK],
            "result": outcome.result,
            "reason": outcome.reason,
            "winner": None if outcome.winner is None else sides[outcome.winner],
            "plies": referee.ply,
            "opening": self.fen,
            "seed": seed,
            "seconds": round(seconds, 3),
        }
        if truth is not None:
            line["truth"] = dataclasses.asdict(truth)
        headers = {"Event": "klss match", "Round": str(game), "White": names[chess.WHITE], "Black": names[chess.BLACK]}
        return line, GameRecord(referee.moves, outcome, self.fen, headers | {"Seed": str(seed)}), moves


class _Files:
    """The open directory of a match."""

    def __init__(self, folder: Path, lines: list[dict[str, Any]], games: TextIO, moves: TextIO) -> None:
        self.lines = lines
        self._folder = folder
        self._games = games
        self._moves = moves

    def keep(self, line: dict[str, Any], record: GameRecord, moves: list[dict[str, Any]]) -> None:
        """Write a finished game; its line in ``games.jsonl`` last, since that one says that it is finished."""
        (self._folder / f"game-{line['game']:05}.pgn").write_text(write_pgn(record), encoding="utf-8")
        for file, rows in ((self._moves, moves), (self._games, [line])):
            file.writelines(json.dumps(row) + "\n" for row in rows)
            file.flush()


@contextlib.contextmanager
def _opened(folder: Path, identity: dict[str, Any]) -> Iterator[_Files]:
    """Lock ``folder``, check that it holds this match or none, and read what was played."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = open(folder / "lock", "w")  # noqa: SIM115 (closed below; closing is what unlocks)
    except OSError as error:
        raise MatchError(f"got {str(folder)!r}, expected a directory that can be written: {error.strerror}") from None
    with lock:
        if not _lock(lock):
            raise MatchError(f"{str(folder)!r} is in use by another match; wait for it, or name another directory")
        about = folder / "match.json"
        if about.exists():
            if json.loads(about.read_text(encoding="utf-8")) != identity:
                raise MatchError(f"{str(folder)!r} holds another match (see match.json); name another directory")
        else:
            about.write_text(json.dumps(identity, indent=2) + "\n", encoding="utf-8")
        lines = _whole_lines(folder / "games.jsonl")
        done = {line["game"] for line in lines}
        kept = [move for move in _whole_lines(folder / "moves.jsonl") if move["game"] in done]
        (folder / "moves.jsonl").write_text("".join(json.dumps(move) + "\n" for move in kept), encoding="utf-8")
        with (
            open(folder / "games.jsonl", "a", encoding="utf-8") as games,
            open(folder / "moves.jsonl", "a", encoding="utf-8") as moves,
        ):
            yield _Files(folder, lines, games, moves)


def _lock(file: TextIO) -> bool:
    """Lock ``file`` for this process; False when another one holds it. The system unlocks it when the process ends."""
    try:
        import fcntl
    except ImportError:  # a system without it (Windows): nothing to lock with
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _whole_lines(path: Path) -> list[dict[str, Any]]:
    """The lines of a JSONL file; a last line that was cut off when its writer died is removed from the file."""
    if not path.exists():
        return []
    text = path.read_bytes()
    whole = text[: text.rfind(b"\n") + 1]
    if len(whole) < len(text):
        os.truncate(path, len(whole))
    return [json.loads(line) for line in whole.splitlines()]
