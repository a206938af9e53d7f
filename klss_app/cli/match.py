"""``klss match A B``: games between two players, counted; resumable, in parallel, stopped on evidence."""

from __future__ import annotations

import argparse
import dataclasses
import json
import math
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from klss_app.cli.errors import FailedError, UsageError
from klss_app.cli.options import (
    PLAYERS,
    GameOptions,
    Parser,
    add_game_options,
    check_stockfish,
    chosen_player,
    configured,
    game_options,
    games,
)
from klss_app.cli.terminal import Terminal

if TYPE_CHECKING:
    from uci_bridge.match.engines import Spec
    from uci_bridge.match.match import Match, Standing
    from uci_bridge.match.openings import FileOpenings, RandomOpenings
    from uci_bridge.match.statistics import Elo

__all__ = ["run"]

DEFAULT_GAMES = 20
_MOST_WORKERS = 1024


def _parser() -> Parser:
    parser = Parser("match", "Games between A and B, A having White first; a match in --out can be resumed.")
    parser.add_argument("a", metavar="A", help=PLAYERS)
    parser.add_argument("b", metavar="B", help="the same")
    parser.add_argument("--games", type=games, metavar="N", help=f"how many (default {DEFAULT_GAMES}); two are a pair")
    parser.add_argument(
        "--sprt",
        type=hypotheses,
        metavar="ELO0,ELO1",
        help="stop once it is clear whether A is ELO0 or ELO1 better (errors 5 %%); --games is then the most",
    )
    parser.add_argument(
        "--openings", metavar="N|FILE", help="begin each pair with N random moves, or with a line (moves, FEN) of FILE"
    )
    parser.add_argument("--out", metavar="DIR", help="where games.jsonl, moves.jsonl and the PGNs go")
    parser.add_argument(
        "--workers", type=workers, metavar="W", help="games at a time (default 1, or a cluster's threads)"
    )
    parser.add_argument("--scheduler", metavar="URL", help="play on a dask cluster, as tls://host:8786")
    add_game_options(parser)
    parser.add_argument(
        "--allow-cheat",
        action="store_true",
        help="allow the players who see the true game, stockfish-cheat and kluss-oracle",
    )
    parser.add_argument(
        "--check-truth", action="store_true", help="test mode: is the true position in each player's set?"
    )
    parser.add_argument("--json", action="store_true", help="one JSON document on stdout, progress on stderr")
    return parser


def hypotheses(text: str) -> tuple[float, float]:
    """Type of ``--sprt``.

    >>> hypotheses("0,10")
    (0.0, 10.0)
    """
    try:
        elo0, elo1 = map(float, text.split(","))
    except ValueError:
        elo0 = elo1 = math.nan
    if not (math.isfinite(elo0) and math.isfinite(elo1) and elo0 < elo1 and max(abs(elo0), abs(elo1)) <= 2000):
        raise argparse.ArgumentTypeError(f"got {text!r}, expected ELO0,ELO1, the smaller first, such as 0,10")
    return elo0, elo1


def workers(text: str) -> int:
    """Type of ``--workers``."""
    if not (text.isascii() and text.isdigit() and len(text) < 6 and 1 <= int(text) <= _MOST_WORKERS):
        raise argparse.ArgumentTypeError(f"got {text!r}, expected a number of workers, 1 to {_MOST_WORKERS}")
    return int(text)


