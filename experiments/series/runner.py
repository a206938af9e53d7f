"""A series: named matches that make one experiment, played one after the other, resumable, summarised to one JSON.

Each match, at each budget, has its own directory, ``RUNS/SERIES/MATCH-BUDGET``. It is written as by ``klss match
--out``, with ``sessions.jsonl`` besides: a line for each run that played games of it, with the commit and versions. The
same command resumes after a stop of any kind. All matches of a series have one seed, so one list of openings, which
makes their results comparable. The summary keeps its entries of matches that are not here: of other players, other
budgets, other machines.

This module plays; ``summary`` makes the report; the series are in ``catalogue``.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

import klss
from darkchess.evaluation.registry import EVALUATORS
from darkchess.fog.players.configuration import ConfigurationError
from experiments.players.specs import configuration, player
from experiments.series.summary import SESSIONS, match_document, match_name, read_document, series_document
from klss.table.limits import TimeControl
from klss_app.progress import ProgressLine
from uci_bridge.errors import StockfishMissing
from uci_bridge.evaluators import EvaluatorChoice, evaluator_versions
from uci_bridge.kits.fog import FOG
from uci_bridge.match.documents import commit, write_document
from uci_bridge.match.files import read_match
from uci_bridge.match.match import Match, MatchError, Standing
from uci_bridge.match.openings import RandomOpenings
from uci_bridge.match.report import versions
from uci_bridge.stockfish.evaluator import find_stockfish

__all__ = ["RESULTS", "RUNS", "Pairing", "Plan", "Series", "amount", "main", "named", "play", "positive", "share"]

RUNS = Path(__file__).parents[1] / "runs"
"""The folder of matches; it is not in the repository."""

RESULTS = Path(__file__).parents[1] / "results"
"""The folder of summaries."""

SEED = 1
"""The default seed of every match."""

_CODE = ("klss", "darkchess", "uci_bridge", "experiments/players")
_SHOW_EVERY_S = 30.0


@dataclass(frozen=True)
class Pairing:
    """A match of a series."""

    name: str  # with the budget it names its directory, and its entry in the summary
    # configurations; results are A's. A text with its own number of threads keeps it
    a: str
    b: str
    share: float = 1.0  # each side's budget per move, as a share of the series'

    @property
    def takes_stockfish(self) -> bool:
        """Whether a side names Stockfish as its evaluator."""
        return any(
            "stockfish" in evaluator_versions(configuration(text), EvaluatorChoice()) for text in (self.a, self.b)
        )


@dataclass(frozen=True)
class Series:
    """An experiment."""

    name: str  # of its results file and of its directory of matches
    about: str  # one line for its help and for README's overview
    games: int  # of each match
    time_s: float  # seconds per move, of which a side has its share
    matches: Callable[..., Sequence[Pairing]]  # the pairings of its players, in the order in which they are played
    players: tuple[str, ...] = ()  # default of ``--players``; empty: the series has no such flag
    # the form of its results in README (``experiments.report``): a table, a sentence for ``each`` match, ``changes`` of
    # one player, or the matches of a player ``tested`` together
    reading: Literal["table", "each", "changes", "tested"] = "table"
    minutes: int = 0  # on two cores, as estimated before it was played
    title: str = ""  # of README's section

    def pairings(self, players: Sequence[str] | None = None) -> tuple[Pairing, ...]:
        """The matches of ``players``; None: of the usual ones."""
        return tuple(self.matches(*(self.players if players is None else players)))


def named(*parts: str) -> str:
    """A pairing's name from players' texts and other words.

    >>> named("kluss,purify=false", "mine/other.toml")
    'kluss,purify=false-other'
    """
    return "-".join(re.sub(r"[^\w.,=+-]", "_", Path(part).stem if part.endswith(".toml") else part) for part in parts)


@dataclass(frozen=True)
class Plan:
    """The settings with which a series is played."""

    games: int  # of each match
    # per move; ``nodes`` takes precedence, if given
    time_s: float
    nodes: int | None = None
    workers: int = 2  # games at a time
    threads: int = 1  # of each player's position set
    openings: int = 4  # random plies at the start of a pair
    seed: int = SEED  # of every match
    evaluator: EvaluatorChoice = field(default_factory=EvaluatorChoice)  # for configurations that leave it open
    runs: Path = RUNS  # the folder of the matches
    mixed: bool = False  # resume a match even if other code played its first games
    usual: int = SEED  # the seed that is not in names; another seed makes separate matches

    def match(self, pairing: Pairing) -> Match:
        """The match of ``pairing``, with the settings that both sides share."""
        return Match(
            FOG,
            a=player(self._threaded(pairing.a)),
            b=player(self._threaded(pairing.b)),
            games=self.games,
            seed=self.seed,
            budget=self._budget(pairing.share),
            evaluator=self.evaluator,
            openings=RandomOpenings(self.openings) if self.openings else None,
        )

    def _threaded(self, text: str) -> str:
        return text if ",threads=" in text else f"{text},threads={self.threads}"

    def _budget(self, share: float) -> TimeControl:
        if self.nodes is not None:
            return TimeControl(nodes=max(1, round(self.nodes * share)))
        return TimeControl(time_s=self.time_s * share)

    def name(self, pairing: Pairing) -> str:
        """The name of that match at that budget, for its directory and in the summary."""
        return match_name(pairing.name, self._budget(pairing.share), self.seed, self.usual)

    def folder(self, series: str, pairing: Pairing) -> Path:
        """The directory of that match."""
        return self.runs / series / self.name(pairing)


def play(series: str, pairing: Pairing, plan: Plan, progress: MatchProgress | None = None) -> Standing:
    """Play the remaining games of a match. Raises MatchError: see :meth:`uci_bridge.match.match.Match.run`; or other
    code played its first games, and the plan does not allow that.
    """
    match, folder = plan.match(pairing), plan.folder(series, pairing)
    code = fingerprint()
    kept = read_match(folder)
    if kept is not None and kept[1] and not plan.mixed:
        _same_code(folder, code, left=len(kept[1]) < plan.games)
    session = {
        "utc": _now(),
        "commit": commit(),
        "modified": modified(),
        "code": code,
        "versions": versions(match.setup()),
    }
    written = False

    def on_game(line: dict[str, Any], standing: Standing) -> None:
        nonlocal written
        if not written:  # after the first game: the directory is locked, and the session has a game that counts
            written = True
            with open(folder / SESSIONS, "a", encoding="utf-8") as file:
                file.write(json.dumps(session | {"games_before": standing.games - 1}, allow_nan=False) + "\n")
        if progress is not None:
            progress.show(standing)

    return match.run(folder, on_game, workers=plan.workers)


def _same_code(folder: Path, code: str, *, left: bool) -> None:
    try:
        lines = (folder / SESSIONS).read_text(encoding="utf-8").splitlines()
        last = json.loads(lines[-1])["code"] if lines else None
    except (OSError, ValueError, KeyError):
        last = None
    if left and last is not None and last != code:
        raise MatchError(
            f"{str(folder)!r}: its first games were played by other code ({last}, now {code}); expected the same: go "
            "on from that commit, name other --runs, or say --mixed (the summary then tells who played how many)"
        )


def fingerprint() -> str:
    """Twelve hex digits that change with the code that plays: our packages without the commands, and of ``experiments``
    only its players.
    """
    root = Path(klss.__file__).resolve().parents[1]
    digest = hashlib.sha256()
    for package in _CODE:
        for path in sorted((root / package).rglob("*")):
            inner = path.relative_to(root).as_posix()
            if path.is_file() and "__pycache__" not in inner and not inner.startswith("klss_app/cli/"):
                digest.update(inner.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:12]


def modified() -> bool | None:
    """Whether the code that plays differs from the commit; None outside of a source tree."""
    root = Path(klss.__file__).resolve().parents[1]
    if commit() is None:
        return None
    shown = subprocess.run(
        ["git", "-C", str(root), "status", "--porcelain", "--", *_CODE], capture_output=True, text=True, check=False
    )
    return bool(shown.stdout.strip()) if shown.returncode == 0 else None


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


class MatchProgress:
    """The progress of a match: rewritten on a terminal, else a line now and then."""

    def __init__(self, label: str, games: int) -> None:
        self._label, self._games = label, games
        self._last = time.monotonic()
        self._line = ProgressLine(label) if sys.stderr.isatty() else None

    def show(self, standing: Standing, *, last: bool = False) -> None:
        """Print the score so far."""
        text = (
            f"{standing.games}/{self._games}  +{standing.wins} ={standing.draws} -{standing.losses}"
            f"  {100 * standing.score / max(1, standing.games):.1f} %"
        )
        now = time.monotonic()
        if self._line is not None and last:
            self._line.close()
        elif self._line is not None:
            self._line.tell(text, at_once=True)
        if last or (self._line is None and now - self._last > _SHOW_EVERY_S):
            self._last = now
            print(f"{self._label}: {text}", file=sys.stderr, flush=True)


# ----------------------------------------------------------------------------------------------------------------------
# the command


def main(series: Series, arguments: Sequence[str] | None = None) -> int:
    """Play the remaining games of a series, and write its summary; return the exit code."""
    parser = _parser(series)
    parsed = parser.parse_args(arguments)
    pairings = series.pairings(parsed.players)
    cores = os.cpu_count() or 1
    threads = parsed.threads or (1 if 2 * parsed.workers > cores else 2)
    plan = Plan(
        games=parsed.games,
        time_s=parsed.time,
        nodes=parsed.nodes,
        workers=parsed.workers,
        threads=threads,
        openings=parsed.openings,
        seed=parsed.seed,
        evaluator=EvaluatorChoice(parsed.evaluator),
        runs=parsed.runs,
        mixed=parsed.mixed,
    )
    try:
        for pairing in pairings:  # check all now: a mistake in the last one would show only after hours
            plan.match(pairing)
    except ConfigurationError as error:
        parser.error(str(error))
    code = 0
    if not parsed.summary_only:
        print(f"{plan.workers} games at a time on {cores} cores: players with threads={threads}", file=sys.stderr)
        code = _play_all(series.name, _chosen(parser, pairings, parsed.only), plan)
    folders = {plan.name(pairing): plan.folder(series.name, pairing) for pairing in pairings}
    try:
        shown = [match_document(name, folder, parsed.games) for name, folder in folders.items()]
    except MatchError as error:
        print(error, file=sys.stderr)
        return 1
    found = [match for match in shown if match is not None]
    if not found:
        print(f"{series.name}: no games in {plan.runs / series.name}, nothing written", file=sys.stderr)
        return code or 1
    path = parsed.results / f"{series.name}.json"
    write_document(path, series_document(series.name, found, read_document(path)))
    counted = ", ".join(f"{match['name']} {match['games']}" for match in found)
    print(f"{path}: {counted} games", file=sys.stderr)
    return code


def _play_all(series: str, pairings: Sequence[Pairing], plan: Plan) -> int:
    """Play the matches one after the other; return 0, 1 if one failed, 130 after Ctrl-C."""
    code = 0
    for pairing in pairings:
        label = f"{series}/{plan.name(pairing)}"
        if pairing.takes_stockfish and not _has_stockfish():
            print(f"{label}: left out, Stockfish is not installed", file=sys.stderr)
            continue
        progress = MatchProgress(label, plan.games)
        try:
            progress.show(play(series, pairing, plan, progress), last=True)
        except MatchError as error:
            print(f"{label}: {error}", file=sys.stderr)
            code = 1
        except KeyboardInterrupt:
            print(f"\ninterrupted; the same command goes on from {label}", file=sys.stderr)
            return 130
    return code


def _has_stockfish() -> bool:
    try:
        find_stockfish()
    except StockfishMissing:
        return False
    return True


def _chosen(parser: argparse.ArgumentParser, pairings: Sequence[Pairing], names: list[str] | None) -> list[Pairing]:
    known = [pairing.name for pairing in pairings]
    unknown = [] if names is None else [name for name in names if name not in known]
    if unknown:
        parser.error(f"--only: got {', '.join(unknown)}; expected names of {', '.join(known)}")
    return [pairing for pairing in pairings if names is None or pairing.name in names]


def _parser(series: Series) -> argparse.ArgumentParser:
    about = series.about.replace("`", "")  # the text is Markdown, for README's overview
    parser = argparse.ArgumentParser(prog=f"python -m experiments.series {series.name}", description=about)
    add = parser.add_argument
    add("--games", type=positive, default=series.games, help="of each match (default %(default)s); two are a pair")
    add("--time", type=amount, default=series.time_s, metavar="S", help="seconds a move (default %(default)s)")
    add("--nodes", type=positive, metavar="N", help="nodes a move instead")
    add("--workers", type=positive, default=2, metavar="W", help="games at a time (default 2)")
    add(
        "--threads",
        type=int,
        choices=(1, 2),
        help="of each player's position set (default: 1 where the workers fill the cores, else 2)",
    )
    add("--openings", type=int, default=4, metavar="PLIES", help="random plies that begin a pair (default 4)")
    add("--seed", type=int, default=SEED, help="of every match (default 1); one more goes on with what is summed up")
    add("--evaluator", choices=tuple(EVALUATORS), default="builtin", help="(default builtin)")
    if series.players:
        usual = " ".join(series.players)
        letters = tuple("AB"[: len(series.players)]) if len(series.players) > 1 else "A"
        said = f"configurations, A's score is given (default {usual})"
        add("--players", nargs=len(series.players), metavar=letters, help=said)
    else:
        parser.set_defaults(players=None)
    names = [pairing.name for pairing in series.pairings()]
    if len(names) > 1:
        add("--only", nargs="+", metavar="NAME", help=f"play only these: {', '.join(names)}")
    else:
        parser.set_defaults(only=None)
    add("--runs", type=Path, default=RUNS, metavar="DIR", help="where the matches are kept (default experiments/runs)")
    add("--results", type=Path, default=RESULTS, metavar="DIR", help="where NAME.json goes (experiments/results)")
    add("--mixed", action="store_true", help="go on with matches whose first games other code has played")
    add("--summary-only", action="store_true", help="play nothing, write NAME.json from the games there are")
    return parser


def amount(text: str) -> float:
    """Type of flags that take a finite number above 0."""
    return _number(text, 0.0, math.inf, "a number above 0")


def share(text: str) -> float:
    """Type of flags that take a share."""
    return _number(text, -math.ulp(0.0), math.nextafter(1.0, 2.0), "a number from 0 to 1")


def _number(text: str, above: float, below: float, expected: str) -> float:
    try:
        found = float(text)
    except ValueError:
        found = math.nan
    if not above < found < below:
        raise argparse.ArgumentTypeError(f"got {text!r}, expected {expected}")
    return found


def positive(text: str) -> int:
    """Type of flags that take a whole number from 1 on."""
    if not (text.isascii() and text.isdigit() and int(text) > 0):
        raise argparse.ArgumentTypeError(f"got {text!r}, expected a whole number from 1 on")
    return int(text)
