"""``klss games FILE``: the games of a file, one line each, and the reason for each game that can't be read.

A game is printed as soon as it is read, so that memory does not grow with the file. Refused games are reported on
stderr, or with ``--json`` in the document.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from klss.support.text import counted, printable
from klss_app.cli.errors import FailedError, UsageError
from klss_app.cli.options import Parser, written_games_of
from klss_app.progress import ProgressLine
from klss_app.stdout import reserve

_NAME_WIDTH = 20


def _parser() -> Parser:
    parser = Parser("games", "What is in a file of games of Fog of War chess: players, results, lengths, and errors.")
    parser.add_argument("file", metavar="FILE", help="PGN of any server, also as gz or zip, or a table of games")
    parser.add_argument("--json", action="store_true", help="one JSON document on stdout")
    return parser


def run(arguments: Sequence[str]) -> int:
    """Run ``klss games``; see :mod:`klss_app.cli.main`."""
    parsed = _parser().parse(arguments)
    counts = {True: 0, False: 0}
    with closing(ProgressLine("klss games")) as line:
        for row in _rows(Path(parsed.file)):
            begin = ",\n" if sum(counts.values()) else '{"games": ['
            counts[row["error"] is None] += 1
            if parsed.json:
                print(begin + json.dumps(row), end="", file=reserve())
            elif row["error"] is not None:
                print(printable(row["error"], 300), file=sys.stderr)
            else:
                _show(row)
            line.tell(f"{counts[True]:,} games, {counts[False]:,} refused")
    read, refused = counts[True], counts[False]
    if not read + refused:
        raise UsageError(f"got no game in {parsed.file!r}, expected at least one")
    if parsed.json:
        print(f'], "read": {read}, "refused": {refused}}}', file=reserve(), flush=True)
    elif read:
        print(counted(read, "game") + (f", {refused:,} refused (on stderr, with reasons)" if refused else ""))
    if not read:
        raise FailedError(f"got {counted(refused, 'game')} in {parsed.file!r}, none of which can be read")
    return 0


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    """The row of each game (docs/json.md, "`klss games`")."""
    from darkchess.errors import RecordError

    for written in written_games_of(path):
        tags, outcome, error = written.tags, None, None
        try:
            outcome = written.record().outcome
        except RecordError as found:
            error = str(found)
        yield {
            "number": written.number,
            "white": tags.get("White"),
            "black": tags.get("Black"),
            "result": None if error else "*" if outcome is None else outcome.result,
            "reason": None if outcome is None else outcome.reason,
            "plies": len(written.words),
            "rules": tags.get("RuleVariants") or tags.get("Variant"),
            "error": error,
        }


def _show(row: dict[str, Any]) -> None:
    white, black = (f"{(name or '?')[:_NAME_WIDTH]:<{_NAME_WIDTH}}" for name in (row["white"], row["black"]))
    plies = f"{row['plies']:>5} plies"
    print(f"{row['number']:>6}  {white}  {black}  {row['result']:<7} {plies}  {row['reason'] or ''}".rstrip())