def run(arguments: Sequence[str]) -> int:
    """Run ``klss match``; see :mod:`klss_app.cli.main`."""
    parsed = _parser().parse(arguments)
    options = game_options(parsed)
    specs = {"a": _player(parsed.a, parsed, options), "b": _player(parsed.b, parsed, options)}
    out = None if parsed.out is None else Path(parsed.out)
    match = _match(parsed, options, specs, out)

    from uci_bridge.match.match import MatchError
    from uci_bridge.match.openings import OpeningError

    begin = time.monotonic()
    watch = _Watch(match, as_json=parsed.json)
    try:
        with watch:
            standing = match.run(
                out, watch.on_game, workers=parsed.workers, scheduler=parsed.scheduler, standing=watch.standing
            )
    except (MatchError, OpeningError) as error:
        raise UsageError(str(error)) from None
    except KeyboardInterrupt:
        kept = "their lines are in --out, and the same command goes on from there" if out is not None else "not kept"
        raise FailedError(f"interrupted after {watch.standing.games} games; {kept}") from None
    except OSError as error:
        if error.filename is None:
            raise
        raise FailedError(
            f"{error.strerror}: {error.filename!r}, after {watch.standing.games} games; once that is put right, "
            "the same command goes on from there"
        ) from None
    summary = _summary(parsed, match, standing)
    summary["seconds"] = round(time.monotonic() - begin, 3)
    if match.check_truth:
        summary["truth"] = dataclasses.asdict(standing.truth)
    print(json.dumps(summary, allow_nan=False) if parsed.json else _summary_text(summary, match, standing.elo))
    return 0


# ----------------------------------------------------------------------------------------------------------------------
# what is played


def _player(text: str, parsed: argparse.Namespace, options: GameOptions) -> Spec:
    from uci_bridge.match.engines import CHEAT, Cheat
    from uci_bridge.match.oracle import ORACLE, configuration

    name = text.partition(",")[0].strip()
    if text != CHEAT and name != ORACLE:
        return chosen_player(text, options.stockfish)
    if not parsed.allow_cheat:
        raise UsageError(f"player: got {text!r}, who sees the true game; expected --allow-cheat with it")
    if name == ORACLE:
        return configured(text, options.stockfish, configuration)
    check_stockfish(options.stockfish)
    return Cheat()


def _match(parsed: argparse.Namespace, options: GameOptions, specs: dict[str, Spec], out: Path | None) -> Match:
    from darkchess.game.arbiter import TimeControl
    from uci_bridge.match.match import Match, kept_seed
    from uci_bridge.match.statistics import Sprt

    number = parsed.games
    if number is None and parsed.sprt is None:
        number = DEFAULT_GAMES
    seed = options.seed
    if parsed.seed is None and out is not None:
        kept = kept_seed(out)  # the same command goes on with the same games
        seed = seed if kept is None else kept
    return Match(
        a=specs["a"],
        b=specs["b"],
        games=number,
        seed=seed,
        budget=TimeControl(options.time_s, options.nodes, options.clock),
        ruleset=options.ruleset,
        fen=options.fen,
        evaluator=options.evaluator_choice(),
        check_truth=parsed.check_truth,
        openings=None if parsed.openings is None else _openings(parsed.openings, options),
        sprt=None if parsed.sprt is None else Sprt(*parsed.sprt),
    )


def _openings(text: str, options: GameOptions) -> RandomOpenings | FileOpenings:
    from uci_bridge.match.openings import OpeningError, RandomOpenings, read_openings

    try:
        if text.isascii() and text.isdigit() and len(text) < 6:
            found: RandomOpenings | FileOpenings = RandomOpenings(int(text))
        else:
            found = read_openings(Path(text), options.fen, options.ruleset)
    except OpeningError as error:
        raise UsageError(f"--openings: {error}") from None
    return found


# ----------------------------------------------------------------------------------------------------------------------
# what is shown


