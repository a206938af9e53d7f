"""``klss rbc verify``: compare our referee and our position sets with reconchess and OpenSpiel."""

from __future__ import annotations

import dataclasses
import sys
import time
from collections.abc import Sequence
from typing import Any

from klss_app.cli.errors import FailedError, UsageError
from klss_app.cli.games import Game
from klss_app.cli.options import Parser, games, seed
from klss_app.stdout import print_document

__all__ = ["run"]

_OPENSPIEL = 10
"""Games against reconchess per game against OpenSpiel."""


def _parser(game: Game) -> Parser:
    parser = Parser("verify", "Compare our referee, or our position sets, with reconchess and OpenSpiel.", game)
    parser.add_argument("--games", type=games, default=100, metavar="N", help="number of games")
    parser.add_argument(
        "--sets",
        action="store_true",
        help="check position sets: that they contain the true position, and equal those of reconchess's own functions",
    )
    parser.add_argument(
        "--compared",
        type=games,
        metavar="N",
        help="with --sets: number of games in which sets are compared (default: all)",
    )
    parser.add_argument("--seed", type=seed, default=0, metavar="N", help="seed of the games")
    parser.add_argument("--json", action="store_true", help="one JSON document on stdout, progress on stderr")
    return parser


def run(arguments: Sequence[str], game: Game) -> int:
    """Run ``klss rbc verify``; see :mod:`klss_app.cli.main`."""
    parsed = _parser(game).parse(arguments)
    if parsed.compared is not None and not parsed.sets:
        raise UsageError("--compared: got it without --sets, expected both")
    try:
        from klss_app.cli.rbc import comparison
    except ImportError as error:
        raise UsageError(
            f"klss rbc verify: {error.name or error} is missing, expected the package reconchess: the extra rbc"
        ) from None

    begin = time.monotonic()
    document: dict[str, Any]
    if parsed.sets:
        compared = parsed.games if parsed.compared is None else parsed.compared
        document = dataclasses.asdict(comparison.sets(parsed.games, parsed.seed, compared=compared, say=_say))
        wrong = document["lost"] + document["unequal"]
    else:
        found = {"reconchess": comparison.against_reconchess(parsed.games, parsed.seed, _say), "openspiel": None}
        try:
            few = max(1, parsed.games // _OPENSPIEL)
            found["openspiel"] = comparison.against_openspiel(few, parsed.seed, _say)
        except ImportError:
            _say("OpenSpiel is not installed: its part is left out")
        document = {name: None if each is None else dataclasses.asdict(each) for name, each in found.items()}
        wrong = sum(each.different for each in found.values() if each is not None)
    document["seconds"] = round(time.monotonic() - begin, 3)
    if parsed.json:
        print_document(document)
    else:
        print(_text(document))
    if wrong:
        raise FailedError(f"{wrong} differences, expected none")
    return 0


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _text(document: dict[str, Any]) -> str:
    if "checks" in document:
        return (
            "{games} games: the true position was missing in {lost} of {checks:,} looks ({sampled} samples not looked "
            "at); {equal_checks:,} looks in {equal_games} games found the set of reconchess, {unequal} another; the "
            "largest set had {largest:,} positions"
        ).format(**document)
    lines = []
    for name in ("reconchess", "openspiel"):
        if document[name] is not None:
            lines.append("{0}: {games} games, {turns:,} turns, {different} differences".format(name, **document[name]))
            lines += document[name]["differences"]
    return "\n".join(lines)