class _Watch:
    """Progress: a line that is rewritten where stderr is a terminal, else a line a game."""

    def __init__(self, match: Match, *, as_json: bool) -> None:
        self.standing = match.standing()
        self._match = match
        self._terminal = Terminal()
        self._lines = sys.stderr if as_json else sys.stdout
        self._played = 0
        self._spinner: Any = None

    def __enter__(self) -> _Watch:
        self._spinner = self._terminal.spinner(self._text)
        self._spinner.__enter__()
        return self

    def __exit__(self, *raised: Any) -> None:
        self._spinner.__exit__(*raised)

    def on_game(self, line: dict[str, Any], standing: Standing) -> None:
        """A game ended."""
        self._played += 1
        if not self._terminal.spins:
            print(_line_text(line), file=self._lines, flush=True)

    def _text(self, seconds: float) -> str:
        standing, match = self.standing, self._match
        words = [f"game {standing.games}{'' if match.games is None else f'/{match.games}'}"]
        words.append(f"+{standing.wins} ={standing.draws} -{standing.losses}")
        elo = standing.elo
        if standing.games:
            low, middle, high = elo.texts()
            words.append(f"Elo {middle} ({low} to {high})")
        if standing.sprt is not None:
            words.append(f"LLR {standing.sprt.llr:+.2f} ({standing.sprt.lower:+.2f} to {standing.sprt.upper:+.2f})")
        if match.games is not None and self._played:
            left = (match.games - standing.games) * seconds / self._played
            words.append(f"{_duration(left)} left{'' if match.sprt is None else ' at most'}")
        return "  ".join(words)


def _duration(seconds: float) -> str:
    """
    >>> _duration(59.6), _duration(3725.0)
    ('1:00', '1:02:05')
    """
    minutes, second = divmod(round(seconds), 60)
    hours, minute = divmod(minutes, 60)
    return f"{hours}:{minute:02}:{second:02}" if hours else f"{minute}:{second:02}"


def _line_text(line: dict[str, Any]) -> str:
    truth = "  truth lost {lost} of {checks}".format(**line["truth"]) if "truth" in line else ""
    fault = f"  ({' '.join(line['fault'].split())[:200]})" if "fault" in line else ""
    return (
        f"game {line['game']}: {line['white']} - {line['black']}  {line['result']}  {line['reason']}"
        f"  {line['plies']} plies  {line['seconds']:.1f} s{truth}{fault}"
    )


def _summary(parsed: argparse.Namespace, match: Match, standing: Standing) -> dict[str, Any]:
    """The document of docs/json.md, "`klss match`", all from A's side."""
    from uci_bridge.match.documents import commit
    from uci_bridge.match.report import versions

    elo, sprt = standing.elo, standing.sprt
    return {
        "a": parsed.a,
        "b": parsed.b,
        **standing.document(),
        "elo": [elo.low, elo.middle, elo.high],
        "elo_method": elo.method,
        "pairs": standing.pairs.counts,
        "sprt": None if sprt is None else dataclasses.asdict(sprt),
        "by_color": {color: record.document() for color, record in standing.by_color.items()},
        "statistics": standing.statistics(),
        "configurations": {"a": match.a.fields(), "b": match.b.fields()},
        "seed": match.seed,
        "versions": versions(match.setup()),
        "commit": commit(),
    }


def _summary_text(summary: dict[str, Any], match: Match, elo: Elo) -> str:
    from darkchess.players.configuration import Configuration
    from uci_bridge.evaluators import evaluator_label, named

    players = [
        named(name, evaluator_label(spec, match.evaluator) if isinstance(spec, Configuration) else None)
        for name, spec in ((summary["a"], match.a), (summary["b"], match.b))
    ]
    low, middle, high = elo.texts()
    text = (
        f"{' against '.join(players)}: {summary['score']:g}/{summary['games']}"
        f" (+{summary['wins']} ={summary['draws']} -{summary['losses']}), Elo {middle} (95 %: {low} to {high},"
        f" {summary['elo_method']})"
    )
    sprt = summary["sprt"]
    if sprt is not None:
        taken = "no decision" if sprt["decision"] is None else f"Elo {sprt[sprt['decision']]:g} is taken"
        text += f"; LLR {sprt['llr']:.2f} ({sprt['lower']:.2f} to {sprt['upper']:.2f}): {taken}"
    if "truth" in summary:
        truth = "; the true position was missing from {lost} of {checks} sets ({sampled} samples not looked at)"
        text += truth.format(**summary["truth"])
    return text
